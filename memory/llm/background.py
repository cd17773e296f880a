"""The background model of the moment: chosen before each question, opened once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from memory.errors import ModelUnavailable
from memory.llm.at_hand import Surroundings, find, opened
from memory.llm.choose import EMBEDDED, Choice, NoModel, Wishes, choose
from memory.llm.protocol import Llm
from memory.llm.providers import providers


class Background:
    """`embedded` gives the model that Jarvis itself runs, where there is one."""

    def __init__(
        self,
        wishes: Wishes,
        around: Surroundings,
        embedded: Callable[[], Llm | None] = lambda: None,
    ) -> None:
        self._wishes = wishes
        self._around = around
        self._embedded = embedded
        self._open: tuple[Choice, Llm] | None = None
        self._opening = asyncio.Lock()

    async def choice(self) -> Choice | NoModel:
        """What would be asked now, and why; or why nothing."""
        return choose(self._wishes, await find(self._wishes, self._around), providers())

    async def model(self) -> Llm:
        """Raises ModelUnavailable where there is none, with what to do."""
        async with self._opening:
            chosen = await self.choice()
            if isinstance(chosen, NoModel):
                raise ModelUnavailable(chosen.why)
            if chosen.provider == EMBEDDED:
                embedded = self._embedded()
                if embedded is None:
                    raise ModelUnavailable(
                        "The built-in model is not loaded. `jarvis models --bring` brings it."
                    )
                return embedded
            if self._open is None or self._open[0] != chosen:
                await self._close()
                self._open = (chosen, opened(chosen, self._around))
            return self._open[1]

    async def close(self) -> None:
        async with self._opening:
            await self._close()

    async def _close(self) -> None:
        if self._open is not None:
            _, model = self._open
            self._open = None
            await model.close()
