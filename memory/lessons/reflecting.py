"""A pass over the event log: what is new, at most one question, lessons, merging and fading (F1).

    reflecting = Reflecting(lessons=…, events=…, ledger=…, asking=…, now=…)
    await reflecting.reflect(asked_for=True)

What a pass makes is kept in one transaction with the mark of how far it read, so that no event
is read twice, whatever happens in between.
"""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from typing import Literal

from memory.asking import Asking, counted
from memory.errors import ModelUnavailable
from memory.event_records import Event, Value
from memory.events import EventLog
from memory.lessons import digest, proposing
from memory.lessons.digest import Fact
from memory.lessons.door import Lessons
from memory.lessons.limits import (
    AUTO_EVERY,
    AUTO_PASSES_A_DAY,
    AUTO_TOKENS_A_DAY,
    REFLECT_TOKENS_IN,
    REFLECT_TOKENS_OUT,
)
from memory.lessons.proposing import Grounds, Wanted
from memory.lessons.records import Lesson, ReflectOutcome, ReflectReport, RefusedLesson
from memory.lessons.shelf import new_id
from memory.llm.protocol import Llm, Question, Reply
from memory.notebooks.ledger import Ledger
from memory.threads import in_thread

log = logging.getLogger(__name__)

_DAY = timedelta(days=1)
_KINDS = frozenset({*digest.READ, "began"})


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """What the one question brought."""

    outcome: ReflectOutcome
    wanted: tuple[Wanted, ...] = ()
    refused: tuple[RefusedLesson, ...] = ()
    model: Llm | None = None
    reply: Reply | None = None
    asked: int = 0
    fault: str | None = None

    @property
    def is_done(self) -> bool:
        """Whether these events need not be asked about again."""
        return self.outcome in ("made", "nothing made", "nonsense")


class Reflecting:
    """One pass at a time: the caller sees to it, in this process and among several."""

    def __init__(
        self,
        *,
        lessons: Lessons,
        events: EventLog,
        ledger: Ledger,
        asking: Asking,
        now: Callable[[], datetime],
    ) -> None:
        self._lessons = lessons
        self._events = events
        self._ledger = ledger
        self._asking = asking
        self._now = now
        self._seen = -1
        self._tidied_on: date | None = None

    async def reflect(self, *, asked_for: bool) -> ReflectReport:
        """A pass now. By itself only when something is new, nobody talks, and within the caps of
        passes and tokens a day. Raises StateUnwritable."""
        if not asked_for and not await self._may_begin():
            return ReflectReport(outcome="nothing new")
        newest = await in_thread(self._newest)
        fresh = await in_thread(self._fresh, "last")
        troubles = await in_thread(lambda: digest.troubles(self._fresh("providers_last")))
        facts = digest.facts([event for event in fresh if event.kind in digest.READ])
        asks = digest.is_worth_asking(facts)
        language = digest.language_in(fresh)
        by_code = tuple(proposing.of_trouble(each, language=language) for each in troubles)
        asked = _Asked(outcome="nothing to learn" if fresh else "nothing new")
        if asks:
            asked = await self._ask(facts, fresh, language, asked_for=asked_for)
        made: tuple[Lesson, ...] = ()
        if by_code or asked.is_done:
            made = await self._keep(by_code, asked, newest, auto=not asked_for, read=len(fresh))
        elif asked.asked:
            await self._note(asked, auto=not asked_for, read=len(fresh), data={})
        self._seen = newest if asked.outcome not in ("no model", "gave way", "unavailable") else -1
        self._tidied_on = self._now().date()
        tidied = await in_thread(self._lessons.tidy, self._now())
        outcome: ReflectOutcome = (
            "made" if made and asked.outcome.startswith("nothing") else asked.outcome
        )
        return ReflectReport(
            outcome=outcome,
            read=len(fresh),
            asked=asked.asked,
            made=made,
            refused=asked.refused,
            tidied=tidied,
            model=asked.model.name if asked.model else None,
            tokens_in=(asked.reply.tokens_in or 0) if asked.reply else 0,
            tokens_out=(asked.reply.tokens_out or 0) if asked.reply else 0,
            faults=(asked.fault,) if asked.fault else (),
        )

    # Whether ---------------------------------------------------------------------------

    async def _may_begin(self) -> bool:
        """Something happened or a day began, nobody talks, and the caps leave room."""
        if not self._events.is_there:
            return False
        day = self._now().date()
        if self._seen == await in_thread(self._newest) and self._tidied_on == day:
            return False
        return await self._asking.is_quiet() and await in_thread(self._within_caps)

    def _within_caps(self) -> bool:
        now = self._now()
        passes = [
            event
            for event in self._events.events("reflected", since=now - _DAY)
            if event.data.get("auto") and event.data["outcome"] != "asking"
        ]
        asked = [
            event
            for event in self._events.events("reflected", since=now - _DAY)
            if event.data["outcome"] == "asking" and event.data.get("auto")
        ]
        if len(passes) >= AUTO_PASSES_A_DAY or len(asked) >= AUTO_PASSES_A_DAY:
            return False
        if any(timedelta() <= now - event.at < AUTO_EVERY for event in (*passes, *asked)):
            return False
        spent = sum(
            (event.data.get("tokens_in") or 0) + (event.data.get("tokens_out") or 0)
            for event in passes
        )
        # A call whose end nobody saw may have cost all that it was allowed.
        unseen = max(0, len(asked) - sum(1 for event in passes if event.data.get("model")))
        most = REFLECT_TOKENS_IN + REFLECT_TOKENS_OUT
        return spent + (unseen + 1) * most <= AUTO_TOKENS_A_DAY

    # What is new -----------------------------------------------------------------------

    def _newest(self) -> int:
        """The id of the newest event that a pass would read."""

        def select(database: sqlite3.Connection) -> int:
            marks = ",".join("?" * len(_KINDS))
            [(found,)] = database.execute(
                f"SELECT coalesce(max(id), 0) FROM events WHERE kind IN ({marks})",  # noqa: S608 - marks only
                sorted(_KINDS),
            )
            return int(found)

        return self._events.read(select) if self._events.is_there else 0

    def _fresh(self, mark: Literal["last", "providers_last"]) -> list[Event]:
        """What happened since the pass that set this mark."""
        if not self._events.is_there:
            return []

        def select(database: sqlite3.Connection) -> int:
            [(found,)] = database.execute(
                "SELECT coalesce(max(json_extract(data, ?)), 0) FROM events WHERE kind = 'reflected'",
                (f"$.{mark}",),
            )
            return int(found)

        read_to = self._events.read(select)
        return [event for event in self._events.events(after=read_to) if event.kind in _KINDS]

    # The question ----------------------------------------------------------------------

    async def _ask(
        self, facts: Sequence[Fact], fresh: Sequence[Event], language: str, *, asked_for: bool
    ) -> _Asked:
        faults: list[str] = []
        model = await self._asking.model(faults=faults, asked_for=asked_for)
        if model is None:
            return _Asked(outcome="no model", fault=faults[0] if faults else None)
        live = await in_thread(self._lessons.live)
        question, shown = await in_thread(
            lambda: proposing.question(facts, live[::-1], language=language)
        )
        asked = _Asked(outcome="unavailable", model=model, asked=1)
        await self._note(asked, auto=not asked_for, read=len(fresh), data={"outcome": "asking"})
        try:
            reply = await self._asking.answer(model, question)
        except ModelUnavailable as fault:
            return replace(asked, fault=str(fault))
        if reply is None:
            return replace(asked, outcome="gave way", fault="Somebody speaks; it waits for quiet.")
        return await self._read(asked, question, reply, shown, fresh)

    async def _read(
        self,
        asked: _Asked,
        question: Question,
        reply: Reply,
        shown: tuple[Fact, ...],
        fresh: Sequence[Event],
    ) -> _Asked:
        reply = await in_thread(counted, question, reply)
        answer = await in_thread(proposing.proposals, reply.text)
        if answer.fault:
            return replace(asked, outcome="nonsense", reply=reply, fault=answer.fault)
        grounds = Grounds(
            shown=shown,
            removed=await in_thread(self._ledger.removed),
            dropped=tuple(
                each
                for each in await in_thread(self._lessons.forgotten)
                if each.forgotten and each.forgotten.why == "dropped"
            ),
            when={event.id: event.at for event in fresh},
        )
        verdicts = [await in_thread(proposing.judged, each, grounds) for each in answer.proposed]
        wanted = tuple(each for each in verdicts if isinstance(each, Wanted))
        return replace(
            asked,
            outcome="made" if wanted else "nothing made",
            wanted=wanted,
            refused=tuple(each for each in verdicts if isinstance(each, RefusedLesson)),
            reply=reply,
        )

    # What is kept ----------------------------------------------------------------------

    async def _keep(
        self, by_code: Sequence[Wanted], asked: _Asked, newest: int, *, auto: bool, read: int
    ) -> tuple[Lesson, ...]:
        """Lessons, refusals and marks, in one transaction; each is embedded as it is made (F5)."""
        at, made_by = self._now(), new_id()
        made = tuple(
            Lesson(
                id=new_id(),
                kind=each.kind,
                text=each.text,
                made_at=at,
                made_by=made_by,
                events=each.events,
            )
            for each in (*by_code, *asked.wanted)
        )
        vectors = await in_thread(self._lessons.vectors_of, [each.text for each in made])
        marks: dict[str, Value] = {"providers_last": newest, "made": len(made)}
        if asked.is_done:
            marks["last"] = newest
        lines: list[tuple[str, Mapping[str, Value]]] = [
            ("lesson_refused", {"rule": each.rule, "reason": each.reason}) for each in asked.refused
        ]
        lines.append(("reflected", self._line(asked, auto=auto, read=read, data=marks)))
        await in_thread(
            self._lessons.shelf.add,
            made,
            at,
            log=lines,
            model=asked.model.name if asked.model else None,
            vectors=vectors,
        )
        log.info("Reflected: %d events, %d lessons made.", read, len(made))
        return made

    async def _note(
        self, asked: _Asked, *, auto: bool, read: int, data: Mapping[str, Value]
    ) -> None:
        await in_thread(
            self._events.append,
            "reflected",
            self._now(),
            data=self._line(asked, auto=auto, read=read, data=data),
        )

    def _line(
        self, asked: _Asked, *, auto: bool, read: int, data: Mapping[str, Value]
    ) -> dict[str, Value]:
        return {
            "outcome": asked.outcome,
            "auto": auto,
            "read": read,
            "refused": len(asked.refused),
            "tokens_in": asked.reply.tokens_in if asked.reply else 0,
            "tokens_out": asked.reply.tokens_out if asked.reply else 0,
            "model": asked.model.name if asked.model else None,
            "billing": asked.model.billing if asked.model else None,
            **data,
        }
