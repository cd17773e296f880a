"""The order of what was found: pieces near a hit, and several orders as one.

Words in a heading and rare words count more where the index weighs them. Figures:
`python -m bench.recall`.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import TypeVar

from memory.index.records import Hit

T = TypeVar("T", bound=Hashable)

NEAR = 0.3
"""How much a word of the question counts that only the piece before or behind holds."""

TIE = 0.5
"""Scores of the journal that are closer than this are a tie: importance and age decide."""

_RECIPROCAL = 60
"""As usual with reciprocal ranks: large enough that two middling places beat one good one."""


def ranked(hits: Iterable[Hit], limit: int) -> tuple[Hit, ...]:
    """The best hits, best first; the same hits in any order give the same."""
    found = {hit.piece: hit for hit in hits}
    scores = {piece: hit.score + NEAR * _near(hit, found) for piece, hit in found.items()}
    order = sorted(found.values(), key=lambda hit: _place(hit, scores[hit.piece]))
    return tuple(order[:limit])


def _near(hit: Hit, found: dict[int, Hit]) -> float:
    """What the words tell that stand beside this piece and not in it."""
    beside: dict[str, float] = {}
    for piece in (hit.piece - 1, hit.piece + 1):
        other = found.get(piece)
        if other is None or other.file != hit.file:
            continue
        for word, weight in zip(other.matched, other.weights, strict=True):
            if word not in hit.matched:
                beside[word] = max(beside.get(word, 0.0), weight)
    return sum(beside.values())


def _place(hit: Hit, score: float) -> tuple[float, int, int, str, int]:
    if hit.kind != "journal":
        return (-score, 0, 0, hit.file, hit.first_line)
    day = hit.day.toordinal() if hit.day else 0
    return (-round(score / TIE) * TIE, -(hit.stars or 0), -day, hit.file, hit.first_line)


def fused(orders: Sequence[Sequence[T]]) -> tuple[T, ...]:
    """Several orders as one, by reciprocal rank; ties go to who stands in the first order."""
    scores: dict[T, float] = {}
    for order in orders:
        for place, each in enumerate(order):
            scores[each] = scores.get(each, 0.0) + 1.0 / (_RECIPROCAL + place)
    return tuple(sorted(scores, key=lambda each: -scores[each]))
