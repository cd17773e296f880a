"""Where a microphone's sound waits until the call can take it.

Open before anything else of a call: what is said while models load, the session connects or
a consumer stands still is kept in order, in memory first, then in a ring on disk. Nothing
is dropped but by a full ring, a failing disk or the end of the call, and that is counted.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from voice.microphone import FRAME_BYTES, FRAME_MS, Cutter, Ledger, MicrophoneSummary, Span
from voice.microphone_ring import Ring
from voice.records import Notice

log = logging.getLogger(__name__)

MEMORY_S = 10
RING_S = 600
WITHOUT_DISK_S = 60

# On their way through the pipeline: until the ears had them, and until the engine had.
HEARD_WINDOW = 25
ENGINE_WINDOW = 1_500

FULL = "the ring was full"
NO_DISK = "the disk could not take it"
HUNG_UP = "hung up before it was heard"
AFTER_END = "came after the hang-up"

_BLOCK = 50
_SILENCE = bytes(FRAME_BYTES)
_WITHOUT_DISK = WITHOUT_DISK_S * 1000 // FRAME_MS
_LONGEST_HOLE = 3_600_000 // FRAME_MS


class Arrived(NamedTuple):
    """20 ms, and the loop's time at which they came."""

    samples: bytes
    at_s: float


class Intake:
    """One microphone of one call. Made on the running loop; `put` never waits. It began to
    listen at `began_s`.

    The consumer takes frames with `take` and tells `heard` and `delivered` for each, in
    order. `folder` is where the ring may be made, None keeps all in memory. In line stand,
    oldest first: `_old`, what is on the disk, `_new`.
    """

    def __init__(
        self,
        folder: Path | None = None,
        *,
        notify: Callable[[Notice], None] = lambda _: None,
        memory_s: float = MEMORY_S,
        ring_s: float = RING_S,
    ) -> None:
        self.began_s = asyncio.get_running_loop().time()
        self.notify = notify
        self._memory = round(memory_s * 1000 / FRAME_MS)
        self._ring = Ring(folder, round(ring_s * 1000 / FRAME_MS)) if folder else None
        self._disk_takes = folder is not None
        self._ledger = Ledger()
        self._cutter = Cutter()
        self._old: deque[Arrived] = deque()
        self._on_disk_s: deque[float] = deque()
        self._new: deque[Arrived] = deque()
        self._disk = asyncio.Lock()
        self._shelving: asyncio.Task[None] | None = None
        self._moved = asyncio.Event()
        self._unheard = 0
        self._undelivered = 0
        self._open = True
        self._told: set[str] = set()

    # The microphone's side -------------------------------------------------------------

    def put(self, samples: bytes, rate_hz: int, channels: int = 1) -> None:
        """Sound as it comes, of any length; 16-bit mono at 16 kHz, or it is our mistake."""
        for frame in self._cutter.cut(samples, rate_hz, channels):
            if self._open:
                self._ledger.arrived()
                self._join(frame)
            else:
                self._ledger.refused(1, AFTER_END)

    def missing(self, duration_ms: float, reason: str) -> None:
        """The device gave nothing for so long: the hole is known, and silent."""
        if not self._open:
            return
        frames = min(round(duration_ms / FRAME_MS), _LONGEST_HOLE)
        self._ledger.missing(frames, reason)
        for _ in range(frames):
            self._join(_SILENCE)

    def shut(self) -> None:
        """The microphone is off: what waits is still taken, nothing joins it."""
        if self._open:
            for frame in self._cutter.flush():
                self._ledger.arrived()
                self._join(frame)
        self._open = False
        self._moved.set()

    def _join(self, frame: bytes) -> None:
        self._new.append(Arrived(frame, asyncio.get_running_loop().time()))
        self._moved.set()
        if self._disk_takes:
            if self._too_many and self._shelving is None:
                self._shelving = asyncio.create_task(self._shelve())
        elif len(self._new) > max(self._memory, _WITHOUT_DISK):
            self._new.popleft()
            self._lost(1, NO_DISK)

    @property
    def _too_many(self) -> bool:
        in_memory = len(self._old) + len(self._new)
        return in_memory > self._memory and len(self._new) >= _BLOCK

    async def _shelve(self) -> None:
        """The oldest of the newest go to the disk while there are too many in memory."""
        ring = self._ring
        assert ring is not None
        try:
            while self._too_many:
                async with self._disk:
                    if len(self._new) < _BLOCK:
                        return
                    block = [self._new.popleft() for _ in range(_BLOCK)]
                    sound = b"".join(frame.samples for frame in block)
                    try:
                        forgotten = await asyncio.to_thread(ring.append, sound)
                    except OSError as fault:
                        log.warning("the microphone's ring can't be written: %s", fault)
                        self._new.extendleft(reversed(block))
                        self._disk_takes = False
                        return
                    for _ in range(forgotten):
                        self._on_disk_s.popleft()
                    if forgotten:
                        self._lost(forgotten, FULL)
                    self._on_disk_s.extend(frame.at_s for frame in block)
        finally:
            self._shelving = None
            self._moved.set()

    def _lost(self, frames: int, reason: str) -> None:
        """Of those that no consumer has taken, the oldest behind what lies ready in memory."""
        behind = self._undelivered + len(self._old)
        if reason == NO_DISK:
            behind += len(self._on_disk_s)
        self._ledger.dropped(frames, reason, behind=behind)
        if reason in self._told:
            return
        self._told.add(reason)
        log.warning("sound of the microphone is dropped: %s", reason)
        self.notify(
            Notice(
                kind="handled",
                text=f"What the microphone gives could not be taken for too long ({reason}): a part "
                "of it is lost. Wait until Jarvis listens again, and say it once more.",
            )
        )

    # The consumer's side ---------------------------------------------------------------

    async def take(self) -> Arrived | None:
        """The next frame, when there is one and the pipeline has room; None: it is shut, and
        all was taken."""
        while True:
            if self._unheard >= HEARD_WINDOW or self._undelivered >= ENGINE_WINDOW:
                await self._wait()
            elif self._old:
                return self._taken(self._old.popleft())
            elif self._on_disk_s or self._disk.locked():
                await self._unshelve()
            elif self._new:
                return self._taken(self._new.popleft())
            elif self._open:
                await self._wait()
            else:
                return None

    async def _unshelve(self) -> None:
        async with self._disk:
            if not self._on_disk_s:
                return
            assert self._ring is not None
            try:
                block = await asyncio.to_thread(self._ring.take, _BLOCK)
            except OSError as fault:
                log.warning("the microphone's ring can't be read: %s", fault)
                lost, self._disk_takes = len(self._on_disk_s), False
                self._on_disk_s.clear()
                self._lost(lost, NO_DISK)
                return
            self._old.extend(Arrived(frame, self._on_disk_s.popleft()) for frame in block)

    async def _wait(self) -> None:
        self._moved.clear()
        await self._moved.wait()

    def _taken(self, frame: Arrived) -> Arrived:
        self._unheard += 1
        self._undelivered += 1
        return frame

    def heard(self) -> None:
        """The ears had the oldest frame that they had not."""
        self._unheard -= 1
        self._moved.set()

    def delivered(self) -> None:
        """The engine had the oldest frame that it had not."""
        self._undelivered -= 1
        self._ledger.delivered()
        self._moved.set()

    async def drained(self) -> None:
        """Until the ears had all that came. Wait for it once the intake is shut."""
        while self._unheard or self._new or self._old or self._on_disk_s or self._disk.locked():
            await self._wait()

    @property
    def waiting_s(self) -> float:
        """How much stands in line."""
        return self._ledger.waiting * FRAME_MS / 1000

    # Afterwards ------------------------------------------------------------------------

    def summary(self) -> MicrophoneSummary:
        return self._ledger.summary()

    def spans(self) -> tuple[Span, ...]:
        return self._ledger.spans()

    async def close(self) -> MicrophoneSummary:
        """What nobody heard is lost, and told; the ring is gone. What became of everything."""
        self.shut()
        if self._shelving is not None:
            await asyncio.wait({self._shelving})
        for _ in range(self._undelivered - self._unheard):
            self._ledger.delivered()
        self._undelivered = self._unheard = 0
        self._ledger.dropped(self._ledger.waiting, HUNG_UP)
        self._old.clear()
        self._new.clear()
        self._on_disk_s.clear()
        if self._ring is not None:
            await asyncio.to_thread(self._ring.close)
        return self._ledger.summary()
