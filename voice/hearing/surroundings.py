"""How loud it is around the user, and how loud the user is.

A crowd or a television is all voice to a detector of voices, and no background; but whoever speaks
to the microphone stands out from it.
"""

from __future__ import annotations

import statistics
from collections import deque

from voice.hearing.endpoint import FRAME_MS

_HEARD_MS = 10_000
_ENOUGH_MS = 1_500
_TURNS_KEPT = 7
_KEPT = 2 * _HEARD_MS // FRAME_MS


class Surroundings:
    """Of one microphone. Levels in dBFS, positions in ms of its stream."""

    def __init__(self) -> None:
        self._said: deque[float] = deque(maxlen=_TURNS_KEPT)
        self._levels = deque[tuple[int, float]](maxlen=_KEPT)

    def frame(self, position_ms: int, level_dbfs: float) -> None:
        """A frame, up to `position_ms`, in which Jarvis is silent."""
        self._levels.append((position_ms, level_dbfs))

    def said(self, began_ms: int, ended_ms: int, level_dbfs: float) -> None:
        """That was the user, and no surroundings."""
        self._said.append(level_dbfs)
        self._levels = deque(
            (each for each in self._levels if not began_ms < each[0] <= ended_ms), maxlen=_KEPT
        )

    def before(self, position_ms: int) -> float | None:
        """The median level of the last seconds outside turns and answers, as it was then; None where
        too little of them was heard."""
        from_ms = position_ms - _HEARD_MS
        levels = [level for at_ms, level in self._levels if from_ms < at_ms <= position_ms]
        return statistics.median(levels) if len(levels) * FRAME_MS >= _ENOUGH_MS else None

    @property
    def usual_dbfs(self) -> float | None:
        """How loud the user's last turns were; None before the first."""
        return statistics.median(self._said) if self._said else None
