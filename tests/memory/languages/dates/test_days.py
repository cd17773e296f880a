from __future__ import annotations

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.languages.dates import days

DAYS = st.dates(date(1950, 1, 1), date(2150, 12, 31))


@pytest.mark.parametrize(
    ("today", "count", "there"),
    [
        ("2026-01-31", 1, "2026-02-28"),
        ("2028-01-31", 1, "2028-02-29"),
        ("2026-12-31", 2, "2027-02-28"),
        ("2028-02-29", 12, "2029-02-28"),
        ("2026-03-31", -1, "2026-02-28"),
        ("2026-01-15", -1, "2025-12-15"),
    ],
)
def test_months_keep_the_day_where_they_can(today: str, count: int, there: str) -> None:
    """A month that is too short for the day gives its last one."""
    assert days.plus_months(date.fromisoformat(today), count) == date.fromisoformat(there)


@given(today=DAYS, weekday=st.integers(0, 6))
def test_weekdays_are_within_a_week(today: date, weekday: int) -> None:
    """The next one is one to seven days ahead, the last one as far behind."""
    after, before = days.weekday_after(today, weekday), days.weekday_before(today, weekday)
    since = days.weekday_from(today, weekday)
    assert {after.weekday(), before.weekday(), since.weekday()} == {weekday}
    assert timedelta(1) <= after - today <= timedelta(7)
    assert timedelta(1) <= today - before <= timedelta(7)
    assert timedelta(0) <= since - today <= timedelta(6)


@given(today=DAYS, month=st.integers(1, 12), number=st.integers(1, 31))
def test_the_next_such_day_is_the_nearest(today: date, month: int, number: int) -> None:
    """A day of the year comes within a year, 29 February within eight; others never."""
    found = days.next_such_day(today, month, number)
    if not days.exists_in_some_year(month, number):
        assert found is None
        return
    assert found is not None and (found.month, found.day) == (month, number)
    assert timedelta(0) <= found - today <= timedelta(366 if (month, number) != (2, 29) else 2922)
    before = days.last_such_day(today, month, number)
    assert before is not None and before < today


@pytest.mark.parametrize(
    ("nth", "weekday", "found"),
    [(1, 0, "2026-06-01"), (5, 0, "2026-06-29"), (5, 2, None), (-1, 4, "2026-06-26")],
)
def test_the_nth_weekday_of_a_month(nth: int, weekday: int, found: str | None) -> None:
    """Counted within the month; the fifth is not always there."""
    expected = None if found is None else date.fromisoformat(found)
    assert days.nth_weekday(2026, 6, nth, weekday) == expected


@pytest.mark.parametrize(
    ("span", "written"),
    [
        (days.day(date(2026, 12, 4)), "2026-12-04"),
        (days.days(date(2026, 12, 7), date(2026, 12, 13)), "2026-12-07 to 2026-12-13"),
        (days.month(2026, 2), "2026-02"),
        (days.year(2027), "2027"),
    ],
)
def test_spans_are_written_in_iso_form(span: days.Span, written: str) -> None:
    """As exactly as they were named."""
    assert span.written == written


def test_beyond_the_calendar_there_is_nothing() -> None:
    """No year 0 and no year 10000."""
    assert days.plus_days(date.max, 1) is None
    assert days.plus_months(date.max, 1) is None
    assert days.year(0) is None
    assert days.month_from(date(9999, 12, 1), 1) is None
