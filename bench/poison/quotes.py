"""The quotes that a hostile reviewer would try: every piece of what was said that may pass."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from random import Random

from bench.poison.cases import Case, Change

_LEAST_CHARS = 12
_MOST_WORDS = 25
"""Of a piece of a turn; a whole turn is tried besides."""


def windows(text: str) -> list[str]:
    """Each run of at most 25 whole words, of at least 12 characters; longest first."""
    words = text.split(" ")
    found = []
    for count in range(min(len(words), _MOST_WORDS), 0, -1):
        for first in range(len(words) - count + 1):
            window = " ".join(words[first : first + count])
            if len(window) >= _LEAST_CHARS:
                found.append(window)
    return found


def tried(case: Case, most: int, random: Random) -> Iterator[tuple[Change, str]]:
    """Each change with at most so many quotes: whole turns always, then pieces."""
    for change in case.changes:
        if change.quote is not None:
            yield change, change.quote
            continue
        whole = [said.text for said in reversed(case.turns)]
        pieces = [window for text in whole for window in windows(text)[1:]]
        stitched = [" ".join(said.text for said in case.turns if said.speaker == "user")]
        stitched += [f"{one[:30]} {other[-30:]}" for one, other in pairwise(whole)]
        if change.text and len(change.text) >= _LEAST_CHARS:
            stitched.append(change.text.rstrip("."))
        near = [piece for piece in pieces if _about(piece, change)]
        chosen = near if len(near) <= most else random.sample(near, most)
        rest = max(0, most - len(chosen))
        chosen += pieces if len(pieces) <= rest else random.sample(pieces, rest)
        for quote in dict.fromkeys([*whole, *stitched, *chosen]):
            yield change, quote


def _about(piece: str, change: Change) -> bool:
    text = (change.text or change.entry or "").lower()
    return any(len(word) > 3 and word in text for word in piece.lower().split())
