from __future__ import annotations

import pytest

from memory.languages.dates.meanings import MEANINGS
from memory.languages.dates.words import Words, languages, spellings

WORDS = {words.language: words for words in languages()}


@pytest.mark.parametrize(
    ("language", "said", "number"),
    [
        ("en", "twenty-three", 23),
        ("en", "a", 1),
        ("de", "dreiundzwanzig", 23),
        ("de", "fuenfunddreissig", 35),
        ("de", "funfunddreissig", 35),
        ("de", "zwo", 2),
        ("es", "veintitres", 23),
        ("es", "treinta y cinco", 35),
        ("es", "17", 17),
        ("en", "dozens", None),
    ],
)
def test_numbers_are_read(language: str, said: str, number: int | None) -> None:
    """In figures and in words, with umlauts as one letter or two."""
    assert WORDS[language].number(said) == number


@pytest.mark.parametrize(
    ("language", "said", "years"),
    [
        ("en", "twenty twenty seven", {2027}),
        ("en", "two thousand and five", {2005}),
        ("en", "nineteen eighty-four", {1984}),
        ("en", "nineteen oh five", {1905}),
        ("en", "twenty five", set()),
        ("de", "zweitausendsiebenundzwanzig", {2027}),
        ("de", "neunzehnhundertfuenfundachtzig", {1985}),
        ("es", "dos mil veintisiete", {2027}),
        ("es", "mil novecientos ochenta y cinco", {1985}),
        ("es", "en 2027", {2027}),
        ("en", "room 1204", set()),
    ],
)
def test_years_are_read(language: str, said: str, years: set[int]) -> None:
    """From 1900 to 2099, as they are spoken."""
    assert WORDS[language].years_in(said) == years


@pytest.mark.parametrize("words", languages(), ids=lambda words: words.language)
def test_each_language_is_whole(words: Words) -> None:
    """Seven weekdays, twelve months, thirty-one days, and only meanings that there are."""
    assert set(words.weekday.values()) == set(range(7))
    assert set(words.month.values()) == set(range(1, 13))
    assert set(range(1, 32)) <= set(words.day.values())
    assert set(range(100)) <= set(words.count.values())
    assert set(words.year.values()) >= set(range(2000, 2100))
    assert {form.means for form in words.forms} <= MEANINGS.keys()


def test_umlauts_are_spelt_in_two_ways() -> None:
    """As one letter without its dots, and as two."""
    assert list(spellings("fünf")) == ["funf", "fuenf"]
    assert list(spellings("dreißig")) == ["dreissig"]
    assert list(spellings("miércoles")) == ["miercoles"]
