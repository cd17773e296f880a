"""What becomes of an accepted change, as a table."""

from __future__ import annotations

from datetime import timedelta

import pytest

from memory.notebooks.changelog import removed_key
from memory.notebooks.page import Page, read_page
from memory.notebooks.planned import NotWritten, Planned
from memory.notebooks.planning import Standing, planned
from memory.records import Accepted, Notebook, Operation, Removed
from tests.memory.turns import NOON

USER = b"- Is vegan\n- Has a dog\n  - a small one\n- Fond of ships\n"
PAGES: dict[Notebook, Page] = {
    "USER.md": read_page("USER.md", USER),
    "MEMORY.md": read_page("MEMORY.md", b"- The boiler is old\n"),
}
OWN: set[tuple[Notebook, str]] = {("USER.md", "Fond of ships")}
GONE = {
    removed_key("Plays chess"): Removed(text="Plays chess", at=NOON),
}

ROWS: list[tuple[Operation, str | None, str | None, tuple[str | None, str | None] | str]] = [
    ("add", None, "Sails", (None, "Sails")),
    ("add", None, "Sails\non Sundays", (None, "Sails on Sundays")),
    ("add", None, "is VEGAN.", "L6.1"),
    ("add", None, "The boiler is old", "L6.1"),
    ("add", None, "Fond of ships and harbours", ("Fond of ships", "Fond of ships and harbours")),
    ("add", None, "Plays chess", "L1.4"),
    ("add", None, "x" * 301, "L3.3"),
    ("add", None, "y" * 260, "L1.2"),
    ("update", "Is vegan", "Is vegetarian", ("Is vegan", "Is vegetarian")),
    ("update", "Is vegan", "Is vegan", "L6.1"),
    ("update", "Was vegan", "Is vegetarian", "L1.4"),
    ("update", "Is vegan", "Fond of ships", ("Is vegan", None)),
    ("remove", "Is vegan", None, ("Is vegan", None)),
    ("remove", "Has a dog", None, "L1.3"),
    ("remove", "Was vegan", None, "L1.4"),
]


@pytest.mark.parametrize(("operation", "entry", "text", "expected"), ROWS)
def test_an_accepted_change_becomes_an_edit_or_a_reason(
    operation: Operation,
    entry: str | None,
    text: str | None,
    expected: tuple[str | None, str | None] | str,
) -> None:
    """(old, new) on the page, or the promise that stands against it; what lacks room waits."""
    accepted = Accepted(
        operation=operation, notebook="USER.md", entry=entry, text=text, quote="", turn_index=0
    )
    standing = Standing(gone=GONE, own=OWN, limit_chars=300)
    found = planned(0, accepted, PAGES, standing, NOON - timedelta(days=1))
    if isinstance(expected, str):
        assert isinstance(found, NotWritten)
        assert found.rule == expected
        assert found.waits is (expected in ("L1.2", "L3.3"))
    else:
        assert isinstance(found, Planned)
        assert (found.old, found.new) == expected


def test_what_was_taken_out_may_be_said_again() -> None:
    """A removal counts against what was said before it, not against what is said since."""
    accepted = Accepted(
        operation="add", notebook="USER.md", entry=None, text="Plays chess", quote="", turn_index=0
    )
    standing = Standing(gone=GONE, own=(), limit_chars=2_500)
    found = planned(0, accepted, PAGES, standing, NOON + timedelta(minutes=1))
    assert isinstance(found, Planned)
