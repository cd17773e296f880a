"""Text as it is compared, and the way back to what was written."""

from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.languages.folding import fold, folded, pattern


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Müller", "muller"),
        ("MÜLLER", "muller"),
        ("Straße", "strasse"),
        ("niño", "nino"),
        ("¿Qué?", "¿que?"),
        ("don’t", "don't"),
        ("„Ja“", '"ja"'),
        ("e\u0301cole", "ecole"),
        ("ﬁne ＷＩＤＥ", "fine wide"),
        ("Œuvre", "oeuvre"),
        ("İstanbul", "istanbul"),
    ],
)
def test_what_folding_drops(text: str, expected: str) -> None:
    """Case, accents, umlauts and the shapes of quotation marks make no difference."""
    assert fold(text) == expected


@pytest.mark.parametrize(
    ("written", "said"),
    [("für", "für"), ("für", "fur"), ("für", "fuer"), ("größer", "groesser"), ("años", "anos")],
)
def test_a_pattern_meets_every_spelling(written: str, said: str) -> None:
    """A pattern with an umlaut meets the letter, the two letters for it, and the bare vowel."""
    assert re.fullmatch(pattern(written), fold(said))


@pytest.mark.parametrize(
    ("text", "word", "raw"),
    [
        ("Die Straße nach Köln", "strasse", "Straße"),
        ("un cafe\u0301 solo", "cafe", "cafe\u0301"),
        ("plain words", "words", "words"),
    ],
)
def test_the_way_back(text: str, word: str, raw: str) -> None:
    """A place in folded text is a place in the raw one, with the marks that its letters carry."""
    found = folded(text)
    start = found.text.index(word)
    begin, end = found.raw_span(start, start + len(word))
    assert text[begin:end] == raw


@given(st.text(max_size=80))
def test_any_text_folds(text: str) -> None:
    """Folding gives the same with and without its map, and each letter knows where it was."""
    found = folded(text)
    assert found.text == fold(text)
    assert len(found.at) == len(found.text)
    assert list(found.at) == sorted(found.at)
    assert found.raw_span(0, len(found.text))[1] == len(text) or not found.text
    assert not any(unicodedata.combining(letter) for letter in found.text)
