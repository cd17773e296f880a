from __future__ import annotations

import pytest

from memory.index.compounds import asks_for, is_compound, parts, rests


@pytest.mark.parametrize(
    ("word", "part"),
    [
        ("heizkessel", "kessel"),
        ("geburtstagsfeier", "tags"),
        ("zahnarzttermin", "arzt"),
        ("wärmepumpe", "wärme"),
        ("donaudampfschiff", "dampf"),
    ],
)
def test_parts_lie_between_syllables(word: str, part: str) -> None:
    """A part begins and ends where the word may come apart."""
    assert part in set(parts(word))


@pytest.mark.parametrize(("word", "part"), [("beschwerde", "erde"), ("beweise", "eise"), ("schweine", "weine"), ("kessel", "kess")])  # fmt: skip
def test_letters_within_a_syllable_are_no_part(word: str, part: str) -> None:
    """What begins within a syllable is no part, and a short word has none."""
    assert part not in set(parts(word))


@pytest.mark.parametrize(
    ("word", "stem", "expected"),
    [
        ("heizkesseln", "kessel", [("heiz", "")]),
        ("geburtstagsfeier", "tag", [("geburts", "sfeier")]),
        ("krankenhäuser", "haus", [("kranken", "")]),
        ("million", "tag", []),
    ],
)
def test_what_is_left_of_a_word(word: str, stem: str, expected: list[tuple[str, str]]) -> None:
    """An ending of the part is nothing of its own, nor are dots over letters."""
    assert list(rests(word, stem)) == expected


@pytest.mark.parametrize(
    ("stem", "before", "behind", "known", "expected"),
    [
        ("kessel", "heiz", "", set(), True),
        ("arzt", "zahn", "praxe", set(), False),
        ("arzt", "zahn", "praxe", {"praxe"}, True),
        ("tier", "quar", "", set(), False),
        ("tier", "haus", "", set(), True),
        ("helf", "auszu", "", {"auszu"}, False),
        ("sicherung", "ver", "", set(), False),
        ("schmerz", "rücken", "", set(), True),
        ("kessel", "", "", set(), False),
        ("tag", "geburts", "", {"geburt"}, True),
    ],
)
def test_compounds(stem: str, before: str, behind: str, known: set[str], expected: bool) -> None:
    """A word is a compound when what is left of it is a word too, and no prefix."""
    assert is_compound(stem, before, behind, known) is expected


def test_letters_that_link() -> None:
    """What is left is asked for without the letters that join it."""
    assert asks_for("geburts") == ("geburts", "geburt")
    assert "woche" in asks_for("wochen")
    assert asks_for("s") == ()
