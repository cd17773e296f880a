"""Where the entries of a notebook come from: the change that wrote each, and its quote."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memory.notebooks.changelog import removed_key
from memory.notebooks.page import Entry
from memory.records import Change, Notebook


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """`written` is the change that made the entry what it is, None where no change knows it;
    `quoted` the newest one on the way to it that rests on words of the user's."""

    entry: Entry
    written: Change | None
    quoted: Change | None


def origins(
    changes: Sequence[Change], notebook: Notebook, entries: Sequence[Entry]
) -> tuple[Origin, ...]:
    """One for each entry, in order. `changes` are oldest first."""
    wrote: dict[str, Change] = {}
    quotes: dict[str, Change] = {}
    for change in changes:
        if change.notebook != notebook or change.new is None:
            continue
        key = removed_key(change.new)
        quoted = change if change.quote else None
        if quoted is None and change.old is not None:
            quoted = quotes.get(removed_key(change.old))
        wrote[key] = change
        if quoted is not None:
            quotes[key] = quoted
        elif change.source == "user":
            quotes.pop(key, None)
    return tuple(
        Origin(entry=entry, written=wrote.get(key), quoted=quotes.get(key))
        for entry in entries
        for key in (removed_key(entry.text),)
    )
