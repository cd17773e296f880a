from __future__ import annotations

import pytest

from memory.languages import packaged
from memory.languages.patterns import Written


def test_words_are_filled_in_and_folded() -> None:
    """A list may use the lists above it; an umlaut also meets its two letters."""
    written = Written(
        {
            "words": {"who": ["Frau", "Müller"], "with": ["mit {who}"]},
            "rules": {"patterns": ["^{with}$", r"\d{2,3}"]},
        },
        "x.toml",
    )
    table = written.table("rules")
    assert table.listed("patterns") == [
        "^(?:mit (?:Frau|Mue?ller))$",
        r"\d{2,3}",
    ]
    table.finish()
    written.finish()


@pytest.mark.parametrize(
    "table",
    [
        {"patterns": ["{nobody}"]},
        {"patterns": "no list"},
        {},
        {"patterns": ["a"], "unles": ["b"]},
    ],
)
def test_what_nobody_can_read(table: dict[str, object]) -> None:
    """A misspelt key or name is told by its file, not passed over."""
    written = Written(table, "x.toml")

    def read() -> None:
        written.listed("patterns")
        written.finish()

    with pytest.raises(ValueError, match=r"^x\.toml"):
        read()


def test_a_missing_file() -> None:
    assert not packaged.has("en", "nothing of ours")
    with pytest.raises(FileNotFoundError):
        packaged.load("en", "nothing of ours")
