"""What is known of a text that was read: its clauses, and what holds for each."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from memory.languages.words import Word

Ending = Literal["", "used", "stopped"]

USER = "user"
THIRD = "third"
JARVIS = "jarvis"
LIKING = "=like"


@dataclass(frozen=True, slots=True, kw_only=True)
class Clause:
    """The words from `first` to `last` (excluded), and what holds for them.

    `subject` are whom it speaks of: USER, THIRD (he, she, who was named before), and the keys
    of words for people ("sister", "tom"). Empty: a thing, or nobody named. `owners` are those
    through whom the subject is named, as the friend in "my friend's sister". `subject_words`
    are the places that name the subject. `said_no` counts negations, two at most. `source` are
    those who say it, where it is reported. `kept` are the meanings that an entry may not drop.
    """

    first: int
    last: int
    subject: frozenset[str] = frozenset()
    owners: frozenset[str] = frozenset()
    subject_words: frozenset[int] = frozenset()
    said_no: int = 0
    ended: Ending = ""
    source: frozenset[str] = frozenset()
    kept: frozenset[str] = frozenset()
    compared: bool = False
    question: bool = False
    conditional: bool = False
    unreal: bool = False
    request: bool = False
    embedded: bool = False
    temporal: bool = False
    dictates: bool = False
    moment: bool = False
    inherits: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A text that was read. `retracted` are words that the speaker put right at once ("two, I
    mean three"). `found` holds, for each act of the text, where its words stand."""

    language: str
    words: tuple[Word, ...]
    clauses: tuple[Clause, ...]
    people: tuple[tuple[frozenset[str], int], ...]
    retracted: frozenset[int]
    found: Mapping[str, tuple[tuple[int, int], ...]] = field(repr=False)

    def does(self, act: str) -> bool:
        return bool(self.found[act])

    def touches(self, act: str, clause: Clause) -> bool:
        """Whether it is done in the clause, or over its edge."""
        return any(start < clause.last and end > clause.first for start, end in self.found[act])

    def clause_of(self, word: int) -> Clause:
        at = bisect_right([clause.first for clause in self.clauses], word) - 1
        return self.clauses[max(0, at)]
