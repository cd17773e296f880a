from __future__ import annotations

import pytest

from memory.index.forms import keys, spelled, stems


@pytest.mark.parametrize(
    ("one", "other", "language"),
    [
        ("boilers", "boiler", "en"),
        ("serviced", "service", "en"),
        ("häuser", "haus", "de"),
        ("mueller", "müllers", "de"),
        ("kesseln", "kessel", "de"),
        ("calderas", "caldera", "es"),
    ],
)
def test_forms_of_a_word_share_a_stem(one: str, other: str, language: str) -> None:
    """A word and its forms stand under one key of their language."""
    assert {key for key in stems(one) if key.startswith(language)} & set(stems(other))


@pytest.mark.parametrize(
    ("one", "other"), [("cat", "certificate"), ("cat", "category"), ("ion", "million")]
)
def test_parts_of_words_share_nothing(one: str, other: str) -> None:
    """A word is not found in another that only holds its letters."""
    assert not set(keys(one, ("en", "de", "es"))) & set(keys(other, ("en", "de", "es")))


def test_spellings_meet() -> None:
    """Müller meets Mueller and Muller."""
    assert set(spelled("müller")) == {"=muller", "=mueller"}
