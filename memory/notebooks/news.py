"""What changed in a notebook while a session runs, as an item for its next turn.

The prefix stays as it is until the next session (V7); this is appended behind it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass

from memory.notebooks.page import Page
from memory.notebooks.prefix import fill, show

NEWS_CHARS = 3_000
_MORE = "(more was changed)"


@dataclass(frozen=True, slots=True)
class Change:
    """A line before and after; empty where there was or is none."""

    before: str
    after: str


def changes(before: Page, after: Page) -> tuple[Change, ...]:
    """The lines that the model sees differently now. Moved lines and empty ones are no news."""
    old, new = ([line.strip() for line in show(page).lines] for page in (before, after))
    gone, added = _without(old, new), _without(new, old)
    if len(gone) == len(added):
        return tuple(Change(b, a) for b, a in zip(gone, added, strict=True))
    return tuple(Change(line, "") for line in gone) + tuple(Change("", line) for line in added)


def _without(lines: list[str], others: list[str]) -> list[str]:
    """What of `lines` is left when each of `others` takes one like it away, in order."""
    there = Counter(others)
    left = []
    for line in lines:
        if there[line] > 0:
            there[line] -= 1
        elif line:
            left.append(line)
    return left


def news(frame: str, notebooks: list[tuple[Page, Page]], known: Collection[str] = ()) -> str | None:
    """The item for the next turn: `frame` with $changes; None when nothing changed.

    Each notebook comes as it was seen last and as it is now. New entries that the session was
    told of already are `known`.
    """
    lines = []
    for before, after in notebooks:
        told = {entry.line for entry in after.entries if entry.text in known}
        known_lines = {after.lines[line - 1].strip() for line in told}
        lines += [
            _line(after.name, change)
            for change in changes(before, after)
            if change.before or change.after not in known_lines
        ]
    if not lines:
        return None
    return fill(frame, {"changes": "\n".join(_bounded(lines))})


def _line(name: str, change: Change) -> str:
    if not change.before:
        return f"{name}, new: {change.after}"
    if not change.after:
        return f"{name}, gone: {change.before}"
    return f"{name}, was: {change.before} → now: {change.after}"


def _bounded(lines: list[str]) -> list[str]:
    kept: list[str] = []
    room = NEWS_CHARS
    for line in lines:
        if len(line) > room:
            return [*kept, _MORE]
        kept.append(line)
        room -= len(line) + 1
    return kept
