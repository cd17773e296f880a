"""What passed between a recorded call and its voice service, as it is read.

The format is in docs/recorded-calls.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, cast

from pydantic import Field, model_validator

from voice.engines.realtime_lines import whole
from voice.engines.realtime_records import Given, GivenKind, Happened, Passed
from voice.errors import RecordingInvalid
from voice.recorded_files import Engine, Strict, lines_of
from voice.recorded_sound import read_sound
from voice.records import EngineDescription

SERVICE = "service.jsonl"
SOUND = "service"
SOUND_HZ = 24_000
MOST_BYTES = 64_000_000
MOST_SOUND_BYTES = 2 * SOUND_HZ * 3 * 3600

Name = Literal["openai", "gemini"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedService:
    """`passed` and `given` in the order in which they were seen; `spare` is the engine that took
    over in the end. `texts` and `sound` (24 kHz) are what bodies point to."""

    name: Name
    url: str
    model: str
    voice: str
    passed: tuple[Passed, ...]
    given: tuple[Given, ...]
    spare: EngineDescription | None
    texts: Mapping[str, str]
    sound: bytes

    def whole(self, body: Any) -> Any:
        """A body without pointers. Sound that was lost in a kill is silence."""

        def samples(first: int, count: int) -> bytes:
            found = self.sound[2 * first : 2 * (first + count)]
            return found + bytes(2 * count - len(found))

        return whole(body, self.texts, samples)


class _Service(Strict):
    name: Name
    url: str
    model: str
    voice: str


class _Refused(Strict):
    status: int | None = None
    code: str | None = None
    errno: int | None = None
    text: str | None = None
    waited: bool = False


class _Sound(Strict):
    samples: Annotated[int, Field(ge=0)]
    until_ms: float


class _Ended(Strict):
    by: Literal["us", "service"]
    code: int | None
    reason: str


class _Given(Strict):
    kind: GivenKind
    question: Any
    answer: Any
    took_ms: float


class _Text(Strict):
    name: str
    text: Annotated[str, Field(alias="is")]


class _Line(Strict):
    at_ms: float
    socket: Annotated[int, Field(ge=0)] | None = None
    service: _Service | None = None
    opening: Literal[True] | None = None
    opened: Literal[True] | None = None
    refused: _Refused | None = None
    sent: Any = None
    sound: _Sound | None = None
    got: Any = None
    pong: float | None = None
    ended: _Ended | None = None
    given: _Given | None = None
    engine: Engine | None = None
    text: _Text | None = None

    @property
    def what(self) -> str:
        (what,) = self.model_fields_set - {"at_ms", "socket"}
        return what

    @model_validator(mode="after")
    def _one_thing(self) -> _Line:
        whats = self.model_fields_set - {"at_ms", "socket"}
        if len(whats) != 1:
            raise ValueError("a line says one thing")
        if (self.what in _OF_A_SOCKET) != (self.socket is not None):
            raise ValueError("a line says on which socket it was, or stands for the whole call")
        return self


_OF_A_SOCKET = {"opening", "opened", "refused", "sent", "sound", "got", "pong", "ended"}


def read_service(folder: Path) -> RecordedService | None:
    """None where nothing was kept. Raises RecordingInvalid and AudioUnreadable."""
    path = folder / SERVICE
    read = lines_of(_Line, path)
    if not read:
        return None
    about = next((line.service for line in read if line.service is not None), None)
    if about is None:
        raise RecordingInvalid(f"{path}: no line says which service it was.")
    texts = {line.text.name: line.text.text for line in read if line.text is not None}
    spare = [line.engine for line in read if line.engine is not None]
    recorded = RecordedService(
        **dict(about),
        passed=tuple(
            sorted(
                (_passed(line) for line in read if line.socket is not None),
                key=lambda each: each.at_ms,
            )
        ),
        given=tuple(_given(line.given, texts, path) for line in read if line.given is not None),
        spare=EngineDescription(**dict(spare[-1])) if spare else None,
        texts=texts,
        sound=read_sound(folder, SOUND, SOUND_HZ),
    )
    for each in recorded.passed:
        _check(recorded, each, path)
    return recorded


def _passed(line: _Line) -> Passed:
    body = getattr(line, line.what)
    body = body.model_dump() if isinstance(body, Strict) else body
    assert line.socket is not None
    return Passed(line.at_ms, line.socket, cast("Happened", line.what), body)


def _given(given: _Given, texts: Mapping[str, str], path: Path) -> Given:
    try:
        answer = whole(given.answer, texts, lambda _, count: bytes(2 * count))
    except KeyError as fault:
        raise _lost(path, fault) from fault
    return Given(given.kind, given.question, answer, given.took_ms)


def _check(recorded: RecordedService, each: Passed, path: Path) -> None:
    """That what it points to is there, without making its sound."""
    try:
        whole(each.body, recorded.texts, lambda _, __: b"")
    except KeyError as fault:
        raise _lost(path, fault) from fault


def _lost(path: Path, fault: KeyError) -> RecordingInvalid:
    return RecordingInvalid(f"{path}: the text {fault} is not in it. Restore it from a copy.")
