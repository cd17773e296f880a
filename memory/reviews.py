"""How far the reviews have come, on disk: `<state>/reviews/<id>.jsonl`, a file a conversation.

    {"reviews": {"version": 1, "id": "c1"}}
    {"asked": {"first": 0, "last": 3, "at": "…", "model": "…"}}           before a question
    {"gave_way": {"first": 0, "last": 3}}                                  it was taken back
    {"failed": {"first": 0, "last": 3, "at": "…", "model": "…", "fault": "unavailable", "message": "…", "next_at": "…"}}
    {"proposed": {"first": 0, "last": 3, …, "proposals": [{…}, …]}}        the answer, before it is applied
    {"judged": {"first": 0, "last": 3, "accepted": […], "refused": […]}}   before it is written
    {"reviewed": {"first": 0, "last": 3}}                                  done, whatever came of it
    {"journaled": {"first": 0, "last": 7}}                                 a talk has its entry, or needs none

`first` and `last` are those of the hand-over. Each line is synced. The conversation's own
file belongs to the process that leads it; this one to whoever holds `<state>/reviews/lock`,
so that one process reviews at a time.

A conversation that is over and wholly reviewed leaves in three steps: `reviewed` into its own
file, this file goes, its own file goes. A crash between them leaves no hand-over that looks
as if it waited, and the next look finishes it. Whoever begins a conversation again under its
old id meanwhile goes on in the same file.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Literal

from pydantic import AwareDatetime, TypeAdapter, ValidationError

from memory import conversations, locks, store
from memory.conversations import Kind, Transcript
from memory.errors import StateUnwritable
from memory.llm.protocol import Billing
from memory.notebooks.candidates import candidates
from memory.records import Accepted, HandOver, Proposal, Rejection, Turn

VERSION = 1

Fault = Literal["unavailable", "nonsense", "crash"]
Span = tuple[int, int]

WAITS = (
    timedelta(minutes=1),
    timedelta(minutes=5),
    timedelta(minutes=20),
    timedelta(hours=1),
    timedelta(hours=4),
    timedelta(hours=12),
)
"""After the first failure, the second … and after each later one the last."""

LONGEST_WAIT = timedelta(days=7)
"""A provider that asks to be left alone for longer is asked again after this."""

NONSENSE_TRIES = 5
"""After so many answers of one model that are none, the review is closed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """A try that brought no answer. `message` is for the user. "crash": this process died over it."""

    at: AwareDatetime
    fault: Fault
    model: str
    message: str
    next_at: AwareDatetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposed:
    """A model's answer as it is applied. `asked` counts the sentences that it saw."""

    proposals: tuple[Proposal, ...]
    marked: int
    asked: int
    model: str
    billing: Billing
    tokens_in: int | None
    tokens_out: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """What the rules made of the answer: `accepted` is written, in this order, under one key.

    `proposals` are those that were accepted, one for each.
    """

    accepted: tuple[Accepted, ...]
    proposals: tuple[Proposal, ...]
    refused: tuple[Rejection, ...]


_PROPOSED = TypeAdapter(Proposed)
_JUDGED = TypeAdapter(Judged)
_FAILURE = TypeAdapter(Failure)
_TIME: TypeAdapter[datetime] = TypeAdapter(AwareDatetime)


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """A hand-over that is not reviewed yet.

    `turns` are the conversation's up to the last one handed over, with those before it.
    `failures` are the tries so far; `proposed` is the answer and `judged` the judgement,
    where a crash came before they were applied.
    """

    hand_over: HandOver
    kind: Kind
    turns: tuple[Turn, ...]
    failures: tuple[Failure, ...] = ()
    proposed: Proposed | None = None
    judged: Judged | None = None

    @property
    def key(self) -> str:
        """The same in every process, and no other review's."""
        mark = self.hand_over
        turns = f"{mark.first_index}-{mark.last_index}"
        return f"review {mark.conversation} {turns} {mark.at.isoformat()}"

    @property
    def handed_over(self) -> tuple[Turn, ...]:
        return tuple(turn for turn in self.turns if turn.index >= self.hand_over.first_index)

    @property
    def marked(self) -> int:
        """How many sentences are worth a review; 0: it asks no model."""
        return len(candidates(self.turns, self.hand_over.first_index))

    @property
    def tries(self) -> int:
        return len(self.failures)

    @property
    def next_at(self) -> datetime | None:
        """Not before then, unless the user asks for it."""
        return self.failures[-1].next_at if self.failures and not self.proposed else None

    def nonsense_of(self, model: str) -> int:
        return sum(each.fault == "nonsense" and each.model == model for each in self.failures)


@dataclass(frozen=True, slots=True, kw_only=True)
class Talk:
    """A stretch of a conversation that is over. There is a turn in it."""

    conversation: str
    kind: Kind
    turns: tuple[Turn, ...]


def next_try(tries: int, at: datetime, retry_after_s: float | None = None) -> datetime:
    """When to try again after `tries` failures, the last of them now (`at`)."""
    wait = WAITS[min(tries, len(WAITS)) - 1]
    if retry_after_s is not None and math.isfinite(retry_after_s):
        asked = timedelta(seconds=min(retry_after_s, LONGEST_WAIT.total_seconds()))
        wait = max(wait, asked)
    return at + wait


@dataclass(slots=True)
class _Progress:
    """What a conversation's file here says, by hand-over."""

    lines: int = 0
    failures: dict[Span, list[Failure]] = field(default_factory=dict)
    asked: dict[Span, list[tuple[datetime, str]]] = field(default_factory=dict)
    proposed: dict[Span, Proposed] = field(default_factory=dict)
    judged: dict[Span, Judged] = field(default_factory=dict)
    reviewed: set[Span] = field(default_factory=set)
    journaled: set[Span] = field(default_factory=set)

    def tries(self, span: Span) -> tuple[Failure, ...]:
        """The failures, and the questions that this process or another died over.

        After the first of these it is tried again at once: a machine that is switched off
        is no fault of the question.
        """
        crashes = [
            Failure(
                at=at,
                fault="crash",
                model=model,
                message="No answer came yet: Jarvis waits for it, or was ended while it did.",
                next_at=at if number == 1 else next_try(number - 1, at),
            )
            for number, (at, model) in enumerate(self.asked.get(span, []), start=1)
        ]
        return tuple(sorted((*self.failures.get(span, []), *crashes), key=lambda each: each.at))


class Reviews:
    """What waits for its review. Every method waits for the disk; who writes holds `reviewing()`."""

    def __init__(self, state: Path) -> None:
        self._state = state
        self._folder = state / "reviews"

    def file_of(self, conversation: str) -> Path:
        """The conversation's own file, as `names` has it."""
        return conversations.path_of(self._state, conversation)

    def names(self) -> list[Path]:
        """The conversations that may hold something, one file each: for `waiting_in`."""
        return conversations.files(self._state)

    def waiting_in(self, path: Path) -> list[Waiting]:
        """The hand-overs of one conversation that wait, in order. Raises StateUnwritable."""
        transcript = conversations.transcript_in(path)
        return [] if transcript is None else self._waiting(transcript)

    def waiting(self, conversation: str | None = None) -> list[Waiting]:
        """The hand-overs that wait, oldest first, of this conversation or of all.

        Those whose progress can't be read are left out; `unreadable` names them.
        """
        found: list[Waiting] = []
        for path in self.names():
            with contextlib.suppress(StateUnwritable):
                found += (
                    each
                    for each in self.waiting_in(path)
                    if conversation in (None, each.hand_over.conversation)
                )
        return sorted(
            found, key=lambda w: (w.hand_over.at, w.hand_over.conversation, w.hand_over.first_index)
        )

    def unreadable(self) -> list[str]:
        """A sentence for each conversation that can't be reviewed, for its progress can't be read."""
        faults = []
        for path in self.names():
            try:
                self.waiting_in(path)
            except StateUnwritable as fault:
                faults.append(str(fault))
        return faults

    def fresh(self, waiting: Waiting) -> Waiting | None:
        """The same hand-over as it is on disk now; None where it is reviewed by now."""
        transcript = conversations.transcript(self._state, waiting.hand_over.conversation)
        if transcript is None:
            return None
        return next((w for w in self._waiting(transcript) if w.key == waiting.key), None)

    def _waiting(self, transcript: Transcript) -> list[Waiting]:
        progress = _read(self._path(transcript.id))
        return [
            Waiting(
                hand_over=mark,
                kind=transcript.kind,
                turns=tuple(turn for turn in transcript.turns if turn.index <= mark.last_index),
                failures=progress.tries(_span(mark)),
                proposed=progress.proposed.get(_span(mark)),
                judged=progress.judged.get(_span(mark)),
            )
            for mark in transcript.marks
            if _span(mark) not in progress.reviewed
        ]

    # Writing ---------------------------------------------------------------------------

    @contextlib.contextmanager
    def reviewing(self) -> Iterator[bool]:
        """Whether this process may review now; False where another one does."""
        store.make_folder(self._folder, private=True)
        with locks.held(self._folder / "lock") as is_ours:
            yield is_ours

    def asking(self, waiting: Waiting, at: datetime, model: str) -> None:
        """Before a question: a full disk is met before it costs anything, and a crash counts."""
        self._write(waiting, "asked", {"at": at.isoformat(), "model": model})

    def gave_way(self, waiting: Waiting) -> None:
        """The question was taken back, and counts for nothing."""
        self._write(waiting, "gave_way", {})

    def failed(self, waiting: Waiting, failure: Failure) -> None:
        self._write(
            waiting,
            "failed",
            _FAILURE.dump_python(failure, mode="json"),
        )

    def proposed(self, waiting: Waiting, proposed: Proposed) -> None:
        """Keep the answer, so that no crash makes anybody pay for it twice."""
        self._write(waiting, "proposed", _PROPOSED.dump_python(proposed, mode="json"))

    def judged(self, waiting: Waiting, judged: Judged) -> None:
        """Keep the judgement: what a crash left of the writing is finished by it, not anew."""
        self._write(waiting, "judged", _JUDGED.dump_python(judged, mode="json"))

    def reviewed(self, waiting: Waiting) -> None:
        self._write(waiting, "reviewed", {})

    def _write(self, waiting: Waiting, kind: str, fields: store.Record) -> None:
        mark = waiting.hand_over
        self._put(mark.conversation, _span(mark), kind, fields)

    def _put(self, conversation: str, span: Span, kind: str, fields: store.Record) -> None:
        store.make_folder(self._folder, private=True)
        path = self._path(conversation)
        lines: list[store.Record] = [{kind: {"first": span[0], "last": span[1], **fields}}]
        if not path.exists():
            lines.insert(0, {"reviews": {"version": VERSION, "id": conversation}})
        store.append_lines(path, lines)

    # Talks -----------------------------------------------------------------------------

    def talks_in(self, path: Path) -> list[Talk]:
        """The talks of one conversation that are over and not in the journal yet: what was said
        up to a silence, a hang-up, or its end. Raises StateUnwritable."""
        transcript = conversations.transcript_in(path)
        if transcript is None:
            return []
        ends = sorted(mark.last_index for mark in transcript.marks if mark.trigger != "30 turns")
        with conversations.at_rest(self._state, transcript.id) as at_rest:
            if at_rest and transcript.turns:
                ends.append(transcript.turns[-1].index)
        progress = _read(self._path(transcript.id))
        found, first = [], 0
        for last in dict.fromkeys(ends):
            turns = tuple(turn for turn in transcript.turns if first <= turn.index <= last)
            if turns and (turns[0].index, last) not in progress.journaled:
                found.append(Talk(conversation=transcript.id, kind=transcript.kind, turns=turns))
            first = last + 1
        return found

    def journaled(self, talk: Talk) -> None:
        """The talk has its entry, or needs none."""
        span = talk.turns[0].index, talk.turns[-1].index
        self._put(talk.conversation, span, "journaled", {})

    def finish_in(self, path: Path) -> bool:
        """As `finish`, for a file that `names` gave."""
        transcript = conversations.transcript_in(path)
        return transcript is not None and self.finish(transcript.id)

    def finish(self, conversation: str) -> bool:
        """Let a conversation go that is over and wholly reviewed; False where it is not."""
        with conversations.at_rest(self._state, conversation) as at_rest:
            if not at_rest:
                return False
            transcript = conversations.transcript(self._state, conversation)
            if transcript is not None:
                if self._waiting(transcript):
                    return False
                conversations.write_reviewed(
                    self._state, conversation, map(_span, transcript.marks)
                )
            elif conversations.exists(self._state, conversation):
                return False
            store.remove(self._path(conversation))
            conversations.remove_reviewed(self._state, conversation)
            return not conversations.exists(self._state, conversation)

    def finish_rest(self) -> None:
        """What a crash left half removed, and progress whose conversation was taken away."""
        for path in sorted(self._folder.glob("*.jsonl")):
            name = _conversation_of(path)
            if name is None or conversations.exists(self._state, name):
                continue
            with conversations.at_rest(self._state, name) as at_rest:
                if at_rest and not conversations.exists(self._state, name):
                    store.remove(path)

    def _path(self, conversation: str) -> Path:
        return self._folder / f"{conversations.file_name(conversation)}.jsonl"


# The file -----------------------------------------------------------------------------


def _span(mark: HandOver) -> Span:
    return mark.first_index, mark.last_index


def _lines(path: Path) -> list[store.Record]:
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return []
    except OSError as fault:
        # Without it nobody knows what was reviewed; a second review is worse than none.
        raise StateUnwritable(
            f"{path} can't be read ({fault.strerror}), so nothing of its conversation is reviewed. "
            "Change its permissions, or look at the disk."
        ) from fault
    return [record for line in content.split(b"\n") if (record := store.parse_line(line))]


def _conversation_of(path: Path) -> str | None:
    match _lines(path):
        case [{"reviews": {"version": int(), "id": str(name)}}, *_]:
            return name
    return None


def _read(path: Path) -> _Progress:
    """What the file says. A line that can't be read costs only itself."""
    progress = _Progress()
    lines = _lines(path)
    match lines:
        case [{"reviews": {"version": int(version)}}, *_] if version > VERSION:
            raise StateUnwritable(
                f"{path} was written by a newer version of Jarvis, so its conversation is not "
                "reviewed. Update Jarvis."
            )
    for record in lines:
        for kind, fields in record.items():
            match fields:
                case {"first": int(first), "last": int(last)}:
                    with contextlib.suppress(ValidationError, KeyError):
                        _take(progress, kind, (first, last), fields)
    return progress


def _take(progress: _Progress, kind: str, span: Span, fields: store.Record) -> None:
    """Raises ValidationError or KeyError where the line is damaged."""
    asked = progress.asked.setdefault(span, [])
    match kind:
        case "asked":
            asked.append((_TIME.validate_python(fields["at"]), str(fields["model"])))
        case "gave_way":
            del asked[-1:]
        case "failed":
            del asked[-1:]
            progress.failures.setdefault(span, []).append(_FAILURE.validate_python(fields))
        case "proposed":
            del asked[-1:]
            progress.proposed[span] = _PROPOSED.validate_python(fields)
        case "judged":
            progress.judged[span] = _JUDGED.validate_python(fields)
        case "reviewed":
            progress.reviewed.add(span)
        case "journaled":
            progress.journaled.add(span)
