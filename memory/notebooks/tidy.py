"""Small on purpose (spec L6): what goes for free, and what a merge may do.

Only entries that Jarvis wrote are touched; a line of the user's own hand stays as it is, also
where it says the same as another (L1.3).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache
from typing import Literal

from memory.languages import data
from memory.languages.dates import dates_named, passed
from memory.languages.folding import fold
from memory.records import NOTEBOOKS, Change, Notebook

AT_ONCE = 10
"""So many entries go in one pass at most; the others in the next (m24)."""

_TOKEN = re.compile(r"[^\W_]+(?:['.:/-][^\W_]+)*|[^\w\s]")
_WORD_BEFORE = 30
"""How many characters before a date are looked at for a word that it begins something."""

Entries = Mapping[Notebook, tuple[str, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ours:
    """An entry that Jarvis wrote; `said_on` is the day on which its words were said."""

    notebook: Notebook
    text: str
    said_on: date


@dataclass(frozen=True, slots=True, kw_only=True)
class Drop:
    """An entry that goes; `reason` is a sentence for the log."""

    notebook: Notebook
    text: str
    why: Literal["duplicate", "outdated"]
    reason: str


def ours(changes: Sequence[Change], entries: Entries) -> tuple[Ours, ...]:
    """The entries that are there and were written by Jarvis, in their order.

    What the user ever wrote or changed by hand is the user's, also after an undo.
    """
    hand = {(each.notebook, each.new) for each in changes if each.source == "user"}
    days: dict[tuple[Notebook, str], date] = {}
    for change in changes:
        if change.new is not None:
            key = (change.notebook, change.new)
            if change.source != "undo" or key not in days:
                days[key] = (change.said_at or change.at).date()
    return tuple(
        Ours(notebook=notebook, text=text, said_on=days[notebook, text])
        for notebook in NOTEBOOKS
        for text in dict.fromkeys(entries.get(notebook, ()))
        if (notebook, text) in days and (notebook, text) not in hand
    )


# Duplicates (L6.1) --------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Words:
    """A language's words for this, folded."""

    leads: tuple[tuple[str, ...], ...]
    same: Mapping[str, tuple[str, ...]]
    adding: frozenset[str]
    extending: frozenset[str]
    taking_back: frozenset[str]
    beginning: tuple[str, ...]


@cache
def _words() -> _Words:
    """Of all languages together: a notebook mixes them."""
    tables = [data.load(language, "tidy") for language in data.LANGUAGES_HERE]
    leads = {tuple(fold(lead).split()) for table in tables for lead in table["lead"]}
    return _Words(
        leads=tuple(sorted(leads, key=lambda lead: (-len(lead), lead))),
        same={
            fold(written): tuple(fold(read).split())
            for table in tables
            for written, read in table["same"].items()
        },
        adding=frozenset(fold(word) for t in tables for word in t["contained"]["adding"]),
        extending=frozenset(fold(word) for t in tables for word in t["contained"]["extending"]),
        taking_back=frozenset(fold(word) for t in tables for word in t["contained"]["taking_back"]),
        beginning=tuple(fold(word) for t in tables for word in t["outdated"]["beginning"]),
    )


@cache
def _tokens(text: str) -> tuple[str, ...]:
    """The words and marks of an entry, without what names the user in front and marks behind."""
    known = _words()
    tokens: list[str] = []
    for token in _TOKEN.findall(fold(text)):
        tokens += known.same.get(token, (token,))
    while tokens and not tokens[-1][-1].isalnum():
        tokens.pop()
    for lead in known.leads:
        if tuple(tokens[: len(lead)]) == lead and len(tokens) > len(lead):
            return tuple(tokens[len(lead) :])
    return tuple(tokens)


def _plain(text: str) -> tuple[str, ...]:
    return tuple(token for token in _tokens(text) if token[-1].isalnum())


def says_as_much(longer: str, shorter: str) -> bool:
    """Whether `longer` says all that `shorter` says: the same, or the same and then more.

    What follows must not take it back, narrow it, doubt it or put it into another's mouth.
    """
    if _plain(longer) == _plain(shorter):
        return bool(_plain(shorter))
    held, whole = _tokens(shorter), _tokens(longer)
    if not held or len(whole) <= len(held) or whole[: len(held)] != held:
        return False
    rest = whole[len(held) :]
    known = _words()
    # What denies is weakened by what follows, what says yes only made more exact.
    joining = known.adding if known.taking_back & set(held) else known.adding | known.extending
    goes_on = not rest[0][-1].isalnum() or rest[0] in joining
    return goes_on and "?" not in rest and not known.taking_back & set(rest)


def duplicates(entries: Entries, written: Sequence[Ours]) -> tuple[Drop, ...]:
    """Entries of ours that another entry says as well, the first of equal ones stays."""
    own = {(each.notebook, each.text) for each in written}
    there = [(notebook, text) for notebook in NOTEBOOKS for text in entries.get(notebook, ())]
    gone: set[int] = set()
    drops = []
    for number in reversed(range(len(there))):
        if there[number] not in own:
            continue
        notebook, text = there[number]
        for other, (_, kept) in enumerate(there):
            if other == number or other in gone or not says_as_much(kept, text):
                continue
            gone.add(number)
            drops.append(
                Drop(
                    notebook=notebook,
                    text=text,
                    why="duplicate",
                    reason=f"Another entry says so: {kept}",
                )
            )
            break
    return tuple(drops)
