"""The loudspeaker's sound taken out of the microphone's: WebRTC's own echo canceller.

It holds up where the echo comes within half a second of the sound; behind that the guard of
`echo.py` stands.
"""

from __future__ import annotations

import threading
from typing import Protocol

import numpy as np
import soxr

from voice.microphone import FRAME_BYTES
from voice.microphone import RATE_HZ as IN_HZ
from voice.playback import RATE_HZ as OUT_HZ

# What was played and not yet compared. Two clocks drift apart, and a device that stood still
# leaves a heap: the canceller finds the echo again when the oldest is left out.
_BEHIND_MOST = 10 * FRAME_BYTES
_BEHIND = 2 * FRAME_BYTES


class Cancelling(Protocol):
    def played(self, pcm: bytes) -> None:
        """What the loudspeaker took, 24 kHz; from any thread."""
        ...

    def clean(self, frame: bytes) -> bytes:
        """20 ms of the microphone without it; as long as it was."""
        ...


class WebRtcCancelling:
    """Raises ImportError where there is no canceller for this machine. 0.6 ms a frame."""

    def __init__(self) -> None:
        from pywebrtc_audio import AudioProcessor

        self._processor = AudioProcessor(sample_rate=IN_HZ, echo_cancellation=True)
        self._resampler = soxr.ResampleStream(OUT_HZ, IN_HZ, 1, dtype="int16", quality="LQ")
        self._lock = threading.Lock()
        self._taken: list[bytes] = []
        self._reference = bytearray()

    def played(self, pcm: bytes) -> None:
        with self._lock:
            self._taken.append(pcm)

    def clean(self, frame: bytes) -> bytes:
        with self._lock:
            taken, self._taken = b"".join(self._taken), []
        if taken:
            sound = self._resampler.resample_chunk(np.frombuffer(taken, np.int16))
            self._reference += sound.tobytes()
        if len(self._reference) > _BEHIND_MOST:
            del self._reference[:-_BEHIND]
        far = bytes(self._reference[:FRAME_BYTES]).ljust(len(frame), b"\0")
        del self._reference[:FRAME_BYTES]
        clean = self._processor.process(
            np.frombuffer(frame, np.int16), np.frombuffer(far, np.int16)
        )
        return clean.astype("<i2").tobytes()
