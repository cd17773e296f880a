from __future__ import annotations

from datetime import date

import pytest

from memory.languages.dates.meanings import Said, meaning, yearly
from memory.languages.dates.words import Form, Unit

WEDNESDAY = date(2026, 12, 2)


def said(means: str, *, which: str = "bare", n: int = 0, **words: int | Unit) -> Said:
    form = Form(means=means, pattern=None, needs=frozenset(), which=which, n=n)
    return Said(form=form, **words)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("words", "today", "written"),
    [
        (said("weekday", which="bare", weekday=4), "2026-12-02", "2026-12-04"),
        (said("weekday", which="bare", weekday=4), "2026-12-04", "2026-12-11"),
        (said("weekday", which="this", weekday=4), "2026-12-04", "2026-12-04"),
        (said("weekday", which="next", weekday=4), "2026-12-02", "2026-12-04"),
        (said("weekday", which="next", weekday=4), "2026-12-04", "2026-12-11"),
        (said("weekday", which="last", weekday=4), "2026-12-04", "2026-11-27"),
        (said("weekend", which="next"), "2026-12-02", None),
        (said("weekend", which="next"), "2026-12-05", "2026-12-12 to 2026-12-13"),
        (said("weekend", which="coming"), "2026-12-06", "2026-12-12 to 2026-12-13"),
        (said("in month", month=12), "2026-12-02", None),
        (said("in month", month=3), "2026-12-02", "2027-03"),
        (said("in month", which="next", month=3), "2026-01-02", None),
        (said("in month", which="next", month=3), "2026-12-02", "2027-03"),
        (said("in month", which="last", month=3), "2026-12-02", "2026-03"),
        (said("day alone", which="digits", day=2), "2026-12-02", None),
        (said("day alone", which="spoken", day=1), "2026-12-02", None),
        (said("day alone", which="digits", day=1), "2026-12-02", "2027-01-01"),
        (said("day alone", which="digits", day=31), "2026-11-02", None),
        (said("either order", d=3, m=4), "2026-12-02", None),
        (said("either order", d=4, m=4), "2026-12-02", "2027-04-04"),
        (said("either order", d=3, m=14), "2026-12-02", "2027-03-14"),
        (said("date", month=2, day=29), "2026-12-02", "2028-02-29"),
        (said("date", month=2, day=29, year=2027), "2026-12-02", None),
        (said("date", month=12, day=4, weekday=3), "2026-12-02", None),
        (said("ago", count=2, unit=Unit(0, 12)), "2026-12-02", "2024"),
        (said("end of month", month=3), "2026-03-15", "2026-03-31"),
        (said("beginning of month", month=3), "2026-03-15", None),
    ],
)
def test_what_a_form_means(words: Said, today: str, written: str | None) -> None:
    """One rule for each form; None where usage is split or the calendar has no such day."""
    found = meaning(words, date.fromisoformat(today))
    assert found is not None
    assert (found.span.written if found.span else None) == written


@pytest.mark.parametrize(
    "words",
    [
        said("date", month=3, day=32),
        said("date", month=13, day=1),
        said("numeric", d=12, m=30),
        said("in", count=0, unit=Unit(1, 0)),
        said("day alone", day=32),
    ],
)
def test_numbers_beyond_the_calendar_are_no_dates(words: Said) -> None:
    """A 32nd of March is nothing."""
    assert meaning(words, WEDNESDAY) is None


def test_a_day_of_every_year() -> None:
    """It has the next such day beside it."""
    found = yearly(WEDNESDAY, 2, 29)
    assert found is not None and found.span is not None
    assert (found.day_of_year, found.span.written) == ((2, 29), "2028-02-29")
    assert yearly(WEDNESDAY, 2, 30) is None
