"""What of a frame is voice: webrtcvad as a cheap gate, Silero as judge.

Silero runs only when the gate opens or a turn is open, so a call in which nobody speaks
costs next to nothing.
"""

from __future__ import annotations

import math
from collections import deque
from copy import copy
from functools import cache
from importlib import resources
from typing import Any, Literal, cast

import numpy as np
import numpy.typing as npt
import webrtcvad
from pipecat.audio.vad.silero import SileroOnnxModel

from voice.hearing.endpoint import FRAME_MS, FrameSound

RATE_HZ = 16_000
FRAME_BYTES = RATE_HZ * FRAME_MS // 1000 * 2

Judge = Literal["silero", "webrtcvad"]
Samples = npt.NDArray[np.int16]

_WINDOW_SAMPLES = 512
_WAKE_FRAMES = 24
_GATE_FRAMES = 5
_SLEEP_FRAMES = 75
_RESET_WINDOWS = 62
_CLEARLY_QUIET = 0.1


def level_dbfs(samples: Samples) -> float:
    """RMS level, -120 for digital silence."""
    if not len(samples):
        return -120.0
    values = samples.astype(np.float32)
    mean_square = float(np.dot(values, values)) / len(values) / 32768.0**2
    return 10 * math.log10(mean_square + 1e-12)


@cache
def silero() -> Any:
    """The model, loaded once, some 50 ms; each microphone's copy has a state of its own."""
    path = resources.files("pipecat.audio.vad.data").joinpath("silero_vad.onnx")
    return cast("Any", SileroOnnxModel)(str(path))


class VoiceDetector:
    """One microphone's detectors. `judge` says whose word counts."""

    def __init__(self, judge: Judge = "silero") -> None:
        self._gate = webrtcvad.Vad(1)
        self._strict = webrtcvad.Vad(3) if judge == "webrtcvad" else None
        self._verdicts: deque[bool] = deque(maxlen=_GATE_FRAMES)
        self._strict_verdicts: deque[bool] = deque(maxlen=6)
        self._model: Any = None  # pipecat's class carries no types
        if judge == "silero":
            self._model = copy(silero())
            self._model.reset_states()
        self._earlier: deque[Samples] = deque(maxlen=_WAKE_FRAMES)
        self._pending: Samples = np.zeros(0, np.int16)
        self._awake = False
        self._quiet_frames = 0
        self._windows = 0
        self._low_windows = 0
        self._probability = 0.0

    def frame(self, pcm: bytes, *, turn_open: bool) -> FrameSound:
        """Judge 640 bytes: 20 ms of 16 kHz mono 16-bit."""
        samples = np.frombuffer(pcm, np.int16)
        verdict = bool(self._gate.is_speech(pcm, RATE_HZ))
        self._verdicts.append(verdict)
        if self._strict is not None:
            self._strict_verdicts.append(bool(self._strict.is_speech(pcm, RATE_HZ)))
            probability = sum(self._strict_verdicts) / 6
        else:
            probability = self._silero(samples, turn_open)
        return FrameSound(gate=verdict, probability=probability, level_dbfs=level_dbfs(samples))

    def _silero(self, samples: Samples, turn_open: bool) -> float:
        called = turn_open or sum(self._verdicts) >= 2
        self._earlier.append(samples)
        if not self._awake:
            if not called:
                return 0.0
            self._wake()
        else:
            self._pending = np.concatenate((self._pending, samples))
        self._judge_pending(turn_open)
        self._quiet_frames = 0 if called or self._probability > 0.15 else self._quiet_frames + 1
        if self._quiet_frames >= _SLEEP_FRAMES:
            self._awake = False
            self._probability = 0.0
        return self._probability

    def _wake(self) -> None:
        self._awake = True
        self._model.reset_states()
        self._windows = self._low_windows = self._quiet_frames = 0
        heard = np.concatenate(list(self._earlier))
        self._pending = heard[len(heard) % _WINDOW_SAMPLES :]

    def _judge_pending(self, turn_open: bool) -> None:
        while len(self._pending) >= _WINDOW_SAMPLES:
            window = self._pending[:_WINDOW_SAMPLES].astype(np.float32) / 32768.0
            self._pending = self._pending[_WINDOW_SAMPLES:]
            self._probability = float(self._model(window, RATE_HZ)[0][0])
            self._windows += 1
            quiet = self._probability < _CLEARLY_QUIET
            self._low_windows = self._low_windows + 1 if quiet else 0
            # Music or long noise leaves a state in which Silero hears the next words late.
            if not turn_open and self._windows >= _RESET_WINDOWS and self._low_windows >= 5:
                self._model.reset_states()
                self._windows = 0
