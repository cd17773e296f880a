"""What passes between a realtime session's core and its edge, and what the core keeps."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from memory.records import Extract, Language
from voice.engines.realtime_seed import ToolUse
from voice.engines.realtime_sound import Alignment, Item
from voice.records import NotesFound, Told, UserSaid

Event = Mapping[str, Any]

# What is to be done -------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Send:
    event: Event


@dataclass(frozen=True, slots=True)
class Began:
    to: UserSaid | None
    first_token_s: float
    extracts: tuple[Extract, ...]


@dataclass(frozen=True, slots=True)
class Spoke:
    text: str
    samples: int
    language: Language


@dataclass(frozen=True, slots=True)
class Sound:
    audio: bytes


@dataclass(frozen=True, slots=True)
class Usage:
    prompt_tokens: int | None = None
    cached_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Ended:
    usage: Usage


@dataclass(frozen=True, slots=True)
class Failed:
    text: str


@dataclass(frozen=True, slots=True)
class Silence:
    """What of an answer has not been handed on yet must not be."""


Timer = Literal["answer", "retry", "end"]
TIMERS: tuple[Timer, ...] = get_args(Timer)


@dataclass(frozen=True, slots=True)
class Arm:
    """Tell `fired` after that time, unless it is armed anew; None: disarm."""

    timer: Timer
    after_s: float | None


@dataclass(frozen=True, slots=True)
class Lose:
    """The session is of no use any more."""


@dataclass(frozen=True, slots=True)
class GiveUp:
    text: str


@dataclass(frozen=True, slots=True)
class Renew:
    """The service ends the session within that time."""

    within_s: float


@dataclass(frozen=True, slots=True)
class RunTool:
    call_id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Want:
    """Somebody waits for a session: try again if that was given up."""


@dataclass(frozen=True, slots=True)
class Note:
    """A line for the log: ids and counts."""

    text: str


Frames = Began | Spoke | Sound | Ended | Failed
Effect = Send | Frames | Silence | Arm | Lose | GiveUp | Renew | RunTool | Want | Note


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A turn that wants an answer. `told`: what became of its wish to be remembered."""

    to: UserSaid | None
    text: str
    told: Told | None = None
    notes: NotesFound | None = None


@dataclass(slots=True, kw_only=True)
class Answer:
    """From our asking for it until the transcript has kept it; one or more responses."""

    questions: tuple[Question, ...]
    ask_id: str
    session: int
    alignment: Alignment
    response: str | None = None
    alive: bool = True
    begun: bool = False
    generated: bool = False
    complete: bool = False
    settled: bool = False
    continued: int = 0
    rounds: int = 0
    first_token_s: float | None = None
    notes_item: str | None = None
    items: list[Item] = field(default_factory=list)
    calls: list[ToolUse] = field(default_factory=list)

    @property
    def to(self) -> UserSaid | None:
        return self.questions[-1].to

    @property
    def notes(self) -> NotesFound | None:
        return self.questions[-1].notes

    @property
    def waits_for_tools(self) -> bool:
        return any(call.output is None for call in self.calls)


# What is seen of a session, for a recording --------------------------------------------

What = Literal[
    "service", "opening", "opened", "refused", "sent", "got", "pong", "ended", "given", "engine"
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """`at_s` is the loop's time. `body` of "sent" and "got" is the text itself, of "pong" how many
    seconds it took or None where it never came (`at_s` is then when it was asked for), of the
    rest what stands in the file: docs/recorded-calls.md. Sockets of a call count from 0."""

    at_s: float
    what: What
    body: Any
    socket: int | None = None


Witness = Callable[[Seen], None]
"""It never waits and never raises."""

Happened = What | Literal["sound"]


@dataclass(frozen=True, slots=True)
class Passed:
    """One thing on one socket, `at_ms` of the call. `body` as in the file."""

    at_ms: float
    socket: int
    what: Happened
    body: Any


GivenKind = Literal["earlier", "news", "notes", "prefix", "tool"]


@dataclass(frozen=True, slots=True)
class Given:
    """What the call told its engine when it was asked; see `Opening`."""

    kind: GivenKind
    question: Any
    answer: Any
    took_ms: float
