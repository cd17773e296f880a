"""A recorded call on disk, as it is read. The format is in docs/recorded-calls.md.

What comes from a file is parsed here and nowhere else: broken audio is `AudioUnreadable`,
everything else that does not fit the format is `RecordingInvalid`.
"""

from __future__ import annotations

import json
import logging
import re
import statistics
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, model_validator

from memory.records import LANGUAGES, Language, Origin, Speaker, Trigger, Turn
from voice.audio import decode
from voice.errors import RecordingInvalid
from voice.recorded_files import Engine, Strict, lines_of, parsed, text_of
from voice.recorded_service import RecordedService, read_service
from voice.recorded_sound import read_sound
from voice.records import (
    EndReason,
    EngineDescription,
    HandedOver,
    NoTurn,
)

log = logging.getLogger(__name__)

RATE_HZ = 16_000
HEARING = "hearing.jsonl"
ARRIVALS = "arrivals.jsonl"
STOPS = "stops.jsonl"
MICROPHONE = "microphone"
_UNKNOWN_BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
_ID_LETTERS = re.compile(r"[^A-Za-z0-9]+")


# What a recorded call is --------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A part of an answer: its words and how long they sound."""

    text: str
    duration_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedAnswer:
    """What the engine said to the user's turn number `turn` (typed ones count, from 0).

    `delay_ms` runs from the decision that the turn was over (or from the typed turn) to the
    first sound, `first_word_ms` to the language model's first word where the engine told.
    `ready_ms`: how long after the turn's last sound an answer that was begun on a guess let it end.
    `late_ms`: how long what was played at its end needed to be heard, where that was kept.
    """

    turn: int
    language: Language | None
    delay_ms: int
    first_word_ms: int | None
    pieces: tuple[Piece, ...]
    ready_ms: int | None = None
    late_ms: int | None = None

    @property
    def text(self) -> str:
        return " ".join(piece.text for piece in self.pieces)


@dataclass(frozen=True, slots=True)
class Arrival:
    """From this position on the microphone's sound came so much later than it."""

    position_ms: int
    late_ms: float


@dataclass(frozen=True, slots=True)
class Answered:
    """What the hearing worker answered, and how long that took; 0 in a replay, where the clock
    stands still meanwhile. `kind`: of the question, about the n-th `turn` up to `at_ms` of the
    microphone."""

    answer: dict[str, Any]
    took_ms: float = 0.0
    kind: str = ""
    turn: int = 0
    at_ms: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedTyped:
    """A turn that the user typed `at_ms` after the recording began."""

    at_ms: int
    text: str
    pasted: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What came out of a call, for comparison with another run of the same recording."""

    turns: tuple[Turn, ...]
    noises: tuple[NoTurn, ...]
    hand_overs: tuple[HandedOver, ...]
    ended: EndReason | None

    def as_json(self) -> dict[str, Any]:
        return {
            "turns": [turn.as_json() for turn in self.turns],
            "noises": [asdict(noise) for noise in self.noises],
            "hand_overs": [
                {
                    "first_index": each.first_index,
                    "last_index": each.last_index,
                    "trigger": each.trigger,
                }
                for each in self.hand_overs
            ],
            "ended": self.ended,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedCall:
    """A call with its sound. `microphone` is 16-bit little-endian mono at 16 kHz."""

    conversation: str
    began_at: datetime
    language: Language
    languages: tuple[Language, ...]
    engine: EngineDescription
    note: str
    ended: EndReason | None
    microphone: bytes
    answers: tuple[RecordedAnswer, ...]
    typed: tuple[RecordedTyped, ...]
    expected: Outcome | None
    hearing: Mapping[str, Answered] = field(default_factory=dict)
    """What the hearing worker answered, by question: see voice/hearing/kept.py."""
    service: RecordedService | None = None
    """What passed between the call and its voice service, where it had one and it was kept."""
    arrivals: tuple[Arrival, ...] = ()
    stops_ms: tuple[int, ...] = ()
    """When the user stopped an answer by hand."""

    def late_at(self, position_ms: int) -> float:
        """How much later than its position the microphone's sound came there, in ms."""
        at = bisect_right(self.arrivals, position_ms, key=lambda each: each.position_ms)
        return self.arrivals[at - 1].late_ms if at else 0.0

    @property
    def late_ms(self) -> float:
        """How long the device needed to be heard: the median of its answers, 0 where none told."""
        told = [each.late_ms for each in self.answers if each.late_ms is not None]
        return statistics.median(told) if told else 0.0

    @property
    def duration_ms(self) -> int:
        """From the beginning to the last sample or typed turn."""
        spoken_ms = len(self.microphone) * 1000 // (2 * RATE_HZ)
        return max([spoken_ms, *(each.at_ms for each in self.typed)])


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedTranscript:
    """A call of which only the turns were kept, in order; never empty."""

    turns: tuple[Turn, ...]


# The files, as they are parsed --------------------------------------------------------


class _Call(Strict):
    format: Literal[1, 2]
    conversation: Annotated[str, Field(min_length=1)]
    began_at: AwareDatetime
    language: Language
    languages: Annotated[tuple[Language, ...], Field(min_length=1)]
    engine: Engine
    sample_rate_hz: Literal[16000] = 16000
    note: str = ""
    ended: EndReason | None = None


class _Piece(Strict):
    text: str
    duration_ms: Annotated[int, Field(ge=0)]


class _Answer(Strict):
    turn: Annotated[int, Field(ge=0)]
    language: Language | None = None
    delay_ms: Annotated[int, Field(ge=0)]
    first_word_ms: Annotated[int, Field(ge=0)] | None = None
    ready_ms: Annotated[int, Field(ge=0)] | None = None
    pieces: tuple[_Piece, ...]
    late_ms: Annotated[int, Field(ge=0)] | None = None

    def record(self) -> RecordedAnswer:
        pieces = tuple(Piece(**dict(piece)) for piece in self.pieces)
        return RecordedAnswer(**{**dict(self), "pieces": pieces})


class _Typed(Strict):
    at_ms: Annotated[int, Field(ge=0)]
    text: Annotated[str, Field(min_length=1)]
    pasted: bool = False


class _Stop(Strict):
    at_ms: Annotated[int, Field(ge=0)]


class _Arrival(Strict):
    position_ms: Annotated[int, Field(ge=0)]
    late_ms: float


class _Words(Strict):
    text: str
    language: Language
    sure: bool
    logprob: float
    no_speech: float
    again: bool = False


class _CalledOut(Strict):
    text: str
    logprob: float


class _Over(Strict):
    over: float


class _Heard(Strict):
    question: Annotated[str, Field(min_length=32, max_length=32)]
    answer: _Words | _CalledOut | _Over
    took_ms: Annotated[float, Field(ge=0)] = 0.0
    kind: str = ""
    turn: int = 0
    at_ms: int = 0

    def record(self) -> Answered:
        answer = self.answer.model_dump()
        return Answered(answer, self.took_ms, self.kind, self.turn, self.at_ms)


class _Turn(BaseModel):
    model_config = ConfigDict(frozen=True)  # a later version may say more about a turn

    conversation: str
    index: Annotated[int, Field(ge=0)]
    speaker: Speaker
    text: str
    language: Language | None
    began_at: AwareDatetime
    ended_at: AwareDatetime
    origin: Origin
    interrupted: bool = False

    def record(self) -> Turn:
        return Turn(**dict(self))


class _Noise(Strict):
    reason: str
    began_ms: int
    ended_ms: int


class _HandOver(Strict):
    first_index: int
    last_index: int
    trigger: Trigger


class _Outcome(Strict):
    turns: tuple[_Turn, ...]
    noises: tuple[_Noise, ...]
    hand_overs: tuple[_HandOver, ...]
    ended: EndReason | None

    def record(self) -> Outcome:
        return Outcome(
            turns=tuple(turn.record() for turn in self.turns),
            noises=tuple(NoTurn(**dict(noise)) for noise in self.noises),
            hand_overs=tuple(HandedOver(**dict(each)) for each in self.hand_overs),
            ended=self.ended,
        )


class _Turns(BaseModel):
    turns: tuple[_Turn, ...]


class _TurnLine(BaseModel):
    """A turn by itself, or a line of a conversation in the state folder, which may hold none."""

    turn: _Turn | None

    @model_validator(mode="before")
    @classmethod
    def _wrap(cls, line: Any) -> Any:
        if not isinstance(line, dict):
            return line
        if "conversation" in line and isinstance(line["conversation"], dict):
            return {"turn": None}
        if "handed_over" in line:
            return {"turn": None}
        return line if "turn" in line else {"turn": line}


# Reading ------------------------------------------------------------------------------


def read_recording(path: Path) -> RecordedCall | RecordedTranscript:
    """A recorded call's folder, a JSON or JSON-lines file of its turns, or a file of sound.

    Sound alone does not tell when it was spoken, nor in which language: it counts as begun
    with the year 2026, in English unless the ears hear otherwise, and nobody answers. Raises RecordingInvalid and AudioUnreadable. Reads and decodes the whole recording:
    not for the event loop.
    """
    if path.is_dir():
        return _read_folder(path)
    if not path.exists():
        raise RecordingInvalid(f"There is no recorded call at {path}. Check the path.")
    if _holds_text(path):
        return RecordedTranscript(turns=_read_transcript(path))
    return _read_sound(path)


def _holds_text(path: Path) -> bool:
    if path.suffix.lower() in (".json", ".jsonl"):
        return True
    with path.open("rb") as source:
        return source.read(256).lstrip()[:1] in (b"{", b"[")


def _read_sound(path: Path) -> RecordedCall:
    nobody = EngineDescription(
        name="nobody",
        hears="Whisper, on this machine",
        thinks="",
        speaks="",
        words_go_to="this machine",
        costs="nothing",
    )
    return RecordedCall(
        conversation=_ID_LETTERS.sub("-", path.stem).strip("-.") or "sound",
        began_at=_UNKNOWN_BEGIN,
        language="en",
        languages=LANGUAGES,
        engine=nobody,
        note="",
        ended=None,
        microphone=decode(path).astype("<i2").tobytes(),
        answers=(),
        typed=(),
        expected=None,
    )


def _read_folder(folder: Path) -> RecordedCall:
    sheet = folder / "call.json"
    if not sheet.exists():
        raise RecordingInvalid(
            f"{folder} is not a recorded call: it has no call.json. "
            "Give the folder that --record made, or a file of turns."
        )
    call = parsed(_Call, text_of(sheet), sheet)
    if call.language not in call.languages:
        raise RecordingInvalid(
            f"{sheet}: the language {call.language} is not one of its languages. Add it there."
        )
    expected = folder / "expected.json"
    return RecordedCall(
        conversation=call.conversation,
        began_at=call.began_at,
        language=call.language,
        languages=call.languages,
        engine=EngineDescription(**dict(call.engine)),
        note=call.note,
        ended=call.ended,
        microphone=read_sound(folder, MICROPHONE, RATE_HZ),
        answers=tuple(answer.record() for answer in lines_of(_Answer, folder / "answers.jsonl")),
        typed=tuple(
            sorted(
                (
                    RecordedTyped(**dict(typed))
                    for typed in lines_of(_Typed, folder / "typed.jsonl")
                ),
                key=lambda typed: typed.at_ms,
            )
        ),
        expected=parsed(_Outcome, text_of(expected), expected).record()
        if expected.exists()
        else None,
        hearing={each.question: each.record() for each in lines_of(_Heard, folder / HEARING)},
        service=read_service(folder),
        stops_ms=tuple(sorted(each.at_ms for each in lines_of(_Stop, folder / STOPS))),
        arrivals=tuple(
            sorted(
                (Arrival(**dict(each)) for each in lines_of(_Arrival, folder / ARRIVALS)),
                key=lambda each: each.position_ms,
            )
        ),
    )


def _read_transcript(path: Path) -> tuple[Turn, ...]:
    text = text_of(path)
    try:
        whole = json.loads(text)
    except json.JSONDecodeError:
        whole = None
    if isinstance(whole, list):
        found = list(parsed(_Turns, json.dumps({"turns": whole}), path).turns)
    elif isinstance(whole, dict) and "turns" in whole:
        found = list(parsed(_Turns, text, path).turns)
    else:
        found = [line.turn for line in lines_of(_TurnLine, path) if line.turn is not None]
    if not found:
        raise RecordingInvalid(f"{path} holds no turns.")
    turns = tuple(turn.record() for turn in found)
    if len({turn.conversation for turn in turns}) > 1:
        raise RecordingInvalid(f"{path} holds turns of several conversations. Give one at a time.")
    if any(later.index <= turn.index for turn, later in pairwise(turns)):
        raise RecordingInvalid(f"{path}: the numbers of the turns do not rise. Put them in order.")
    if any(later.ended_at < turn.ended_at for turn, later in pairwise(turns)):
        raise RecordingInvalid(f"{path}: the times of the turns do not rise. Put them in order.")
    return turns
