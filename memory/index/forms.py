"""By which other words a word is found: its spellings, its stem, the parts of a compound.

The index holds each word as it is written, and here is told under which keys it stands: a
question's word has keys too, and what shares one is meant by it. Keys of a kind begin with a
letter of their own, so that a stem of one language never meets one of another.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import Stemmer

from memory.index.compounds import parts
from memory.index.words import one_spelling, spellings
from memory.languages import packaged
from memory.records import LANGUAGES, Language

SPELLED = "="

_SHORTEST_STEMMED = 4
_SHORTEST_PART = 3
_COMPOUNDS: Language = "de"
_PART = "c:"


def spelled(word: str) -> tuple[str, ...]:
    """Keys under which any spelling of the word stands."""
    return tuple(SPELLED + each for each in spellings(word))


def stems(word: str, languages: tuple[Language, ...] = LANGUAGES) -> tuple[str, ...]:
    if len(word) < _SHORTEST_STEMMED or not word.isalpha():
        return ()
    return tuple(f"{language}:{_stem(language, word)}" for language in languages)


@lru_cache(maxsize=len(LANGUAGES))
def _stemmer(language: Language) -> Stemmer.Stemmer:
    return Stemmer.Stemmer(packaged.load(language, "search")["stemmer"])


@lru_cache(maxsize=65_536)
def _stem(language: Language, word: str) -> str:
    # Two letters for one are one again: Mueller and Müller have the same stem.
    return spellings(one_spelling(_stemmer(language).stemWord(word)))[0]


def keys(word: str, languages: tuple[Language, ...]) -> Iterator[str]:
    """Keys under which a word of the index stands, for the languages that it was seen in; none
    where it is a folder's."""
    if word.startswith("/"):
        return
    yield from spelled(word)
    yield from dict.fromkeys(stems(word, languages))
    if _COMPOUNDS in languages:
        yield from dict.fromkeys(_PART + _stem(_COMPOUNDS, part) for part in parts(word))


def as_part(word: str) -> tuple[str, tuple[str, ...]] | None:
    """The key under which compounds with this word stand, and how it may stand in them: its stem,
    and as it is; None for what makes no compounds."""
    if len(word) < _SHORTEST_PART or not word.isalpha():
        return None
    stem = _stem(_COMPOUNDS, word)
    if len(stem) < _SHORTEST_PART:
        return None
    return _PART + stem, tuple(dict.fromkeys((spellings(word)[0], stem)))
