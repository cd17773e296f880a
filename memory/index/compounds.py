"""German compounds found by their parts: Kessel is in Heizkessel, and no Erde in Beschwerde.

Where a word may come apart is told by its syllables. Each part that begins and ends there is a
key; whether what is left of the word makes a compound with it is judged when it is asked for:
by the words that the index knows, by a short list of common parts, and by its length.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import pyphen

from memory.index.words import one_spelling, spellings
from memory.languages import packaged

_SHORTEST_WORD = 7
_LONGEST_WORD = 32
_SHORTEST_PART = 3
# What nobody knows is a part when it and the stem beside it are this long.
_UNKNOWN_CHARS = ((5, 5), (6, 4))
_VOWEL = re.compile("[aeiouyäöü]")
_ENDING = re.compile(r"(?:e|en|er|ern|em|es|s|n|ns|ens|se|sen|nen)?")


@dataclass(frozen=True, slots=True)
class _Rules:
    linking: tuple[str, ...]
    common: frozenset[str]
    none: frozenset[str]
    prefixes: re.Pattern[str]


@lru_cache(maxsize=1)
def _rules() -> _Rules:
    table = packaged.load("de", "search")
    return _Rules(
        linking=tuple(sorted(table["linking"], key=len, reverse=True)),
        common=_plain(table["common_parts"]),
        none=_plain(table["prefixes"]) | _plain(table["suffixes"]),
        prefixes=re.compile(f"(?:{'|'.join(sorted(_plain(table['prefixes'])))})+"),
    )


def _plain(written: list[str]) -> frozenset[str]:
    return frozenset(spellings(one_spelling(each))[0] for each in written)


@lru_cache(maxsize=1)
def _syllables() -> pyphen.Pyphen:
    return pyphen.Pyphen(lang="de_DE", left=2, right=2)


def parts(word: str) -> Iterator[str]:
    """What may be a part of the word, each once; nothing where it is none that has parts."""
    if not (_SHORTEST_WORD <= len(word) <= _LONGEST_WORD and word.isalpha()):
        return
    cuts = [0, *map(int, _syllables().positions(word)), len(word)]
    found = {
        word[start:end]
        for at, start in enumerate(cuts)
        for end in cuts[at + 1 :]
        if _SHORTEST_PART <= end - start < len(word)
    }
    yield from sorted(found)


def rests(word: str, stem: str) -> Iterator[tuple[str, str]]:
    """What stands before and behind a part with this stem, wherever it stands in the word.

    Both are without dots over letters, as `stem` is; an ending of the part is no rest.
    """
    plain = spellings(word)[0]
    at = plain.find(stem)
    while at >= 0:
        behind = plain[at + len(stem) :]
        yield plain[:at], "" if _ENDING.fullmatch(behind) else behind
        at = plain.find(stem, at + 1)


def asks_for(rest: str) -> tuple[str, ...]:
    """The words that would make `rest` a part, if the index knew one of them."""
    if len(rest) < _SHORTEST_PART:
        return ()
    linked = [rest.removesuffix(letters) for letters in _rules().linking if rest.endswith(letters)]
    linked += [
        rest.removeprefix(letters) for letters in _rules().linking if rest.startswith(letters)
    ]
    return tuple(dict.fromkeys(each for each in (rest, *linked) if len(each) >= _SHORTEST_PART))


def is_compound(stem: str, before: str, behind: str, known: frozenset[str] | set[str]) -> bool:
    """Whether a part with this stem and what stands around it are words that were put together.

    `known` are those of `asks_for` that the index holds as words.
    """
    if not before and not behind:
        return False
    return all(_is_part(rest, stem, known) for rest in (before, behind) if rest)


def _is_part(rest: str, stem: str, known: frozenset[str] | set[str]) -> bool:
    rules = _rules()
    candidates = (rest, *asks_for(rest))
    if any(each in rules.common for each in candidates):
        return True
    # Prefixes in a row too: "auszuhelfen" is no compound of "helfen".
    if rest in rules.none or rules.prefixes.fullmatch(rest):
        return False
    if any(each in known and each not in rules.none for each in candidates):
        return True
    return _VOWEL.search(rest) is not None and any(
        len(rest) >= unknown and len(stem) >= beside for unknown, beside in _UNKNOWN_CHARS
    )
