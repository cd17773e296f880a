"""The microphone's sound as far as it may still be asked about, by its position, and when it came."""

from __future__ import annotations

from collections import deque

from voice.hearing.detector import RATE_HZ
from voice.hearing.endpoint import FRAME_MS

_BYTES_PER_MS = RATE_HZ // 1000 * 2
_ARRIVALS_KEPT_MS = 60_000
_LEAST_FORGOTTEN_MS = 1_000
"""Not at each frame: moving bytes costs."""


class KeptSound:
    """16 kHz mono 16-bit. Positions are in ms of the stream, `*_s` of the clock."""

    def __init__(self) -> None:
        self._sound = bytearray()
        self._from_ms = 0
        self._arrivals: deque[tuple[int, float]] = deque(maxlen=_ARRIVALS_KEPT_MS // FRAME_MS)

    def __len__(self) -> int:
        """Bytes."""
        return len(self._sound)

    def add(self, pcm: bytes) -> None:
        self._sound += pcm

    def came(self, position_ms: int, at_s: float) -> None:
        """The frame that ends at `position_ms` came at `at_s`."""
        self._arrivals.append((position_ms, at_s))

    def came_s(self, position_ms: int) -> float | None:
        """When the frame that ends at `position_ms` came; None before the first."""
        for at_ms, at_s in reversed(self._arrivals):
            if at_ms <= position_ms:
                return at_s
        return self._arrivals[0][1] if self._arrivals else None

    def forget_before(self, at_ms: int) -> None:
        surplus_ms = at_ms - self._from_ms
        if surplus_ms >= _LEAST_FORGOTTEN_MS:
            del self._sound[: surplus_ms * _BYTES_PER_MS]
            self._from_ms = at_ms

    def between(self, from_ms: int, to_ms: int) -> bytes:
        begin = max(from_ms - self._from_ms, 0) * _BYTES_PER_MS
        return bytes(self._sound[begin : max(to_ms - self._from_ms, 0) * _BYTES_PER_MS])
