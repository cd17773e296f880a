"""What a lesson is, and what a pass over the lessons does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Literal, Protocol, get_args

LessonKind = Literal["user", "skill", "general", "provider"]
KINDS: tuple[LessonKind, ...] = get_args(LessonKind)

Why = Literal["faded", "merged", "updated", "no room", "dropped"]
"""Why a lesson is forgotten: its score fell below the floor; another says the same; another says
it with newer numbers; more lessons than are kept live; the user took it out."""

Method = Literal["vectors", "words"]


class Happened(Protocol):
    """An event of the log, as far as a lesson may rest on it."""

    @property
    def id(self) -> int: ...

    @property
    def kind(self) -> str: ...

    @property
    def at(self) -> datetime: ...

    @property
    def data(self) -> Mapping[str, Any]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Corroboration:
    """A later conclusion that said the same. `source` is the lesson that said it, now merged."""

    source: str
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgotten:
    at: datetime
    why: Why
    reason: str
    into: str | None = None
    """The lesson that it was merged into, or that took its place."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lesson:
    """The facts about a lesson; its score is made of them and of the time, whenever it is asked.

    `events` are ids in the event log that it rests on, `made_by` the pass that made it.
    `used_on` are the days on which it was in a request, in order. `restored_at` is when the user
    last brought it back. `apart` are lessons that the user does not want it merged with.
    """

    id: str
    kind: LessonKind
    text: str
    made_at: datetime
    made_by: str
    events: tuple[int, ...] = ()
    corroborations: tuple[Corroboration, ...] = ()
    used_on: tuple[date, ...] = ()
    restored_at: datetime | None = None
    forgotten: Forgotten | None = None
    apart: frozenset[str] = frozenset()
    embedded_by: str | None = None

    @property
    def is_live(self) -> bool:
        return self.forgotten is None


@dataclass(frozen=True, slots=True, kw_only=True)
class Alike:
    """How alike two lessons are. `veto` says what keeps them apart whatever the figure is;
    `newer_numbers` that nothing but numbers does: an update, and no evidence."""

    method: Method
    figure: float
    threshold: float
    veto: str | None = None
    newer_numbers: bool = False

    @property
    def same(self) -> bool:
        return self.veto is None and self.figure >= self.threshold


@dataclass(frozen=True, slots=True, kw_only=True)
class Going:
    """A lesson that goes in a pass. `counts` is whether the one it goes into is the stronger for
    it: it rests on other events, of a later pass."""

    lesson: Lesson
    why: Why
    reason: str
    score: float
    into: str | None = None
    alike: Alike | None = None
    counts: bool = False

    def as_json(self) -> dict[str, Any]:
        return {
            "id": self.lesson.id,
            "kind": self.lesson.kind,
            "text": self.lesson.text,
            "why": self.why,
            "reason": self.reason,
            "score": round(self.score, 4),
            "into": self.into,
            "method": self.alike.method if self.alike else None,
            "figure": round(self.alike.figure, 4) if self.alike else None,
            "threshold": self.alike.threshold if self.alike else None,
            "corroborates": self.counts,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class TidyLessons:
    """What a pass of merging and fading did, or would do. `waiting` counts those that go in
    the next passes, because a pass takes only so many."""

    at: datetime
    dry_run: bool
    going: tuple[Going, ...] = ()
    live: int = 0
    waiting: int = 0

    def as_json(self) -> dict[str, Any]:
        return {
            "dry_run": self.dry_run,
            "gone": [each.as_json() for each in self.going],
            "live": self.live,
            "waiting": self.waiting,
        }


ReflectOutcome = Literal[
    "nothing new",
    "nothing to learn",
    "made",
    "nothing made",
    "nonsense",
    "no model",
    "unavailable",
    "gave way",
    "capped",
    "busy",
    "switched off",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedLesson:
    """A proposed lesson that the rules kept out."""

    text: str
    rule: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReflectReport:
    """What a pass over the event log did. `read` counts the new events, `asked` the calls to the
    background model (0 or 1). `faults` are sentences for the user."""

    outcome: ReflectOutcome
    read: int = 0
    asked: int = 0
    made: tuple[Lesson, ...] = ()
    refused: tuple[RefusedLesson, ...] = ()
    tidied: TidyLessons | None = None
    model: str | None = None
    tokens_in: int = 0
    tokens_out: int = 0
    faults: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        return {
            "outcome": self.outcome,
            "read": self.read,
            "asked": self.asked,
            "made": [
                {
                    "id": each.id,
                    "kind": each.kind,
                    "text": each.text,
                    "events": list(each.events),
                }
                for each in self.made
            ],
            "refused": [
                {"text": each.text, "rule": each.rule, "reason": each.reason}
                for each in self.refused
            ],
            "tidied": self.tidied.as_json() if self.tidied else None,
            "model": self.model,
            "tokens_in": self.tokens_in,
            "tokens_out": self.tokens_out,
            "faults": list(self.faults),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbedReport:
    """`model` is None where none is on this machine, which is normal."""

    model: str | None
    embedded: int
    live: int
    forgotten: int

    def as_json(self) -> Mapping[str, Any]:
        return {
            "model": self.model,
            "embedded": self.embedded,
            "live": self.live,
            "forgotten": self.forgotten,
        }
