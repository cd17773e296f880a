"""Thinking: at an interval, and only where something is new, one question to the background
model about the last discoveries and today's journal; an insight into the journal, or nothing (J5).

    thinking = Thinking(state=…, vault=…, events=…, model=…, quiet=…, now=…, caps=Caps())
    await thinking.run()            until it is cancelled
    await thinking.think()          because the user asks
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Literal

from memory import locks, store
from memory.asking import Asking, Quiet, counted
from memory.errors import MemoryFault, ModelUnavailable
from memory.event_records import Event, Value
from memory.events import EventLog
from memory.journal import book, page
from memory.llm.protocol import Llm, Question, Reply
from memory.notebooks.tokens import tokens
from memory.prompts import prompt
from memory.records import JournalEntry
from memory.reviews import LONGEST_WAIT, next_try
from memory.thinking import ledger, thought
from memory.thinking.ledger import DAY, Outcome, Past
from memory.thinking.repeats import trace
from memory.thinking.sources import Material, Sources, material, sources, text_key
from memory.thinking.thought import Thought
from memory.threads import in_thread
from memory.vault import Vault

log = logging.getLogger(__name__)

INTERVAL_S = 60.0
DAYS_BACK = 40
"""Discoveries are looked for in so many of the latest days' files."""
QUIET_S = 5.0
"""How long it must have been quiet before a model on this CPU is asked."""
_MARGIN = 1.3
"""A provider counts tokens in its own way."""
_AFTER_FAULT_S = 60.0
_PATIENCE_S = 2.0

What = Literal[
    "noted", "nothing", "nothing new", "repeat", "refused", "nonsense", "unavailable", "capped",
    "waiting", "elsewhere", "gave way",
]  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Caps:
    """In any 24 hours at most so many calls, and tokens in and out together."""

    calls_a_day: int = 24
    tokens_a_day: int = 40_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Thinked:
    """What a look has come to. `reason` is a sentence for the user where no insight was noted."""

    what: What
    entry: JournalEntry | None = None
    reason: str = ""


class Thinking:
    """`model` gives the background model of the moment, or raises ModelUnavailable. `now` is the
    user's clock, aware."""

    def __init__(
        self,
        *,
        state: Path,
        vault: Vault,
        events: EventLog,
        model: Callable[[], Awaitable[Llm]],
        quiet: Quiet,
        now: Callable[[], datetime],
        caps: Caps,
    ) -> None:
        self._state = state
        self._vault = vault
        self._events = events
        self._asking = Asking(events=events, choose=model, quiet=quiet, now=now)
        self._quiet = quiet
        self._now = now
        self._caps = caps
        self._looked: tuple[object, ...] | None = None

    async def run(self, interval_s: float = INTERVAL_S) -> None:
        """Returns only by being cancelled."""
        while True:
            await asyncio.sleep(interval_s)
            try:
                await self._quiet.wait()
                found = await self._think(asked_for=False)
            except MemoryFault as fault:
                log.warning("%s", fault)
            except Exception:
                # A mistake of ours in one thought must end neither thinking nor what goes on
                # beside it.
                log.exception("Thinking failed; it goes on in a minute.")
                await asyncio.sleep(_AFTER_FAULT_S)
            else:
                if found.what not in ("nothing new", "waiting"):
                    log.info("Thought: %s.", found.what)

    async def think(self) -> Thinked:
        """Now, whatever the interval; within the caps, only about what is new, and not while
        somebody speaks."""
        try:
            async with asyncio.timeout(_PATIENCE_S):
                await self._quiet.wait()
        except TimeoutError:
            return Thinked(what="waiting", reason="Somebody speaks; thinking waits for quiet.")
        return await self._think(asked_for=True)

    async def _think(self, *, asked_for: bool) -> Thinked:
        stamp = await in_thread(self._stamp)
        if stamp == self._looked and not asked_for:
            return Thinked(what="nothing new")
        with locks.held(self._lock()) as is_ours:
            if not is_ours:
                return Thinked(what="elsewhere", reason="Another Jarvis thinks at the moment.")
            found = await self._look(asked_for=asked_for)
        # What waits is looked at again; what was settled is not, until a file changes.
        settled = ("nothing new", "noted", "nothing", "repeat", "refused", "nonsense")
        self._looked = stamp if found.what in settled else None
        return found

    def _lock(self) -> Path:
        store.make_folder(self._state, private=True)
        return self._state / "thinking.lock"

    def _stamp(self) -> tuple[object, ...]:
        """The day, and the journal's latest files as they lie there."""
        stamps: list[object] = [self._now().date()]
        for day in book.days(self._vault)[:DAYS_BACK]:
            try:
                found = book.file_of(self._vault, day).stat()
            except OSError:
                continue
            stamps.append((day, found.st_mtime_ns, found.st_size, found.st_ino))
        return tuple(stamps)

    # One look --------------------------------------------------------------------------

    async def _look(self, *, asked_for: bool) -> Thinked:
        log_of_thoughts = await in_thread(self._events.events, "thought")
        past = await in_thread(ledger.past, log_of_thoughts)
        found = await in_thread(self._gather, past)
        if not found.keys - past.seen:
            return Thinked(
                what="nothing new",
                reason="Nothing new is in the journal since Jarvis thought last.",
            )
        now = self._now()
        if not asked_for and past.next_at and now < past.next_at <= now + LONGEST_WAIT:
            return Thinked(what="waiting")
        shown = await in_thread(material, found, now.date())
        faults: list[str] = []
        model = await self._asking.model(faults=faults, asked_for=asked_for)
        if model is None:
            return Thinked(what="waiting", reason=" ".join(faults))
        question = thought.question(shown, now, frame=prompt("think.md"), small=model.small)
        most = round(tokens(question.instructions + question.text) * _MARGIN)
        capped = self._capped(log_of_thoughts, most + question.max_tokens)
        if capped is not None:
            return Thinked(what="capped", reason=capped)
        if not asked_for and model.uses_this_cpu:
            await self._asking.quiet_for(QUIET_S)
        await self._note(
            "asking",
            model,
            {
                "entries": dict.fromkeys(sorted(found.keys - past.seen), 1),
                "tokens_in": most,
                "tokens_out": question.max_tokens,
            },
        )
        return await self._ask(model, question, shown, past)

    def _gather(self, past: Past) -> Sources:
        latest = book.latest(
            self._vault, ("discovery",), limit=5 + len(past.texts), days_back=DAYS_BACK
        )
        today = book.day(self._vault, self._now().date()).entries
        return sources(latest, today, past.texts)

    def _capped(self, events: list[Event], most: int) -> str | None:
        """The sentence for the user where the next call could pass a cap."""
        spent = ledger.spent(events, self._now() - DAY)
        if spent.calls >= self._caps.calls_a_day:
            return (
                f"Jarvis has thought {spent.calls} times in the last 24 hours, and more are not "
                "allowed. Wait, or raise think_calls_a_day."
            )
        if spent.tokens + most > self._caps.tokens_a_day:
            return (
                f"Thinking has taken {spent.tokens:,} tokens in the last 24 hours; another thought "
                f"could pass the {self._caps.tokens_a_day:,} that are allowed. Wait, or raise "
                "think_tokens_a_day."
            )
        return None

    # The question ----------------------------------------------------------------------

    async def _ask(self, model: Llm, question: Question, shown: Material, past: Past) -> Thinked:
        try:
            reply = await self._asking.answer(model, question)
        except ModelUnavailable as fault:
            next_at = next_try(past.failures + 1, self._now(), fault.retry_after_s)
            await self._note("unavailable", model, {"next_at": next_at.isoformat()})
            return Thinked(what="unavailable", reason=str(fault))
        except asyncio.CancelledError:
            # Jarvis is being ended: the entries are new the next time. Some milliseconds, once.
            self._events.append("thought", self._now(), data=_data("gave way", model, {}))
            raise
        if reply is None:
            await self._note("gave way", model, {})
            return Thinked(what="gave way", reason="Somebody speaks; thinking waits for quiet.")
        reply = await in_thread(counted, question, reply)
        return await in_thread(self._take, model, reply, shown, past)

    def _take(self, model: Llm, reply: Reply, shown: Material, past: Past) -> Thinked:
        """Write the thought down, if it is one. The journal first: a crash behind it costs a
        repeat at worst, and what stands there is recognised as one."""
        read = thought.answered(reply.text)
        cost: dict[str, Value] = {"tokens_in": reply.tokens_in, "tokens_out": reply.tokens_out}
        if read.fault is not None:
            self._append("nonsense", model, cost)
            return Thinked(what="nonsense", reason=read.fault)
        if read.thought is None:
            self._append("nothing", model, cost)
            return Thinked(what="nothing", reason="There was nothing worth a note.")
        written = book.latest(self._vault, ("insight",), limit=200, days_back=DAYS_BACK)
        earlier = (*past.traces, *(trace(each.text) for each in written))
        why = thought.refusal(read.thought, shown.shown, earlier)
        if why is not None:
            outcome: Literal["repeat", "refused"] = "repeat" if why.rule == "repeat" else "refused"
            self._append(outcome, model, {**cost, "rule": why.rule})
            return Thinked(what=outcome, reason=why.reason)
        entry = self._entry(read.thought, shown)
        book.append(self._vault, entry)
        about = trace(read.thought.text)
        self._append(
            "noted",
            model,
            {
                **cost,
                "stars": entry.stars,
                "text": text_key(self._as_written(entry)),
                "language": about.language,
                "words": about.as_data(),
                "denies": about.denies,
            },
        )
        return Thinked(what="noted", entry=entry)

    def _entry(self, found: Thought, shown: Material) -> JournalEntry:
        topics = (
            tag
            for number in found.entries
            if 0 < number <= len(shown.shown)
            for tag in shown.shown[number - 1].tags
        )
        return JournalEntry(
            at=self._now(),
            title=found.title.strip() or found.text.strip(),
            text=found.text.strip(),
            stars=found.stars,
            tags=tuple(dict.fromkeys(topics)),
            kind="insight",
        )

    def _as_written(self, entry: JournalEntry) -> str:
        [read] = page.read(entry.at.date(), page.lines(entry))
        return read.text

    async def _note(self, outcome: Outcome, model: Llm, data: Mapping[str, Value]) -> None:
        await in_thread(self._append, outcome, model, data)

    def _append(self, outcome: Outcome, model: Llm, data: Mapping[str, Value]) -> None:
        self._events.append("thought", self._now(), data=_data(outcome, model, data))


def _data(outcome: Outcome, model: Llm, data: Mapping[str, Value]) -> dict[str, Value]:
    return {"outcome": outcome, "model": model.name, "billing": model.billing, **data}
