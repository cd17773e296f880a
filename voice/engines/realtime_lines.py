"""What was seen of a realtime session, as the lines of a recording, and back.

A line says everything, but in few bytes: sound stands elsewhere, long texts are written once,
and of our microphone, which is recorded anyway, only how much was sent.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from voice.engines.realtime_records import Seen

SOUND, TEXT = "$sound", "$text"
"""What stands for something that is kept elsewhere: `{"$sound": [first sample, samples]}`,
`{"$text": name}`."""

_LONG_CHARS = 1_000
_HIDDEN = "…"
_SECRETS = frozenset(
    {
        "access_token",
        "api_key",
        "apiKey",
        "authorization",
        "client_secret",
        "ephemeral_key",
        "token",
    }
)
_KEY = re.compile(r"\b(?:sk|ek|rk)[-_][\w*-]{8,}|\bAIza[\w-]{20,}|\bya29\.[\w-]{10,}")
"""Keys as services make them: an error may name one, half hidden."""
_HANDLES = frozenset({"handle", "newHandle"})
_RENAMED = re.compile(r"handle-\d+")
"""Of a recorded call that is replayed: it keeps its name."""
_PONG_DIFFERS_MS = 20.0
_PONG_DIFFERS = 0.25

Line = dict[str, Any]


@dataclass(slots=True)
class _Sent:
    """Sound of the microphone that was sent in one go."""

    at_ms: float
    until_ms: float
    samples: int


@dataclass(slots=True)
class Lines:
    """Of one call that began at `began_s`. `keep` takes an answer's sound and tells the number of
    its first sample."""

    began_s: float
    keep: Callable[[bytes], int]
    _texts: set[str] = field(default_factory=set)
    _handles: dict[str, str] = field(default_factory=dict)
    _sent: dict[int, _Sent] = field(default_factory=dict)
    _pongs: dict[int, float | None] = field(default_factory=dict)

    def of(self, seen: Seen) -> list[Line]:
        """What is to be written now, in order."""
        at_ms, number = self._ms(seen.at_s), seen.socket
        head: Line = {"at_ms": at_ms} if number is None else {"at_ms": at_ms, "socket": number}
        if number is not None and seen.what == "pong":
            return self._pong(head, number, seen.body)
        lines: list[Line] = []
        body = seen.body
        if seen.what in ("sent", "got"):
            body = _parsed(body)
        if number is not None and seen.what == "sent":
            samples = sent_samples(body)
            if samples is not None:
                self._sounds(number, at_ms, samples)
                return []
        if number is not None:
            lines += self._flushed(number)
        texts, body = self._shrunk(body, sounds=seen.what == "got" and _is_sound(body))
        lines += [{"at_ms": at_ms, "text": text} for text in texts]
        return [*lines, {**head, seen.what: body}]

    def rest(self) -> list[Line]:
        """What is still held back."""
        return [line for number in sorted(self._sent) for line in self._flushed(number)]

    def _ms(self, at_s: float) -> float:
        return round(1000 * (at_s - self.began_s), 3)

    def _pong(self, head: Line, number: int, took_s: float | None) -> list[Line]:
        """Only one that came sooner or later than the last that was written."""
        took_ms = None if took_s is None else round(1000 * took_s, 3)
        if number in self._pongs and _alike(self._pongs[number], took_ms):
            return []
        self._pongs[number] = took_ms
        return [{**head, "pong": took_ms}]

    def _sounds(self, number: int, at_ms: float, samples: int) -> None:
        sent = self._sent.setdefault(number, _Sent(at_ms, at_ms, 0))
        sent.until_ms = at_ms
        sent.samples += samples

    def _flushed(self, number: int) -> list[Line]:
        sent = self._sent.pop(number, None)
        if sent is None:
            return []
        body = {"samples": sent.samples, "until_ms": sent.until_ms}
        return [{"at_ms": sent.at_ms, "socket": number, "sound": body}]

    def _shrunk(self, body: Any, *, sounds: bool) -> tuple[list[Line], Any]:
        """The body, behind the texts that it names and nobody named before."""
        texts: list[Line] = []

        def shrink(value: Any, key: str = "") -> Any:
            if key in _SECRETS and value:
                return _HIDDEN
            if isinstance(value, Mapping):
                return {name: shrink(each, name) for name, each in value.items()}
            if isinstance(value, list):
                return [shrink(each) for each in value]
            if not isinstance(value, str):
                return value
            if key in _HANDLES and not _RENAMED.fullmatch(value):
                return self._handles.setdefault(value, f"handle-{len(self._handles) + 1}")
            if sounds and key in _SOUND_KEYS and (sound := _decoded(value)) is not None:
                return {SOUND: [self.keep(sound), len(sound) // 2]}
            value = _KEY.sub(_HIDDEN, value)
            if len(value) < _LONG_CHARS:
                return value
            name = hashlib.sha256(value.encode(errors="replace")).hexdigest()[:16]
            if name not in self._texts:
                self._texts.add(name)
                texts.append({"name": name, "is": value})
            return {TEXT: name}

        body = shrink(body)
        return texts, body


_SOUND_KEYS = frozenset({"delta", "data"})


def _is_sound(event: Any) -> bool:
    """Whether a service's event holds sound of an answer."""
    if not isinstance(event, Mapping):
        return False
    if event.get("type") == "response.output_audio.delta":
        return True
    content = event.get("serverContent")
    return isinstance(content, Mapping) and "modelTurn" in content


def _decoded(text: str) -> bytes | None:
    try:
        sound = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None
    return sound if sound and len(sound) % 2 == 0 else None


def sent_samples(event: Any) -> int | None:
    """How much of the microphone an event of ours carries; None for every other event."""
    match event:
        case {"type": "input_audio_buffer.append", "audio": str(audio)}:
            return len(base64.b64decode(audio)) // 2
        case {"realtimeInput": {"audio": {"data": str(audio)}}}:
            return len(base64.b64decode(audio)) // 2
        case _:
            return None


def _parsed(raw: str) -> Any:
    """An event; its text as it is where that is no JSON."""
    try:
        return json.loads(raw)
    except ValueError:
        return raw


def _alike(one: float | None, other: float | None) -> bool:
    if one is None or other is None:
        return one is other
    return abs(one - other) <= max(_PONG_DIFFERS_MS, _PONG_DIFFERS * max(one, other))


def whole(body: Any, texts: Mapping[str, str], sound: Callable[[int, int], bytes]) -> Any:
    """A body as it was on the wire, but for what was hidden. `sound` gives samples of the answers'
    sound. Raises KeyError for a text that is not there."""
    match body:
        case {"$sound": [int(first), int(samples)]}:
            return base64.b64encode(sound(first, samples)).decode()
        case {"$text": str(name)}:
            return texts[name]
        case Mapping():
            return {name: whole(each, texts, sound) for name, each in body.items()}
        case list():
            return [whole(each, texts, sound) for each in body]
        case _:
            return body
