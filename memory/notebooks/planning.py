"""An accepted change as what it would do to the pages, or why it is not written."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime

from memory.notebooks import changelog, edit
from memory.notebooks.limits import ENTRY_CHARS
from memory.notebooks.page import Entry, Page
from memory.notebooks.planned import NotWritten, Planned
from memory.notebooks.tidy import says_as_much
from memory.records import Accepted, Notebook, Removed


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """What a change meets: what the user took out, the entries that are ours to replace, and the
    room of both notebooks together."""

    gone: Mapping[str, Removed]
    own: Collection[tuple[Notebook, str]]
    limit_chars: int


def planned(
    item: int,
    accepted: Accepted,
    pages: Mapping[Notebook, Page],
    standing: Standing,
    said_at: datetime,
) -> Planned | NotWritten:
    """`said_at` is when the user said what it rests on."""
    entry: Entry | None = None
    if accepted.operation != "add":
        assert accepted.entry is not None
        entry = edit.find(pages[accepted.notebook], accepted.entry)
        if entry is None:
            return NotWritten(
                accepted=accepted,
                rule="L1.4",
                reason=f"“{accepted.entry}” was edited or taken out meanwhile, and that counts.",
            )
        if accepted.operation == "remove":
            if entry.holds_more:
                return NotWritten(
                    accepted=accepted,
                    rule="L1.3",
                    reason=f"“{entry.text}” has other lines beneath it.",
                )
            return Planned(item=item, notebook=accepted.notebook, old=entry.text, new=None)
    return _written(item, accepted, entry, pages, standing, said_at)


def _written(
    item: int,
    accepted: Accepted,
    entry: Entry | None,
    pages: Mapping[Notebook, Page],
    standing: Standing,
    said_at: datetime,
) -> Planned | NotWritten:
    """A new text, in the place of `entry` where there is one."""

    def refused(rule: str, reason: str) -> NotWritten:
        return NotWritten(accepted=accepted, rule=rule, reason=reason)

    assert accepted.text is not None
    text = edit.one_line(accepted.text)
    old = entry.text if entry else None
    if text == old:
        return refused("L6.1", f"“{text}” says that already.")
    taken_out = standing.gone.get(changelog.removed_key(text))
    if taken_out and said_at < taken_out.at:
        return refused("L1.4", f"You took out “{taken_out.text}” after it was said.")
    there = _saying(text, pages, apart_from=entry)
    if there is not None:
        if entry is None or entry.holds_more:
            return refused("L6.1", f"“{there}” says that already.")
        return Planned(item=item, notebook=accepted.notebook, old=old, new=None)
    if entry is None:
        old = _making_way(text, accepted.notebook, pages, standing.own)
    no_room = _no_room(text, old, pages, standing.limit_chars)
    if no_room is not None:
        rule, reason = no_room
        return NotWritten(accepted=accepted, rule=rule, reason=reason, waits=True)
    return Planned(item=item, notebook=accepted.notebook, old=old, new=text)


def _making_way(
    text: str,
    notebook: Notebook,
    pages: Mapping[Notebook, Page],
    own: Collection[tuple[Notebook, str]],
) -> str | None:
    """An entry of ours that the new one contains."""
    return next(
        (
            each.text
            for each in pages[notebook].entries
            if (notebook, each.text) in own
            and not each.holds_more
            and says_as_much(text, each.text)
        ),
        None,
    )


def _no_room(
    text: str, old: str | None, pages: Mapping[Notebook, Page], limit_chars: int
) -> tuple[str, str] | None:
    if len(text) > ENTRY_CHARS:
        return "L3.3", (
            f"It is {len(text)} characters long, and an entry has at most {ENTRY_CHARS}: "
            "it is in the journal."
        )
    used = sum(each.entry_chars for each in pages.values())
    more = len(text) - len(old or "")
    if more > 0 and used + more > limit_chars:
        return "L1.2", (
            f"The notebooks are full ({used:,} of {limit_chars:,} characters): it is in "
            "the journal and waits for room."
        )
    return None


def _saying(text: str, pages: Mapping[Notebook, Page], *, apart_from: Entry | None) -> str | None:
    """The entry that says as much as `text` does."""
    key = changelog.removed_key(text)
    return next(
        (
            entry.text
            for page in pages.values()
            for entry in page.entries
            if entry is not apart_from
            and (changelog.removed_key(entry.text) == key or says_as_much(entry.text, text))
        ),
        None,
    )
