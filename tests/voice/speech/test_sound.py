"""From a synthesizer's floats to what is played."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from voice.speech.sound import RATE_HZ, Sound, faded, pause_ms, pcm, playable, resampled, trimmed


def tone(ms: float, rate_hz: int = RATE_HZ, hz: float = 440.0) -> Sound:
    times = np.arange(round(ms * rate_hz / 1000)) / rate_hz
    return (0.5 * np.sin(2 * np.pi * hz * times)).astype(np.float32)


def silence(ms: float) -> Sound:
    return np.zeros(round(ms * RATE_HZ / 1000), np.float32)


@given(length=st.integers(0, 5000), rate_hz=st.sampled_from([16_000, 22_050, 44_100, 48_000]))
def test_resampling_loses_no_sample(length: int, rate_hz: int) -> None:
    sound = np.ones(length, np.float32)
    assert len(resampled(sound, rate_hz)) == round(length * RATE_HZ / rate_hz)


@pytest.mark.parametrize("rate_hz", [16_000, 22_050, 48_000])
def test_a_tone_stays_a_tone(rate_hz: int) -> None:
    """440 Hz in is 440 Hz out, also in the last tenth of a second."""
    end = resampled(tone(1000, rate_hz), rate_hz)[-2400:]
    spectrum = np.abs(np.fft.rfft(end * np.hanning(len(end))))
    assert abs(np.argmax(spectrum) * RATE_HZ / len(end) - 440) <= 5
    assert 0.45 < np.abs(end).max() < 0.55


@pytest.mark.parametrize(("before_ms", "behind_ms"), [(240, 500), (10, 30), (0, 0), (3, 1000)])
def test_silence_is_trimmed(before_ms: int, behind_ms: int) -> None:
    """At most 15 ms stay in front and 35 ms behind, and nothing of the sound is lost."""
    sound = np.concatenate([silence(before_ms), tone(200), silence(behind_ms)])
    kept_ms = len(trimmed(sound)) * 1000 / RATE_HZ
    assert 200 <= kept_ms <= 200 + min(15, before_ms) + min(35, behind_ms) + 5


def test_a_soft_end_is_kept() -> None:
    """What is 35 dB under the loudest is still speech."""
    soft = tone(100) * np.float32(10 ** (-35 / 20))
    sound = np.concatenate([silence(100), tone(200), soft, silence(100)])
    assert len(trimmed(sound)) >= round(0.300 * RATE_HZ)


@pytest.mark.parametrize("sound", [silence(0), silence(500), silence(100) + np.float32(1e-6)])
def test_silence_is_nothing_to_play(sound: Sound) -> None:
    assert playable(sound, RATE_HZ, gain=1.0, pause_ms=240) == b""


@given(length=st.integers(1, 2000))
def test_any_two_sounds_can_be_joined(length: int) -> None:
    """Each begins and ends near zero, however short it is."""
    sound = faded(np.full(length, 0.9, np.float32))
    assert sound[0] == 0
    assert abs(sound[-1]) < 1e-6


def test_too_loud_is_cut_not_wrapped() -> None:
    assert np.frombuffer(pcm(np.array([2.0, -2.0, 0.0], np.float32)), "<i2").tolist() == [
        32767,
        -32767,
        0,
    ]


PAUSES = [("Yes.", 240), ("Yes?” ", 240), ("Yes,", 110), ("Yes –", 110), ("Yes", 0), ("", 0)]


@pytest.mark.parametrize(("text", "ms"), PAUSES)
def test_pauses(text: str, ms: int) -> None:
    """The voice rests behind a sentence longer than behind a clause, and within one not at all."""
    assert pause_ms(text) == ms
    sound = playable(tone(200), RATE_HZ, gain=1.0, pause_ms=ms)
    assert len(sound) // 2 == len(trimmed(tone(200))) + ms * RATE_HZ // 1000
