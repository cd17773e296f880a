"""One hand-over: at most one question, its answer judged, what was accepted written (L4).

All of it waits on disk (memory/reviews.py), so that it goes on where a crash left it.
Filtering, judging and files run in a thread, in pieces of a few milliseconds.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

from memory.asking import Asking, asks_of, counted, read_of
from memory.errors import ModelUnavailable, StateUnwritable
from memory.event_records import Value
from memory.events import EventLog
from memory.journaling import Journaling
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
    Waiting,
    next_try,
)
from memory.threads import in_thread

log = logging.getLogger(__name__)

QUIET_S = (0.0, 2.0, 5.0, 15.0, 30.0, 60.0)
"""How long it must have been quiet before a model on this CPU is asked: at first, after it
gave way once, twice …"""

ELSEWHERE = "Another Jarvis reviews at the moment. Try again in a minute."
_OFF = "Learning is switched off, so nothing is reviewed. Switch it on (learning = true) first."
_SOME_DAY = datetime(2026, 1, 1, tzinfo=UTC)

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


class Reviewing:
    """With `learning` off what is handed over from now on is closed unread (L6.5)."""

    def __init__(
        self,
        *,
        reviews: Reviews,
        ledger: Ledger,
        events: EventLog,
        asking: Asking,
        journaling: Journaling,
        now: Callable[[], datetime],
        learning: bool,
    ) -> None:
        self.learning = learning
        self._reviews = reviews
        self._ledger = ledger
        self._events = events
        self._asking = asking
        self._journaling = journaling
        self._now = now
        self._began_at = now()
        self._marked: dict[str, tuple[Marked, ...]] = {}
        self._answered: dict[tuple[str, str], dict[str, Reply]] = {}

    def switch(self, *, learning: bool) -> None:
        """What was handed over before learning was switched off goes on waiting."""
        if self.learning and not learning:
            self._began_at = self._now()
        self.learning = learning

    async def marked_in(self, waiting: Waiting) -> tuple[Marked, ...]:
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
        return not self.learning and waiting.hand_over.at >= self._began_at

    async def step(
        self, waiting: Waiting, *, asked_for: bool, faults: list[str]
    ) -> Reviewed | Failure | None:
        """Review it. Where it has to wait a sentence in `faults` says why."""
        if not self.learning and not self._is_off_for(waiting):
            faults.append(_OFF)
            return None
        marked = await self.marked_in(waiting)
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
            async with self.one_process() as held:
                if not held:
                    faults.append(ELSEWHERE)
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
                        given_up = Reviewed(
                            hand_over=fresh.hand_over, outcome="given up", marked=marked
                        )
                        return await self._close(fresh, given_up, model=model)
                    await in_thread(self._reviews.proposed, fresh, answer)
                    return await self._apply(fresh, answer, marked, is_resumed=False)
                if fresh.proposed is not None:
                    return await self._apply(fresh, fresh.proposed, marked, is_resumed=True)
                outcome: Outcome = "switched off" if self._is_off_for(fresh) else "nothing marked"
                return await self._close(
                    fresh, Reviewed(hand_over=fresh.hand_over, outcome=outcome)
                )

    @contextlib.asynccontextmanager
    async def one_process(self) -> AsyncIterator[bool]:
        """Whether this process is the one that reviews; another may be at it."""
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
        if self.learning:
            await in_thread(self._journaling.journal, self._reviews.file_of(mark.conversation))
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
