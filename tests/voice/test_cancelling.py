"""Jarvis' own voice taken out of the microphone."""

from __future__ import annotations

import numpy as np
import pytest

from voice.cancelling import WebRtcCancelling


def loudness_db(sound: np.ndarray) -> float:
    return float(10 * np.log10(np.mean((sound / 32768.0) ** 2) + 1e-12))


@pytest.mark.parametrize("late_ms", [40, 160, 320])
@pytest.mark.parametrize("echo_db", [-6, -20])
def test_an_echo_is_taken_out_and_a_voice_stays(late_ms: int, echo_db: int) -> None:
    """Wherever the echo lies within a third of a second; who speaks into it is still heard."""
    rng = np.random.default_rng(3)
    steps = np.repeat(np.abs(rng.normal(size=60)), 4_000)  # ten seconds that rise and fall
    said = rng.normal(size=240_000) * steps * 2_000
    said = np.convolve(said, np.ones(6) / 6, "same").clip(-20_000, 20_000)
    echo = said.reshape(-1, 3)[:, [0, 1]].reshape(-1) * 10 ** (echo_db / 20)
    late = late_ms * 16
    microphone = np.concatenate([np.zeros(late), echo])[: len(echo)]
    voice = np.zeros(len(echo))
    voice[112_000:136_000] = rng.normal(size=24_000) * 3_000
    cancelling, clean = WebRtcCancelling(), []
    for at in range(0, len(echo), 320):
        cancelling.played(said[at * 3 // 2 : (at + 320) * 3 // 2].astype("<i2").tobytes())
        frame = (microphone + voice)[at : at + 320].astype("<i2").tobytes()
        clean.append(np.frombuffer(cancelling.clean(frame), np.int16))
    out = np.concatenate(clean).astype(float)
    alone = slice(64_000, 110_000)
    assert loudness_db(out[alone]) < loudness_db(microphone[alone]) - 20
    assert loudness_db(out[113_000:135_000]) > loudness_db(voice[113_000:135_000]) - 12


def test_a_silent_loudspeaker_leaves_the_voice_alone() -> None:
    """As long as it was, and no softer."""
    rng = np.random.default_rng(4)
    voice = (rng.normal(size=32_000) * 2_000).astype("<i2")
    cancelling = WebRtcCancelling()
    out = b"".join(
        cancelling.clean(voice[at : at + 320].tobytes()) for at in range(0, len(voice), 320)
    )
    assert len(out) == 2 * len(voice)
    assert loudness_db(np.frombuffer(out, np.int16).astype(float)) > loudness_db(voice) - 3
