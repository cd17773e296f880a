"""Calendar arithmetic: what days an expression stands for."""

from __future__ import annotations

import calendar
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Literal

SpanKind = Literal["day", "days", "month", "year"]

WEEK_DAYS = 7
YEAR_MONTHS = 12
_YEARS_TO_LEAP_DAY = 8
"""The longest way from one 29 February to the next (1896 to 1904)."""


@dataclass(frozen=True, slots=True)
class Span:
    """The days from `first` to `last`, both included; `kind` is how exactly they were named."""

    kind: SpanKind
    first: date
    last: date

    @property
    def written(self) -> str:
        """In ISO form: a day, a month, a year, or `2026-12-07 to 2026-12-13`."""
        match self.kind:
            case "day":
                return self.first.isoformat()
            case "days":
                return f"{self.first.isoformat()} to {self.last.isoformat()}"
            case "month":
                return f"{self.first.year:04}-{self.first.month:02}"
            case "year":
                return f"{self.first.year:04}"


def day(on: date) -> Span:
    return Span("day", on, on)


def days(first: date, last: date) -> Span:
    return Span("days", first, last)


def date_of(year: int, month: int, day_of_month: int) -> date | None:
    """None where the calendar has no such day."""
    try:
        return date(year, month, day_of_month)
    except ValueError:
        return None


def exists_in_some_year(month: int, day_of_month: int) -> bool:
    return date_of(2024, month, day_of_month) is not None  # 2024 has a 29 February


def plus_days(today: date, count: int) -> date | None:
    try:
        return today + timedelta(days=count)
    except OverflowError:
        return None


def plus_months(today: date, count: int) -> date | None:
    """The same day so many months on; the last day of a month that is too short for it."""
    months = today.year * YEAR_MONTHS + today.month - 1 + count
    year, month = divmod(months, YEAR_MONTHS)
    if not date.min.year <= year <= date.max.year:
        return None
    last = calendar.monthrange(year, month + 1)[1]
    return date(year, month + 1, min(today.day, last))


def weekday_after(today: date, weekday: int) -> date:
    """The first such day after `today`. Monday is 0."""
    return today + timedelta(days=(weekday - today.weekday() - 1) % WEEK_DAYS + 1)


def weekday_from(today: date, weekday: int) -> date:
    """The first such day from `today` on."""
    return today + timedelta(days=(weekday - today.weekday()) % WEEK_DAYS)


def weekday_before(today: date, weekday: int) -> date:
    """The last such day before `today`."""
    return today - timedelta(days=(today.weekday() - weekday - 1) % WEEK_DAYS + 1)


def monday(today: date) -> date:
    """The Monday of this week; weeks begin on Monday."""
    return today - timedelta(days=today.weekday())


def week(today: date, count: int) -> Span:
    """This week is 0, the next 1."""
    first = monday(today) + timedelta(days=WEEK_DAYS * count)
    return days(first, first + timedelta(days=6))


def weekend(today: date, count: int) -> Span:
    """Saturday and Sunday of this week (0), of the next (1)."""
    last = week(today, count).last
    return days(last - timedelta(days=1), last)


def month(year: int, number: int) -> Span:
    last = calendar.monthrange(year, number)[1]
    return Span("month", date(year, number, 1), date(year, number, last))


def month_from(today: date, count: int) -> Span | None:
    """This month is 0, the next 1."""
    first = plus_months(today.replace(day=1), count)
    return None if first is None else month(first.year, first.month)


def year(number: int) -> Span | None:
    if not date.min.year <= number <= date.max.year:
        return None
    return Span("year", date(number, 1, 1), date(number, 12, 31))


def next_such_day(today: date, month_number: int, day_of_month: int) -> date | None:
    """The first from `today` on; a 29 February waits for a leap year."""
    for later in range(_YEARS_TO_LEAP_DAY + 1):
        found = date_of(today.year + later, month_number, day_of_month)
        if found is not None and found >= today:
            return found
    return None


def last_such_day(today: date, month_number: int, day_of_month: int) -> date | None:
    """The last before `today`."""
    for earlier in range(_YEARS_TO_LEAP_DAY + 1):
        found = date_of(today.year - earlier, month_number, day_of_month)
        if found is not None and found < today:
            return found
    return None


def nth_weekday(year_number: int, month_number: int, nth: int, weekday: int) -> date | None:
    """The first (1) to fifth such weekday of a month, or the last (-1)."""
    last = calendar.monthrange(year_number, month_number)[1]
    found = [
        on
        for number in range(1, last + 1)
        if (on := date(year_number, month_number, number)).weekday() == weekday
    ]
    index = nth if nth < 0 else nth - 1
    return found[index] if index < len(found) else None
