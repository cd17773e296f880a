"""Piper voices, where piper-tts is installed beside us (GPL-3.0: the worker process only)."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from voice.speech.sound import Sound


class Piper:
    gain = 1.0
    by_clause = False

    def __init__(self, model: str) -> None:
        piper: Any = importlib.import_module("piper")
        self._voice = piper.PiperVoice.load(model)
        self.rate_hz = int(self._voice.config.sample_rate)

    def say(self, text: str) -> Sound:
        pieces = [chunk.audio_float_array for chunk in self._voice.synthesize(text)]
        return np.concatenate([np.zeros(0, np.float32), *pieces]).astype(np.float32)
