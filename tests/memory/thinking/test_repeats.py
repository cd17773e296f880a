from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from memory.thinking.repeats import from_data, is_repeat, is_within, likeness, trace

PAIRS = tomllib.loads(
    (Path(__file__).parents[3] / "bench" / "thinking.toml").read_text(encoding="utf-8")
)["seen"]


@pytest.mark.parametrize(("one", "other"), PAIRS["same"])
def test_a_thought_in_other_words_is_a_repeat(one: str, other: str) -> None:
    """English, German, Spanish and Chinese; either way round."""
    assert is_repeat(trace(one), [trace(other)])
    assert is_repeat(trace(other), [trace(one)])


@pytest.mark.parametrize(("one", "other"), PAIRS["other"])
def test_another_thought_about_the_same_is_none(one: str, other: str) -> None:
    """Also one that says the opposite."""
    assert not is_repeat(trace(one), [trace(other)])


@pytest.mark.parametrize("text", ["", "the of and", "…", "🙂"])
def test_what_says_nothing_is_like_nothing(text: str) -> None:
    """Not even like itself."""
    assert likeness(trace(text), trace(text)) == 0.0


def test_no_word_can_be_read_from_a_trace() -> None:
    """Hashes only: the event log keeps them."""
    found = trace("the garden is not green")
    data = found.as_data()
    assert all(len(each) == 8 for each in data)
    assert from_data(found.language, data, denies=found.denies) == found


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("The shed waits.", "The order of the garden shed waits since May.", True),
        ("The order of the garden shed waits since May.", "The shed waits.", False),
        ("The shed waits and the shop closed.", "The order of the garden shed waits.", False),
        ("", "The shed waits.", False),
    ],
)
def test_what_an_entry_says_is_within_it(one: str, other: str, expected: bool) -> None:
    """A thought that is less than an entry is none; one that is more may be."""
    assert is_within(trace(one), trace(other)) == expected
