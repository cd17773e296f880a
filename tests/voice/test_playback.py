"""What was played where, on tables of portions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from voice.playback import RATE_HZ, SILENT_DBFS, Loudspeaker, position_of, pts_of

MS = RATE_HZ // 1000


def sound(samples: int, *, value: int = 10_000) -> bytes:
    return np.full(samples, value, np.int16).tobytes()


def loudest(pcm: bytes) -> int:
    return int(np.abs(np.frombuffer(pcm, np.int16).astype(int)).max(initial=0))


@pytest.mark.parametrize("position", [0, 1, 479, 24_000, 24_000 * 3600 * 5 + 7])
def test_positions_survive_nanoseconds(position: int) -> None:
    """A position goes through pipecat's nanoseconds and comes back as it was."""
    assert position_of(pts_of(position)) == position


@given(st.lists(st.tuples(st.booleans(), st.integers(1, 900)), max_size=60))
def test_nothing_is_lost_or_doubled(steps: list[tuple[bool, int]]) -> None:
    """Whatever the portions, the device gets each sample once and in order."""
    speaker, given_pcm, taken = Loudspeaker(), bytearray(), bytearray()
    count = 0
    for gives, samples in steps:
        if gives:
            numbers = np.arange(count, count + samples, dtype=np.int64) % 32_000 + 1
            count += samples
            pcm = numbers.astype(np.int16).tobytes()
            given_pcm += pcm
            speaker.give(pcm)
        else:
            taken += speaker.take(samples)
    taken += speaker.take(speaker.waiting)
    played = np.frombuffer(bytes(taken), np.int16)
    assert played[played != 0].tobytes() == bytes(given_pcm)


def test_what_was_heard_follows_the_device() -> None:
    """A gap in the sound counts on the device and not in what was given."""
    speaker = Loudspeaker()
    speaker.give(sound(100))
    speaker.take(150)
    speaker.give(sound(100))
    speaker.take(150)
    heard = [speaker.heard(device) for device in (0, 60, 100, 149, 150, 200, 250, 300)]
    assert heard == [0, 60, 100, 100, 100, 150, 200, 200]
    assert [speaker.sounding(device) for device in (0, 249, 1_209, 1_210)] == [
        True,
        True,
        True,
        False,
    ]


def test_lowered_within_ten_milliseconds() -> None:
    """Lowered, the voice goes on at a fifth of its loudness."""
    speaker = Loudspeaker()
    speaker.give(sound(100 * MS))
    speaker.lower()
    assert loudest(speaker.take(10 * MS)[-2 * MS :]) < 2_300
    assert loudest(speaker.take(20 * MS)) == 2_000
    assert speaker.next == 30 * MS
    speaker.go_on()
    speaker.take(10 * MS)
    assert loudest(speaker.take(20 * MS)) == 10_000


def test_held_and_going_on_at_the_same_place() -> None:
    """Held, it is silent within 10 ms and keeps its place within 10 ms."""
    speaker = Loudspeaker()
    speaker.give(sound(500 * MS))
    speaker.take(100 * MS)
    speaker.hold()
    speaker.take(20 * MS)
    assert loudest(speaker.take(300 * MS)) == 0
    assert 100 * MS <= speaker.next <= 110 * MS
    place = speaker.next
    speaker.go_on()
    speaker.take(20 * MS)
    assert speaker.heard(speaker.taken) == place + 20 * MS
    assert loudest(speaker.take(20 * MS)) == 10_000


def test_going_on_where_it_was_heard() -> None:
    """What the device took but nobody heard is played again."""
    speaker = Loudspeaker()
    speaker.give(sound(500 * MS))
    speaker.take(200 * MS)
    speaker.hold()
    speaker.take(100 * MS)
    speaker.go_on(at=120 * MS)
    speaker.take(50 * MS)
    assert speaker.heard(speaker.taken) == 170 * MS
    assert speaker.heard(150 * MS) == 150 * MS


def test_flushed() -> None:
    """Thrown away, nothing comes out any more, and what was on its way was not heard."""
    speaker = Loudspeaker()
    speaker.give(sound(500 * MS))
    speaker.take(200 * MS)
    speaker.flush(120 * MS)
    assert loudest(speaker.take(100 * MS)) == 0
    assert not speaker.sounding(150 * MS)
    assert speaker.heard(300 * MS) == 120 * MS
    assert speaker.give(sound(10 * MS)) == 500 * MS
    assert loudest(speaker.take(10 * MS)) == 10_000


def test_flushed_before_anything_was_heard() -> None:
    """An answer of which nothing had reached the listener was not heard at all."""
    speaker = Loudspeaker()
    speaker.give(sound(100 * MS))
    speaker.take(50 * MS)
    speaker.flush(0)
    assert speaker.heard(100 * MS) == 0
    assert not speaker.sounding(0)


def test_where_the_device_played_it() -> None:
    """The last time counts, when something was played twice."""
    speaker = Loudspeaker()
    speaker.give(sound(500 * MS))
    speaker.take(200 * MS)
    assert speaker.device_of(120 * MS) == 120 * MS
    speaker.go_on(at=100 * MS)
    speaker.take(50 * MS)
    assert speaker.device_of(120 * MS) == 220 * MS


def test_envelope() -> None:
    """One level for each 20 ms of the device, silence and lowering included."""
    speaker = Loudspeaker()
    speaker.give(sound(20 * MS, value=16_384))
    for _ in range(8):
        speaker.take(5 * MS)
    assert speaker.envelope() == [pytest.approx(-6.0, abs=0.1), SILENT_DBFS]


def test_bounded() -> None:
    """An hour of speech keeps seconds of it."""
    speaker = Loudspeaker()
    for _ in range(3600 * 10):
        speaker.give(bytes(100 * MS * 2))
        speaker.take(100 * MS)
    assert len(speaker._sound) < 10 * RATE_HZ
    assert len(speaker._spans) == 1
    assert len(speaker.envelope()) <= 200
