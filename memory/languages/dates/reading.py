"""Finds the dates in what was said, and says what they are."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import date, datetime
from functools import cached_property
from itertools import pairwise
from typing import Literal

from memory.languages.dates import days
from memory.languages.dates.context import Clauses
from memory.languages.dates.meanings import (
    VAGUE,
    Meaning,
    counted,
    looked_up,
    meaning,
    yearly,
)
from memory.languages.dates.words import WEEK, Form, Unit, Words, key, languages
from memory.languages.folding import folded

DateKind = Literal["day", "days", "month", "year", "yearly", "weekly", "unresolved"]

GLOSS = re.compile(
    r"\((?:every (?P<yearly>[0-9]{2}-[0-9]{2})"
    r"|(?P<first>[0-9]{4}(?:-[0-9]{2}(?:-[0-9]{2})?)?)(?: to (?P<last>[0-9]{4}-[0-9]{2}-[0-9]{2}))?)\)"
)
"""The real date in brackets, as it is written behind the words."""

_OTHER_LETTER = re.compile(r"[^\x00-\x7f]")
_NUMBER_BEFORE = re.compile(r"[0-9][.,:/-]?\Z|[.,:/#+-]\Z")
_NUMBER_AFTER = re.compile(r"[0-9%°]|[.,:/-][0-9]| ?%")
_WORD_AFTER = re.compile(r"[ \t]*([\w']*)")
_BESIDE_CHARS = 24
"""How far in front of a date its "for" is looked for, and between two their "to"."""
_LAST_WORD = re.compile(r"\w+(?=\W*\Z)")
_SPACES = " \t\n\r\f\v\u00a0"


@dataclass(frozen=True, slots=True, kw_only=True)
class SpokenDate:
    """A date in a text, from `start` to `end` (excluded) of the raw text.

    `first` and `last` are None for "weekly" and "unresolved". A "yearly" one has the next
    such day there and `recurring` as month and day. `day_of_year`, `weekday` and `month` are
    what was named, also where that does not make a date. `has_year`: nothing is left to find
    out. `past`: the words themselves speak of the past ("last Friday"). `begins`: only the
    beginning of a month or year was named. `told_as_past`: the verb beside them does. `real`
    is the date in brackets that follows already.
    """

    start: int
    end: int
    text: str
    kind: DateKind
    first: date | None = None
    last: date | None = None
    recurring: tuple[int, int] | None = None
    has_year: bool = False
    day_of_year: tuple[int, int] | None = None
    weekday: int | None = None
    month: int | None = None
    past: bool = False
    begins: bool = False
    told_as_past: bool = False
    real: SpokenDate | None = None

    @property
    def resolved(self) -> bool:
        return self.first is not None

    @property
    def written(self) -> str | None:
        """As it is written behind the words: `2026-12-04`, `every 03-12`; None if nothing is."""
        if self.recurring is not None:
            return "every {:02}-{:02}".format(*self.recurring)
        match self.kind:
            case "day" | "days" | "month" | "year":
                assert self.first is not None and self.last is not None
                return days.Span(self.kind, self.first, self.last).written
        return None


@dataclass(frozen=True, slots=True)
class _Found:
    start: int
    end: int
    words: Words
    form: Form
    meaning: Meaning

    @property
    def weak(self) -> bool:
        """Gives way to whatever else its words belong to: "on the 12th" to "the 12th of May"."""
        if self.form.means == "in month":
            return self.meaning.bare == "month" or self.meaning.kind == "vague"
        return self.form.weak or self.form.means == "day alone"


def spoken_dates(text: str, at: datetime) -> tuple[SpokenDate, ...]:
    """The dates that `text`, said at `at` (aware), names; in their order, none within another.

    The day of saying is that of `at`'s own offset.
    """
    assert at.utcoffset() is not None, "a moment without its offset has no day"
    return tuple(Reading(text, at.date()).dates())


class Reading:
    """A text without the dates in brackets: they are set beside what they explain, and change
    no meaning."""

    def __init__(self, raw: str, today: date) -> None:
        self._raw = raw
        self._today = today
        pieces: list[str] = []
        origin: list[int] = []
        self._glosses: list[tuple[int, SpokenDate]] = []
        """Each with its place in the view, in front of the spaces before it."""
        last = 0
        for match in GLOSS.finditer(raw):
            gloss = _gloss_date(match, today)
            if gloss is None:
                continue
            start = match.start()
            while start > last and raw[start - 1] in _SPACES:
                start -= 1
            pieces.append(raw[last:start])
            origin.extend(range(last, start))
            self._glosses.append((len(origin), gloss))
            last = match.end()
        pieces.append(raw[last:])
        origin.extend(range(last, len(raw)))
        self._origin = origin
        self._view = folded("".join(pieces))
        self._text = _OTHER_LETTER.sub(
            lambda found: "x" if found[0].isalnum() else "\x7f", self._view.text
        )
        self._gloss_at: dict[int, SpokenDate] = {}
        for place, gloss in reversed(self._glosses):
            self._gloss_at[place] = gloss

    @cached_property
    def _clauses(self) -> Clauses:
        return Clauses(self._text, self._accented(), languages())

    def dates(self) -> list[SpokenDate]:
        chosen = _chosen(list(self._candidates(self._today)))
        spans = Spans((each.start, each.end) for each in chosen)
        found = []
        settled = [
            (each, self._settled(each, spans)) for each in chosen if each.meaning.kind != "nothing"
        ]
        for each, means in self._in_order(settled):
            spoken = self._spoken(each, means)
            if spoken is not None:
                found.append(spoken)
        explained = {each.real.start for each in found if each.real is not None}
        found += [
            replace(gloss, told_as_past=self._told_as_past(place))
            for place, gloss in self._glosses
            if gloss.start not in explained
        ]
        found.sort(key=lambda each: each.start)
        return found

    def rules(self, language: str) -> set[str]:
        """The rows of a language's file that decided about some words of the text."""
        candidates = list(self._candidates(self._today))
        decided = {(each.start, each.end) for each in _chosen(list(candidates))}
        return {
            each.form.rule
            for each in candidates
            if each.words.language == language and (each.start, each.end) in decided
        }

    def _told_as_past(self, view_place: int) -> bool:
        place = bisect_left(self._view.at, view_place)
        return bool(self._text) and any(
            self._past(max(0, place - 1), words) for words in languages()
        )

    def _candidates(self, today: date) -> Iterator[_Found]:
        for words in languages():
            plain = list(self._plain(words, today))
            yield from plain
            yield from self._shifted(words, plain)

    def _plain(self, words: Words, today: date) -> Iterator[_Found]:
        here = {slot for slot, gate in words.gates.items() if gate.search(self._text)}
        for form in words.forms:
            if not form.needs <= here:
                continue
            for match in form.pattern.finditer(self._text):
                start, end = match.span()
                if not self._stands_alone(start, end):
                    continue
                following = _WORD_AFTER.match(self._text, end)
                assert following is not None
                if _belongs_to(following[1], form, words, self._text[start:end]):
                    continue
                said = looked_up(words, form, match.groupdict())
                means = meaning(said, today) if said is not None else None
                if means is not None:
                    yield _Found(start, end, words, form, means)

    def _stands_alone(self, start: int, end: int) -> bool:
        """No piece of a longer number: 3.5, 12:30, 1.2.3."""
        text = self._text
        if text[start].isdigit() and _NUMBER_BEFORE.search(text[max(0, start - 2) : start]):
            return False
        if text[end - 1] == ".":
            return not text[end : end + 1].isdigit()
        return not (text[end - 1].isdigit() and _NUMBER_AFTER.match(text, end))

    def _shifted(self, words: Words, plain: list[_Found]) -> Iterator[_Found]:
        """ "A week from Friday": a date that is counted from another."""
        dates = [each for each in plain if each.meaning.kind != "nothing"]
        if not dates:
            return
        starting: dict[int, list[_Found]] = {}
        ending: dict[int, list[_Found]] = {}
        for each in dates:
            starting.setdefault(each.start, []).append(each)
            ending.setdefault(each.end, []).append(each)
        for shift in words.shifts:
            for match in shift.pattern.finditer(self._text):
                groups = match.groupdict()
                count = shift.n if shift.n is not None else words.number(groups["count"])
                unit = words.unit[key(groups["unit"])] if groups.get("unit") else WEEK
                if count is None:
                    continue
                beside = starting.get(match.end()) if shift.before else ending.get(match.start())
                for anchor in beside or ():
                    start, end = min(match.start(), anchor.start), max(match.end(), anchor.end)
                    moved = _moved(anchor.meaning, count * shift.sign, unit)
                    yield _Found(start, end, words, anchor.form, moved)

    def _accented(self) -> str:
        """The text in lower case with its accents, as long as the folded one."""
        raw = self._view.raw
        if raw.isascii():
            return self._text
        lowered = (raw[index] for index in self._view.at)
        return "".join(each if len(each) == 1 else "x" for each in map(str.lower, lowered))

    def _settled(self, found: _Found, spans: Spans) -> Meaning:
        """What the words around it make of it."""
        means = found.meaning
        if means.kind not in ("real", "vague") or means.has_year or means.bare is None:
            return means
        index = self._clauses.index(found.start)
        clause = self._clauses.clause(index)
        if means.day_of_year is not None and means.bare == "day":
            recurs = _recurs(self._clauses, index, spans)
            if recurs is None:
                return replace(VAGUE, day_of_year=means.day_of_year)
            if recurs:
                return yearly(self._today, *means.day_of_year) or means
        if (means.bare in ("weekday", "day", "month") and clause.habit) or (
            means.bare == "month" and clause.yearly
        ):
            return Meaning(kind="weekly", weekday=means.weekday, month=means.month)
        if self._elsewhere(found) or self._past(found.start, found.words):
            return replace(
                VAGUE,
                day_of_year=means.day_of_year,
                weekday=means.weekday,
                month=means.month,
            )
        return means

    def _elsewhere(self, found: _Found) -> bool:
        before = self._text[max(0, found.start - _BESIDE_CHARS) : found.start]
        after = self._text[found.end : found.end + _BESIDE_CHARS]
        return bool(
            found.words.elsewhere_before.search(before) or found.words.elsewhere_after.match(after)
        )

    def _in_order(self, settled: list[tuple[_Found, Meaning]]) -> list[tuple[_Found, Meaning]]:
        """Both ends of a span can be told, and the first comes first; or neither can.

        Of "from November 3rd to December 5th", said between them, neither year is clear.
        """
        for index, ((one, begin), (other, end)) in enumerate(pairwise(settled)):
            if one.meaning.bare != "day" or other.meaning.bare != "day":
                continue
            if not self._is_span(one, other):
                continue
            if not begin.span or not end.span or begin.span.first >= end.span.first:
                settled[index] = one, replace(VAGUE, day_of_year=one.meaning.day_of_year)
                settled[index + 1] = other, replace(VAGUE, day_of_year=other.meaning.day_of_year)
        return settled

    def _is_span(self, one: _Found, other: _Found) -> bool:
        words = one.words
        between = self._text[one.end : other.start]
        if len(between) > _BESIDE_CHARS:
            return False
        if words.up_to.fullmatch(between):
            return True
        before = self._text[max(0, one.start - _BESIDE_CHARS) : one.start]
        return bool(words.and_.fullmatch(between) and words.between.search(before))

    def _past(self, start: int, words: Words) -> bool:
        """Whether it may be a day of the past: then only what follows "for" is ahead."""
        index = self._clauses.index(start)
        clause = self._clauses.clause(index)
        if not clause.past(words) and (
            clause.own_verb(words) or not self._clauses.sentence_is_past(index, words)
        ):
            return False
        return not words.purpose.search(self._text[max(0, start - _BESIDE_CHARS) : start])

    def _spoken(self, found: _Found, means: Meaning) -> SpokenDate | None:
        view_start, view_end = self._view.raw_span(found.start, found.end)
        if view_end <= view_start:
            return None
        start, end = self._origin[view_start], self._origin[view_end - 1] + 1
        if end - start != view_end - view_start:
            return (
                None  # a date in brackets stands in the middle: these words don't belong together
            )
        common = {
            "start": start,
            "end": end,
            "text": self._raw[start:end],
            "has_year": means.has_year,
            "day_of_year": means.day_of_year,
            "weekday": means.weekday,
            "month": means.month,
            "past": means.past,
            "begins": means.begins,
            "told_as_past": self._past(found.start, found.words),
            "real": None if means.has_year else self._gloss_at.get(view_end),
        }
        match means.kind:
            case "real":
                assert means.span is not None
                span = means.span
                return SpokenDate(kind=span.kind, first=span.first, last=span.last, **common)  # type: ignore[arg-type]
            case "yearly":
                assert means.span is not None
                return SpokenDate(
                    kind="yearly",
                    first=means.span.first,
                    last=means.span.last,
                    recurring=means.day_of_year,
                    **common,  # type: ignore[arg-type]
                )
            case "weekly":
                return SpokenDate(kind="weekly", **common)  # type: ignore[arg-type]
        return SpokenDate(kind="unresolved", **common)  # type: ignore[arg-type]


class Spans:
    """Pieces of a text in their order, none within another."""

    def __init__(self, spans: Iterable[tuple[int, int]]) -> None:
        self._spans = list(spans)
        self._starts = [start for start, _ in self._spans]

    def within(self, start: int, end: int) -> list[tuple[int, int]]:
        """Those that begin there."""
        return self._spans[bisect_left(self._starts, start) : bisect_left(self._starts, end)]

    def meets(self, start: int, end: int) -> bool:
        before = bisect_left(self._starts, end)
        return before > 0 and self._spans[before - 1][1] > start


_MEASURABLE = {"date", "either order", "numeric", "in year", "a day of each year", "in month"}
"""Forms that end in a number, which may belong to the next word: "in March 3 friends come"."""


def _belongs_to(following: str, form: Form, words: Words, said: str) -> bool:
    """The word behind it takes what looked like a date: a floor, a measure."""
    if form.needs_more or (form.needs_end and following):
        return following not in words.goes_on
    if form.means not in _MEASURABLE or following not in words.measures:
        return False
    last = _LAST_WORD.search(said)
    return last is not None and (last[0].isdigit() or last[0] in words.day)


def _recurs(clauses: Clauses, index: int, spans: Spans) -> bool | None:
    """Whether a yearless day comes every year; None if it can't be told."""
    clause = clauses.clause(index)
    if clause.once:
        return False
    if clause.yearly or clause.habit:
        return True
    if not clauses.sentence_is_yearly(index):
        return False
    start = clauses.start(index)
    if clause.light([(a - start, b - start) for a, b in spans.within(start, clauses.end(index))]):
        return True
    return False if any(map(clause.own_verb, languages())) else None


def _moved(anchor: Meaning, count: int, unit: Unit) -> Meaning:
    if anchor.kind != "real" or anchor.span is None or anchor.span.kind != "day" or not count:
        return VAGUE
    moved = counted(anchor.span.first, count, unit)
    if moved is None:
        return VAGUE
    return Meaning(
        kind="real",
        span=days.day(moved),
        bare="span" if anchor.bare else None,
        past=anchor.past,
    )


_STRENGTH = {"nothing": 0, "vague": 1, "weekly": 2, "yearly": 3, "real": 4}


def _chosen(candidates: list[_Found]) -> list[_Found]:
    """Leftmost first, then longest, what can be told last. What the same words mean in two
    languages can't be told; within a language, the form that stands first counts.
    """
    candidates.sort(key=lambda each: (each.start, -each.end, _STRENGTH[each.meaning.kind]))
    chosen: list[_Found] = []
    for each in candidates:
        if each.weak:
            continue
        if not chosen or each.start >= chosen[-1].end:
            chosen.append(each)
        elif _contradict(each, chosen[-1]):
            chosen[-1] = replace(chosen[-1], meaning=VAGUE)
    strong = Spans((each.start, each.end) for each in chosen)
    end = 0
    weak = []
    for each in candidates:
        if each.weak and each.start >= end and not strong.meets(each.start, each.end):
            weak.append(each)
            end = each.end
    return sorted((*chosen, *weak), key=lambda each: each.start) if weak else chosen


def _contradict(one: _Found, other: _Found) -> bool:
    return (
        (one.start, one.end) == (other.start, other.end)
        and one.words is not other.words
        and one.meaning.kind == other.meaning.kind == "real"
        and one.meaning.span != other.meaning.span
    )


def _gloss_date(match: re.Match[str], today: date) -> SpokenDate | None:
    """A date in brackets; None where the calendar has none such."""
    here = {"start": match.start(), "end": match.end(), "text": match[0]}
    if match["yearly"]:
        month, day = map(int, match["yearly"].split("-"))
        if not (1 <= month <= 12 and days.exists_in_some_year(month, day)):
            return None
        on = days.next_such_day(today, month, day)
        assert on is not None
        return SpokenDate(
            kind="yearly",
            first=on,
            last=on,
            recurring=(month, day),
            day_of_year=(month, day),
            has_year=True,
            **here,  # type: ignore[arg-type]
        )
    span = _iso_span(match["first"], match["last"])
    if span is None:
        return None
    return SpokenDate(kind=span.kind, first=span.first, last=span.last, has_year=True, **here)  # type: ignore[arg-type]


def _iso_span(first: str, last: str | None) -> days.Span | None:
    numbers = [int(each) for each in first.split("-")]
    if last is not None:
        begin = days.date_of(*numbers) if len(numbers) == 3 else None
        end = days.date_of(*(int(each) for each in last.split("-")))
        return days.days(begin, end) if begin and end and begin <= end else None
    match numbers:
        case [year]:
            return days.year(year)
        case [year, month]:
            return days.month(year, month) if 1 <= month <= 12 and year else None
        case _:
            found = days.date_of(*numbers)
            return days.day(found) if found else None
