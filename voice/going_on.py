"""A call whose line broke, and the one that goes on from it (V1): pure."""

from __future__ import annotations

from datetime import datetime

from memory.records import Turn
from voice.records import CallEvent, TurnAdded

GO_ON_S = 120.0
"""Whoever comes back later begins a conversation of their own."""

EARLIER_TURNS = 40
"""What the next session is told: more would keep a small model reading for seconds."""


class LastCall:
    """The turns of the call that runs, or ran last, with those that it went on from."""

    def __init__(self) -> None:
        self._began_at: datetime | None = None
        self._earlier: tuple[Turn, ...] = ()
        self._turns: dict[int, Turn] = {}
        self._over_s: float | None = None

    def begins(self, at: datetime, earlier: tuple[Turn, ...]) -> None:
        self._began_at, self._earlier = at, earlier
        self._turns.clear()
        self._over_s = None

    def event(self, event: CallEvent) -> None:
        if isinstance(event, TurnAdded):
            self._turns[event.turn.index] = event.turn

    def over(self, at_s: float) -> None:
        """`at_s` is the loop's clock, as in `turns_of`."""
        self._over_s = at_s

    def turns_of(self, began_at: datetime | None, at_s: float) -> tuple[Turn, ...]:
        """What was said in the call that began then, where it may be gone on from; else nothing."""
        if began_at is None or began_at != self._began_at or self._over_s is None:
            return ()
        if at_s - self._over_s > GO_ON_S:
            return ()
        said = (*self._earlier, *(self._turns[index] for index in sorted(self._turns)))
        return said[-EARLIER_TURNS:]
