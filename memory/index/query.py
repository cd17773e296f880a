"""Any string as a question to the index: its words, each with what it may also be written as."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from memory.index.words import Token, meant, never_meant, tokens

QUERY_CHARS = 4000
"""Of a longer question only the beginning is looked for."""

TERMS_AT_MOST = 48
DENSE_CHARS = 4
"""A run without blanks that is no longer is one word, and found as such."""


@dataclass(frozen=True, slots=True)
class Term:
    """A word of a question.

    A piece holds it when it holds `word`, one of `joined`, or all of `parts`. `dense` is a run of
    a script without blanks: its parts are letters and pairs, and have to stand there in a row.
    """

    word: str
    parts: tuple[str, ...] = ()
    joined: tuple[str, ...] = ()
    dense: bool = False


def terms(question: str) -> tuple[Term, ...]:
    """What a question asks for, without words that mean nothing; each word once."""
    said = list(tokens(question[:QUERY_CHARS]))
    counts = iter(meant([token.word for token in said if not token.dense]))
    kept = [token for token in said if token.dense or next(counts)]
    # "Wi Fi" is what another writes as one word; only what stands together in the question.
    neighbours = {(one.word, other.word) for one, other in pairwise(said) if _plain(one, other)}
    found: dict[str, Term] = {}
    for token in kept:
        for term in _terms(token, neighbours):
            found.setdefault(term.word, term)
    return tuple(found.values())[:TERMS_AT_MOST]


def _plain(one: Token, other: Token) -> bool:
    return not (one.dense or other.dense or one.parts or other.parts)


def _terms(token: Token, neighbours: set[tuple[str, str]]) -> Iterator[Term]:
    if not token.dense:
        joined = tuple(
            sorted(one + other for one, other in neighbours if token.word in (one, other))
        )
        parts = tuple(part for part in token.parts if part not in never_meant())
        yield Term(token.word, parts, joined)
    elif len(token.word) <= DENSE_CHARS:
        pairs = tuple(part for part in token.parts if len(part) == 2)
        yield Term(token.word, pairs or token.parts, dense=True)
    else:
        for part in token.parts:
            if len(part) == 2:
                yield Term(part, (part,), dense=True)
