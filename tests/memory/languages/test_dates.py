from __future__ import annotations

import re
import time
import tomllib
from datetime import UTC, datetime, timedelta, timezone
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench import dates as bench
from memory.languages import packaged
from memory.languages.dates import follows, passed, spoken_dates, with_dates
from memory.languages.dates.reading import Reading
from memory.languages.dates.words import languages

ROOT = Path(__file__).parents[3]
LANGUAGES = [words.language for words in languages()]
FIXTURES: dict[str, dict[str, Any]] = {
    language: tomllib.loads(
        (ROOT / "fixtures" / "dates" / f"{language}.toml").read_text(encoding="utf-8")
    )
    for language in LANGUAGES
}
AT = datetime.fromisoformat("2026-12-02T10:00:00+01:00")

SENTENCES = [
    sentence
    for fixture in FIXTURES.values()
    for sentence in (*(said for said, _ in fixture["written"]), *fixture["unwritten"])
]
WORDS = sorted({word for sentence in SENTENCES for word in re.findall(r"\S+", sentence)})


def at(fixture: dict[str, Any]) -> datetime:
    return datetime.fromisoformat(fixture["at"])


def test_every_language_has_dates() -> None:
    """Each language that is here has its words for dates and sentences that show them."""
    assert tuple(LANGUAGES) == packaged.LANGUAGES_HERE


@pytest.mark.parametrize(
    ("at", "said", "written"),
    [
        (at(fixture), said, written)
        for fixture in FIXTURES.values()
        for said, written in fixture["written"]
    ]
    + [
        (datetime.fromisoformat(moment), said, written)
        for fixture in FIXTURES.values()
        for moment, said, written in fixture["written_at"]
    ],
)
def test_the_real_date_is_written_behind_the_words(at: datetime, said: str, written: str) -> None:
    """A relative or yearless date is followed by the real one, counted from when it was said."""
    assert with_dates(said, at) == written


@pytest.mark.parametrize(
    ("at", "said"),
    [(at(fixture), said) for fixture in FIXTURES.values() for said in fixture["unwritten"]],
)
def test_nothing_else_is_written(at: datetime, said: str) -> None:
    """What has its year, recurs weekly, can't be told or is no date gets nothing."""
    assert with_dates(said, at) == said


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_form_is_shown(language: str) -> None:
    """Each row of a language's dates.toml has a sentence that it decides."""
    fixture = FIXTURES[language]
    moments = [(at(fixture), said) for said, _ in fixture["written"]]
    moments += [(datetime.fromisoformat(when), said) for when, said, _ in fixture["written_at"]]
    moments += [(at(fixture), said) for said in fixture["unwritten"]]
    shown = {rule for when, said in moments for rule in Reading(said, when.date()).rules(language)}
    [words] = [each for each in languages() if each.language == language]
    assert {form.rule for form in words.forms} - shown == set()


@pytest.mark.parametrize("language", LANGUAGES)
def test_without_accents_it_means_the_same(language: str) -> None:
    """A transcript in lower case, without umlauts, accents and commas, has the same dates."""
    plain = str.maketrans("äöüßáéíóúñ", "aousaeioun", ",.")
    for said, written in FIXTURES[language]["written"]:
        heard = said.lower().translate(plain)
        if re.search(r"/|[0-9]\.|ß", said):  # figures need their dots
            continue
        dates = re.findall(r"\(.*?\)", written)
        assert re.findall(r"\(.*?\)", with_dates(heard, at(FIXTURES[language]))) == dates, heard


@pytest.mark.parametrize("language", sorted(bench.LANGUAGES))
def test_the_calendar_agrees(language: str) -> None:
    """At least 60 expressions on four days of saying: none wrong, at most 2 % unresolved."""
    expressions = bench.LANGUAGES[language]
    assert len(expressions) >= 60
    verdicts = [
        bench.judged(said, moment, right)
        for said, right in expressions.items()
        for moment in bench.MOMENTS[::5]
    ]
    assert verdicts.count("wrong") == 0
    assert verdicts.count("right") >= 0.98 * len(verdicts)


BRACKETS = re.compile(
    r"\s*\((?:every \d\d-\d\d|\d{4}(?:-\d\d(?:-\d\d)?)?(?: to \d{4}-\d\d-\d\d)?)\)"
)
moments = st.datetimes(
    min_value=datetime(1990, 1, 1),  # noqa: DTZ001 - zones come from the strategy beside it
    max_value=datetime(2090, 1, 1),  # noqa: DTZ001
    timezones=st.sampled_from([UTC, timezone(timedelta(hours=13)), timezone(timedelta(hours=-11))]),
)
gloss = st.sampled_from(
    ["(2026-12-04)", "(every 03-12)", "(2027)", "(2027-03)", "(2026-12-07 to 2026-12-13)", "(x)"]
)
dated = st.lists(st.sampled_from(WORDS) | gloss | st.text(max_size=4), max_size=14).flatmap(
    lambda words: st.sampled_from([" ", ", ", "  ", ". "]).map(lambda space: space.join(words))
)


@given(text=dated | st.text(), at=moments)
def test_any_text_is_read(text: str, at: datetime) -> None:
    """No text raises; only dates in brackets are added, and only once."""
    written = with_dates(text, at)
    assert with_dates(written, at) == written
    assert BRACKETS.sub("", written) == BRACKETS.sub("", text)
    letters = iter(written)
    assert all(letter in letters for letter in text)  # nothing is gone, and all in its order
    passed(text, at.date())


@given(text=dated, at=moments)
def test_dates_do_not_overlap(text: str, at: datetime) -> None:
    """Dates come in their order, none within another, and each in its own words."""
    found = spoken_dates(text, at)
    assert all(one.end <= two.start for one, two in pairwise(found))
    assert all(each.start < each.end for each in found)


@given(text=st.lists(st.sampled_from(WORDS), max_size=14).map(" ".join), at=moments)
def test_what_was_said_follows_from_itself(text: str, at: datetime) -> None:
    """Each date of a text is in that text."""
    assert follows(text, text, at) is None


@pytest.mark.parametrize(
    "piece",
    ["friday ", "in three days ", "am 12. märz ", "my birthday is on march 3 and ", "1", "1.",
     "(2026-12-04) ", " ", "a week from ", "habe am freitag gesehen, ", "( ", "twenty "],
)  # fmt: skip
def test_long_texts_take_their_length(piece: str) -> None:
    """100 kB take about four times as long as 25 kB, whatever they are made of."""

    def seconds(chars: int) -> float:
        text = (piece * (chars // len(piece) + 1))[:chars]
        begin = time.process_time()
        with_dates(text, AT)
        return time.process_time() - begin

    seconds(1_000)
    short = min(seconds(25_000) for _ in range(2))
    assert seconds(100_000) < 10 * short + 0.5


def test_a_process_that_lives_over_midnight_counts_from_each_turn() -> None:
    """Nothing is remembered of the day before: only the turn's own time counts."""
    before = datetime.fromisoformat("2026-12-31T23:59:59+01:00")
    after = before + timedelta(seconds=2)
    assert with_dates("tomorrow", before) == "tomorrow (2027-01-01)"
    assert with_dates("tomorrow", after) == "tomorrow (2027-01-02)"
    assert with_dates("tomorrow", before) == "tomorrow (2027-01-01)"


def test_the_day_is_that_of_the_own_offset() -> None:
    """One instant, two places, two days."""
    instant = datetime(2026, 12, 31, 23, 30, tzinfo=UTC)
    berlin = datetime.fromisoformat("2027-01-01T00:30:00+01:00")
    assert instant == berlin
    assert with_dates("heute", instant) == "heute (2026-12-31)"
    assert with_dates("heute", berlin) == "heute (2027-01-01)"


def _documented() -> list[tuple[str, str]]:
    """Words and the date that the documentation writes beside them."""
    page = (ROOT / "docs" / "jarvis-learning.md").read_text(encoding="utf-8")
    section = page.partition("## Spoken dates\n")[2].partition("\n## ")[0]
    table = section.partition("### What each form means")[2].partition('"Next Friday"')[0]
    cells = [cell for line in table.splitlines() for cell in line.split("|")[3:6]]
    pieces = [piece.strip() for cell in cells for piece in re.split(r",(?! \d)", cell)]
    return re.findall(r"([^\n`]+) `(\([^`]+\))`", "\n".join(pieces))


@pytest.mark.parametrize(("words", "real"), _documented())
def test_the_documentation_is_right(words: str, real: str) -> None:
    """Each date in the table of docs/jarvis-learning.md is the one that is written."""
    assert with_dates(words, AT) == f"{words} {real}"


def test_the_documentation_has_dates() -> None:
    """The table is found."""
    assert len(_documented()) >= 10
