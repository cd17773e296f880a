from __future__ import annotations

import time
from typing import Literal

import pytest

from memory.notebooks.tokens import shortened, tokens


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("", 0),
        ("hello world", 2),
        ("Donaudampfschifffahrt", 10),
        ("No me gusta el cilantro.", 7),
        ("<|endoftext|>", 7),  # a mark of control is text like any other
        ("x \ud800 y", 3),
    ],
)
def test_tokens_are_counted(text: str, count: int) -> None:
    """cl100k's count, from the table that comes with the package."""
    assert tokens(text) == count


@pytest.mark.parametrize(
    "text", ["a" * 1_000_000, "ä ö" * 300_000, " " * 1_000_000, "!?" * 500_000]
)
def test_a_megabyte_takes_a_moment(text: str) -> None:
    """Counting is linear, whatever the text is made of."""
    tokens("")
    began = time.process_time()
    tokens(text)
    assert time.process_time() - began < 2.0


SENTENCE = "eins zwei drei vier fünf sechs sieben acht neun zehn"


@pytest.mark.parametrize(
    ("most", "keep", "expected"),
    [
        (100, "beginning", SENTENCE),
        (8, "beginning", "eins zwei drei vier fünf …"),
        (8, "end", "… acht neun zehn"),
        (1, "beginning", ""),
        (0, "end", ""),
    ],
)
def test_a_text_is_shortened_at_a_word(
    most: int, keep: Literal["beginning", "end"], expected: str
) -> None:
    """Whole words of one end stay, as many as fit, and the cut is shown."""
    assert shortened(SENTENCE, most, keep=keep) == expected
    assert tokens(shortened(SENTENCE, most, keep=keep)) <= most


def test_one_endless_word_is_left_out() -> None:
    """A word is whole or not there."""
    assert shortened("x" * 100_000, 40, keep="end") == ""
