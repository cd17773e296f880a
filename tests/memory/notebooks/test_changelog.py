from __future__ import annotations

import json
from collections import Counter
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.notebooks import changelog
from memory.notebooks.changelog import Edit, Logged
from memory.records import Change, Notebook, Source

AT = datetime(2026, 12, 2, 10, tzinfo=UTC)


def change(
    old: str | None,
    new: str | None,
    source: Source = "review",
    *,
    hours: int = 0,
    notebook: Notebook = "USER.md",
    id: str = "6g7z8g0",
) -> Change:
    at = AT + timedelta(hours=hours)
    return Change(id=id, at=at, source=source, notebook=notebook, old=old, new=new)


# Lines --------------------------------------------------------------------------------


@pytest.mark.parametrize(("key", "item"), [(None, None), ("c1:0-9", 2)])
def test_a_line_comes_back(key: str | None, item: int | None) -> None:
    """A change, its batch and its key read back as they were written."""
    logged = Logged(change=change("a", "b"), batch="6g7z8g0", key=key, item=item)
    line = json.dumps(logged.as_json()).encode()
    assert changelog.parse(line + b"\n") == ([logged], 0)
    assert changelog.parse(b"\r\n\n" + line) == ([logged], 0)


WHOLE = Logged(change=change(None, "a"), batch="6g7z8g0").as_json()


@pytest.mark.parametrize(
    "line",
    [
        b"{",
        b"7",
        b"null",
        b"[]",
        b"<<<<<<< HEAD",
        b"\xff\xfe",
        b"[" * 100_000,
        json.dumps(WHOLE | {"at": "2026-12-02T10:00:00"}).encode(),
        json.dumps(WHOLE | {"at": "yesterday"}).encode(),
        json.dumps(WHOLE | {"said_at": "2026-12-02T10:00:00"}).encode(),
        json.dumps(WHOLE | {"notebook": "persona.md"}).encode(),
        json.dumps(WHOLE | {"source": "nobody"}).encode(),
        json.dumps(WHOLE | {"new": None}).encode(),
        json.dumps(WHOLE | {"old": 7}).encode(),
        json.dumps({"waiting": {}}).encode(),
    ],
)
def test_a_damaged_line_costs_only_itself(line: bytes) -> None:
    """What is no change is counted, and the lines around it are read."""
    good = json.dumps(WHOLE).encode()
    logged, damaged = changelog.parse(b"\n".join([good, line, good]))
    assert (len(logged), damaged) == (2, 1)


def test_a_line_that_is_there_twice_counts_once() -> None:
    """Two copies of the log that were merged give each change once."""
    one, two = (Logged(change=change(None, text), batch="x") for text in "ab")
    assert changelog.distinct([one, two, one, two]) == (one, two)


# Ids ----------------------------------------------------------------------------------


@given(st.lists(st.datetimes(datetime(2020, 1, 1), datetime(2050, 1, 1)), min_size=2))  # noqa: DTZ001
def test_ids_are_short_and_sorted(times: list[datetime]) -> None:
    """Whatever the clock does, the next id sorts behind the last."""
    ids: list[str] = []
    for time in times:
        ids.append(changelog.next_id(ids[-1] if ids else None, time.replace(tzinfo=UTC)))
    assert ids == sorted(set(ids))
    assert {len(each) for each in ids} == {7}


def test_many_ids_in_a_second_are_different() -> None:
    """A thousand changes at one time have a thousand ids."""
    last = None
    seen = set()
    for _ in range(1000):
        last = changelog.next_id(last, AT)
        seen.add(last)
    assert len(seen) == 1000


def test_ids_of_another_hand_do_not_count() -> None:
    """An id that a hand has put there doesn't decide which one is next."""
    ids = ["6g7z8g0", "zzzzzzzzz", "mine", "UPPER77", ""]
    logged = [Logged(change=change(None, "a", id=each), batch="x") for each in ids]
    assert changelog.last_id(logged) == "6g7z8g0"
    assert changelog.last_id([]) is None


# What follows -------------------------------------------------------------------------


def test_what_the_notebooks_hold_follows_from_the_log() -> None:
    """Additions, changes and removals are added up; a removal of nothing takes nothing."""
    held = changelog.held(
        [
            change(None, "a"),
            change(None, "b"),
            change("a", "c"),
            change("never", None),
            change("b", None),
            change(None, "c"),
            change(None, "d", notebook="MEMORY.md"),
        ]
    )
    assert held == {"USER.md": Counter({"c": 2}), "MEMORY.md": Counter({"d": 1})}


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ([change("Is vegan", None, "forget")], ["Is vegan"]),
        ([change("Is vegan", None, "user")], ["Is vegan"]),
        ([change("Is vegan", None, "undo")], ["Is vegan"]),
        ([change("Is vegan", "Eats fish", "user")], ["Is vegan"]),
        ([change("Is vegan", None, "review")], []),
        ([change("Is vegan", None, "tidy")], []),
        ([change("Is vegan", None, "forget"), change(None, "is  VEGAN", "user")], []),
        ([change("Is vegan", None, "forget"), change(None, "Is vegan", "undo")], []),
        ([change(None, "Is vegan"), change("Is vegan", None, "forget", hours=1)], ["Is vegan"]),
    ],
)
def test_what_the_user_took_out(changes: list[Change], expected: list[str]) -> None:
    """By forget, undo or hand, and not put back (m23)."""
    assert [each.text for each in changelog.removed(changes).values()] == expected


@pytest.mark.parametrize(
    ("known", "found", "expected"),
    [
        ([], [], []),
        (["a b c"], ["a b c"], []),
        (["a b c", "x"], ["x", "a b c"], []),
        ([], ["a b c"], [(None, "a b c")]),
        (["a b c"], [], [("a b c", None)]),
        (["a b c"], ["a b d"], [("a b c", "a b d")]),
        (["a b c"], ["x y z"], [("a b c", None), (None, "x y z")]),
        (["a b c", "a b c d"], ["a b c e", "a b c"], [("a b c d", "a b c e")]),
        (["a b c"], ["a b c", "a b c"], [(None, "a b c")]),
    ],
)
def test_edits_are_told_entry_by_entry(
    known: list[str], found: list[str], expected: list[tuple[str | None, str | None]]
) -> None:
    """New, gone, changed; an entry that stays or moves is none."""
    edits = changelog.edits({"USER.md": Counter(known)}, {"USER.md": found})
    assert edits == tuple(Edit(notebook="USER.md", old=old, new=new) for old, new in expected)


def test_what_went_comes_before_what_came() -> None:
    """An entry that moved to the other notebook is in the log as there, not as removed."""
    known: dict[Notebook, Counter[str]] = {"USER.md": Counter(["b"]), "MEMORY.md": Counter(["a"])}
    edits = changelog.edits(known, {"USER.md": ["a"], "MEMORY.md": ["b"]})
    assert [(each.old, each.new) for each in edits] == [
        ("b", None), ("a", None), (None, "a"), (None, "b"),
    ]  # fmt: skip


def test_the_way_of_an_entry() -> None:
    """Its changes are followed backwards through what it replaced."""
    one, two = change(None, "a"), change("a", "b", hours=1)
    other, three = change(None, "x"), change("b", "c", hours=2)
    assert changelog.history([one, other, two, three], "C") == (one, two, three)
    assert changelog.history([one, other, two, three], "x") == (other,)
    assert changelog.history([one], "nothing") == ()
