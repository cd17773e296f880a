from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from memory.records import Change, Proposal, Rejection, Source
from tests.voice.web.asking import asking
from voice.web.views.changes import PAGE, kind_of, page

AT = datetime(2026, 12, 2, 10, tzinfo=UTC)


def change(number: int, old: str | None, new: str | None, source: Source = "review") -> Change:
    return Change(
        id=f"c{number}",
        at=AT + timedelta(minutes=number),
        source=source,
        notebook="USER.md",
        old=old,
        new=new,
    )


@pytest.mark.parametrize(
    ("old", "new", "source", "kind"),
    [
        (None, "a", "remember", "added"),
        (None, "a", "review", "added"),
        ("a", "b", "review", "updated"),
        ("a", None, "review", "removed"),
        ("a", None, "forget", "removed"),
        ("a", None, "tidy", "removed"),
        ("a", "b", "merge", "merged"),
        ("a", None, "merge", "merged"),
        ("a", None, "undo", "undone"),
        (None, "a", "undo", "undone"),
        ("a", "b", "user", "by hand"),
    ],
)
def test_kinds(old: str | None, new: str | None, source: Source, kind: str) -> None:
    """A change is called after where it came from, then after what it did."""
    assert kind_of(change(1, old, new, source)) == kind


def test_a_page_of_changes() -> None:
    """The newest come first, a page at a time, with counts over all of them."""
    changes = [change(n, None, f"entry {n}") for n in range(PAGE + 5)]
    first = page(changes, [], {"USER.md": {"entry 3"}, "MEMORY.md": set()})
    assert first["rows"][0]["id"] == f"c{PAGE + 4}"
    assert first["counts"]["all"] == first["counts"]["added"] == PAGE + 5
    rest = page(changes, [], {"USER.md": {"entry 3"}, "MEMORY.md": set()}, first=first["next"])
    assert [row["id"] for row in rest["rows"]] == ["c4", "c3", "c2", "c1", "c0"]
    assert [row["undoable"] for row in rest["rows"]] == [False, True, False, False, False]
    assert rest["next"] is None
    by_words = page(changes, [], {"USER.md": set(), "MEMORY.md": set()}, words="ENTRY 54")
    assert [row["new"] for row in by_words["rows"]] == ["entry 54"]


async def test_changes_and_refusals() -> None:
    """What a rule turned away stands beside what was written, with the rule."""
    async with asking() as asked:
        memory = asked.house.memory
        memory.remember("Remember that I like tea.", AT, origin="spoken")
        proposal = Proposal(
            operation="add", notebook="USER.md", entry=None, text="Has a dog.", quote="no dog"
        )
        memory.events.refuse(
            Rejection(proposal=proposal, rule="L5.2", reason="It turns the quote around."), AT, "c1"
        )
        found = await asked.json("/api/changes")
        assert found["counts"]["refused"] == 1
        [refused] = (await asked.json("/api/changes?kind=refused"))["rows"]
        assert (refused["rule"], refused["new"], refused["quote"]) == (
            "L5.2",
            "Has a dog.",
            "no dog",
        )
        [added] = (await asked.json("/api/changes?kind=added&words=tea"))["rows"]
        assert added["undoable"] is True
        for wrong in ("kind=all%20of%20them", "from=x", f"words={'x' * 201}"):
            assert (await asked.get(f"/api/changes?{wrong}")).status_code == 422
