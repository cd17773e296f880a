"""The memory task: reviews what was handed over, out of the way of every conversation (V11, L4).

    task = MemoryTask(state=…, ledger=…, events=…, model=…, quiet=…, now=…)
    task.wake()                     a hand-over was written, or a conversation was closed
    await task.run()                until it is cancelled
    await task.review_now("c1")     because the user asks

It says what may run when: one hand-over at a time (memory/reviewing.py), then what tidies
the notebooks and looks for lessons. What takes more than a moment runs in a thread, in pieces
of a few milliseconds, so that the event loop of a call that goes on meanwhile is held up by none.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from memory.asking import Asking, Quiet
from memory.errors import MemoryFault, StateUnwritable
from memory.events import EventLog
from memory.journaling import Journaling
from memory.lessons.door import Lessons
from memory.lessons.records import ReflectReport
from memory.lessons.reflecting import Reflecting
from memory.llm.protocol import Llm
from memory.notebooks.ledger import Ledger
from memory.reviewing import ELSEWHERE, Reviewed, Reviewing, load
from memory.reviews import Failure, Reviews, Waiting
from memory.threads import in_thread
from memory.tidying import Tidying

log = logging.getLogger(__name__)

LOOK_EVERY_S = 600.0
"""How often it looks for what other processes left."""

_AFTER_FAULT_S = 60.0
_NO_LESSONS = (
    "Learning is switched off, so no lessons are made. Switch it on (learning = true) first."
)
_ELSEWHERE_S = 30.0


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
        self._now = now
        self._asking = Asking(events=events, choose=model, quiet=quiet, now=now)
        self._journaling = Journaling(self._reviews, ledger)
        self._reviewing = Reviewing(
            reviews=self._reviews,
            ledger=ledger,
            events=events,
            asking=self._asking,
            journaling=self._journaling,
            now=now,
            learning=learning,
        )
        self._tidying = Tidying(ledger=ledger, events=events, asking=self._asking, now=now)
        self._reflecting = (
            None
            if lessons is None
            else Reflecting(
                lessons=lessons, events=events, ledger=ledger, asking=self._asking, now=now
            )
        )
        self._reflects = reflects
        self._is_loaded = False
        self._woken = asyncio.Event()
        self._looking = asyncio.Lock()

    def wake(self) -> None:
        """A hand-over was written, or a conversation was closed. From the event loop's thread."""
        self._woken.set()

    def switch(self, *, learning: bool, reflects: bool) -> None:
        """The user's settings from now on. What was handed over before learning was switched off
        goes on waiting. From the event loop's thread."""
        self._reviewing.switch(learning=learning)
        self._reflects = reflects
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
            if ELSEWHERE in report.faults:
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
        if not self._reviewing.learning:
            return
        async with self._looking, self._reviewing.one_process() as held:
            if held:
                await self._tidying.tidy()

    async def reflect_now(self) -> ReflectReport:
        """Look for lessons in what happened since the last pass, and tidy them (F7). Raises
        StateUnwritable."""
        return await self._reflect(asked_for=True)

    async def _reflect(self, *, asked_for: bool) -> ReflectReport:
        if not self._reviewing.learning or self._reflecting is None:
            return ReflectReport(outcome="switched off", faults=(_NO_LESSONS,))
        async with self._looking, self._reviewing.one_process() as held:
            if not held:
                return ReflectReport(outcome="busy", faults=(ELSEWHERE,))
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
                    found = await self._reviewing.step(waiting, asked_for=asked_for, faults=faults)
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
                if await self._is_journaled(path) and not here:
                    await in_thread(self._reviews.finish_in, path)
            except StateUnwritable as fault:
                log.warning("%s", fault)
                faults.append(str(fault))
                continue
            found += (w for w in here if conversation in (None, w.hand_over.conversation))
        return found

    async def _is_journaled(self, path: Path) -> bool:
        return not self._reviewing.learning or await in_thread(self._journaling.is_done, path)

    async def _next(self, queue: Sequence[Waiting], held_up: set[str]) -> Waiting | None:
        """First what needs no model, then what was tried least, then what is oldest."""
        heads: dict[str, Waiting] = {}
        for waiting in queue:
            name = waiting.hand_over.conversation
            if name not in held_up:
                heads.setdefault(name, waiting)
        ranked = []
        for waiting in heads.values():
            free = waiting.proposed is not None or not await self._reviewing.marked_in(waiting)
            mark = waiting.hand_over
            ranked.append(((not free, waiting.tries, mark.at, mark.conversation), waiting))
        return min(ranked, key=lambda pair: pair[0])[1] if ranked else None
