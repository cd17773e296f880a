"""What a write makes of an accepted change before it is on the page."""

from __future__ import annotations

from dataclasses import dataclass

from memory.records import Accepted, Change, Notebook


@dataclass(frozen=True, slots=True, kw_only=True)
class NotWritten:
    """An accepted change that was not written: the promise that stood against it, and a
    sentence for the user. `waits` when it is in the journal and waits for room."""

    accepted: Accepted
    rule: str
    reason: str
    waits: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """A change without its id yet. `item` is its place among what was to be written."""

    item: int
    notebook: Notebook
    old: str | None
    new: str | None


Written = Change | NotWritten
