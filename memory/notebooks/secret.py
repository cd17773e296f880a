"""One secret in a text, and what all ways to find one need."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import re2


@dataclass(frozen=True, slots=True)
class Secret:
    """`kind` in words, "a password"; `start` and `end` (excluded) in the text it was found in."""

    kind: str
    start: int
    end: int


def compiled(pattern: str, *, longest: bool = False) -> Any:
    options = re2.Options()
    options.max_mem = 1 << 26
    options.longest_match = longest
    return re2.compile(pattern, options=options)


def mixed(value: str) -> bool:
    """A letter and a digit in one word: nobody says that by chance."""
    return any(map(str.isdigit, value)) and any(map(str.isalpha, value))


def group(match: Any) -> int:
    """The group that matched; the whole match where none did."""
    return next((index for index, value in enumerate(match.groups(), 1) if value), 0)
