from __future__ import annotations

import pytest

from memory.notebooks.case import Grounds
from memory.notebooks.form import FORM, entry_there, one_short_line, same
from memory.records import Proposal

GROUNDS = Grounds(turns=(), notebooks={"USER.md": ("Likes  tea",), "MEMORY.md": ()})


def add(text: str) -> Proposal:
    return Proposal(operation="add", notebook="USER.md", entry=None, text=text, quote="x" * 12)


@pytest.mark.parametrize(
    ("text", "refused"),
    [
        ("Lives in Rome", False),
        ("Name is Katharina; everybody calls her Kat.", False),
        ("Favourite colour: green.", False),
        ("Is a vet. Lives in Rome.", True),
        ("Is a vet! Lives in Rome", True),
        ("Is a vet\nLives in Rome", True),
        ("x" * 301, True),
    ],
)
def test_an_entry_is_one_sentence(text: str, *, refused: bool) -> None:
    assert (one_short_line(add(text), GROUNDS) is not None) is refused


def test_entries_are_compared_in_their_canonical_form() -> None:
    assert same("Likes Tea.", "likes tea")
    named = Proposal(
        operation="remove", notebook="USER.md", entry="Likes tea", text=None, quote="x" * 12
    )
    assert entry_there(named, GROUNDS) == "Likes  tea"


def test_a_plain_entry_passes_every_check() -> None:
    assert [check for check in FORM if check(add("Lives in Rome"), GROUNDS)] == []
