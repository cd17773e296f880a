from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from memory.notebooks.waiting import WaitingRoom
from memory.records import Accepted

AT = datetime(2026, 12, 2, 10, tzinfo=UTC)


def accept(text: str) -> Accepted:
    return Accepted(
        operation="add",
        notebook="USER.md",
        entry=None,
        text=text,
        quote="what was said",
        turn_index=2,
    )


def wait(room: WaitingRoom, *texts: str) -> None:
    for text in texts:
        room.add(accept(text), source="review", at=AT, conversation="c1", said_at=None)


def test_what_waits_comes_back(tmp_path: Path) -> None:
    """All of it is on disk, oldest first, and the same thing waits once."""
    room = WaitingRoom(tmp_path / "state")
    assert room.waiting() == ()
    wait(room, "b", "a", "b")
    first, second = WaitingRoom(tmp_path / "state").waiting()
    assert (first.accepted, second.accepted) == (accept("b"), accept("a"))
    assert (first.source, first.at, first.conversation, first.said_at) == ("review", AT, "c1", None)
    assert first.id != second.id


def test_what_is_done_waits_no_more(tmp_path: Path) -> None:
    """The file goes with the last one; the same text may wait again."""
    room = WaitingRoom(tmp_path)
    wait(room, "a", "b")
    first, second = room.waiting()
    room.done([], AT, "written")
    room.done([first.id], AT, "written")
    assert room.waiting() == (second,)
    room.done([second.id], AT, "dropped")
    assert list(tmp_path.iterdir()) == []
    wait(room, "a")
    assert len(room.waiting()) == 1


def test_a_damaged_line_costs_only_itself(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Others wait on, and the log says that a line could not be read."""
    room = WaitingRoom(tmp_path)
    wait(room, "a")
    path = tmp_path / "waiting.jsonl"
    path.write_bytes(b'nonsense\n{"waiting": {"id": 7}}\n' + path.read_bytes() + b'{"torn')
    assert [each.accepted.text for each in room.waiting()] == ["a"]
    assert "could not be read" in caplog.text
    wait(room, "b")
    assert [each.accepted.text for each in room.waiting()] == ["a", "b"]
