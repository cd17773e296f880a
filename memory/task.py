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
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Literal, Protocol

from memory.errors import MemoryFault, ModelUnavailable, StateUnwritable
from memory.events import NAME_CHARS, Event, EventLog, Value
from memory.llm.protocol import Llm, Question, Reply
from memory.notebooks import merging, review, tidy
from memory.notebooks.answers import ANSWER_CHARS
from memory.notebooks.candidates import marked_in, with_previous
from memory.notebooks.ledger import Ledger, NotWritten
from memory.notebooks.limits import MERGE_AT, MERGE_EVERY
from memory.notebooks.merging import Merge
from memory.notebooks.review import Marked, Read
from memory.notebooks.tidy import Drop
from memory.notebooks.tokens import tokens
from memory.notebooks.validate import Grounds, decide
from memory.prompts import prompt
from memory.records import NOTEBOOKS, Accepted, Change, HandOver, Notebook, Proposal, Rejection
from memory.reviews import (
    LONGEST_WAIT,
    NONSENSE_TRIES,
    Failure,
    Fault,
    Judged,
    Proposed,
    Reviews,
    Waiting,
    next_try,
)

log = logging.getLogger(__name__)

QUESTIONS_A_DAY = 50
"""In any 24 hours the model is asked at most so often, failures included (m36)."""

QUIET_S = (0.0, 2.0, 5.0, 15.0, 30.0, 60.0)
"""How long it must have been quiet before a model on this CPU is asked: at first, after it
gave way once, twice …"""

LOOK_EVERY_S = 600.0
"""How often it looks for what other processes left."""

NO_MODEL_S = 600.0
"""When no model is at hand: how long until it looks for one again."""

_DAY = timedelta(days=1)
_MERGE_PATIENCE_S = 60.0  # then the next look tries again: no review has to wait for a merge
_AFTER_FAULT_S = 60.0
_ANSWER_GRACE_S = 10.0  # a client keeps the question's timeout; this is for one that doesn't

Outcome = Literal["nothing marked", "asked", "given up", "switched off"]


class Quiet(Protocol):
    """Whether somebody speaks to Jarvis or waits for its answer, in whatever conversation."""

    async def wait(self) -> None:
        """Returns when nobody does: at once where it is quiet already."""
        ...

    async def broken(self) -> None:
        """Returns when somebody does: at once where it is not quiet."""
        ...


class Alone:
    """The quiet of a process without conversations, as `jarvis review` is."""

    async def wait(self) -> None:
        return

    async def broken(self) -> None:
        await _never()


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


@dataclass(frozen=True, slots=True, kw_only=True)
class TidyReport:
    """What went, what found room, what was merged and what the rules kept from being merged."""

    dropped: tuple[Drop, ...] = ()
    placed: tuple[Change, ...] = ()
    merged: tuple[Change, ...] = ()
    refused: tuple[Rejection, ...] = ()
    faults: tuple[str, ...] = ()


class MemoryTask:
    """`model` gives the background model of the moment, or raises ModelUnavailable; it is asked
    before each question, so that who pays is never decided ahead. `now` is the user's clock,
    aware. With `learning` off what is handed over from now on is closed unread (L6.5).
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
    ) -> None:
        self._reviews = Reviews(state)
        self._ledger = ledger
        self._events = events
        self._model = model
        self._quiet = quiet
        self._now = now
        self._learning = learning
        self._began_at = now()
        self._woken = asyncio.Event()
        self._looking = asyncio.Lock()
        self._marked: dict[str, tuple[Marked, ...]] = {}
        self._answered: dict[tuple[str, str], dict[str, Reply]] = {}
        self._tidied: tuple[str, date] | None = None
        self._no_model_until = self._began_at

    def wake(self) -> None:
        """A hand-over was written, or a conversation was closed. From the event loop's thread."""
        self._woken.set()

    async def run(self) -> None:
        """Review what waits, whenever it may. Returns only by being cancelled."""
        while True:
            self._woken.clear()
            pause_s = await self._look_around()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(pause_s):
                    await self._woken.wait()

    async def review_now(self, conversation: str | None = None) -> ReviewReport:
        """Review what waits, of this conversation or of all, without the waits after failures.

        Raises StateUnwritable.
        """
        return await self._look(conversation, asked_for=True)

    async def _look_around(self) -> float:
        """Seconds until there may be something to do again."""
        try:
            await self._look(None, asked_for=False)
            await self._tidy(asked_for=False)
            return await self._pause_s()
        except MemoryFault as fault:
            log.warning("%s", fault)
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

    async def tidy_now(self) -> TidyReport:
        """Tidy up, and merge if the notebooks are nearly full. Raises StateUnwritable and
        NotebookUnwritable."""
        return await self._tidy(asked_for=True)

    # One look --------------------------------------------------------------------------

    async def _look(self, conversation: str | None, *, asked_for: bool) -> ReviewReport:
        async with self._looking:
            faults: list[str] = []
            done: list[Reviewed] = []
            await asyncio.to_thread(self._reviews.finish_rest)
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
                else:
                    # What was said later is reviewed later: it may correct this.
                    held_up.add(waiting.hand_over.conversation)
            return ReviewReport(reviewed=tuple(done), faults=tuple(dict.fromkeys(faults)))

    async def _waiting(self, conversation: str | None, faults: list[str]) -> list[Waiting]:
        found: list[Waiting] = []
        for path in await asyncio.to_thread(self._reviews.names):
            try:
                here = await asyncio.to_thread(self._reviews.waiting_in, path)
                if not here:
                    await asyncio.to_thread(self._reviews.finish_in, path)
            except StateUnwritable as fault:
                log.warning("%s", fault)
                faults.append(str(fault))
                continue
            found += (w for w in here if conversation in (None, w.hand_over.conversation))
        return found

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
                    found += await asyncio.to_thread(marked_in, turn, previous)
            self._marked[waiting.key] = tuple(found)
        return self._marked[waiting.key]

    def _is_off_for(self, waiting: Waiting) -> bool:
        """What waited before learning was switched off goes on waiting."""
        return not self._learning and waiting.hand_over.at >= self._began_at

    # One hand-over ---------------------------------------------------------------------

    async def _step(
        self, waiting: Waiting, *, asked_for: bool, faults: list[str]
    ) -> Reviewed | None:
        """Review it; None where it has to wait, with a sentence in `faults` that says why."""
        if not self._learning and not self._is_off_for(waiting):
            return None
        marked = await self._marked_in(waiting)
        gave_way = 0
        while True:
            model = None
            if marked and waiting.proposed is None:
                model = await self._model_for(waiting, asked_for=asked_for, faults=faults)
                if model is None:
                    return None
                if model.uses_this_cpu:
                    await self._quiet_for(QUIET_S[min(gave_way, len(QUIET_S) - 1)])
            async with self._one_process() as held:
                if not held:
                    faults.append("Another Jarvis reviews at the moment. Try again in a minute.")
                    return None
                fresh = await asyncio.to_thread(self._reviews.fresh, waiting)
                if fresh is None:  # reviewed by another process meanwhile
                    return None
                if fresh.proposed is None and model is not None:
                    answer = await self._ask(fresh, marked, model)
                    if answer is None:
                        gave_way += 1
                        continue
                    if isinstance(answer, Failure):
                        faults.append(answer.message)
                        if not self._is_given_up(fresh, answer):
                            return None
                        return await self._close(fresh, self._given_up(fresh, marked), model=model)
                    await asyncio.to_thread(self._reviews.proposed, fresh, answer)
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
        held = await asyncio.to_thread(hold.__enter__)
        try:
            yield held
        finally:
            hold.__exit__(None, None, None)

    # The question ----------------------------------------------------------------------

    async def _model_for(
        self, waiting: Waiting | None, *, asked_for: bool, faults: list[str]
    ) -> Llm | None:
        """The model, if it may be asked now (about this); else a sentence that says why not."""
        now = self._now()
        if not asked_for:
            next_at = waiting.next_at if waiting else None
            if _is_ahead(next_at, now) or _is_ahead(self._no_model_until, now):
                return None
            if await asyncio.to_thread(self._asked_since, now - _DAY) >= QUESTIONS_A_DAY:
                faults.append(
                    f"The background model was asked {QUESTIONS_A_DAY} times in 24 hours; the "
                    "other reviews wait until tomorrow. `jarvis review` does one now."
                )
                return None
        try:
            model = await self._model()
        except ModelUnavailable as fault:
            self._no_model_until = now + timedelta(seconds=NO_MODEL_S)
            faults.append(str(fault))
            return None
        if not asked_for:
            failures = await asyncio.to_thread(self._streak, model.name)
            if failures and _is_ahead(failures[-1], now):
                return None
        return model

    def _asked_since(self, since: datetime) -> int:
        asked = [e for e in self._events.events("reviewed", since=since) if e.data.get("asked")]
        failed = self._events.events("review_failed", since=since)
        merged = [
            e for e in self._events.events("merged", since=since) if e.data["outcome"] == "asking"
        ]
        return len(asked) + len(failed) + len(merged)

    def _streak(self, model: str) -> list[datetime]:
        """When to ask this model again, after each time that it gave no answer since its last."""
        answered = self._events.last("reviewed", model=model)
        return [
            datetime.fromisoformat(event.data["next_at"])
            for event in self._events.events(
                "review_failed", since=answered.at if answered else None
            )
            if event.data["model"] == model[:NAME_CHARS] and event.data["fault"] == "unavailable"
        ]

    async def _quiet_for(self, seconds: float) -> None:
        """Until it has been quiet for so long."""
        while True:
            await self._quiet.wait()
            try:
                async with asyncio.timeout(seconds):
                    await self._quiet.broken()
            except TimeoutError:
                return

    async def _ask(
        self, waiting: Waiting, marked: Sequence[Marked], model: Llm
    ) -> Proposed | Failure | None:
        """The answer, or why there is none; None when it gave way to somebody who speaks."""
        notebooks = await asyncio.to_thread(self._ledger.entries)
        asks = await asyncio.to_thread(asks_of, marked, notebooks, waiting, small=model.small)
        answered = self._answered.setdefault((waiting.key, model.name), {})
        if asks:
            await asyncio.to_thread(self._reviews.asking, waiting, self._now(), model.name)
        for ask in asks:
            if ask.question.text in answered:  # before it gave way
                continue
            try:
                reply = await self._answer(model, ask.question)
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
                await asyncio.to_thread(self._reviews.gave_way, waiting)
                return None
            answered[ask.question.text] = await asyncio.to_thread(_counted, ask.question, reply)
        replies = [answered[ask.question.text] for ask in asks]
        del self._answered[waiting.key, model.name]
        read = await asyncio.to_thread(read_of, asks, replies, notebooks)
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

    async def _answer(self, model: Llm, question: Question) -> Reply | None:
        """None when somebody began to speak, and the model uses this CPU."""
        answering = asyncio.ensure_future(model.ask(question))
        speaking = asyncio.ensure_future(self._quiet.broken() if model.uses_this_cpu else _never())
        try:
            await asyncio.wait(
                (answering, speaking),
                timeout=question.timeout_s + _ANSWER_GRACE_S,
                return_when=asyncio.FIRST_COMPLETED,
            )
            if answering.done():
                return answering.result()
            if speaking.done():
                return None
        finally:
            # Waited for, so that the model has stopped when somebody needs the CPU.
            for task in (answering, speaking):
                task.cancel()
            await asyncio.gather(answering, speaking, return_exceptions=True)
        raise ModelUnavailable(
            f"{model.name} gave no answer within {question.timeout_s:.0f} seconds. The review "
            "waits and is tried again."
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
            tries = len(await asyncio.to_thread(self._streak, model.name)) + 1
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
        await asyncio.to_thread(self._reviews.failed, waiting, failure)
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

    # Tidying ---------------------------------------------------------------------------

    async def _tidy(self, *, asked_for: bool) -> TidyReport:
        """Small on purpose (L6): what goes for free, one merge, and what waits for room.

        By itself only when a notebook changed, or a day began.
        """
        if not self._learning:
            return TidyReport()
        async with self._looking, self._one_process() as held:
            if not held:
                return TidyReport()
            await asyncio.to_thread(self._ledger.notice_edits, self._now())
            changes = await asyncio.to_thread(self._ledger.changes)
            seen = (changes[-1].id if changes else "", self._now().date())
            if seen == self._tidied and not asked_for:
                return TidyReport()
            entries = await asyncio.to_thread(self._ledger.entries)
            found = await asyncio.to_thread(tidy.drops, entries, changes, seen[1])
            written = await asyncio.to_thread(
                partial(
                    self._ledger.write,
                    [tidy.dropped(drop) for drop in found],
                    source="tidy",
                    at=self._now(),
                )
            )
            gone = tuple(
                drop
                for drop, result in zip(found, written, strict=True)
                if isinstance(result, Change)
            )
            merged, refused, fault = await self._merge(asked_for=asked_for)
            placed = await asyncio.to_thread(self._ledger.place_waiting, self._now())
            if gone or placed:
                await asyncio.to_thread(
                    partial(
                        self._events.append,
                        "tidied",
                        self._now(),
                        data={
                            "duplicates": sum(drop.why == "duplicate" for drop in gone),
                            "outdated": sum(drop.why == "outdated" for drop in gone),
                            "placed": len(placed),
                        },
                    )
                )
                log.info("Tidied: %d entries went, %d found room.", len(gone), len(placed))
            if len(found) < tidy.AT_ONCE and fault is None:
                changes = await asyncio.to_thread(self._ledger.changes)
                self._tidied = (changes[-1].id if changes else "", seen[1])
            return TidyReport(
                dropped=gone,
                placed=placed,
                merged=merged,
                refused=refused,
                faults=() if fault is None else (fault,),
            )

    async def _merge(
        self, *, asked_for: bool
    ) -> tuple[tuple[Change, ...], tuple[Rejection, ...], str | None]:
        """At 80 percent one call, at most every twelve hours (L6.2): what was written, what
        was refused, and why nobody could be asked.

        Judged and written entry by entry against the notebooks as they are after the call (m18).
        """
        entries = await asyncio.to_thread(self._ledger.entries)
        changes = await asyncio.to_thread(self._ledger.changes)
        full = await asyncio.to_thread(self._ledger.fullness)
        last = await asyncio.to_thread(self._events.last, "merged")
        if full < MERGE_AT or not _merge_is_due(last, changes, self._now()):
            return (), (), None
        own: dict[Notebook, tuple[str, ...]] = {
            name: tuple(each.text for each in tidy.ours(changes, entries) if each.notebook == name)
            for name in NOTEBOOKS
        }
        question = await asyncio.to_thread(partial(merging.question, own, frame=prompt("merge.md")))
        if question is None:
            return (), (), None
        faults: list[str] = []
        model = await self._model_for(None, asked_for=asked_for, faults=faults)
        if model is None:
            return (), (), faults[0] if faults else "The background model is away."
        if model.uses_this_cpu:
            try:
                async with asyncio.timeout(_MERGE_PATIENCE_S):
                    await self._quiet_for(QUIET_S[0])
            except TimeoutError:
                return (), (), "Somebody speaks; merging waits for quiet."
        at = self._now()
        by: Mapping[str, Value] = {"model": model.name, "billing": model.billing}
        await self._note_merge({**by, "outcome": "asking", "entries": sum(map(len, own.values()))})
        try:
            reply = await self._answer(model, question)
        except ModelUnavailable as fault:
            await self._note_merge({**by, "outcome": "unavailable"})
            return (), (), str(fault)
        if reply is None:
            await self._note_merge({**by, "outcome": "gave way"})
            return (), (), "Somebody speaks; merging waits for quiet."
        counted = await asyncio.to_thread(_counted, question, reply)
        read = await asyncio.to_thread(merging.merges, reply.text, own)
        merged: list[Change] = []
        refused: list[Rejection] = []
        for number, merge in enumerate(read.merges):
            why = await asyncio.to_thread(tidy.refusal, merge)
            if why is None:
                results = await asyncio.to_thread(
                    partial(
                        self._ledger.write,
                        tidy.agreed(merge),
                        source="merge",
                        at=self._now(),
                        key=f"merge {at.isoformat()} {number}",
                        together=True,
                    )
                )
                stopped = [result for result in results if isinstance(result, NotWritten)]
                if not stopped:
                    merged += [result for result in results if isinstance(result, Change)]
                    continue
                why = next((each for each in stopped if each.rule != "L6.2"), stopped[0]).reason
            rejection = Rejection(proposal=_as_proposal(merge), rule="L6.2", reason=why)
            refused.append(rejection)
            await asyncio.to_thread(self._events.refuse, rejection, self._now(), None)
        await self._note_merge(
            {
                **by,
                "outcome": "nonsense" if read.fault else "merged" if merged else "nothing",
                "groups": len(read.merges),
                "accepted": len(read.merges) - len(refused),
                "entries": len(merged),
                "tokens_in": counted.tokens_in,
                "tokens_out": counted.tokens_out,
            }
        )
        log.info("Merged: %d of %d.", len(read.merges) - len(refused), len(read.merges))
        return tuple(merged), tuple(refused), None

    async def _note_merge(self, data: Mapping[str, Value]) -> None:
        await asyncio.to_thread(partial(self._events.append, "merged", self._now(), data=data))

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
        written = await asyncio.to_thread(
            partial(
                self._ledger.write,
                judged.accepted,
                source="review",
                at=self._now(),
                conversation=waiting.hand_over.conversation,
                said_at={turn.index: turn.began_at for turn in waiting.turns},
                key=waiting.key,
            )
        )
        results = tuple(zip(judged.proposals, written, strict=True))
        rejections = judged.refused + tuple(
            Rejection(proposal=proposal, rule=result.rule, reason=result.reason)
            for proposal, result in results
            if isinstance(result, NotWritten)
        )
        for rejection in rejections:
            await asyncio.to_thread(
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
            notebooks=await asyncio.to_thread(self._ledger.entries),
            removed=await asyncio.to_thread(self._ledger.removed),
        )
        accepted: list[tuple[Proposal, Accepted]] = []
        refused: list[Rejection] = []
        for proposal in proposed.proposals:
            found = await asyncio.to_thread(decide, proposal, grounds)
            if isinstance(found, Rejection):
                refused.append(found)
            else:
                accepted.append((proposal, found))
        judged = Judged(
            accepted=tuple(found for _, found in accepted),
            proposals=tuple(proposal for proposal, _ in accepted),
            refused=tuple(refused),
        )
        await asyncio.to_thread(self._reviews.judged, waiting, judged)
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
        if not (is_resumed and await asyncio.to_thread(self._is_logged, mark)):
            await self._note(
                "reviewed",
                mark,
                {
                    "marked": len(done.marked),
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
        await asyncio.to_thread(self._reviews.reviewed, waiting)
        await asyncio.to_thread(self._reviews.finish, mark.conversation)
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
        await asyncio.to_thread(
            partial(
                self._events.append,
                kind,
                self._now(),
                conversation=mark.conversation,
                data={**span, **data},
            )
        )


def _merge_is_due(last: Event | None, changes: Sequence[Change], now: datetime) -> bool:
    """Not twice in twelve hours, and not about the same entries again (m36)."""
    if last is None or last.data["outcome"] == "gave way":
        return True
    if timedelta() <= now - last.at < MERGE_EVERY:
        return False
    news = any(change.at > last.at for change in changes)
    return news or last.data["outcome"] in ("asking", "unavailable")


def _as_proposal(merge: Merge) -> Proposal:
    """A refused merge as the log shows it."""
    return Proposal(
        operation="update",
        notebook=merge.notebook,
        entry=" + ".join(merge.entries),
        text=merge.text,
        quote="",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """A question of a review; it shows so many marked sentences, or this one."""

    question: Question
    sentences: int
    sentence: Marked | None = None


def asks_of(
    marked: Sequence[Marked],
    notebooks: Mapping[Notebook, tuple[str, ...]],
    waiting: Waiting,
    *,
    small: bool,
) -> tuple[Ask, ...]:
    """One question about all sentences; a small model is asked about one at a time.

    None where no sentence fits into a question. "Today" is the day of the last turn (m14).
    """
    if small:
        pairs = review.small_questions(marked, frame=prompt("review_small.md"))
        return tuple(Ask(question=q, sentences=1, sentence=each) for each, q in pairs)
    question = review.question(
        marked, notebooks, waiting.turns[-1].began_at, frame=prompt("review.md")
    )
    if question is None:
        return ()
    return (Ask(question=question, sentences=len(review.last_said(marked))),)


def read_of(
    asks: Sequence[Ask],
    replies: Sequence[Reply],
    notebooks: Mapping[Notebook, tuple[str, ...]],
) -> Read:
    """What the answers propose together."""
    reads = [
        review.proposals(reply.text)
        if ask.sentence is None
        else review.small_proposal(reply.text, ask.sentence, notebooks)
        for ask, reply in zip(asks, replies, strict=True)
    ]
    return review.together(reads) if len(reads) != 1 else reads[0]


def _is_ahead(at: datetime | None, now: datetime) -> bool:
    """Whether to wait for `at`. A clock that was set back makes nothing wait for ever."""
    return at is not None and now < at <= now + LONGEST_WAIT


def _counted(question: Question, reply: Reply) -> Reply:
    """The reply with its tokens, counted here where the model counts none."""
    asked = tokens(question.instructions) + tokens(question.text)
    return replace(
        reply,
        tokens_in=asked if reply.tokens_in is None else reply.tokens_in,
        tokens_out=tokens(reply.text[:ANSWER_CHARS])
        if reply.tokens_out is None
        else reply.tokens_out,
    )


async def _never() -> None:
    await asyncio.Event().wait()
