"""Whether a piece has to do with a question at all: nothing relevant means nothing is sent (N3).

A word tells the more the fewer pieces hold it, and the rarer it is said at all: in a vault of ten
notes every word is rare. So its information is counted over the vault's pieces and `PRIOR` more,
in which it stands as often as people say it (`memory/languages/*/common.toml`). What two texts
share by chance grows with the number of pieces, so the logarithm of that number is taken off.

The weights are no choice: `python -m bench.recall --fit` finds them by logistic regression over
half of its questions in vaults of 24 to 3,400 pieces, and then moves the bound to where 96 percent
of the questions that nothing answers get nothing. docs/notes.md has the figures.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from memory.index.forms import spelled, stems
from memory.index.records import Hit
from memory.index.words import words
from memory.languages import packaged
from memory.records import LANGUAGES

PRIOR = 3000
"""Pieces that the vault's own are reckoned with."""

UNSAID = 8.0
"""What a word tells that people do not say to an assistant, in nats."""


@dataclass(frozen=True, slots=True)
class Signs:
    """What speaks for a piece. Information is in nats.

    `surprise` is what the question's words in it tell, less the logarithm of the number of
    pieces. `share` is that of what all words of the question tell, 0 to 1. `title` is what those
    tell that stand in the file's name. `meaning` is how much nearer the piece is to the question
    than the middle one is, in standard deviations; None where nobody knows.
    """

    surprise: float
    share: float
    title: float
    meaning: float | None = None


@dataclass(frozen=True, slots=True)
class _Weights:
    surprise: float
    share: float
    title: float
    meaning: float
    bound: float


# Fitted; see above.
_BY_WORDS = _Weights(surprise=1.0, share=1.77, title=0.61, meaning=0.0, bound=4.5)
_BY_MEANING_TOO = _Weights(surprise=1.0, share=-0.89, title=0.33, meaning=2.21, bound=11.1)


def signs(hit: Hit, asked: Collection[str], pieces: int, meaning: float | None = None) -> Signs:
    """`asked` are the question's words that mean something, `pieces` is how many there are."""
    told = {
        word: information(word, weight, pieces)
        for word, weight in zip(hit.matched, hit.weights, strict=True)
    }
    held = sum(told.values())
    missing = sum(information(word, None, pieces) for word in asked if word not in told)
    name = _keys(hit.file.rpartition("/")[2].removesuffix(".md"))
    return Signs(
        surprise=held - math.log(pieces + 1),
        share=held / (held + missing) if held else 0.0,
        title=sum(each for word, each in told.items() if name & _keys_of(word)),
        meaning=meaning,
    )


def information(word: str, weight: float | None, pieces: int) -> float:
    """What a word tells, in nats; `weight` is the index's own, None for a word of no piece."""
    expected = PRIOR * math.exp(-_said(word))
    holding = 0.5 if weight is None else (pieces + 1) * math.exp(-weight)
    return math.log((pieces + PRIOR) / (holding + expected))


def certainty(seen: Signs) -> float:
    """Above 0 the piece has to do with the question."""
    by = _BY_WORDS if seen.meaning is None else _BY_MEANING_TOO
    return (
        by.surprise * seen.surprise
        + by.share * seen.share
        + by.title * seen.title
        + by.meaning * (seen.meaning or 0.0)
        - by.bound
    )


def relevant(
    hits: Iterable[Hit],
    asked: Collection[str],
    pieces: int,
    meaning: Mapping[int, float] | None = None,
) -> tuple[Hit, ...]:
    """The hits that have to do with the question, in their order; often none.

    `meaning` has the standard deviations by the piece's number, where vectors are at hand.
    """
    return tuple(
        hit
        for hit in hits
        if certainty(signs(hit, asked, pieces, None if meaning is None else meaning.get(hit.piece)))
        > 0
    )


@lru_cache(maxsize=1)
def _common() -> dict[str, float]:
    """Keys of words that people say to an assistant, with what they tell at least."""
    found: dict[str, float] = {}
    for language in LANGUAGES:
        for nats, said in packaged.load(language, "common").items():
            for word in said:
                for key in (*spelled(word), *stems(word, (language,))):
                    found[key] = min(found.get(key, UNSAID), float(nats))
    return found


@lru_cache(maxsize=4096)
def _said(word: str) -> float:
    common = _common()
    return min((common[key] for key in _keys_of(word) if key in common), default=UNSAID)


@lru_cache(maxsize=4096)
def _keys_of(word: str) -> frozenset[str]:
    return frozenset((*spelled(word), *stems(word)))


@lru_cache(maxsize=1024)
def _keys(text: str) -> frozenset[str]:
    return frozenset(key for word in words(text) for key in _keys_of(word))
