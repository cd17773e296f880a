"""Digits that follow each other, written or spoken: "4711", "four seven double one", "siebenundvierzig elf".

The words of all languages count at once: people read out numbers in any of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import re2

from memory.languages import packaged
from memory.languages.folding import fold
from memory.languages.patterns import Written

_WINDOW_CHARS = 400
"""`run_at` looks no further: 40 spoken digits."""


@dataclass(frozen=True, slots=True)
class Run:
    """`text` is the digits; digit i was written or said from `starts[i]` to `ends[i]` (excluded).

    A word that says two digits ("eleven") is the place of both.
    """

    text: str
    starts: tuple[int, ...]
    ends: tuple[int, ...]

    @property
    def start(self) -> int:
        return self.starts[0]

    @property
    def end(self) -> int:
        return self.ends[-1]


def run_at(heard: str, at: int) -> Run | None:
    """The digits that stand at `at` in folded text, separators before them skipped; None for none."""
    window = heard[at : at + _WINDOW_CHARS]
    if not window:
        return None
    run = next(_runs(window, at), None)
    return run if run and not heard[at : run.start].strip(_SEPARATORS) else None


def runs(heard: str) -> Iterator[Run]:
    """Every longest run of digits in folded text."""
    return _runs(heard, 0)


_SEPARATORS = " \t,.:/()#*'\"+-="


def _runs(heard: str, offset: int) -> Iterator[Run]:
    words = _number_words()
    building = _Building(offset)
    last_end = -1
    for match in words.token.finditer(heard):
        if match.start() != last_end and building.digits:
            yield building.run()
        if match.start() != last_end:
            building = _Building(offset)
        last_end = match.end()
        word, start = match["word"], match.start(1)
        if words.times.get(word):
            building.repeat(words.times[word], start)
        elif match["written"]:
            building.add(word, start)
        elif match["large"]:
            building.add("000", start, len(word))
        elif value := words.values.get(word.replace("-", " ")):
            building.add(value, start, len(word))
    if building.digits:
        yield building.run()


class _Building:
    def __init__(self, offset: int) -> None:
        self.offset = offset
        self.digits: list[str] = []
        self.starts: list[int] = []
        self.ends: list[int] = []
        self._times = 1
        self._first: int | None = None

    def repeat(self, times: int, start: int) -> None:
        self._times, self._first = times, start

    def add(self, digits: str, start: int, word_chars: int | None = None) -> None:
        """Digits written one by one have a place each; those of a spoken word share its place."""
        count = len(digits)
        start += self.offset
        places = (
            [(start + each, start + each + 1) for each in range(count)]
            if word_chars is None
            else [(start, start + word_chars)] * count
        )
        if self._first is not None:
            places = [(self._first + self.offset, end) for _, end in places]
        for _ in range(self._times):
            self.digits += digits
            self.starts += [place[0] for place in places]
            self.ends += [place[1] for place in places]
        self._times, self._first = 1, None

    def run(self) -> Run:
        return Run("".join(self.digits), tuple(self.starts), tuple(self.ends))


@dataclass(frozen=True, slots=True)
class _NumberWords:
    token: Any
    values: dict[str, str]
    times: dict[str, int]


def _spellings(word: str) -> set[str]:
    """Folded, with umlauts as one letter and as two."""
    apart = word.replace("ä", "ae").replace("ö", "oe").replace("ü", "ue")
    return {fold(word), fold(apart)}


@lru_cache(maxsize=1)
def _number_words() -> _NumberWords:
    values: dict[str, str] = {}
    times: dict[str, int] = {}
    large: list[str] = []
    between: list[str] = []
    for language in packaged.LANGUAGES_HERE:
        if not packaged.has(language, "digits"):
            continue
        table = Written(packaged.load(language, "digits"), f"{language}/digits.toml")
        for value, word in enumerate(table.take("numbers")):
            values |= dict.fromkeys(_spellings(word), str(value))
        values |= {fold(word): str(value) for word, value in table.take("also").items()}
        times |= dict.fromkeys(map(fold, table.take("twice")), 2)
        times |= dict.fromkeys(map(fold, table.take("thrice")), 3)
        large += table.expanded(table.take("large"))
        between += table.expanded(table.take("between"))
        table.finish()
    words = sorted({*values, *times}, key=len, reverse=True)
    spelt = "|".join(word.replace(" ", "[ -]") for word in words)
    token = re2.compile(
        r"[\s,.:/()#*'\"+=-]{0,4}(?P<word>(?P<written>[0-9]+)"
        rf"|\b(?:(?:{spelt})|(?P<large>{'|'.join(large)})|(?P<between>{'|'.join(between)}))\b)"
    )
    return _NumberWords(token, values, times)
