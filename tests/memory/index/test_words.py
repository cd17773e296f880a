from __future__ import annotations

import pytest

from memory.index.words import language_of, meant, never_meant, one_spelling, spellings, words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Müller", ["müller"]),
        ("Mu\u0308ller", ["müller"]),
        ("STRASSE Straße", ["strasse", "strasse"]),
        ("café CAFÉ cafe\u0301", ["cafe", "cafe", "cafe"]),
        ("Ｗｉｆｉ ①", ["wifi", "1"]),
        ("Wi-Fi", ["wifi", "wi", "fi"]),
        ("10:30", ["1030", "10", "30"]),
        ("C++ and C# or C", ["c++", "and", "c#", "or", "c"]),
        ("#tag, snake_case", ["tag", "snakecase", "snake", "case"]),
        ("don't", ["dont", "don", "t"]),
        ("我的猫", ["我", "的", "猫", "我的", "的猫"]),
        ("猫cat", ["猫", "cat"]),
        ("soft\u00adhyphen zero\u200bwidth", ["softhyphen", "zerowidth"]),
        ("हिन्दी", ["हिन्दी"]),
        ("x" * 100, ["x" * 64]),
        ('"*():^', []),
        ("", []),
    ],
)
def test_words(text: str, expected: list[str]) -> None:
    """What is written in several ways is one word; what is written apart or together is both."""
    assert words(text) == expected


def test_dots_are_kept_where_they_make_another_letter() -> None:
    """ä, ö and ü are letters with two other spellings; other accents are dropped."""
    assert one_spelling("ÄÖÜ naïve Noël ÿ") == "äöü naive noel y"
    assert spellings("müll") == ("mull", "muell")
    assert spellings("mull") == ("mull",)


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ("the boiler", "boiler"),
        ("wie heißt der Kessel", "heisst kessel"),
        ("dónde está la caldera", "caldera"),
        ("how old is my son", "old son"),
        ("cuántos son", ""),
        ("son", "son"),
        ("die Heizung", "heizung"),
        ("la casa", "casa"),
        ("the of and", ""),
        ("war and peace", "war peace"),
    ],
)
def test_words_that_mean_nothing_there(asked: str, expected: str) -> None:
    """A word too common to mean anything is left out, in the language of the question."""
    said = words(asked)
    kept = [word for word, counts in zip(said, meant(said), strict=True) if counts]
    assert kept == expected.split()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The boiler was serviced by him", "en"),
        ("Der Kessel wurde von ihm gewartet", "de"),
        ("La caldera fue revisada por él", "es"),
        ("Heizkessel", None),
        ("", None),
    ],
)
def test_language(text: str, expected: str | None) -> None:
    """A text's language is told by the words that hold it together, or not at all."""
    assert language_of(words(text)) == expected


def test_no_word_of_its_own_is_dropped_from_texts() -> None:
    """A word that means something in one of the languages is kept in every text."""
    assert not never_meant() & {"son", "die", "will", "may", "sin", "war", "man"}
