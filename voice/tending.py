"""What goes on beside conversations: folders are watched, and Jarvis thinks."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

from memory import Llm, Memory, ThinkCaps, Thinked, brief_turns
from memory.errors import AlreadyWatching, MemoryFault
from voice.config import Config
from voice.own_memory import now
from voice.quiet import QuietHouse

log = logging.getLogger(__name__)

EMBED_EVERY_S = 30.0
EMBED_PAUSE_S = 0.1


class Tending:
    """Made on a running loop; `start` once, `close` once. `faults` are sentences for the user."""

    def __init__(
        self,
        config: Config,
        memory: Memory,
        model: Callable[[], Awaitable[Llm]],
        quiet: QuietHouse,
    ) -> None:
        self._config = config
        self._memory = memory
        self._quiet = quiet
        self._tasks: list[asyncio.Task[None]] = []
        self._thinker: asyncio.Task[None] | None = None
        self.faults: list[str] = []
        self._thinking = memory.thinking(
            model=model,
            quiet=quiet,
            now=now,
            caps=ThinkCaps(
                calls_a_day=config.think_calls_a_day, tokens_a_day=config.think_tokens_a_day
            ),
        )

    def start(self) -> None:
        """Watch the folders of the settings, and think, from now on."""
        if self._tasks:
            return
        self._tasks.append(asyncio.create_task(self._embed()))
        if self._config.watch:
            self._tasks.append(asyncio.create_task(self._watch()))
        else:
            self._tasks.append(asyncio.create_task(self._look_at_notes()))
        self._think_or_not()

    def take(self, config: Config) -> None:
        """Think by itself from now on, or no longer; the other settings count at the next start."""
        self._config = config
        if self._tasks:
            self._think_or_not()

    def _think_or_not(self) -> None:
        if self.thinks and self._thinker is None:
            self._thinker = asyncio.create_task(self._thinking.run(self._config.think_every_s))
            self._tasks.append(self._thinker)
        elif not self.thinks and self._thinker is not None:
            self._thinker.cancel()
            self._thinker = None

    @property
    def thinks(self) -> bool:
        """Whether the settings have it think by itself (L6.5: learning off, nothing is written)."""
        return self._config.think and self._config.learning

    async def think(self) -> Thinked:
        """One thought, now."""
        return await self._thinking.think()

    async def run_thinking(self) -> None:
        """Until it is cancelled."""
        await self._thinking.run(self._config.think_every_s)

    async def _embed(self) -> None:
        """Vectors for what the notes mean, one at a time, and none while somebody talks (N7)."""
        while True:
            await self._quiet.wait()
            try:
                made = await asyncio.to_thread(self._memory.embed_some)
            except MemoryFault as fault:
                log.warning("no vectors are made for the notes: %s", fault)
                made = 0
            await asyncio.sleep(EMBED_PAUSE_S if made else EMBED_EVERY_S)

    async def _look_at_notes(self) -> None:
        """What changed while nobody was here, so that the first question does not wait for it; who
        watches folders does it as well."""
        await self._quiet.wait()
        try:
            with brief_turns():
                await asyncio.to_thread(self._memory.index.check)
        except MemoryFault as fault:
            log.warning("the notes are not looked at before the first question: %s", fault)

    async def _watch(self) -> None:
        watching = self._memory.watching(self._config.watch, now, calm=lambda: self._quiet.is_quiet)
        try:
            await watching.run()
        except AlreadyWatching as fault:
            # `jarvis watch` does it: its journal and its index are ours.
            log.info("%s", fault)
        except MemoryFault as fault:
            log.warning("%s", fault)
            self.faults.append(str(fault))

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        for outcome in await asyncio.gather(*self._tasks, return_exceptions=True):
            if isinstance(outcome, Exception):
                log.error("what goes on beside conversations failed", exc_info=outcome)
