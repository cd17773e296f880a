"""The lines of `changes.jsonl`, and what follows from them.

A line is a Change (spec L5.5), with `batch`, the id of the first change of the same write,
and where the writer named one a `key` with the `item` of it, so that nothing is written
twice. Other keys are skipped. What the notebooks hold follows from the lines: whatever a
page holds otherwise was edited by the user.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from difflib import SequenceMatcher
from typing import Any

from pydantic import TypeAdapter, ValidationError

from memory.languages.folding import fold
from memory.notebooks.edit import same_key
from memory.records import NOTEBOOKS, Change, Notebook, Removed

_CHANGE = TypeAdapter(Change)

# Ids: seconds since 2020 and a counter, in base 32 without letters that look alike.
_DIGITS = "0123456789abcdefghjkmnpqrstvwxyz"
_EPOCH = datetime(2020, 1, 1, tzinfo=UTC)
_ID_CHARS = 7
_IDS_A_SECOND = 32

_PAIRED = 0.5
_PAIRED_AT_MOST = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Logged:
    change: Change
    batch: str
    key: str | None = None
    item: int | None = None

    def as_json(self) -> dict[str, Any]:
        by = {"key": self.key, "item": self.item} if self.key is not None else {}
        return {**self.change.as_json(), "batch": self.batch, **by}


def parse(content: bytes) -> tuple[list[Logged], int]:
    """The changes in these lines, and how many lines could not be read.

    Damaged lines, hand-made remarks and the marks of a merge cost only themselves.
    """
    logged: list[Logged] = []
    damaged = 0
    for line in content.splitlines():
        if not line.strip(b"\0 \t\r"):
            continue
        found = _logged(line)
        if found is None:
            damaged += 1
        else:
            logged.append(found)
    return logged, damaged


def _logged(line: bytes) -> Logged | None:
    try:
        record = json.loads(line)
        change = _CHANGE.validate_python(record)
    except (ValueError, RecursionError, ValidationError):
        return None
    times = (change.at, change.said_at or change.at)
    if any(at.tzinfo is None for at in times) or change.old is change.new is None:
        return None
    batch, key, item = (record.get(name) for name in ("batch", "key", "item"))
    return Logged(
        change=change,
        batch=batch if isinstance(batch, str) else change.id,
        key=key if isinstance(key, str) else None,
        item=item if isinstance(item, int) else None,
    )


def distinct(logged: Iterable[Logged]) -> tuple[Logged, ...]:
    """Without the lines that a merge of two copies has brought twice."""
    return tuple(dict.fromkeys(logged))


# Ids ----------------------------------------------------------------------------------


def next_id(last: str | None, at: datetime) -> str:
    """An id that sorts behind `last` and begins with the time. The caller holds the lock."""
    number = max(0, int((at - _EPOCH).total_seconds())) * _IDS_A_SECOND
    if last is not None:
        number = max(number, _number(last) + 1)
    digits = ""
    while number or len(digits) < _ID_CHARS:
        number, digit = divmod(number, len(_DIGITS))
        digits = _DIGITS[digit] + digits
    return digits


def _number(written: str) -> int:
    number = 0
    for digit in written:
        number = number * len(_DIGITS) + max(0, _DIGITS.find(digit))
    return number


def last_id(logged: Iterable[Logged]) -> str | None:
    """The highest of our own ids; what a hand has put in place of one doesn't count."""
    ids = (each.change.id for each in logged)
    return max((i for i in ids if len(i) == _ID_CHARS and set(i) <= set(_DIGITS)), default=None)


# What follows -------------------------------------------------------------------------


def held(changes: Iterable[Change]) -> dict[Notebook, Counter[str]]:
    """The entries that the notebooks hold after these changes."""
    entries: dict[Notebook, Counter[str]] = {name: Counter() for name in NOTEBOOKS}
    for change in changes:
        there = entries[change.notebook]
        if change.old is not None and there[change.old] > 0:
            there[change.old] -= 1
        if change.new is not None:
            there[change.new] += 1
    return {name: +there for name, there in entries.items()}


def removed_key(text: str) -> str:
    return fold(same_key(text))


def removed(changes: Iterable[Change]) -> dict[str, Removed]:
    """What the user took out (forget, undo, by hand) and did not put back, by `removed_key`."""
    gone: dict[str, Removed] = {}
    for change in changes:
        if change.old is not None and change.source in ("forget", "undo", "user"):
            gone[removed_key(change.old)] = Removed(text=change.old, at=change.at)
        if change.new is not None:
            gone.pop(removed_key(change.new), None)
    return gone


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """What the user did to one entry; `old` is None for a new one, `new` for one taken out."""

    notebook: Notebook
    old: str | None
    new: str | None


def edits(
    known: Mapping[Notebook, Counter[str]], found: Mapping[Notebook, Sequence[str]]
) -> tuple[Edit, ...]:
    """What was edited between the entries as known and as found.

    An entry that went while one much like it came was changed. What was taken out comes
    first, so that an entry moved to the other notebook doesn't count as removed.
    """
    gone_first: list[Edit] = []
    others: list[Edit] = []
    for name, texts in found.items():
        now = Counter(texts)
        gone = list((known[name] - now).elements())
        new = list((now - known[name]).elements())
        for old, text in _pairs(gone, new):
            others.append(Edit(notebook=name, old=old, new=text))
            gone.remove(old)
            new.remove(text)
        gone_first += [Edit(notebook=name, old=old, new=None) for old in gone]
        others += [Edit(notebook=name, old=None, new=text) for text in new]
    return (*gone_first, *others)


def _pairs(gone: list[str], new: list[str]) -> list[tuple[str, str]]:
    if len(gone) > _PAIRED_AT_MOST or len(new) > _PAIRED_AT_MOST:
        return []
    scored = sorted(
        (
            (-SequenceMatcher(None, old.split(), text.split()).ratio(), i, j)
            for i, old in enumerate(gone)
            for j, text in enumerate(new)
        ),
    )
    pairs: list[tuple[str, str]] = []
    taken: set[tuple[str, int]] = set()
    for score, i, j in scored:
        if -score >= _PAIRED and not {("old", i), ("new", j)} & taken:
            pairs.append((gone[i], new[j]))
            taken |= {("old", i), ("new", j)}
    return pairs


def history(changes: Sequence[Change], text: str) -> tuple[Change, ...]:
    """The changes that led to this entry, oldest first."""
    chain: list[Change] = []
    wanted = removed_key(text)
    for change in reversed(changes):
        if change.new is not None and removed_key(change.new) == wanted:
            chain.append(change)
            if change.old is not None:
                wanted = removed_key(change.old)
        elif change.old is not None and removed_key(change.old) == wanted:
            chain.append(change)
    return tuple(reversed(chain))
