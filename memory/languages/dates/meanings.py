"""What a form means on the day of saying: each meaning of `dates.toml` is a function here.

A meaning answers with what it found, or with None: the words are no date after all.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date
from typing import Literal

from memory.languages.dates import days
from memory.languages.dates.days import Span
from memory.languages.dates.words import Form, Unit, Words, key

MeaningKind = Literal["real", "yearly", "weekly", "vague", "nothing"]
Bare = Literal["weekday", "day", "month", "span"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Meaning:
    """`kind`: a real date or span; a day of each year; of each week; a date that can't be
    told ("soon"); what looks like a date and is none ("guten Morgen").

    `bare` names what a context can change: a weekday or day of which only the sentence
    tells whether it is past. `day_of_year` is month and day as they were named, `month` a
    month alone.
    """

    kind: MeaningKind
    span: Span | None = None
    day_of_year: tuple[int, int] | None = None
    weekday: int | None = None
    month: int | None = None
    has_year: bool = False
    bare: Bare | None = None
    past: bool = False
    begins: bool = False


_FIGURES = re.compile(r"[0-9]+")

VAGUE = Meaning(kind="vague")
NOTHING = Meaning(kind="nothing")


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """The words of one form, looked up."""

    form: Form
    weekday: int | None = None
    month: int | None = None
    day: int | None = None
    from_day: int | None = None
    nth: int | None = None
    number: int | None = None
    count: int | None = None
    unit: Unit | None = None
    year: int | None = None
    d: int | None = None
    m: int | None = None


def looked_up(words: Words, form: Form, groups: dict[str, str | None]) -> Said | None:
    """`groups` are the folded words that each slot matched; None if they are no number."""
    found = {name: key(value) for name, value in groups.items() if value is not None}

    tables = {
        "weekday": words.weekday,
        "month": words.month,
        "day": words.day,
        "from_day": words.day,
        "nth": words.nth,
        "number": words.day,
        "count": words.count,
        "year": words.year,
    }
    numbers: dict[str, int] = {}
    for name, said in found.items():
        if name == "unit":
            continue
        value = tables.get(name, {}).get(said)
        if value is None:
            figures = _FIGURES.match(said)
            if figures is None:
                return None
            value = int(figures[0])
        numbers[name] = value
    return Said(form=form, unit=words.unit[found["unit"]] if "unit" in found else None, **numbers)


def _real(span: Span | None, **more: object) -> Meaning | None:
    return None if span is None else replace(Meaning(kind="real", span=span), **more)  # type: ignore[arg-type]


def _on(day: date | None, **more: object) -> Meaning | None:
    return None if day is None else _real(days.day(day), **more)


def counted(today: date, count: int, unit: Unit) -> date | None:
    """`today` and so many units; months keep the day where they can."""
    if unit.months:
        return days.plus_months(today, count * unit.months)
    return days.plus_days(today, count * unit.days)


# Days from today ------------------------------------------------------------------------


def _days(said: Said, today: date) -> Meaning | None:
    return _on(days.plus_days(today, said.form.n), past=said.form.n < 0)


def _in(said: Said, today: date) -> Meaning | None:
    assert said.unit is not None
    if not said.count:
        return None
    return _on(counted(today, said.count, said.unit), bare="span")


def _months(said: Said, today: date) -> Meaning | None:
    past = said.form.n < 0
    return _on(days.plus_months(today, said.form.n), bare=None if past else "span", past=past)


def _ago(said: Said, today: date) -> Meaning | None:
    assert said.unit is not None
    if not said.count:
        return None
    if said.unit.months == days.YEAR_MONTHS and said.form.which != "to the day":
        return _real(days.year(today.year - said.count), past=True)
    return _on(counted(today, -said.count, said.unit), past=True)


def _within(said: Said, today: date) -> Meaning | None:
    assert said.unit is not None and said.count is not None
    last = counted(today, said.count, said.unit)
    return None if last is None else _real(days.days(today, last), bare="span")


# Weekdays -------------------------------------------------------------------------------


def _weekday(said: Said, today: date) -> Meaning | None:
    assert said.weekday is not None
    which = said.form.which
    more = {"weekday": said.weekday, "past": which == "last"}
    if which == "this":
        found = days.weekday_from(today, said.weekday)
        return _on(found, bare="weekday", **more)
    if which == "last":
        before = days.weekday_before(today, said.weekday)
        return _on(days.plus_days(before, days.WEEK_DAYS * said.form.n), **more)
    after = days.plus_days(days.weekday_after(today, said.weekday), days.WEEK_DAYS * said.form.n)
    return _on(after, bare="weekday" if which == "bare" else None, **more)


def _weekday_of_week(said: Said, today: date) -> Meaning | None:
    assert said.weekday is not None
    found = days.plus_days(days.week(today, said.form.n).first, said.weekday)
    return _on(found, weekday=said.weekday, past=said.form.n < 0)


def _weekday_and_day(said: Said, today: date) -> Meaning | None:
    """Friday the 13th: of this month or the next, or it can't be told."""
    assert said.weekday is not None and said.day is not None
    if not 1 <= said.day <= 31:
        return None
    for months in (0, 1):
        first = days.plus_months(today.replace(day=1), months)
        found = first and days.date_of(first.year, first.month, said.day)
        if found and found >= today and found.weekday() == said.weekday:
            return _on(found, weekday=said.weekday, bare="day")
    return VAGUE


def _nth_weekday(said: Said, today: date) -> Meaning | None:
    """The first Monday of May; of next month (`n` = 1)."""
    assert said.weekday is not None
    nth = -1 if said.form.which == "last" else said.nth
    assert nth is not None
    if said.month is None:
        month = days.month_from(today, said.form.n)
        found = month and days.nth_weekday(month.first.year, month.first.month, nth, said.weekday)
        return VAGUE if not found else _on(found, weekday=said.weekday)
    if said.year is not None:
        found = days.nth_weekday(said.year, said.month, nth, said.weekday)
        return VAGUE if found is None else _on(found, weekday=said.weekday, has_year=True)
    for year in (today.year, today.year + 1):
        found = days.nth_weekday(year, said.month, nth, said.weekday)
        if found is None:
            return VAGUE
        if found >= today:
            return _on(found, weekday=said.weekday, bare="day")
    return VAGUE


def _weekly(said: Said, _today: date) -> Meaning:
    return Meaning(kind="weekly", weekday=said.weekday)


# Days of a month ------------------------------------------------------------------------


def _date(said: Said, today: date) -> Meaning | None:
    """A day and month; with its year, or with one that is counted (`n`, where `which` is "year")."""
    return _day_of_year(said, today, *_month_and_day(said))


def _month_and_day(said: Said) -> tuple[int, int]:
    month = said.month if said.month is not None else said.number
    day = said.day if said.day is not None else said.d
    assert month is not None and day is not None
    return month, day


def _day_of_year(said: Said, today: date, month: int, day: int) -> Meaning | None:
    if not (1 <= month <= days.YEAR_MONTHS and 1 <= day <= 31):
        return None
    if not days.exists_in_some_year(month, day):
        return VAGUE
    named = {"day_of_year": (month, day), "weekday": said.weekday}
    if said.year is not None or said.form.which == "year":
        year = said.year if said.year is not None else today.year + said.form.n
        found = days.date_of(year, month, day)
        if found is None or not _agrees(found, said.weekday):
            return replace(VAGUE, **named)  # type: ignore[arg-type]
        counted_year = said.year is None
        return _on(found, has_year=not counted_year, past=counted_year and found < today, **named)
    if said.form.which == "last":
        return _on(days.last_such_day(today, month, day), past=True, **named)
    found = days.next_such_day(today, month, day)
    if found is None or not _agrees(found, said.weekday):
        return replace(VAGUE, **named)  # type: ignore[arg-type]
    return _on(found, bare=None if said.form.which == "next" else "day", **named)


def _days_of_month(said: Said, today: date) -> Meaning | None:
    """From the third to the fifth of May."""
    end = _date(said, today)
    if end is None or end.span is None:
        return end
    assert said.from_day is not None
    last = end.span.first
    first = days.date_of(last.year, last.month, said.from_day)
    if first is None or first >= last:
        return VAGUE
    return _real(days.days(first, last), has_year=end.has_year, bare=end.bare, past=end.past)


def _agrees(found: date, weekday: int | None) -> bool:
    return weekday is None or found.weekday() == weekday


def _yearly(said: Said, today: date) -> Meaning | None:
    return yearly(today, *(said.form.on or _month_and_day(said)))


def yearly(today: date, month: int, day: int) -> Meaning | None:
    if not (1 <= month <= days.YEAR_MONTHS and days.exists_in_some_year(month, day)):
        return None
    found = days.next_such_day(today, month, day)
    assert found is not None
    return Meaning(kind="yearly", span=days.day(found), day_of_year=(month, day))


def _holiday(said: Said, today: date) -> Meaning | None:
    assert said.form.on is not None
    return _day_of_year(said, today, *said.form.on)


def _numeric(said: Said, today: date) -> Meaning | None:
    """Day, then month."""
    assert said.d is not None and said.m is not None
    return _day_of_year(said, today, said.m, said.d)


def _either_order(said: Said, today: date) -> Meaning | None:
    """03/04 is read in two ways; where one part is over 12, in one."""
    assert said.d is not None and said.m is not None
    a, b = said.d, said.m
    if a == b or b > days.YEAR_MONTHS:
        return _day_of_year(said, today, a, b)
    if a > days.YEAR_MONTHS:
        return _day_of_year(said, today, b, a)
    return VAGUE if min(a, b) >= 1 else None


def _iso(said: Said, today: date) -> Meaning | None:
    assert said.d is not None and said.m is not None and said.year is not None
    return _day_of_year(said, today, said.m, said.d)


def _day_of_month(said: Said, today: date) -> Meaning | None:
    """The fifth of next month: `n` months on."""
    assert said.day is not None
    month = days.month_from(today, said.form.n)
    if month is None or not 1 <= said.day <= 31:
        return None
    found = days.date_of(month.first.year, month.first.month, said.day)
    return VAGUE if found is None else _on(found, past=said.form.n < 0)


_SAID_FOR_OTHER_THINGS = 3
"""First, second and third are said of so much else that they need a month beside them."""


def _day_alone(said: Said, today: date) -> Meaning | None:
    """On the fifteenth: of this month, or of the next if it is over."""
    assert said.day is not None
    if not 1 <= said.day <= 31:
        return None
    spoken = said.form.which == "spoken"
    if said.day == today.day or (spoken and said.day <= _SAID_FOR_OTHER_THINGS):
        return VAGUE
    month = days.month_from(today, 0 if said.day > today.day else 1)
    found = month and days.date_of(month.first.year, month.first.month, said.day)
    return VAGUE if not found else _on(found, bare="day")


# Weeks, months, years -------------------------------------------------------------------


def _week(said: Said, today: date) -> Meaning | None:
    return _real(days.week(today, said.form.n), past=said.form.n < 0)


def _weekend(said: Said, today: date) -> Meaning | None:
    """ "Next weekend" said from Monday to Friday is this one for some and the next for others."""
    is_weekend = today.weekday() >= 5
    match said.form.which:
        case "next":
            return _real(days.weekend(today, 1)) if is_weekend else VAGUE
        case "coming":
            return _real(days.weekend(today, 1 if is_weekend else 0))
    return _real(
        days.weekend(today, said.form.n),
        past=said.form.n < 0,
        bare="span" if said.form.n == 0 else None,
    )


def _month(said: Said, today: date) -> Meaning | None:
    return _real(days.month_from(today, said.form.n), past=said.form.n < 0)


def _year(said: Said, today: date) -> Meaning | None:
    return _real(days.year(today.year + said.form.n), past=said.form.n < 0)


def _in_year(said: Said, _today: date) -> Meaning | None:
    assert said.year is not None
    return _real(days.year(said.year), has_year=True)


def _in_month(said: Said, today: date) -> Meaning | None:
    found = _which_month(said, today)
    if found is None:
        return replace(VAGUE, month=said.month)
    named = said.form.which in ("next", "last", "year")
    return _real(
        found,
        month=said.month,
        has_year=said.year is not None,
        past=said.form.which == "last" or (said.form.which == "year" and found.last < today),
        bare=None if named or said.year is not None else "month",
    )


def _which_month(said: Said, today: date) -> Span | None:
    """None where usage is split: "in March" said in March, "next March" said in January."""
    if said.month is None:
        return days.month_from(today, said.form.n)
    if said.year is not None:
        return days.month(said.year, said.month)
    later = said.month > today.month
    match said.form.which:
        case "year":
            return days.month(today.year + said.form.n, said.month)
        case "last":
            earlier = said.month < today.month
            return days.month(today.year if earlier else today.year - 1, said.month)
        case "next":
            return None if later else days.month(today.year + 1, said.month)
        case "this":
            return days.month(
                today.year if later or said.month == today.month else today.year + 1, said.month
            )
    if said.month == today.month:
        return None
    return days.month(today.year if later else today.year + 1, said.month)


def _end_of_month(said: Said, today: date) -> Meaning | None:
    """The last day of it."""
    month = _whole_month(said, today)
    if month is None:
        return VAGUE
    return _edge(month.last, said, today)


def _beginning_of_month(said: Said, today: date) -> Meaning | None:
    """The first day of it."""
    month = _whole_month(said, today)
    begun = said.year is None and said.month == today.month and today.day > 1
    if month is None or begun:
        return replace(VAGUE, begins=True)
    found = _edge(month.first, said, today)
    return None if found is None else replace(found, begins=True)


def _whole_month(said: Said, today: date) -> Span | None:
    """The end of March, said in March, is this March's."""
    if said.month == today.month and said.year is None and said.form.which == "bare":
        return days.month(today.year, said.month)
    return _which_month(said, today)


def _edge(day: date, said: Said, today: date) -> Meaning | None:
    bare = said.month is not None and said.year is None and said.form.which == "bare"
    return _on(
        day,
        has_year=said.year is not None,
        past=said.year is None and day < today,
        bare="day" if bare else None,
    )


def _end_of_year(said: Said, today: date) -> Meaning | None:
    year = days.year(said.year if said.year is not None else today.year + said.form.n)
    if year is None:
        return None
    past = said.form.n < 0
    return _on(year.last, has_year=said.year is not None, past=past, bare=None if past else "span")


def _beginning_of_year(said: Said, today: date) -> Meaning | None:
    year = days.year(said.year if said.year is not None else today.year + said.form.n)
    if year is None:
        return None
    if said.year is None and said.form.n == 0:
        return VAGUE
    return _on(year.first, has_year=said.year is not None, begins=True)


def _vague(said: Said, _today: date) -> Meaning:
    return replace(VAGUE, weekday=said.weekday)


def _nothing(_said: Said, _today: date) -> Meaning:
    return NOTHING


MEANINGS: dict[str, Callable[[Said, date], Meaning | None]] = {
    "a day of each year": _yearly,
    "ago": _ago,
    "beginning of month": _beginning_of_month,
    "beginning of year": _beginning_of_year,
    "date": _date,
    "day alone": _day_alone,
    "day of month": _day_of_month,
    "days": _days,
    "days of month": _days_of_month,
    "either order": _either_order,
    "end of month": _end_of_month,
    "end of year": _end_of_year,
    "holiday": _holiday,
    "in": _in,
    "in month": _in_month,
    "in year": _in_year,
    "iso": _iso,
    "month": _month,
    "months": _months,
    "nothing": _nothing,
    "nth weekday": _nth_weekday,
    "numeric": _numeric,
    "vague": _vague,
    "week": _week,
    "weekday": _weekday,
    "weekday and day": _weekday_and_day,
    "weekday of week": _weekday_of_week,
    "weekend": _weekend,
    "weekly": _weekly,
    "within": _within,
    "year": _year,
}


def meaning(said: Said, today: date) -> Meaning | None:
    return MEANINGS[said.form.means](said, today)
