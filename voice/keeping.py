"""What a conversation leaves on disk: its turns in order, its hand-overs, its events."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from datetime import datetime
from typing import Any

from memory import Conversation, EventKind, EventLog, Session
from memory.errors import MemoryFault
from memory.records import HandOver, Prefix, Trigger, Turn
from voice.microphone import MicrophoneSummary
from voice.records import (
    CallEvent,
    EndReason,
    HandedOver,
    LatencyMeasured,
    Notice,
    State,
    TokensCounted,
)
from voice.triggers import Triggers

log = logging.getLogger(__name__)

Write = Callable[[], HandOver | None]


class Keeper:
    """Writes in the order in which it was told, off the event loop.

    What the disk refuses is told once as a notice and never ends the conversation: a turn
    that was not written waits for the next that is.
    """

    def __init__(
        self,
        conversation: Conversation,
        events: EventLog,
        *,
        now: Callable[[], datetime],
        emit: Callable[[CallEvent], None],
    ) -> None:
        self.hand_overs: list[HandOver] = []
        self._conversation = conversation
        self._events = events
        self._now = now
        self._emit = emit
        self._waiting: asyncio.Queue[Write] = asyncio.Queue()
        self._triggers = Triggers()
        self._fed = asyncio.Event()
        self._told: set[str] = set()

    @property
    def conversation(self) -> str:
        return self._conversation.id

    def turn(self, turn: Turn) -> None:
        """Keep a turn; the user's thirtieth hands over."""
        self._put(lambda: self._conversation.observe(turn))
        if self._triggers.turn_added(turn, asyncio.get_running_loop().time()):
            self.hand_over("30 turns")
        self._fed.set()

    def state_changed(self, state: State) -> None:
        self._triggers.state_changed(state, asyncio.get_running_loop().time())
        self._fed.set()

    async def silence(self) -> None:
        """Until five quiet minutes have passed; the next ones count from the next turn."""
        loop = asyncio.get_running_loop()
        while True:
            silence_s = self._triggers.silence_at_s
            wait_s = None if silence_s is None else silence_s - loop.time()
            if wait_s is not None and wait_s <= 0:
                self._triggers.silence_passed()
                return
            self._fed.clear()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(wait_s):
                    await self._fed.wait()

    def hand_over(self, trigger: Trigger) -> None:
        self._put(lambda: self._hand_over(trigger))

    def began(self, kind: str, engine: str, language: str, prefix: Prefix) -> None:
        self._log(
            "began",
            {"kind": kind, "engine": engine, "language": language, "prefix_sha256": prefix.sha256},
        )

    def engine_gave_up(self, engine: str) -> None:
        """Another one goes on."""
        self._log("engine_fault", {"engine": engine, "fault": "gave up"})

    def latency(self, measured: LatencyMeasured, engine: str) -> None:
        self._log(
            "latency",
            {
                "engine": engine,
                "total_ms": measured.total_ms,
                "stages_ms": measured.stages_ms,
            },
            measured.index,
        )

    def tokens(self, counted: TokensCounted, engine: str) -> None:
        self._log(
            "tokens",
            {
                "engine": engine,
                "prompt_tokens": counted.prompt_tokens,
                "cached_tokens": counted.cached_tokens,
                "prefix_sha256": counted.prefix_sha256,
            },
            counted.index,
        )

    def microphone(self, summary: MicrophoneSummary) -> None:
        """What became of each 20 ms of a call's microphone."""
        self._log("microphone", asdict(summary))

    def tool(self, name: str, outcome: str, duration_ms: int) -> None:
        self._log("tool", {"name": name, "outcome": outcome, "duration_ms": duration_ms})

    def no_turn(self, reason: str, duration_ms: int) -> None:
        self._log("no_turn", {"reason": reason, "duration_ms": duration_ms})

    def interrupted(self, turn: Turn) -> None:
        heard_ms = round((turn.ended_at - turn.began_at).total_seconds() * 1000)
        self._log("interrupted", {"heard_ms": heard_ms}, turn.index)

    def engine_fault(self, engine: str, fault: Exception) -> None:
        self._log("engine_fault", {"engine": engine, "fault": type(fault).__name__})

    def ended(self, reason: EndReason, duration_s: float, *, turns: int, user_turns: int) -> None:
        self._log(
            "ended",
            {
                "reason": reason,
                "turns": turns,
                "user_turns": user_turns,
                "duration_s": round(duration_s, 3),
            },
        )

    async def run(self) -> None:
        """Until cancelled. What was put before `settled` returned is written."""
        while True:
            write = await self._waiting.get()
            try:
                given = await asyncio.to_thread(write)
            except MemoryFault as fault:
                self._tell(str(fault))
            else:
                if given is not None:
                    self._handed_over(given)
            finally:
                self._waiting.task_done()

    async def settled(self) -> None:
        await self._waiting.join()

    def _put(self, write: Callable[[], Any]) -> None:
        self._waiting.put_nowait(write)

    def _log(self, kind: EventKind, data: dict[str, Any], turn_index: int | None = None) -> None:
        at, conversation = self._now(), self._conversation.id
        self._put(
            lambda: self._events.append(
                kind, at, conversation=conversation, turn_index=turn_index, data=data
            )
        )

    def _hand_over(self, trigger: Trigger) -> HandOver | None:
        return self._conversation.hand_over(trigger, self._now())

    def _handed_over(self, given: HandOver) -> None:
        self.hand_overs.append(given)
        self._log(
            "handed_over",
            {"first": given.first_index, "last": given.last_index, "trigger": given.trigger},
        )
        self._emit(
            HandedOver(
                first_index=given.first_index, last_index=given.last_index, trigger=given.trigger
            )
        )

    def _tell(self, text: str) -> None:
        log.warning("%s", text)
        if text not in self._told:
            self._told.add(text)
            self._emit(Notice(kind="stop", text=text))


def news_of(session: Session) -> Callable[[], Awaitable[str | None]]:
    """What changed in the notebooks since this session looked last, read off the loop."""

    async def news() -> str | None:
        return await asyncio.to_thread(session.news)

    return news
