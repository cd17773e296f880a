from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from memory.days import day_of

BERLIN = ZoneInfo("Europe/Berlin")


@pytest.mark.parametrize(
    ("at", "day"),
    [
        (datetime(2026, 12, 31, 23, 59, tzinfo=BERLIN), date(2026, 12, 31)),
        (datetime(2027, 1, 1, 0, 1, tzinfo=BERLIN), date(2027, 1, 1)),
        (datetime(2026, 3, 29, 1, 59, tzinfo=BERLIN), date(2026, 3, 29)),
        (datetime(2026, 3, 29, 3, 0, tzinfo=BERLIN), date(2026, 3, 29)),
        (datetime(2026, 10, 25, 2, 30, tzinfo=BERLIN), date(2026, 10, 25)),
        (datetime(2026, 10, 25, 2, 30, fold=1, tzinfo=BERLIN), date(2026, 10, 25)),
        (datetime(2026, 10, 25, 23, 59, tzinfo=BERLIN), date(2026, 10, 25)),
        (datetime(2028, 2, 29, 12, tzinfo=UTC), date(2028, 2, 29)),
        (datetime.fromisoformat("2026-12-02T23:30:00-10:00"), date(2026, 12, 2)),
        (datetime.fromisoformat("2026-12-02T00:30:00+14:00"), date(2026, 12, 2)),
    ],
)
def test_a_day_is_the_users(at: datetime, day: date) -> None:
    """The offset of the time itself decides, at midnight and on both clock changes (m15)."""
    assert day_of(at) == day


def test_midnight_passes_in_a_running_process() -> None:
    """Two minutes around midnight are two days, wherever the machine stands."""
    before = datetime(2026, 12, 2, 23, 59, tzinfo=BERLIN)
    assert day_of(before + timedelta(minutes=2)) - day_of(before) == timedelta(days=1)


def test_a_time_without_an_offset_is_our_mistake() -> None:
    """Nobody knows which day it is on."""
    with pytest.raises(AssertionError):
        day_of(datetime(2026, 12, 2))  # noqa: DTZ001
