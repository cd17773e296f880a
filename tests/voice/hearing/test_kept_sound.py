"""Sound by its position, and when it came."""

from __future__ import annotations

from voice.hearing.kept_sound import KeptSound

FRAME = bytes(640)


def test_sound_between_two_positions() -> None:
    """What was forgotten is not there; what is left stands at its own position."""
    kept = KeptSound()
    for number in range(100):
        kept.add(number.to_bytes(2, "little") * 320)
    before = kept.between(1_500, 1_540)
    kept.forget_before(1_400)
    assert kept.between(1_500, 1_540) == before == b"K\0" * 320 + b"L\0" * 320
    assert len(kept) == 600 * 32
    assert kept.between(0, 1_420) == b"F\0" * 320


def test_little_is_not_worth_forgetting() -> None:
    """Moving bytes at each frame would cost more than keeping them."""
    kept = KeptSound()
    for _ in range(50):
        kept.add(FRAME)
    kept.forget_before(900)
    assert len(kept) == 50 * 640


def test_when_a_frame_came() -> None:
    """The latest that ends no later; before the first, the first; without any, nothing."""
    kept = KeptSound()
    assert kept.came_s(20) is None
    kept.came(20, 5.0)
    kept.came(40, 5.1)
    assert [kept.came_s(at) for at in (0, 20, 30, 40, 99)] == [5.0, 5.0, 5.0, 5.1, 5.1]
