"""Conversations not yet reviewed, one file of JSON lines each: `<state>/calls/<id>.jsonl`.

    {"conversation": {"version": 1, "id": "c1", "kind": "call", "began_at": "…"}}
    {"turn": {…}}                               a Turn as in the specification, synced
    {"handed_over": {"first": 0, "last": 3, "trigger": "30 turns", "at": "…"}}
    {"reviewed": {"first": 0, "last": 3}}

A mark hands over the turns with these indices, and no turn is under two marks. `reviewed`
is written when the conversation is over and all of it is reviewed, just before the file
goes: what a crash leaves of it says that it is done. Lines with another key are for those
who come later, and are skipped here. `<id>.lock` beside the file
is held for as long as a process writes the conversation. An id that is no plain name is
percent-encoded in the file's.
"""

from __future__ import annotations

import contextlib
import logging
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import sha256
from itertools import groupby
from pathlib import Path
from typing import Any, Literal, get_args
from urllib.parse import quote

from filelock import FileLock
from pydantic import AwareDatetime, TypeAdapter, ValidationError

from memory import locks, store
from memory.errors import ConversationInUse
from memory.records import HandOver, Trigger, Turn

log = logging.getLogger(__name__)

Kind = Literal["call", "chat"]

VERSION = 1
_NAME_CHARS = 100
_TAKEN_TIMEOUT_S = 0.5  # a recovery elsewhere holds a file for milliseconds

_TURN = TypeAdapter(Turn)
_TRIGGER: TypeAdapter[Trigger] = TypeAdapter(Trigger)
_TIME: TypeAdapter[datetime] = TypeAdapter(AwareDatetime)


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcript:
    """A conversation's file as it is now: its turns, and the hand-overs not said to be reviewed."""

    id: str
    kind: Kind
    turns: tuple[Turn, ...]
    marks: tuple[HandOver, ...]


@dataclass(slots=True, kw_only=True)
class _Journal:
    """A conversation's file, as read; `faults` are sentences about what could not be."""

    id: str
    kind: Kind
    turns: list[Turn] = field(default_factory=list)
    marks: list[HandOver] = field(default_factory=list)
    reviewed: set[tuple[int, int]] = field(default_factory=set)
    faults: list[str] = field(default_factory=list)
    lines: int = 1

    def new_marks(self, trigger: Trigger, at: datetime) -> list[HandOver]:
        """Marks over the turns that no mark holds yet.

        One, or none; several only where a damaged file lost a mark in its middle.
        """
        runs = groupby(self.turns, key=lambda turn: any(_holds(m, turn) for m in self.marks))
        marks = []
        for held, run in runs:
            if held:
                continue
            indices = [turn.index for turn in run]
            mark = HandOver(
                conversation=self.id,
                first_index=indices[0],
                last_index=indices[-1],
                trigger=trigger,
                at=at,
            )
            marks.append(mark)
        return marks

    @property
    def waiting(self) -> list[HandOver]:
        return [mark for mark in self.marks if _span(mark) not in self.reviewed]


@dataclass(frozen=True, slots=True)
class _Unread:
    """A file that is left alone. `fault` is empty where a crash left no more than a beginning."""

    fault: str


def _holds(mark: HandOver, turn: Turn) -> bool:
    return mark.first_index <= turn.index <= mark.last_index


def _span(mark: HandOver) -> tuple[int, int]:
    return mark.first_index, mark.last_index


def _folder(state: Path) -> Path:
    return state / "calls"


class Conversation:
    """One call or chat while it lasts. Its methods wait for the disk (some milliseconds), and
    may be called from any thread, one after the other.

    A turn that a full disk refused is kept and written with the next one that gets through.
    """

    def __init__(self, path: Path, journal: _Journal, holder: FileLock) -> None:
        self._path = path
        self._journal = journal
        self._last_index = journal.turns[-1].index if journal.turns else -1
        self._said_nothing = not journal.turns and journal.lines == 1
        # What was handed over is on disk; a conversation may go on for days.
        journal.turns.clear()
        self._holder: FileLock | None = holder
        self._unsaved: list[store.Record] = []
        self._turns = threading.Lock()

    @classmethod
    def begin(cls, state: Path, conversation: str, kind: Kind, at: datetime) -> Conversation:
        """Begin, or go on with, the conversation of this id.

        What a process that died left of it is handed over first. Raises ConversationInUse where another process holds it, StateUnwritable.
        """
        folder = _folder(state)
        store.make_folder(folder, private=True)
        path = folder / f"{file_name(conversation)}.jsonl"
        holder = locks.try_lock(path.with_suffix(".lock"), _TAKEN_TIMEOUT_S)
        if holder is None:
            raise ConversationInUse(
                f"Conversation {conversation} is open in another process. "
                "Hang up there, or begin a new one."
            )
        try:
            return cls(path, _begun(path, conversation, kind, at), holder)
        except BaseException:
            locks.drop_lock(holder)
            raise

    @property
    def id(self) -> str:
        return self._journal.id

    @property
    def next_index(self) -> int:
        """The least index that the next turn may have."""
        return self._last_index + 1

    def observe(self, turn: Turn) -> None:
        """Keep a turn: on return it is on disk. Indices rise. Raises StateUnwritable."""
        with self._turns:
            assert self._holder is not None, "the conversation was closed"
            assert turn.conversation == self.id
            assert turn.index > self._last_index
            self._journal.turns.append(turn)
            self._last_index, self._said_nothing = turn.index, False
            self._write({"turn": turn.as_json()})

    def hand_over(self, trigger: Trigger, at: datetime) -> HandOver | None:
        """Hand over the turns that no hand-over holds yet; None when there are none.

        Raises StateUnwritable; the turns are then handed over by the next one.
        """
        with self._turns:
            assert self._holder is not None, "the conversation was closed"
            marks = self._journal.new_marks(trigger, at)
            if not marks:
                return None
            [mark] = marks
            self._write()
            store.append_lines(self._path, [_mark_line(mark)])
            self._journal.turns.clear()
            return mark

    def close(self) -> None:
        """Let go. What was not handed over is at the next start. Nothing said leaves no file."""
        with self._turns:
            if self._holder is None:
                return
            holder, self._holder = self._holder, None
            try:
                self._write()
                if self._said_nothing:
                    store.remove(self._path)
            finally:
                locks.drop_lock(holder)

    def _write(self, *records: store.Record) -> None:
        self._unsaved += records
        if self._unsaved:
            store.append_lines(self._path, self._unsaved)
            self._unsaved = []


def recover(state: Path, at: datetime) -> list[HandOver]:
    """Hand over what conversations whose process died left behind, once, as "hang-up".

    For the start of a process. Conversations that another process holds, alive, are not
    touched, nor are files that can't be read: these are named in a warning.
    """
    handed_over = []
    for path in files(state):
        holder = locks.try_lock(path.with_suffix(".lock"))
        if holder is None:
            continue
        try:
            handed_over += _recovered(path, at)
        finally:
            locks.drop_lock(holder)
    return handed_over


def unreadable(state: Path) -> list[str]:
    """A sentence for each file in `calls/` that can't be read, wholly or in part."""
    faults = []
    for path in files(state):
        journal = _read(path)
        faults += [journal.fault] if isinstance(journal, _Unread) else journal.faults
    return [fault for fault in faults if fault]


def transcript(state: Path, conversation: str) -> Transcript | None:
    """The conversation's file; None where there is none that can be read."""
    path = _folder(state) / f"{file_name(conversation)}.jsonl"
    return _transcript(_read(path)) if path.is_file() else None


def transcript_in(path: Path) -> Transcript | None:
    """As `transcript`, of a file that `files` gave."""
    return _transcript(_read(path)) if path.is_file() else None


def _transcript(journal: _Journal | _Unread) -> Transcript | None:
    if isinstance(journal, _Unread):
        return None
    return Transcript(
        id=journal.id,
        kind=journal.kind,
        turns=tuple(journal.turns),
        marks=tuple(journal.waiting),
    )


def exists(state: Path, conversation: str) -> bool:
    """Whether there is a file of it, readable or not."""
    return (_folder(state) / f"{file_name(conversation)}.jsonl").exists()


@contextlib.contextmanager
def at_rest(state: Path, conversation: str) -> Iterator[bool]:
    """Whether no process writes this conversation; it stays so while this is open."""
    path = _folder(state) / f"{file_name(conversation)}.lock"
    if not path.parent.is_dir():
        yield True
        return
    with locks.held(path) as is_ours:
        yield is_ours


def write_reviewed(state: Path, conversation: str, spans: Iterable[tuple[int, int]]) -> None:
    """Note that these hand-overs are reviewed. The caller holds the conversation, `at_rest`."""
    lines = [{"reviewed": {"first": first, "last": last}} for first, last in spans]
    if lines:
        store.append_lines(_folder(state) / f"{file_name(conversation)}.jsonl", lines)


def remove_reviewed(state: Path, conversation: str) -> None:
    """Remove a conversation of which nothing waits any more, and none of which was damaged.

    The caller holds it, `at_rest`.
    """
    path = _folder(state) / f"{file_name(conversation)}.jsonl"
    journal = _read(path) if path.is_file() else _Unread("")
    if isinstance(journal, _Unread) or journal.faults or journal.waiting:
        return
    if all(any(_holds(mark, turn) for mark in journal.marks) for turn in journal.turns):
        store.remove(path)


# The file -----------------------------------------------------------------------------


def file_name(conversation: str) -> str:
    """A plain name for any id: what could lead out of the folder, or is too long, is coded."""
    name = quote(conversation, safe="", errors="surrogatepass")
    if len(name) > _NAME_CHARS:
        digest = sha256(conversation.encode(errors="surrogatepass")).hexdigest()
        name = f"{name[: _NAME_CHARS - 17]}~{digest[:16]}"
    return f"%2E{name[1:]}" if name.startswith(".") else name or "%"


def path_of(state: Path, conversation: str) -> Path:
    return _folder(state) / f"{file_name(conversation)}.jsonl"


def files(state: Path) -> list[Path]:
    """The conversations that there are, by name."""
    return sorted(path for path in _folder(state).glob("*.jsonl") if path.is_file())


def _begun(path: Path, conversation: str, kind: Kind, at: datetime) -> _Journal:
    """The journal of a conversation that begins or goes on, with its first line on disk."""
    found = _read(path) if path.exists() else _Unread("")
    if isinstance(found, _Journal):
        _hand_over_left(path, found, at)
        return found
    if found.fault:
        raise ConversationInUse(f"{found.fault} Begin a conversation with another name.")
    header = {"version": VERSION, "id": conversation, "kind": kind, "began_at": at.isoformat()}
    store.append_lines(path, [{"conversation": header}])
    return _Journal(id=conversation, kind=kind)


def _recovered(path: Path, at: datetime) -> list[HandOver]:
    if not path.exists():  # another process was faster
        return []
    journal = _read(path)
    if isinstance(journal, _Unread):
        if journal.fault:
            log.warning("%s", journal.fault)
        else:
            store.remove(path)
        return []
    for fault in journal.faults:
        log.warning("%s", fault)
    if journal.lines == 1:
        store.remove(path)
        return []
    return _hand_over_left(path, journal, at)


def _hand_over_left(path: Path, journal: _Journal, at: datetime) -> list[HandOver]:
    marks = journal.new_marks("hang-up", at)
    if marks:
        store.append_lines(path, [_mark_line(mark) for mark in marks])
        journal.marks += marks
    return marks


def _mark_line(mark: HandOver) -> store.Record:
    return {
        "handed_over": {
            "first": mark.first_index,
            "last": mark.last_index,
            "trigger": mark.trigger,
            "at": mark.at.isoformat(),
        }
    }


def _read(path: Path) -> _Journal | _Unread:
    """What the file holds, up to the first line that a crash cut short.

    A line in the middle that can't be read costs only itself.
    """
    try:
        content = path.read_bytes()
    except OSError as fault:
        return _Unread(f"{path} can't be read ({fault.strerror}). It was left as it is.")
    lines = list(_lines(content))
    if not lines and _is_torn_header(content):
        return _Unread("")
    journal = _opened(path, lines[0] if lines else content)
    if isinstance(journal, _Unread):
        return journal
    journal.lines = len(lines)
    for number, line in enumerate(lines[1:], start=2):
        if not _take(journal, store.parse_line(line)):
            journal.faults.append(
                f"Line {number} of {path} is damaged and was skipped; the others were read."
            )
    return journal


def _is_torn_header(content: bytes) -> bool:
    written = content.rstrip(b"\0")  # a power cut can leave zeros where a line was to be
    ours = b'{"conversation"'
    return written.startswith(ours) or ours.startswith(written)


def _lines(content: bytes) -> Iterator[bytes]:
    """The lines that are there; a last one without its newline only if it is whole."""
    *whole, tail = content.split(b"\n")
    yield from whole
    if tail and store.parse_line(tail) is not None:
        yield tail


def _opened(path: Path, line: bytes) -> _Journal | _Unread:
    match (store.parse_line(line) or {}).get("conversation"):
        case {"version": int(version)} if version > VERSION:
            return _Unread(
                f"{path} was written by a newer version of Jarvis. It was left as it is; update Jarvis to have it read."
            )
        case {"version": 1, "id": str(name), "kind": kind} if file_name(
            name
        ) == path.stem and kind in get_args(Kind):
            return _Journal(id=name, kind=kind)
    return _Unread(
        f"{path} is not a conversation of Jarvis, or its first line is damaged. "
        "It was left as it is; move it elsewhere if you don't need it."
    )


def _take(journal: _Journal, record: store.Record | None) -> bool:
    """Add a line's record to the journal; False where the line is damaged."""
    match record:
        case None:
            return False
        case {"turn": dict(turn)}:
            return _take_turn(journal, turn)
        case {"handed_over": {"first": int(first), "last": int(last), "trigger": t, "at": at}}:
            try:
                mark = HandOver(
                    conversation=journal.id,
                    first_index=first,
                    last_index=last,
                    trigger=_TRIGGER.validate_python(t),
                    at=_TIME.validate_python(at),
                )
            except ValidationError:
                return False
            journal.marks.append(mark)
            return True
        case {"reviewed": {"first": int(first), "last": int(last)}}:
            journal.reviewed.add((first, last))
            return True
        case _:
            return not record.keys() & {"turn", "handed_over", "reviewed"}


def _take_turn(journal: _Journal, fields: dict[str, Any]) -> bool:
    try:
        turn = _TURN.validate_python(fields)
    except ValidationError:
        return False
    if turn.conversation != journal.id or (journal.turns and turn.index <= journal.turns[-1].index):
        return False
    journal.turns.append(turn)
    return True
