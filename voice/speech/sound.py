"""Synthesized sound made ready to play: 24 kHz mono, without silence at its ends or clicks.

Sounds are float32 arrays between -1 and 1.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import soxr
from numpy.typing import NDArray

Sound: TypeAlias = NDArray[np.float32]

RATE_HZ = 24_000

_FRAME_MS = 5
_QUIET_DB = -42.0  # below the loudest frame: under a soft "f", over a vocoder's noise
_LEAD_MS = 10
_TAIL_MS = 30
_FADE_IN_MS = 4
_FADE_OUT_MS = 15

_SENTENCE_PAUSE_MS = 240
_CLAUSE_PAUSE_MS = 110


def pause_ms(text: str) -> int:
    """How long the voice rests behind this text."""
    end = text.rstrip("\"'”’“»«)]} \n")[-1:]
    if end in (".", "!", "?", "…"):
        return _SENTENCE_PAUSE_MS
    return _CLAUSE_PAUSE_MS if end in (",", ";", ":", "–", "—") else 0


def playable(sound: Sound, rate_hz: int, *, gain: float, pause_ms: int) -> bytes:
    """The sound as 16-bit PCM at 24 kHz, with its pause; empty when there is nothing to hear."""
    if rate_hz != RATE_HZ:
        sound = resampled(sound, rate_hz)
    sound = faded(trimmed(sound))
    if not len(sound):
        return b""
    rest = np.zeros(_samples(pause_ms), np.float32)
    return pcm(np.concatenate([sound * np.float32(gain), rest]))


def resampled(sound: Sound, rate_hz: int) -> Sound:
    """The whole sound at 24 kHz: as long as before, to the sample."""
    length = round(len(sound) * RATE_HZ / rate_hz)
    out = np.asarray(soxr.resample(sound, rate_hz, RATE_HZ, quality="HQ"), np.float32)
    return np.pad(out[:length], (0, max(0, length - len(out))))


def trimmed(sound: Sound) -> Sound:
    """Without the silence at both ends, but for 10 ms in front and 30 ms behind."""
    frame = _samples(_FRAME_MS)
    count = -(-len(sound) // frame)
    frames = np.pad(sound, (0, count * frame - len(sound))).reshape(count, frame)
    levels = np.sqrt(np.mean(np.square(frames, dtype=np.float64), axis=1))
    if not count or levels.max() < 1e-4:
        return sound[:0]
    loud = np.flatnonzero(levels > levels.max() * 10 ** (_QUIET_DB / 20))
    begin = max(0, loud[0] * frame - _samples(_LEAD_MS))
    return sound[begin : (loud[-1] + 1) * frame + _samples(_TAIL_MS)]


def faded(sound: Sound) -> Sound:
    """From nothing and to nothing, so that any two sounds can be joined."""
    sound = sound.copy()
    for length, ends in ((_samples(_FADE_IN_MS), sound), (_samples(_FADE_OUT_MS), sound[::-1])):
        length = min(length, len(ends))
        ends[:length] *= np.sin(np.linspace(0, np.pi / 2, length, dtype=np.float32)) ** 2
    return sound


def pcm(sound: Sound) -> bytes:
    return np.round(np.clip(sound, -1, 1) * 32767).astype("<i2").tobytes()


def _samples(ms: float) -> int:
    return round(ms * RATE_HZ / 1000)
