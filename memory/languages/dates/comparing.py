"""Dates of one text compared with those of another, or with today."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, date, datetime, time

from memory.languages.dates import days
from memory.languages.dates.reading import SpokenDate, spoken_dates
from memory.languages.dates.words import languages
from memory.languages.folding import fold

_ANY_DAY = datetime(2000, 1, 1, 12, tzinfo=UTC)


def dates_named(text: str) -> tuple[SpokenDate, ...]:
    """Every date that `text` names by itself, whenever it was said: in ISO form, with its
    year, or recurring."""
    return tuple(
        each.real or each
        for each in spoken_dates(text, _ANY_DAY)
        if each.real is not None or each.has_year or each.recurring is not None
    )


def passed(text: str, today: date) -> bool:
    """Whether an entry names real dates and the last of them is over (L6.3).

    What recurs stays, and so does what was past when it was said ("moved here in 2019"),
    and a bare month or year without a word of planning.
    """
    found = spoken_dates(text, datetime.combine(today, time(12), UTC))
    if any(each.kind in ("weekly", "yearly") or each.past for each in found):
        return False
    if any(each.resolved and each.real is None and not each.has_year for each in found):
        return False  # when it was said is not known
    plain = fold(text)
    if any(words.lasting.search(plain) for words in languages()):
        return False
    named = [each for each in found if each.real is not None or each.has_year]
    planned = any(words.plan.search(plain) for words in languages())
    return bool(named) and all(_over(each, today, planned=planned) for each in named)


def _over(each: SpokenDate, today: date, *, planned: bool) -> bool:
    real = each.real or each
    if real.recurring is not None or real.last is None:
        return False
    in_brackets = real.text.startswith("(")
    if each.real is None and each.told_as_past:
        return False
    if real.kind in ("month", "year") and not (planned or in_brackets):
        return False
    last = real.last
    if each.begins:  # the first day stands for the days that follow it
        last = days.month(last.year, last.month).last
    return last < today


def follows(text: str, said: str, at: datetime) -> str | None:
    """The first date of `text` that is neither in `said` nor follows from it, said at `at`, by
    the calendar; None when all do.

    A date follows if it is one that was said, in whatever form or language; the month, year
    or weekday of one; an end of a span; or the same day of every year.
    """
    known = [each.real or each for each in spoken_dates(said, at)]
    plain = fold(said)
    for each in spoken_dates(text, at):
        real = each.real or each
        if not (_follows(real, known) or _is_named_in(real, plain)):
            return real.text
        if each.real is not None and not _names_the_same(each, each.real):
            return each.text
    return None


def _follows(each: SpokenDate, known: Iterable[SpokenDate]) -> bool:
    if each.resolved or any(
        named is not None for named in (each.day_of_year, each.weekday, each.month)
    ):
        return any(_follows_from(each, one) for one in known)
    return True  # "soon", "one day": nothing that could be wrong


def _is_named_in(each: SpokenDate, said: str) -> bool:
    """To the letter; or a year or month by its name, beside no word that makes a date of it."""
    if fold(each.text) in said:
        return True
    if each.kind == "year" and each.first is not None:
        return any(each.first.year in words.years_in(said) for words in languages())
    if each.month is not None and not each.has_year:
        return any(each.month in words.months_in(said) for words in languages())
    return False


def _follows_from(each: SpokenDate, said: SpokenDate) -> bool:
    if each.recurring is not None:
        return each.recurring == said.day_of_year or (
            said.kind == "day" and said.first is not None and _day(said.first) == each.recurring
        )
    if not each.resolved:
        return _partly_the_same(each, said)
    if said.first is None or said.last is None:
        return False
    if (each.first, each.last) == (said.first, said.last):
        return True
    assert each.first is not None and each.last is not None
    match each.kind:
        case "month" | "year":
            return each.first <= said.first and said.last <= each.last
        case "day":
            return said.kind == "days" and each.first in (said.first, said.last)
    return False


def _partly_the_same(each: SpokenDate, said: SpokenDate) -> bool:
    """A date that can't be told, by what was named of it: day and month, month or weekday."""
    if each.day_of_year is not None:
        return each.day_of_year == said.day_of_year or (
            said.kind == "day" and said.first is not None and _day(said.first) == each.day_of_year
        )
    if each.month is not None:
        return each.month == said.month or (
            said.kind in ("day", "month")
            and said.first is not None
            and said.first.month == each.month
        )
    return each.weekday == said.weekday or (
        said.kind == "day" and said.first is not None and said.first.weekday() == each.weekday
    )


def _names_the_same(words: SpokenDate, real: SpokenDate) -> bool:
    """Whether the words can stand for the date in brackets behind them."""
    if words.weekday is not None and real.kind == "day" and real.first is not None:
        return words.weekday == real.first.weekday()
    if words.day_of_year is not None and real.first is not None and real.kind in ("day", "yearly"):
        return words.day_of_year == _day(real.first)
    return True


def _day(on: date) -> tuple[int, int]:
    return on.month, on.day
