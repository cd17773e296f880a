"""How loud it is around the user, and how loud the user is."""

from __future__ import annotations

from voice.hearing.endpoint import FRAME_MS
from voice.hearing.surroundings import Surroundings


def heard(*parts: tuple[int, float]) -> Surroundings:
    """So many ms at such a level, one after the other."""
    surroundings, position_ms = Surroundings(), 0
    for length_ms, level_dbfs in parts:
        for _ in range(length_ms // FRAME_MS):
            position_ms += FRAME_MS
            surroundings.frame(position_ms, level_dbfs)
    return surroundings


def test_the_last_seconds_count() -> None:
    """What was ten seconds ago is over; a door that slams is no room."""
    surroundings = heard((12_000, -60.0), (9_000, -35.0), (200, -10.0))
    assert surroundings.before(21_200) == -35.0
    assert surroundings.before(12_000) == -60.0


def test_too_little_is_not_known() -> None:
    assert heard((1_400, -60.0)).before(1_400) is None
    assert heard((2_000, -60.0)).before(40_000) is None


def test_the_user_is_no_surroundings() -> None:
    """After a long turn the room before it is what counts, and none where it is too old."""
    surroundings = heard((4_000, -60.0), (5_000, -20.0), (400, -58.0))
    surroundings.said(4_000, 9_000, -20.0)
    assert surroundings.before(9_400) == -60.0
    surroundings = heard((4_000, -60.0), (15_000, -20.0))
    surroundings.said(4_000, 19_000, -20.0)
    assert surroundings.before(19_000) is None


def test_how_loud_the_user_is() -> None:
    """One shout is not how somebody speaks."""
    surroundings = Surroundings()
    assert surroundings.usual_dbfs is None
    for level_dbfs in (-24.0, -26.0, -8.0):
        surroundings.said(0, 1_000, level_dbfs)
    assert surroundings.usual_dbfs == -24.0
    for _ in range(7):
        surroundings.said(0, 1_000, -40.0)
    assert surroundings.usual_dbfs == -40.0
