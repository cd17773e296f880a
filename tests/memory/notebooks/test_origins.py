from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from memory.notebooks.origins import origins
from memory.notebooks.page import Entry
from memory.records import Change, Notebook, Source

AT = datetime(2026, 12, 2, 10, tzinfo=UTC)


def change(
    number: int,
    old: str | None,
    new: str | None,
    *,
    source: Source = "review",
    quote: str | None = None,
    notebook: Notebook = "USER.md",
) -> Change:
    return Change(
        id=f"c{number}",
        at=AT + timedelta(hours=number),
        source=source,
        notebook=notebook,
        old=old,
        new=new,
        quote=quote,
    )


CASES: dict[str, tuple[list[Change], str | None, str | None]] = {
    "nobody knows": ([], None, None),
    "said": ([change(1, None, "Likes tea.", quote="I like tea")], "c1", "c1"),
    "of the other notebook": (
        [change(1, None, "Likes tea.", quote="I like tea", notebook="MEMORY.md")],
        None,
        None,
    ),
    "merged from what was said": (
        [
            change(1, None, "Likes tea a lot.", quote="I like tea"),
            change(2, "Likes tea a lot.", "Likes tea.", source="merge"),
        ],
        "c2",
        "c1",
    ),
    "written by hand": ([change(1, None, "Likes tea.", source="user")], "c1", None),
    "said, taken out, and written by hand": (
        [
            change(1, None, "Likes tea.", quote="I like tea"),
            change(2, "Likes tea.", None, source="forget"),
            change(3, None, "likes tea.", source="user"),
        ],
        "c3",
        None,
    ),
    "said twice": (
        [
            change(1, None, "Likes tea.", quote="I like tea"),
            change(2, "Likes tea.", "Likes green tea.", quote="green tea I mean"),
            change(3, "Likes green tea.", "Likes tea.", quote="any tea at all"),
        ],
        "c3",
        "c3",
    ),
}


@pytest.mark.parametrize(("changes", "written", "quoted"), CASES.values(), ids=list(CASES))
def test_origins(changes: list[Change], written: str | None, quoted: str | None) -> None:
    """An entry comes from the change that wrote it, and rests on the newest quote before that."""
    [found] = origins(changes, "USER.md", [Entry(line=3, text="Likes tea.")])
    assert found.entry.line == 3
    assert (found.written.id if found.written else None) == written
    assert (found.quoted.id if found.quoted else None) == quoted
