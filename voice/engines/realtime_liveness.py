"""Whether the line under a session lives."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from voice.engines.realtime_socket import Link
from voice.engines.realtime_times import Pongs, patience_s


class Liveness:
    """Of the sessions of one call, one after the other. `owed` tells whether an answer is."""

    def __init__(self, pongs: Pongs, owed: Callable[[], bool]) -> None:
        self._pongs = pongs
        self._owed = owed
        self._rtt_s = 0.0

    async def of(self, link: Link) -> bool:
        """Ask it. What came from it meanwhile counts as an answer."""
        loop = asyncio.get_running_loop()
        asked_s = loop.time()
        answered = await link.ping(patience_s(self._rtt_s))
        if answered:
            self._rtt_s = 0.8 * self._rtt_s + 0.2 * (loop.time() - asked_s)
        lives = answered or link.heard_s > asked_s or not self._pongs.are_trusted
        if lives:
            self._pongs = self._pongs.after(answered=answered, owed=self._owed())
        return lives

    def was_wrong(self) -> None:
        """It lived after all."""
        self._pongs = self._pongs.after(answered=False, owed=self._owed())
