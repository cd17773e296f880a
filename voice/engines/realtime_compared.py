"""What a replay's engine told the service otherwise than the call's did, in words.

Events are held against each other socket by socket, in order. Names that we count up
ourselves say nothing: one event more would rename all that follow.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any

from voice.engines.realtime_records import Passed
from voice.engines.realtime_script import kind_of

HEARD_MS = 40
"""Two cuts so near each other are the same (V8)."""
SOUND_MS = 200
LATE_MS = 300
"""A live call's answers come with the jitter of its machine."""

_OURS = re.compile(r"(jarvis|ask|commit|cancel|told)_\d+_\d+")
_EXCERPT = 60


@dataclass(frozen=True, slots=True)
class Difference:
    """`at_ms` of the call on the n-th `socket`; `text` is a sentence's end: "sends …, not …"."""

    at_ms: float
    socket: int
    text: str

    def __str__(self) -> str:
        return f"{self.at_ms / 1000:.3f} s, socket {self.socket}: {self.text}"


@dataclass(frozen=True, slots=True)
class _Step:
    """What one side did, as it is compared: `key` must be the same."""

    at_ms: float
    kind: str
    key: str
    body: Any


def differences(
    recorded: Sequence[Passed],
    replayed: Sequence[Passed],
    texts: Mapping[str, str],
    rate_hz: int,
) -> tuple[Difference, ...]:
    """In order of time. `texts` are what bodies point to, `rate_hz` that of our sound. A recording
    that ends before its call says nothing of what comes later."""
    ends_ms = max((each.at_ms for each in recorded), default=0.0) + LATE_MS
    replayed = [each for each in replayed if each.at_ms <= ends_ms]
    found: list[Difference] = []
    for number in sorted({each.socket for each in (*recorded, *replayed)}):
        was, now = _steps(recorded, number), _steps(replayed, number)
        ended = any(each.what == "ended" and each.socket == number for each in recorded)
        if not ended and now and now[-1].kind == "sound" and was[-1:] != now[-1:]:
            now.pop()  # sound is written when something follows it: a kill leaves that out
            was = was[:-1] if was and was[-1].kind == "sound" else was
        found += [
            Difference(at_ms, number, text) for at_ms, text in _compared(was, now, texts, rate_hz)
        ]
    return tuple(sorted(found, key=lambda each: each.at_ms))


def _steps(passed: Sequence[Passed], number: int) -> list[_Step]:
    """What we did on one socket; sound that nothing of ours parts is one step."""
    names: dict[str, str] = {}
    steps: list[_Step] = []
    for each in passed:
        if each.socket != number:
            continue
        if each.what == "opening":
            steps.append(_Step(each.at_ms, "opening", "opening", None))
        elif each.what == "ended" and each.body["by"] == "us":
            steps.append(_Step(each.at_ms, "closing", "closing", None))
        elif each.what == "sound":
            samples = each.body["samples"]
            if steps and steps[-1].kind == "sound":
                first = steps.pop()
                steps.append(_Step(first.at_ms, "sound", "sound", first.body + samples))
            else:
                steps.append(_Step(each.at_ms, "sound", "sound", samples))
        elif each.what == "sent":
            body = _plain(each.body, names)
            key = json.dumps(_without_cut(body), sort_keys=True, ensure_ascii=False)
            steps.append(_Step(each.at_ms, kind_of(each.body), key, body))
    return steps


def _plain(event: Any, names: dict[str, str]) -> Any:
    """Without our own counts: an item of ours is called after what it says."""
    if isinstance(event, Mapping) and isinstance(item := event.get("item"), Mapping):
        said = " ".join(_words(item)) or str(item.get("type"))
        names.setdefault(str(item.get("id")), f"the item {said[:_EXCERPT]}")

    def plain(value: Any) -> Any:
        if isinstance(value, Mapping):
            return {key: plain(each) for key, each in value.items() if key != "event_id"}
        if isinstance(value, list):
            return [plain(each) for each in value]
        if isinstance(value, str) and (ours := _OURS.fullmatch(value)):
            return names.get(value, ours[1])
        return value

    return plain(event)


def _words(value: Any, key: str = "") -> list[str]:
    """What an item says, or asks of a tool."""
    if isinstance(value, Mapping):
        return [word for name, each in value.items() for word in _words(each, name)]
    if isinstance(value, list):
        return [word for each in value for word in _words(each)]
    return [str(value)] if key in ("text", "name", "arguments", "output") else []


def _without_cut(body: Any) -> Any:
    if isinstance(body, Mapping) and "audio_end_ms" in body:
        return {**body, "audio_end_ms": 0}
    return body


def _compared(
    was: list[_Step], now: list[_Step], texts: Mapping[str, str], rate_hz: int
) -> list[tuple[float, str]]:
    found: list[tuple[float, str]] = []
    late = False
    matcher = SequenceMatcher(None, [s.key for s in was], [s.key for s in now], autojunk=False)
    for tag, i1, i2, j1, j2 in matcher.get_opcodes():
        if tag != "equal":
            found += _exchanged(was[i1:i2], now[j1:j2], texts)
            continue
        for one, other in zip(was[i1:i2], now[j1:j2], strict=True):
            text = _measured(one, other, rate_hz)
            if text:
                found.append((other.at_ms, text))
            by_ms = other.at_ms - one.at_ms
            if abs(by_ms) > LATE_MS and not late and one.kind not in ("sound", "opening"):
                late = True  # what follows is as late, and that needs no saying
                than = "later" if by_ms > 0 else "sooner"
                found.append((other.at_ms, f"{_does(other)}, {abs(by_ms):.0f} ms {than} than then"))
    return found


def _measured(one: _Step, other: _Step, rate_hz: int) -> str:
    """What is the same but for a length."""
    if one.kind == "sound":
        apart_ms = 1000 * abs(one.body - other.body) / rate_hz
        was, now = (round(1000 * each.body / rate_hz) for each in (one, other))
        return f"sends {now} ms of sound, {was} then" if apart_ms > SOUND_MS else ""
    if isinstance(one.body, Mapping) and "audio_end_ms" in one.body:
        was, now = one.body["audio_end_ms"], other.body["audio_end_ms"]
        return f"{_does(other)} at {now} ms, {was} then" if abs(was - now) > HEARD_MS else ""
    return ""


def _exchanged(
    was: list[_Step], now: list[_Step], texts: Mapping[str, str]
) -> list[tuple[float, str]]:
    """Steps of one kind are held against each other, the rest came or went."""
    found: list[tuple[float, str]] = []
    left = list(was)
    for step in now:
        one = next((each for each in left if each.kind == step.kind), None)
        if one is None:
            found.append((step.at_ms, f"{_does(step)}, which it did not then"))
            continue
        left.remove(one)
        where = _apart(one.body, step.body, texts)
        found.append((step.at_ms, f"sends {step.kind} with {where}"))
    for each in left:
        what = "" if each.body is None else f": {_excerpt(each.body)}"
        found.append((each.at_ms, f"{_does(each)} no more{what}"))
    return found


def _does(step: _Step) -> str:
    if step.kind == "opening":
        return "opens a socket"
    if step.kind == "closing":
        return "closes the socket"
    return f"sends {step.kind}"


def _apart(was: Any, now: Any, texts: Mapping[str, str], path: str = "") -> str:
    """The first place at which two bodies differ."""
    was, now = _text(was, texts), _text(now, texts)
    if isinstance(was, Mapping) and isinstance(now, Mapping):
        for key in [*was, *(key for key in now if key not in was)]:
            if was.get(key) != now.get(key):
                return _apart(was.get(key), now.get(key), texts, f"{path}.{key}" if path else key)
    if isinstance(was, list) and isinstance(now, list):
        for number, (one, other) in enumerate(zip(was, now, strict=False)):
            if one != other:
                return _apart(one, other, texts, f"{path}[{number}]")
        return f"{path}: {len(now)} of them, {len(was)} then"
    if isinstance(was, str) and isinstance(now, str):
        at = next(
            (n for n, (one, other) in enumerate(zip(was, now, strict=False)) if one != other),
            min(len(was), len(now)),
        )
        begins = max(0, at - _EXCERPT // 3)
        was, now = was[begins : at + _EXCERPT], now[begins : at + _EXCERPT]
    return f"{path} {_excerpt(now)}, {_excerpt(was)} then"


def _text(value: Any, texts: Mapping[str, str]) -> Any:
    match value:
        case {"$text": str(name)}:
            return texts.get(name, name)
        case _:
            return value


def _excerpt(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 2 * _EXCERPT else f"{text[: 2 * _EXCERPT]}…"
