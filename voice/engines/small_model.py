"""What a small model needs besides the prefix: an example, and pieces of words to lean to."""

from __future__ import annotations

import tomllib
from functools import cache
from typing import Any

from memory import prompt
from memory.records import Language
from voice.engines.language_model import Message


def example(language: Language) -> tuple[Message, ...]:
    """A conversation that shows how to answer, in this language."""
    return tuple(
        message
        for exchange in _table()["example"][language]
        for message in (
            Message("user", exchange["user"]),
            Message("assistant", exchange["assistant"]),
        )
    )


def leanings() -> tuple[tuple[str, float], ...]:
    """Pieces of the vocabulary with what is added to their logits."""
    return tuple((piece, row["by"]) for row in _table()["leaning"] for piece in row["pieces"])


@cache
def _table() -> dict[str, Any]:
    return tomllib.loads(prompt("small_model.toml"))
