"""A lesson as it is compared: which words weigh, and what must be the same in both.

The words stand in `memory/languages/<language>/lessons.toml`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

from memory.languages import packaged
from memory.languages.acts import Reading, read
from memory.languages.folding import fold
from memory.languages.words import Lexicon, Word, language_of, lexicons

Phrase = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Told:
    """What a lesson says. `keys` are the words that weigh, in order; `plain` is each as written.

    `numbers` and `marks` must be the same in both of two lessons, `names` too. `denies` is
    whether it says no to anything, `denied` and `affirmed` are the keys on either side.
    `ended` are the words of ending ("used to", "no longer"). `doer` is who does it, where the one
    clause that there is names both the user and Jarvis. `large` are the keys that are written
    large behind the first word, and `first` is the key of the first.
    """

    language: str
    keys: tuple[str, ...]
    plain: Mapping[str, str]
    numbers: tuple[str, ...]
    marks: Mapping[str, str]
    names: frozenset[str]
    denies: bool
    denied: frozenset[str]
    affirmed: frozenset[str]
    ended: frozenset[str]
    doer: str | None
    large: frozenset[str]
    first: str | None


@dataclass(frozen=True, slots=True)
class _Tables:
    """A language's words for this, by the stems of their phrases."""

    same: Mapping[Phrase, str]
    exact: Mapping[Phrase, str]
    negating: tuple[str, ...]
    agent: frozenset[str]
    jarvis: frozenset[str]
    user: frozenset[str]
    light: frozenset[str]
    sequence: frozenset[str]
    dated: frozenset[str]
    not_ended: frozenset[str]
    talk: frozenset[str]


@cache
def tables(language: str) -> _Tables:
    written: Mapping[str, Any] = packaged.load(language, "lessons")
    lexicon = lexicons()[language]
    same = _groups(written["same"], lexicon)
    exact = {
        tuple(map(lexicon.plain, fold(phrase).split())): group[0]
        for group in reversed(written["exact"])
        for phrase in group
    }
    return _Tables(
        same=same,
        exact=exact,
        negating=tuple(written["negating"]),
        agent=lexicon.forms(written["agent"]),
        jarvis=lexicon.forms(written["jarvis"]),
        user=lexicon.forms(written["user"]),
        light=frozenset(_stem(lexicon, fold(each)) for each in written["light"])
        | frozenset(lexicon.key(fold(each))[0] for each in written["light"]),
        sequence=frozenset(written["sequence"]),
        dated=frozenset(written["dated"]),
        not_ended=lexicon.forms(written["not_ended"]),
        talk=frozenset(
            stem
            for phrase in (*written["talk"], *(each for group in written["same"] for each in group))
            for word in fold(phrase).split()
            for stem in (_stem(lexicon, word), lexicon.key(word)[0])
        ),
    )


def _groups(groups: Sequence[Sequence[str]], lexicon: Lexicon) -> dict[Phrase, str]:
    """Each phrase, as its words are and as their stems are, with the first of its group."""
    found: dict[Phrase, str] = {}
    for group in groups:
        for written in group:
            words = fold(written).split()
            found.setdefault(tuple(_stem(lexicon, word) for word in words), group[0])
            found.setdefault(tuple(map(lexicon.plain, words)), group[0])
    return found


def _stem(lexicon: Lexicon, word: str) -> str:
    return lexicon.stem(word) if word and word[0].isalnum() else word


@lru_cache(maxsize=4096)
def told(text: str) -> Told:
    language = language_of(text)
    lexicon, known = lexicons()[language], tables(language)
    reading = read(text, language)
    words = [word for word in reading.words if word.kind != "mark"]
    places = {id(word): at for at, word in enumerate(reading.words)}
    keys: list[str] = []
    plain: dict[str, str] = {}
    sides: dict[bool, set[str]] = {True: set(), False: set()}
    numbers: list[str] = []
    large: set[str] = set()
    opening: str | None = None
    for first, count, group in _phrases(words, lexicon, known.same, stems=True):
        word = words[first]
        number = _number(word)
        if number:
            numbers.append(number)
            continue
        key = group or word.key or ("" if count == 1 else word.text)
        if not key or (group is None and word.text in known.user | known.jarvis):
            continue
        if first == 0 and group is None:
            opening = key
        if first > 0 and word.capital and group is None:
            large.add(key)
        keys.append(key)
        plain.setdefault(key, " ".join(each.text for each in words[first : first + count]))
        denied = bool(reading.clause_of(places[id(word)]).said_no)
        sides[denied].add(key)
    marks = {
        group: " ".join(each.text for each in words[first : first + count])
        for first, count, group in _phrases(words, lexicon, known.exact, stems=False)
        if group is not None
    }
    return Told(
        language=language,
        keys=tuple(dict.fromkeys(keys)),
        plain=plain,
        numbers=tuple(sorted(numbers)),
        marks=marks,
        names=frozenset(large) if language != "de" else frozenset(),
        denies=any(clause.said_no for clause in reading.clauses),
        denied=frozenset(sides[True]),
        affirmed=frozenset(sides[False]),
        ended=frozenset()
        if known.not_ended & {word.text for word in words}
        else frozenset(clause.ended for clause in reading.clauses if clause.ended),
        doer=_doer(reading, known) if len(reading.clauses) == 1 else None,
        large=frozenset(large),
        first=opening,
    )


def _phrases(
    words: Sequence[Word], lexicon: Lexicon, groups: Mapping[Phrase, str], *, stems: bool
) -> Iterator[tuple[int, int, str | None]]:
    """The words from left to right, the longest phrase of a group at each place."""
    longest = max(map(len, groups), default=1)
    at = 0
    while at < len(words):
        for count in range(min(longest, len(words) - at), 0, -1):
            span = words[at : at + count]
            group = groups.get(tuple(word.text for word in span))
            if group is None and stems:
                group = groups.get(tuple(_stem(lexicon, word.text) for word in span))
            if group is not None:
                yield at, count, group
                at += count
                break
        else:
            yield at, 1, None
            at += 1


def _number(word: Word) -> str | None:
    """A number, or a name with one in it (nas3, L5.1), which is none the less another one."""
    if word.kind == "number":
        return word.key
    return f"id {word.text}" if any(letter.isdigit() for letter in word.text) else None


def is_measure(number: str) -> bool:
    return number.startswith("#")


def _doer(reading: Reading, known: _Tables) -> str | None:
    """Who does it, where the user and Jarvis are both named: the first, unless "by" names one."""
    named: list[str] = []
    by: str | None = None
    words = [word.text for word in reading.words]
    for at, text in enumerate(words):
        who = "user" if text in known.user else "jarvis" if text in known.jarvis else None
        if who is None:
            continue
        named.append(who)
        if known.agent & set(words[max(0, at - 2) : at]):
            by = who
    if len(set(named)) < 2:
        return None
    return by or named[0]


def alike_words(ours: Iterable[str], theirs: Iterable[str]) -> list[tuple[str, str]]:
    """Words of the one and the other that are forms of one word, each used once."""
    left = list(theirs)
    pairs = []
    for one in ours:
        other = next((each for each in left if _is_form(one, each)), None)
        if other is not None:
            left.remove(other)
            pairs.append((one, other))
    return pairs


_STEM = 4


def _is_form(one: str, other: str) -> bool:
    """A long beginning in common, and short ends: connect, connection."""
    shorter = min(len(one), len(other))
    common = next(
        (at for at in range(shorter) if one[at] != other[at]),
        shorter,
    )
    return common >= _STEM and common >= 0.7 * shorter and max(len(one), len(other)) - common <= 5
