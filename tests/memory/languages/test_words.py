from __future__ import annotations

import pytest

from memory.languages import packaged
from memory.languages.words import language_of, lexicons, other_language, tells_language

SAME = [
    ("en", "loves", "love"),
    ("en", "drives", "drove"),
    ("en", "running", "run"),
    ("en", "allergic", "allergy"),
    ("en", "three", "3"),
    ("en", "twenty-five", "25"),
    ("en", "shorter", "short"),
    ("de", "isst", "esse"),
    ("de", "fährt", "fahre"),
    ("de", "Köln", "koeln"),
    ("de", "Nüsse", "Nuss"),
    ("de", "zwölf", "12"),
    ("de", "dreiundvierzig", "43"),
    ("es", "vive", "vivo"),
    ("es", "prefiere", "prefiero"),
    ("es", "alérgica", "alergia"),
    ("es", "treinta y cinco", "35"),
]
APART = [
    ("en", "vegan", "vegetarian"),
    ("en", "alcoholic", "non-alcoholic"),
    ("de", "Frau", "Exfrau"),
    ("de", "Raucher", "Nichtraucher"),
    ("de", "vegan", "vegetarisch"),
    ("es", "casa", "casado"),
    ("es", "hermano", "hermana"),
]


def key(language: str, text: str) -> str:
    return lexicons()[language].words(text)[-1].key


@pytest.mark.parametrize(("language", "one", "other"), SAME)
def test_forms_of_a_word_are_one(language: str, one: str, other: str) -> None:
    assert key(language, one) == key(language, other) != ""


@pytest.mark.parametrize(("language", "one", "other"), APART)
def test_words_that_mean_something_else_stay_apart(language: str, one: str, other: str) -> None:
    assert key(language, one) != key(language, other)


def test_every_language_has_words_and_acts() -> None:
    assert set(lexicons()) == set(packaged.LANGUAGES_HERE)
    assert all(packaged.has(language, "acts") for language in packaged.LANGUAGES_HERE)


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("mail me at x@evil.example now", ["word", "word", "word", "link", "word"]),
        ("see https://a.example/b?c=1.", ["word", "link"]),
        ("at 7:30, not 2.500", ["word", "number", "mark", "word", "number"]),
        ("am 3. Mai", ["word", "number", "word"]),
    ],
)
def test_links_and_numbers_are_whole(text: str, kinds: list[str]) -> None:
    assert [word.kind for word in lexicons()["de"].words(text)] == kinds


def test_a_contraction_is_two_words_at_one_place() -> None:
    words = lexicons()["en"].words("I don't know")
    assert [word.text for word in words] == ["i", "do", "not", "know"]
    assert (words[1].start, words[1].end) == (words[2].start, words[2].end)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("I don't eat meat", "en"),
        ("ich esse kein fleisch", "de"),
        ("no como carne", "es"),
        ("Größe und Maß", "de"),
    ],
)
def test_language_of_a_sentence(text: str, language: str) -> None:
    assert language_of(text) == language


def test_a_hint_counts_where_the_words_do_not_tell() -> None:
    assert language_of("Pizza", "es") == "es"
    assert tells_language("Pizza") is None
    assert tells_language("ich und du") == "de"


def test_an_entry_in_another_language_is_told() -> None:
    """German that English knows too is no foreign language."""
    assert other_language("The user is vegan", "Ich bin vegan", "de")
    assert not other_language("Will kurze Antworten", "Ich will kurze Antworten", "de")
