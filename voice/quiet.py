"""Whether anybody talks to Jarvis: work that needs this machine's CPU waits for that (V11)."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager


class QuietHouse:
    """The `Quiet` of a house. A call counts from its beginning to its end, also in its pauses:
    a model that runs here has the conversation in its memory, and another question would take
    its place. A chat counts while a turn is being answered."""

    def __init__(self) -> None:
        self._talks = 0
        self._quiet = asyncio.Event()
        self._talking = asyncio.Event()
        self._quiet.set()

    @contextmanager
    def talking(self) -> Iterator[None]:
        self._talks += 1
        self._quiet.clear()
        self._talking.set()
        try:
            yield
        finally:
            self._talks -= 1
            if not self._talks:
                self._talking.clear()
                self._quiet.set()

    @property
    def is_quiet(self) -> bool:
        return not self._talks

    async def wait(self) -> None:
        await self._quiet.wait()

    async def broken(self) -> None:
        await self._talking.wait()
