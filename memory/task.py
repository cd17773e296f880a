"""The memory task: reviews what was handed over, out of the way of every conversation (V11, L4).

    task = MemoryTask(state=…, ledger=…, events=…, model=…, quiet=…, now=…)
    task.wake()                     a hand-over was written, or a conversation was closed
    await task.run()                until it is cancelled
    await task.review_now("c1")     because the user asks

One hand-over at a time: filter, at most one question, validation, writing. All of it waits
on disk (memory/reviews.py), so that it goes on where a crash left it. Filtering, judging and
files run in a thread, in pieces of a few milliseconds, so that the event loop of a call that
goes on meanwhile is held up by none.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Literal

from memory.asking import Alone, Asking, Quiet, asks_of, counted, read_of
from memory.errors import MemoryFault, ModelUnavailable, NotebookUnwritable, StateUnwritable
from memory.event_records import Value
from memory.events import EventLog
from memory.journal.talks import entries_of
from memory.lessons.door import Lessons
from memory.lessons.records import ReflectReport
from memory.lessons.reflecting import Reflecting
from memory.llm.protocol import Llm, Reply
from memory.notebooks.candidates import marked_in, with_previous
from memory.notebooks.ledger import Ledger
from memory.notebooks.own_words import verdicts
from memory.notebooks.planned import NotWritten
from memory.notebooks.review import Marked
from memory.notebooks.validate import Grounds, decide
from memory.records import Change, HandOver, Proposal, Rejection, Turn
from memory.reviews import (
    NONSENSE_TRIES,
    Failure,
    Fault,
    Judged,
    Proposed,
    Reviews,
    Talk,
    Waiting,
    next_try,
)
from memory.threads import in_thread
from memory.tidying import Tidying

__all__ = [
    "Alone",
    "MemoryTask",
    "Outcome",
    "Quiet",
    "ReviewReport",
    "Reviewed",
]

log = logging.getLogger(__name__)

QUIET_S = (0.0, 2.0, 5.0, 15.0, 30.0, 60.0)
"""How long it must have been quiet before a model on this CPU is asked: at first, after it
gave way once, twice …"""

LOOK_EVERY_S = 600.0
"""How often it looks for what other processes left."""

_AFTER_FAULT_S = 60.0
_WRITING = timedelta(seconds=30)
"""How long after a turn what it asked to have remembered may be written."""
_SOME_DAY = datetime(2026, 1, 1, tzinfo=UTC)
_OFF = "Learning is switched off, so nothing is reviewed. Switch it on (learning = true) first."
_NO_LESSONS = (
    "Learning is switched off, so no lessons are made. Switch it on (learning = true) first."
)
_ELSEWHERE_S = 30.0
_ELSEWHERE = "Another Jarvis reviews at the moment. Try again in a minute."

Outcome = Literal["nothing marked", "asked", "given up", "switched off"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reviewed:
    """A hand-over that is done. `marked` are its sentences; `asked` counts those that were sent.

    `changes` are what was written, `rejections` what was refused and why.
    """

    hand_over: HandOver
    outcome: Outcome
    marked: tuple[Marked, ...] = ()
    asked: int = 0
    changes: tuple[Change, ...] = ()
    rejections: tuple[Rejection, ...] = ()
    tokens_in: int = 0
    tokens_out: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewReport:
    """What one look has done. `faults` are sentences for the user about what still waits."""

    reviewed: tuple[Reviewed, ...] = ()
    faults: tuple[str, ...] = ()


class MemoryTask:
    """`model` gives the background model of the moment, or raises ModelUnavailable; it is asked
    before each question, so that who pays is never decided ahead. `now` is the user's clock,
    aware. With `learning` off what is handed over from now on is closed unread (L6.5).
    Without `lessons` none are made; without `reflects` none by itself.
    """

    def __init__(
        self,
        *,
        state: Path,
        ledger: Ledger,
        events: EventLog,
        model: Callable[[], Awaitable[Llm]],
        quiet: Quiet,
        now: Callable[[], datetime],
        learning: bool = True,
        reflects: bool = True,
        lessons: Lessons | None = None,
    ) -> None:
        self._reviews = Reviews(state)
        self._ledger = ledger
        self._events = events
        self._now = now
        self._asking = Asking(events=events, choose=model, quiet=quiet, now=now)
        self._tidying = Tidying(ledger=ledger, events=events, asking=self._asking, now=now)
        self._reflecting = (
            None
            if lessons is None
            else Reflecting(
                lessons=lessons, events=events, ledger=ledger, asking=self._asking, now=now
            )
        )
        self._learning = learning
        self._reflects = reflects
        self._began_at = now()
        self._is_loaded = False
        self._woken = asyncio.Event()
        self._looking = asyncio.Lock()
        self._marked: dict[str, tuple[Marked, ...]] = {}
        self._answered: dict[tuple[str, str], dict[str, Reply]] = {}

    def wake(self) -> None:
        """A hand-over was written, or a conversation was closed. From the event loop's thread."""
        self._woken.set()

    def switch(self, *, learning: bool, reflects: bool) -> None:
        """The user's settings from now on. What was handed over before learning was switched off
        goes on waiting. From the event loop's thread."""
        if self._learning and not learning:
            self._began_at = self._now()
        self._learning, self._reflects = learning, reflects
        self.wake()

    async def run(self) -> None:
        """Review what waits, whenever it may. Returns only by being cancelled.

        Begin it before the first call: it loads its words and rules, some tenths of a second.
        """
        while True:
            self._woken.clear()
            pause_s = await self._look_around()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(pause_s):
                    await self._woken.wait()

    async def review_now(self, conversation: str | None = None) -> ReviewReport:
        """Review what waits, of this conversation or of all, without the waits after failures.

        What the world refuses (a full disk, a notebook that is no text) is among the faults.
        """
        return await self._look(conversation, asked_for=True)

    async def _look_around(self) -> float:
        """Seconds until there may be something to do again."""
        try:
            if not self._is_loaded:
                await in_thread(load)
                self._is_loaded = True
            report = await self._look(None, asked_for=False)
            await self._tidy()
            if self._reflects:
                await self._reflect(asked_for=False)
            if _ELSEWHERE in report.faults:
                return _ELSEWHERE_S
            return await self._pause_s()
        except MemoryFault as fault:
            log.warning("%s", fault)
            return LOOK_EVERY_S
        except Exception:
            # A mistake of ours in one review must end neither the reviews nor the call that
            # goes on beside them.
            log.exception("The memory task failed; it goes on in a minute.")
        return _AFTER_FAULT_S

    async def _pause_s(self) -> float:
        """Until the next try that a failure put off."""
        now = self._now()
        waits = [
            (each.next_at - now).total_seconds()
            for each in await self._waiting(None, [])
            if each.next_at is not None
        ]
        return max(1.0, min([LOOK_EVERY_S, *(wait for wait in waits if wait > 0)]))

    async def _tidy(self) -> None:
        if not self._learning:
            return
        async with self._looking, self._one_process() as held:
            if held:
                await self._tidying.tidy()

    async def reflect_now(self) -> ReflectReport:
        """Look for lessons in what happened since the last pass, and tidy them (F7). Raises
        StateUnwritable."""
        return await self._reflect(asked_for=True)

    async def _reflect(self, *, asked_for: bool) -> ReflectReport:
        if not self._learning or self._reflecting is None:
            return ReflectReport(outcome="switched off", faults=(_NO_LESSONS,))
        async with self._looking, self._one_process() as held:
            if not held:
                return ReflectReport(outcome="busy", faults=(_ELSEWHERE,))
            return await self._reflecting.reflect(asked_for=asked_for)

    # One look --------------------------------------------------------------------------

    async def _look(self, conversation: str | None, *, asked_for: bool) -> ReviewReport:
        async with self._looking:
            faults: list[str] = []
            done: list[Reviewed] = []
            await in_thread(self._reviews.finish_rest)
            queue = await self._waiting(conversation, faults)
            held_up: set[str] = set()
            while (waiting := await self._next(queue, held_up)) is not None:
                queue.remove(waiting)
                try:
                    found = await self._step(waiting, asked_for=asked_for, faults=faults)
                except MemoryFault as fault:
                    # A full disk, a notebook that can't be written: it waits, with its answer.
                    log.warning("%s", fault)
                    faults.append(str(fault))
                    found = None
                if isinstance(found, Reviewed):
                    done.append(found)
                    continue
                # What was said later is reviewed later: it may correct this.
                held_up.add(waiting.hand_over.conversation)
                if isinstance(found, Failure) and found.fault == "unavailable":
                    asked_for = False  # the others need not hear the same
            return ReviewReport(reviewed=tuple(done), faults=tuple(dict.fromkeys(faults)))

    async def _waiting(self, conversation: str | None, faults: list[str]) -> list[Waiting]:
        found: list[Waiting] = []
        for path in await in_thread(self._reviews.names):
            try:
                here = await in_thread(self._reviews.waiting_in, path)
                if await in_thread(self._is_journaled, path) and not here:
                    await in_thread(self._reviews.finish_in, path)
            except StateUnwritable as fault:
                log.warning("%s", fault)
                faults.append(str(fault))
                continue
            found += (w for w in here if conversation in (None, w.hand_over.conversation))
        return found

    def _is_journaled(self, path: Path) -> bool:
        """Whether what this conversation held is in the journal, from now on at the latest."""
        if not self._learning or not self._reviews.talks_in(path):
            return True
        with self._reviews.reviewing() as is_ours:
            if is_ours:
                self._journal(path)
        return is_ours

    def _journal(self, path: Path) -> None:
        """Each talk that is over leaves its entry, once: a crash between the entry and the note
        that it is there finds the entry (m14)."""
        for talk in self._reviews.talks_in(path):
            for entry in entries_of(talk.turns, talk.kind, self._remembered_in(talk)):
                try:
                    self._ledger.journal(entry)
                except NotebookUnwritable as fault:
                    # The day's file is the user's: as it is, nothing can be appended to it.
                    log.warning("%s", fault)
            self._reviews.journaled(talk)

    def _remembered_in(self, talk: Talk) -> list[str]:
        first, last = talk.turns[0].began_at, talk.turns[-1].ended_at + _WRITING
        return [
            change.new
            for change in self._ledger.changes()
            if change.source == "remember"
            and change.conversation == talk.conversation
            and change.new is not None
            and first <= (change.said_at or change.at) <= last
        ]

    async def _next(self, queue: Sequence[Waiting], held_up: set[str]) -> Waiting | None:
        """First what needs no model, then what was tried least, then what is oldest."""
        heads: dict[str, Waiting] = {}
        for waiting in queue:
            name = waiting.hand_over.conversation
            if name not in held_up:
                heads.setdefault(name, waiting)
        ranked = []
        for waiting in heads.values():
            free = waiting.proposed is not None or not await self._marked_in(waiting)
            mark = waiting.hand_over
            ranked.append(((not free, waiting.tries, mark.at, mark.conversation), waiting))
        return min(ranked, key=lambda pair: pair[0])[1] if ranked else None

    async def _marked_in(self, waiting: Waiting) -> tuple[Marked, ...]:
        if self._is_off_for(waiting):
            return ()
        if waiting.key not in self._marked:
            found: list[Marked] = []
            for turn, previous in with_previous(waiting.turns):
                if turn.index >= waiting.hand_over.first_index:
                    found += await in_thread(marked_in, turn, previous)
            self._marked[waiting.key] = tuple(found)
        return self._marked[waiting.key]

    def _is_off_for(self, waiting: Waiting) -> bool:
        """What waited before learning was switched off goes on waiting."""
        return not self._learning and waiting.hand_over.at >= self._began_at

    # One hand-over ---------------------------------------------------------------------

    async def _step(
        self, waiting: Waiting, *, asked_for: bool, faults: list[str]
    ) -> Reviewed | Failure | None:
        """Review it. Where it has to wait a sentence in `faults` says why."""
        if not self._learning and not self._is_off_for(waiting):
            faults.append(_OFF)
            return None
        marked = await self._marked_in(waiting)
        gave_way = 0
        while True:
            model = None
            if marked and waiting.proposed is None:
                model = await self._asking.model(
                    faults=faults, next_at=waiting.next_at, asked_for=asked_for
                )
                if model is None:
                    return None
                if model.uses_this_cpu:
                    await self._asking.quiet_for(QUIET_S[min(gave_way, len(QUIET_S) - 1)])
            async with self._one_process() as held:
                if not held:
                    faults.append(_ELSEWHERE)
                    return None
                fresh = await in_thread(self._reviews.fresh, waiting)
                if fresh is None:  # reviewed by another process meanwhile
                    return None
                if marked and fresh.proposed is None and model is None:  # its answer was lost
                    waiting = fresh
                    continue
                if fresh.proposed is None and model is not None:
                    answer = await self._ask(fresh, marked, model)
                    if answer is None:
                        gave_way += 1
                        continue
                    if isinstance(answer, Failure):
                        faults.append(answer.message)
                        if not self._is_given_up(fresh, answer):
                            return answer
                        return await self._close(fresh, self._given_up(fresh, marked), model=model)
                    await in_thread(self._reviews.proposed, fresh, answer)
                    return await self._apply(fresh, answer, marked, is_resumed=False)
                if fresh.proposed is not None:
                    return await self._apply(fresh, fresh.proposed, marked, is_resumed=True)
                outcome: Outcome = "switched off" if self._is_off_for(fresh) else "nothing marked"
                return await self._close(
                    fresh, Reviewed(hand_over=fresh.hand_over, outcome=outcome)
                )

    @contextlib.asynccontextmanager
    async def _one_process(self) -> AsyncIterator[bool]:
        hold = self._reviews.reviewing()
        held = await in_thread(hold.__enter__)
        try:
            yield held
        finally:
            hold.__exit__(None, None, None)

    # The question ----------------------------------------------------------------------

    async def _ask(
        self, waiting: Waiting, marked: Sequence[Marked], model: Llm
    ) -> Proposed | Failure | None:
        """The answer, or why there is none; None when it gave way to somebody who speaks."""
        notebooks = await in_thread(self._ledger.entries)
        asks = await in_thread(
            asks_of,
            marked,
            notebooks,
            waiting.turns[-1].began_at,
            small=model.small,
        )
        answered = self._answered.setdefault((waiting.key, model.name), {})
        if asks:
            await in_thread(self._reviews.asking, waiting, self._now(), model.name)
        for ask in asks:
            if ask.question.text in answered:  # before it gave way
                continue
            try:
                reply = await self._asking.answer(model, ask.question)
            except ModelUnavailable as fault:
                return await self._failed(
                    waiting, model, "unavailable", str(fault), (), fault.retry_after_s
                )
            except asyncio.CancelledError:
                # Jarvis is being ended: no fault of the question's. Some milliseconds, once.
                with contextlib.suppress(StateUnwritable):
                    self._reviews.gave_way(waiting)
                raise
            if reply is None:
                await in_thread(self._reviews.gave_way, waiting)
                return None
            answered[ask.question.text] = await in_thread(counted, ask.question, reply)
        replies = [answered[ask.question.text] for ask in asks]
        del self._answered[waiting.key, model.name]
        read = await in_thread(read_of, asks, replies, notebooks)
        if read.fault is not None:
            return await self._failed(waiting, model, "nonsense", read.fault, replies, None)
        return Proposed(
            proposals=read.proposals,
            marked=len(marked),
            asked=sum(ask.sentences for ask in asks),
            model=model.name,
            billing=model.billing,
            tokens_in=sum(reply.tokens_in or 0 for reply in replies),
            tokens_out=sum(reply.tokens_out or 0 for reply in replies),
        )

    async def _failed(
        self,
        waiting: Waiting,
        model: Llm,
        fault: Fault,
        message: str,
        replies: Sequence[Reply],
        retry_after_s: float | None,
    ) -> Failure:
        """Keep that there was no answer, and when to try again."""
        if fault == "unavailable":
            tries = len(await in_thread(self._asking.streak, model.name)) + 1
        else:
            tries = waiting.tries + 1
        at = self._now()
        failure = Failure(
            at=at,
            fault=fault,
            model=model.name,
            message=message,
            next_at=next_try(tries, at, retry_after_s),
        )
        await in_thread(self._reviews.failed, waiting, failure)
        await self._note(
            "review_failed",
            waiting.hand_over,
            {
                "model": model.name,
                "billing": model.billing,
                "fault": fault,
                "tries": waiting.tries + 1,
                "next_at": failure.next_at.isoformat(),
                "tokens_in": sum(reply.tokens_in or 0 for reply in replies),
                "tokens_out": sum(reply.tokens_out or 0 for reply in replies),
            },
        )
        log.info("A review of %s failed: %s.", waiting.hand_over.conversation, fault)
        return failure

    def _is_given_up(self, waiting: Waiting, failure: Failure) -> bool:
        return (
            failure.fault == "nonsense" and waiting.nonsense_of(failure.model) + 1 >= NONSENSE_TRIES
        )

    def _given_up(self, waiting: Waiting, marked: tuple[Marked, ...]) -> Reviewed:
        return Reviewed(hand_over=waiting.hand_over, outcome="given up", marked=marked)

    # The answer ------------------------------------------------------------------------

    async def _apply(
        self,
        waiting: Waiting,
        proposed: Proposed,
        marked: tuple[Marked, ...],
        *,
        is_resumed: bool,
    ) -> Reviewed:
        judged = waiting.judged or await self._judge(waiting, proposed)
        written = await in_thread(
            self._ledger.write,
            judged.accepted,
            source="review",
            at=self._now(),
            conversation=waiting.hand_over.conversation,
            said_at={turn.index: turn.began_at for turn in waiting.turns},
            key=waiting.key,
        )
        results = tuple(zip(judged.proposals, written, strict=True))
        rejections = judged.refused + tuple(
            Rejection(proposal=proposal, rule=result.rule, reason=result.reason)
            for proposal, result in results
            if isinstance(result, NotWritten)
        )
        for rejection in rejections:
            await in_thread(
                self._events.refuse, rejection, self._now(), waiting.hand_over.conversation
            )
        done = Reviewed(
            hand_over=waiting.hand_over,
            outcome="asked",
            marked=marked,
            asked=proposed.asked,
            changes=tuple(result for result in written if isinstance(result, Change)),
            rejections=rejections,
            tokens_in=proposed.tokens_in or 0,
            tokens_out=proposed.tokens_out or 0,
        )
        return await self._close(waiting, done, proposed=proposed, is_resumed=is_resumed)

    async def _judge(self, waiting: Waiting, proposed: Proposed) -> Judged:
        """Judge the answer against the notebooks as they are now, and keep the judgement."""
        grounds = Grounds(
            turns=waiting.turns,
            notebooks=await in_thread(self._ledger.entries),
            removed=await in_thread(self._ledger.removed),
        )
        found = await in_thread(verdicts, proposed.proposals, grounds)
        written = [each.written for each in found if each.written is not None]
        judged = Judged(
            accepted=tuple(accepted for _, accepted in written),
            proposals=tuple(proposal for proposal, _ in written),
            refused=tuple(each.outcome for each in found if isinstance(each.outcome, Rejection)),
        )
        await in_thread(self._reviews.judged, waiting, judged)
        return judged

    async def _close(
        self,
        waiting: Waiting,
        done: Reviewed,
        *,
        proposed: Proposed | None = None,
        model: Llm | None = None,
        is_resumed: bool = False,
    ) -> Reviewed:
        """Log it, and only then say that it is done."""
        mark = waiting.hand_over
        if not (is_resumed and await in_thread(self._is_logged, mark)):
            await self._note(
                "reviewed",
                mark,
                {
                    "marked": len(done.marked),
                    "corrections": sum(each.kind == "correction" for each in done.marked),
                    "asked": done.asked,
                    "proposed": len(proposed.proposals) if proposed else 0,
                    "accepted": len(done.changes),
                    "rejected": len(done.rejections),
                    "tokens_in": proposed.tokens_in if proposed else 0,
                    "tokens_out": proposed.tokens_out if proposed else 0,
                    "model": proposed.model if proposed else model.name if model else None,
                    "billing": proposed.billing if proposed and proposed.asked else None,
                    "outcome": done.outcome,
                },
            )
        await in_thread(self._reviews.reviewed, waiting)
        if self._learning:
            await in_thread(self._journal, self._reviews.file_of(mark.conversation))
        await in_thread(self._reviews.finish, mark.conversation)
        self._marked.pop(waiting.key, None)
        log.info(
            "Reviewed %s, turns %d to %d: %s, %d marked, %d written, %d refused.",
            mark.conversation, mark.first_index, mark.last_index, done.outcome,
            len(done.marked), len(done.changes), len(done.rejections),
        )  # fmt: skip
        return done

    def _is_logged(self, mark: HandOver) -> bool:
        return any(
            (event.data["first"], event.data["last"]) == (mark.first_index, mark.last_index)
            and event.at >= mark.at
            for event in self._events.events("reviewed", conversation=mark.conversation)
        )

    async def _note(
        self,
        kind: Literal["reviewed", "review_failed"],
        mark: HandOver,
        data: Mapping[str, Value],
    ) -> None:
        span: Mapping[str, Value] = {"first": mark.first_index, "last": mark.last_index}
        await in_thread(
            self._events.append,
            kind,
            self._now(),
            conversation=mark.conversation,
            data={**span, **data},
        )


def load() -> None:
    """Rules, words, dates and the tokenizer are read at their first use; not in mid-call."""
    said = Turn(
        conversation="",
        index=0,
        speaker="user",
        text="I'm vegan, by the way.",
        language=None,
        began_at=_SOME_DAY,
        ended_at=_SOME_DAY,
        origin="typed",
    )
    proposal = Proposal(
        operation="add", notebook="USER.md", entry=None, text="I'm vegan.", quote=said.text
    )
    marked = marked_in(said, None)
    asks_of(marked, {}, _SOME_DAY, small=False)
    decide(proposal, Grounds(turns=(said,), notebooks={}))
