"""Jarvis' voice on its way to the page, and how far the page has played it.

The page tells which RTP timestamp plays on its clock. A packet holds 20 ms and the report
names its beginning, so of several reports the one that is furthest ahead is the truth.
"""

from __future__ import annotations

import asyncio
import fractions
from collections import deque
from collections.abc import Callable
from typing import Final

import numpy as np
from aiortc.mediastreams import MediaStreamTrack
from av import AudioFrame

from voice.playback import RATE_HZ, Loudspeaker, pts_of

_RTP_HZ: Final = 48_000
_WRAP: Final = 1 << 32
_STEP_SAMPLES: Final = RATE_HZ // 100
_BEFORE_REPORTS_S: Final = 0.12
"""How far a page is behind that has not told yet: its buffer and its device."""
_ENCODER_S: Final = 0.0065
_REPORTS: Final = 12
_LOWERED: Final = 0.2


class PagePlayback:
    """The page's side of the sound. `tell` sends it the gain with which it plays."""

    def __init__(self, tell: Callable[[float], None]) -> None:
        self.loudspeaker = Loudspeaker()
        self.cancels = False
        """The page's word on its microphone's echo cancellation."""
        self._tell = tell
        self._rtp_origin: int | None = None
        self._began_s: float | None = None
        self._reports: deque[tuple[float, float, float, float]] = deque(maxlen=_REPORTS)
        self._held_at: int | None = None
        self._gain = 1.0
        self._louder: asyncio.TimerHandle | None = None
        self._to_drain = 0
        """Up to where on the device the page holds what it should not let be heard."""

    # What the line and the page tell ----------------------------------------------------

    def began(self) -> None:
        """The line takes its first samples now."""
        self._began_s = asyncio.get_running_loop().time()

    def sent(self, rtp: int) -> None:
        """The timestamp of a packet; the first one is where the line's own clock begins."""
        if self._rtp_origin is None and rtp:
            self._rtp_origin = rtp

    def reported(self, rtp: int, at_ms: float, latency_ms: float) -> None:
        """The page played `rtp` when its own clock stood at `at_ms`."""
        if self._rtp_origin is None:
            return
        since = (rtp - self._rtp_origin) % _WRAP
        if since > _WRAP // 2:
            return  # of an older line
        place_s = since / _RTP_HZ - _ENCODER_S
        now_s = asyncio.get_running_loop().time()
        self._reports.append((now_s, at_ms / 1000, place_s, latency_ms / 1000))

    @property
    def device(self) -> int:
        """The device's position that is heard now, in the loudspeaker's samples."""
        taken = self.loudspeaker.taken
        if self._began_s is None:
            return 0
        now_s = asyncio.get_running_loop().time()
        if not self._reports:
            return max(0, taken - round(_BEFORE_REPORTS_S * RATE_HZ))
        # The page's clock and ours: the quickest report shows by how much they differ.
        apart_s = min(received_s - at_s for received_s, at_s, _, _ in self._reports)
        ahead_s = max(place_s - at_s for _, at_s, place_s, _ in self._reports)
        latency_s = self._reports[-1][3]
        place_s = now_s - apart_s + ahead_s - latency_s
        return max(0, min(round(place_s * RATE_HZ), taken))

    # Playback -----------------------------------------------------------------------------

    def played(self) -> int:
        return self._held_at if self._held_at is not None else self.loudspeaker.heard(self.device)

    def sounding(self) -> bool:
        return self._held_at is not None or self.loudspeaker.sounding(self.device)

    def late_s(self) -> float:
        return (self.loudspeaker.taken - self.device) / RATE_HZ

    def envelope(self) -> list[float]:
        return self.loudspeaker.envelope()

    def cancelled(self) -> bool:
        return self.cancels

    def lower(self) -> None:
        if self._held_at is None and self._gain == 1.0:
            self._set_gain(_LOWERED)

    def hold(self) -> None:
        """The page is silent at once, also of what it has buffered; the place is kept."""
        if self._held_at is None and self.loudspeaker.sounding(self.device):
            device = self.device
            self._held_at = self.loudspeaker.heard(device)
            self.loudspeaker.hold(at_once=True)
            self._to_drain = self.loudspeaker.sounds_until
            self.loudspeaker.unheard_from(device)
            self._set_gain(0.0)

    def go_on(self) -> None:
        held_at, self._held_at = self._held_at, None
        if held_at is not None:
            self.loudspeaker.go_on(held_at)
            self._set_gain(1.0, when_drained=True)
        elif self._gain != 1.0:
            self._set_gain(1.0)

    def flush(self) -> None:
        """Nothing of the answer is heard any more, neither what waits nor what the page has."""
        if not self.sounding():
            return
        device = self.device
        if self._held_at is not None:
            device = min(device, self.loudspeaker.device_of(self._held_at))
        self._held_at = None
        self._to_drain = self.loudspeaker.sounds_until
        self.loudspeaker.flush(device)
        self._set_gain(0.0)

    def given(self) -> None:
        """More to say: audible again, once the page has played off what it should not play."""
        if self._gain == 0.0 and self._held_at is None and self._louder is None:
            self._set_gain(1.0, when_drained=True)

    def close(self) -> None:
        if self._louder is not None:
            self._louder.cancel()

    def _set_gain(self, gain: float, *, when_drained: bool = False) -> None:
        if self._louder is not None:
            self._louder.cancel()
            self._louder = None
        behind_s = (self._to_drain - self.device) / RATE_HZ
        if when_drained and behind_s > 0:
            self._louder = asyncio.get_running_loop().call_later(behind_s, self._set_gain, gain)
            return
        self._gain = self.loudspeaker.outside_gain = gain
        self._tell(gain)


class VoiceTrack(MediaStreamTrack):
    """10 ms of sound each 10 ms, silence where there is none. `last_rtp` is the sender's."""

    kind = "audio"

    def __init__(self, playback: PagePlayback, last_rtp: Callable[[], int]) -> None:
        super().__init__()
        self._playback = playback
        self._last_rtp = last_rtp
        self._unplayed: deque[tuple[int, asyncio.Future[bool]]] = deque()
        self._began_s: float | None = None

    def give(self, pcm: bytes) -> tuple[int, asyncio.Future[bool]]:
        """The place of the first sample as `pts`, and whether the last one went out, once known."""
        loudspeaker = self._playback.loudspeaker
        first = loudspeaker.give(pcm)
        gone_out: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._unplayed.append((loudspeaker.given, gone_out))
        self._playback.given()
        return pts_of(first), gone_out

    def flush(self) -> None:
        self._playback.flush()
        while self._unplayed:
            self._settle(self._unplayed.popleft()[1], went_out=False)

    async def recv(self) -> AudioFrame:
        loudspeaker, loop = self._playback.loudspeaker, asyncio.get_running_loop()
        self._playback.sent(self._last_rtp())
        if self._began_s is None:
            self._began_s = loop.time()
            self._playback.began()
        wait_s = self._began_s + loudspeaker.taken / RATE_HZ - loop.time()
        if wait_s > 0:
            await asyncio.sleep(wait_s)
        frame_pts = loudspeaker.taken
        pcm = np.frombuffer(loudspeaker.take(_STEP_SAMPLES), np.int16)
        while self._unplayed and self._unplayed[0][0] <= loudspeaker.next:
            self._settle(self._unplayed.popleft()[1], went_out=True)
        frame = AudioFrame.from_ndarray(pcm[None, :], layout="mono")
        frame.sample_rate = RATE_HZ
        frame.pts = frame_pts
        frame.time_base = fractions.Fraction(1, RATE_HZ)
        return frame

    def stop(self) -> None:
        super().stop()
        while self._unplayed:
            self._settle(self._unplayed.popleft()[1], went_out=False)

    @staticmethod
    def _settle(gone_out: asyncio.Future[bool], *, went_out: bool) -> None:
        if not gone_out.done():
            gone_out.set_result(went_out)
