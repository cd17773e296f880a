"""Digits that follow each other, written or spoken."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.languages import packaged
from memory.languages.digits import run_at, runs
from memory.languages.folding import fold


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("4711", ["4711"]),
        ("47 11, 0815", ["47110815"]),
        ("four seven one one", ["4711"]),
        ("four seven double one", ["4711"]),
        ("triple seven", ["777"]),
        ("forty-seven eleven and 12", ["471112"]),
        ("oh eight one five", ["0815"]),
        ("vier sieben eins eins", ["4711"]),
        ("siebenundvierzig elf", ["4711"]),
        ("fünf zwölf dreißig", ["51230"]),
        ("fuenf zwoelf dreissig", ["51230"]),
        ("zwo doppel drei", ["233"]),
        ("cuatro siete doble uno", ["4711"]),
        ("cuarenta y siete once", ["4711"]),
        ("veintidós, dieciséis", ["2216"]),
        ("I have two dogs and three cats", ["2", "3"]),
        ("someone at ten", ["10"]),
        ("and then and again", []),
        ("", []),
    ],
)
def test_runs(said: str, expected: list[str]) -> None:
    """Each run ends where another word comes; words in between that join digits do not end it."""
    assert [run.text for run in runs(fold(said))] == expected


def test_a_run_knows_its_places() -> None:
    """A written digit has a place of its own, a spoken word is the place of all its digits."""
    text = "pin: 47, double one"
    (run,) = runs(text)
    assert run.text == "4711"
    assert [text[start:end] for start, end in zip(run.starts, run.ends, strict=True)] == [
        "4", "7", "double one", "double one",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "at", "expected"),
    [("is 4711", 2, "4711"), ("is four one", 2, "41"), ("is not 4711", 2, None), ("is", 2, None)],
)
def test_run_at_begins_there(text: str, at: int, expected: str | None) -> None:
    """Separators may stand before the digits, other words may not."""
    run = run_at(text, at)
    assert (run.text if run else None) == expected


@pytest.mark.parametrize("language", packaged.LANGUAGES_HERE)
def test_each_language_counts_to_ninety_nine(language: str) -> None:
    """The hundred words stand in order, each once."""
    numbers = packaged.load(language, "digits")["numbers"]
    assert len(numbers) == len(set(numbers)) == 100
    for value, word in enumerate(numbers):
        assert [run.text for run in runs(fold(word))] == [str(value)]


@given(st.text(max_size=100))
def test_places_are_in_the_text(text: str) -> None:
    """Whatever is said, runs are in order, apart and inside."""
    heard, last = fold(text), 0
    for run in runs(heard):
        assert len(run.text) == len(run.starts) == len(run.ends)
        assert last <= run.start < run.end <= len(heard)
        last = run.end
