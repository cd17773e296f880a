"""Small on purpose (spec L6): the pass that takes out, merges and finds room.

What it may do is decided in memory/notebooks/tidy.py; here it is done, and logged.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime, timedelta

from memory.asking import Asking, counted
from memory.errors import ModelUnavailable
from memory.event_records import Event, Value
from memory.events import EventLog
from memory.llm.protocol import Llm, Question, Reply
from memory.notebooks import merging, tidy
from memory.notebooks.ledger import Ledger
from memory.notebooks.limits import MERGE_AT, MERGE_EVERY
from memory.notebooks.merging import Merge
from memory.notebooks.planned import NotWritten
from memory.prompts import prompt
from memory.records import NOTEBOOKS, Change, Notebook, Proposal, Rejection
from memory.threads import in_thread

log = logging.getLogger(__name__)

_PATIENCE_S = 60.0  # then the next look tries again: no review has to wait for a merge


class Tidying:
    """One pass at a time: the caller sees to it, in this process and among several."""

    def __init__(
        self, *, ledger: Ledger, events: EventLog, asking: Asking, now: Callable[[], datetime]
    ) -> None:
        self._ledger = ledger
        self._events = events
        self._asking = asking
        self._now = now
        self._seen: tuple[str, date] | None = None

    async def tidy(self) -> None:
        """Small on purpose (L6): what goes for free, one merge, and what waits for room; only
        when a notebook changed, or a day began."""
        await in_thread(self._ledger.notice_edits, self._now())
        changes = await in_thread(self._ledger.changes)
        seen = (changes[-1].id if changes else "", self._now().date())
        if seen == self._seen:
            return
        entries = await in_thread(self._ledger.entries)
        found = await in_thread(tidy.drops, entries, changes, seen[1])
        written = await in_thread(
            self._ledger.write,
            [tidy.dropped(drop) for drop in found],
            source="tidy",
            at=self._now(),
        )
        gone = [
            drop for drop, result in zip(found, written, strict=True) if isinstance(result, Change)
        ]
        is_settled = await self._merge()
        placed = await in_thread(self._ledger.place_waiting, self._now())
        if gone or placed:
            await in_thread(
                self._events.append,
                "tidied",
                self._now(),
                data={
                    "duplicates": sum(drop.why == "duplicate" for drop in gone),
                    "outdated": sum(drop.why == "outdated" for drop in gone),
                    "placed": len(placed),
                },
            )
            log.info("Tidied: %d entries went, %d found room.", len(gone), len(placed))
        if len(found) < tidy.AT_ONCE and is_settled:
            changes = await in_thread(self._ledger.changes)
            self._seen = (changes[-1].id if changes else "", seen[1])

    async def _merge(self) -> bool:
        """At 80 percent one call, at most every twelve hours (L6.2). False where nobody could be
        asked, so that the next look tries again."""
        entries = await in_thread(self._ledger.entries)
        changes = await in_thread(self._ledger.changes)
        full = await in_thread(self._ledger.fullness)
        last = await in_thread(self._events.last, "merged")
        if full < MERGE_AT or not _merge_is_due(last, changes, self._now()):
            return True
        own: dict[Notebook, tuple[str, ...]] = {
            name: tuple(each.text for each in tidy.ours(changes, entries) if each.notebook == name)
            for name in NOTEBOOKS
        }
        question = await in_thread(merging.question, own, frame=prompt("merge.md"))
        if question is None:
            return True
        model = await self._model()
        if model is None:
            return False
        at = self._now()
        by: Mapping[str, Value] = {"model": model.name, "billing": model.billing}
        await self._note_merge({**by, "outcome": "asking", "entries": sum(map(len, own.values()))})
        reply = await self._answer(model, question, by)
        if reply is None:
            return False
        read = await in_thread(merging.merges, reply.text, own)
        written = [
            await self._write(merge, f"merge {at.isoformat()} {number}")
            for number, merge in enumerate(read.merges)
        ]
        accepted = sum(changes > 0 for changes in written)
        await self._note_merge(
            {
                **by,
                "outcome": "nonsense" if read.fault else "merged" if accepted else "nothing",
                "groups": len(read.merges),
                "accepted": accepted,
                "entries": sum(written),
                "tokens_in": reply.tokens_in,
                "tokens_out": reply.tokens_out,
            }
        )
        log.info("Merged: %d of %d.", accepted, len(read.merges))
        return True

    async def _model(self) -> Llm | None:
        """One on this CPU only where it is quiet soon."""
        model = await self._asking.model(faults=[], asked_for=False)
        if model is not None and model.uses_this_cpu:
            try:
                async with asyncio.timeout(_PATIENCE_S):
                    await self._asking.quiet_for(0.0)
            except TimeoutError:
                return None
        return model

    async def _answer(
        self, model: Llm, question: Question, by: Mapping[str, Value]
    ) -> Reply | None:
        """None where there is none, which is logged."""
        try:
            reply = await self._asking.answer(model, question)
        except ModelUnavailable:
            await self._note_merge({**by, "outcome": "unavailable"})
            return None
        if reply is None:
            await self._note_merge({**by, "outcome": "gave way"})
            return None
        return await in_thread(counted, question, reply)

    async def _write(self, merge: Merge, key: str) -> int:
        """How many changes a merge has made: judged and written against the notebooks as they are
        after the call (m18), whole or not at all."""
        why = await in_thread(tidy.refusal, merge)
        if why is None:
            results = await in_thread(
                self._ledger.write,
                tidy.agreed(merge),
                source="merge",
                at=self._now(),
                key=key,
                together=True,
            )
            stopped = [result for result in results if isinstance(result, NotWritten)]
            if not stopped:
                return len(results)
            why = next((each for each in stopped if each.rule != "L6.2"), stopped[0]).reason
        rejection = Rejection(proposal=_as_proposal(merge), rule="L6.2", reason=why)
        await in_thread(self._events.refuse, rejection, self._now(), None)
        return 0

    async def _note_merge(self, data: Mapping[str, Value]) -> None:
        await in_thread(self._events.append, "merged", self._now(), data=data)


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
