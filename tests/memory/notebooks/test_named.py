from __future__ import annotations

import pytest

from memory.notebooks.named import named

ENTRIES = [
    "Likes tea with lemon.",
    "Likes tea",
    "My sister Ann lives in Köln.",
    "Ist gegen Nüsse allergisch.",
    "Le gusta el té.",
    "Uses C:\\temp and *vim*",
]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("likes TEA", ["Likes tea"]),
        ("- Likes tea", ["Likes tea"]),
        ("lemon", ["Likes tea with lemon."]),
        ("tea", ["Likes tea with lemon.", "Likes tea"]),
        ("köln ann", ["My sister Ann lives in Köln."]),
        ("koln", ["My sister Ann lives in Köln."]),
        ("my sister's", ["My sister Ann lives in Köln."]),
        ("nuesse", ["Ist gegen Nüsse allergisch."]),
        ("dass ich allergisch gegen Nüsse bin", ["Ist gegen Nüsse allergisch."]),
        ("té", ["Le gusta el té."]),
        ("Uses C:\\\\temp and \\*vim\\*", ["Uses C:\\temp and *vim*"]),
        ("ne", []),
        ("tea sister", []),
        ("", []),
        ("?!", []),
        ("the", []),
    ],
)
def test_entries_are_named_by_whole_words(text: str, expected: list[str]) -> None:
    """The same text before all words, all words before their meaning; never parts of words."""
    assert list(named(text, ENTRIES)) == expected


def test_an_entry_that_is_there_twice_is_named_once() -> None:
    """Copies are one entry."""
    assert named("a", ["a", "b", "a"]) == ("a",)
