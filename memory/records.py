"""The records that cross the door between voice and memory.

Everything here is frozen: what was decided is a value, so that a recorded call can be
replayed and compared to the byte.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, time
from typing import Any, Literal, get_args

Speaker = Literal["user", "assistant"]
Origin = Literal["spoken", "typed", "pasted", "prefilled", "tool", "note", "echo"]
Language = Literal["en", "de", "es"]
Trigger = Literal["hang-up", "silence", "30 turns"]

LANGUAGES: tuple[Language, ...] = get_args(Language)


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One thing said by one side (spec, section C).

    `index` counts both speakers from 0. `text` of an interrupted assistant turn is only
    what was heard. `began_at` and `ended_at` are aware. `origin` is set where the text
    enters and never guessed later: evidence rests on it.
    """

    conversation: str
    index: int
    speaker: Speaker
    text: str
    language: Language | None
    began_at: datetime
    ended_at: datetime
    origin: Origin
    interrupted: bool = False

    def as_json(self) -> dict[str, Any]:
        return {
            "conversation": self.conversation,
            "index": self.index,
            "speaker": self.speaker,
            "text": self.text,
            "language": self.language,
            "began_at": self.began_at.isoformat(),
            "ended_at": self.ended_at.isoformat(),
            "origin": self.origin,
            "interrupted": self.interrupted,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class HandOver:
    """Turns `first_index` to `last_index` (both included) of a conversation, given to memory once."""

    conversation: str
    first_index: int
    last_index: int
    trigger: Trigger
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkedSentence:
    """A sentence that waits for its review; `failed` is what the last try said, where one did."""

    quote: str
    conversation: str
    at: datetime
    next_at: datetime | None
    failed: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Prefix:
    """What rides in front of every conversation, byte for byte.

    `sha256` is the hex digest of `text` in UTF-8 and is logged with every turn.
    `warnings` are sentences for the user about notebooks that could not be read as they
    should (not UTF-8, far too long); they are not part of the text.
    """

    text: str
    sha256: str
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Extract:
    """A piece of the user's notes or journal that goes into one request, and only that one.

    `file` is relative to the vault, with `/`. Lines count from 1, both included. `heading` is the
    headings above it, "" where there is none.
    """

    file: str
    first_line: int
    last_line: int
    heading: str
    text: str


# Learning: what the user said, what is proposed, and what is written -------------------

Notebook = Literal["USER.md", "MEMORY.md"]
Operation = Literal["add", "update", "remove"]
CandidateKind = Literal["self", "people", "preference", "correction", "plan"]
Source = Literal["review", "remember", "merge", "tidy", "undo", "forget", "user"]

NOTEBOOKS: tuple[Notebook, ...] = get_args(Notebook)


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A sentence that the filter marked.

    `rule` is the name of the rule in `memory/languages/`, as in "en.preference.love".
    `quote` is the sentence, to the letter as it stands in the turn.
    """

    kind: CandidateKind
    rule: str
    quote: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """What a reviewer wants changed (spec, section C).

    `entry` is the old text, for update and remove; `text` the new one, for add and update.
    """

    operation: Operation
    notebook: Notebook
    entry: str | None
    text: str | None
    quote: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejection:
    """A proposal that was refused. `rule` is the promise it would have broken, as in "L5.2"."""

    proposal: Proposal
    rule: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted:
    """A proposal that may be written.

    `entry` and `text` are what is to be written: one line, in canonical form, with real
    dates beside relative ones. `quote` stands to the letter in turn `turn_index`; None where it
    was not taken from a transcript.
    """

    operation: Operation
    notebook: Notebook
    entry: str | None
    text: str | None
    quote: str
    turn_index: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Removed:
    """An entry that the user took out, and when: it is not learned again from what was said
    before then."""

    text: str
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A line of `changes.jsonl`.

    `old` is None for an addition, `new` for a removal. `said_at` is when the quote was
    said. `reverses` is the id of the change that an undo took back.
    """

    id: str
    at: datetime
    source: Source
    notebook: Notebook
    old: str | None
    new: str | None
    quote: str | None = None
    conversation: str | None = None
    turn_index: int | None = None
    said_at: datetime | None = None
    reverses: str | None = None

    def as_json(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "at": self.at.isoformat(),
            "source": self.source,
            "notebook": self.notebook,
            "old": self.old,
            "new": self.new,
            "quote": self.quote,
            "conversation": self.conversation,
            "turn_index": self.turn_index,
            "said_at": self.said_at.isoformat() if self.said_at else None,
            "reverses": self.reverses,
        }


NotRemembered = Literal[
    "nothing", "read aloud", "secret", "unreadable", "question", "order", "no room", "fault"
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered:
    """What became of “remember that …”: `entry` as it stands in `notebook`, `change` its id.

    Not saved: `reason` is a sentence for the user and `why` says the same in a word. `waits`:
    there was no room, so it is in the journal and goes into the notebook when there is.
    """

    saved: bool
    notebook: Notebook | None = None
    entry: str | None = None
    reason: str | None = None
    why: NotRemembered | None = None
    waits: bool = False
    change: str | None = None


# The journal --------------------------------------------------------------------------

JournalKind = Literal["note", "discovery", "insight", "conversation"]


@dataclass(frozen=True, slots=True, kw_only=True)
class JournalEntry:
    """What is to be written into the journal. `at` is aware: its day is the entry's.

    `stars` are one to five, three where nobody judged. `tags` are topics, without their #.
    """

    at: datetime
    title: str
    text: str
    stars: int = 3
    tags: tuple[str, ...] = ()
    kind: JournalKind = "note"


@dataclass(frozen=True, slots=True, kw_only=True)
class JournalRead:
    """An entry as it stands in a day's file, whoever wrote it.

    `time` is None, `stars` three and `title` empty where the user wrote none. Lines count
    from 1, both included.
    """

    day: date
    time: time | None
    title: str
    text: str
    stars: int
    tags: tuple[str, ...]
    kind: JournalKind
    first_line: int
    last_line: int

    def as_json(self) -> dict[str, Any]:
        return {
            "day": self.day.isoformat(),
            "time": f"{self.time:%H:%M}" if self.time else None,
            "title": self.title,
            "text": self.text,
            "stars": self.stars,
            "tags": list(self.tags),
            "kind": self.kind,
            "first_line": self.first_line,
            "last_line": self.last_line,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class JournalDay:
    """A day's file. `file` is relative to the vault, with slashes; `warning` a sentence for the
    user where it could not be read as it should."""

    day: date
    file: str
    entries: tuple[JournalRead, ...]
    warning: str | None = None

    def as_json(self) -> dict[str, Any]:
        return {
            "day": self.day.isoformat(),
            "file": self.file,
            "entries": [entry.as_json() for entry in self.entries],
            "warning": self.warning,
        }
