from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from memory.errors import NoSuchLesson
from memory.events import EventLog
from memory.lessons.block import chosen
from memory.lessons.records import Alike, Going, Lesson
from memory.lessons.shelf import Block, Shelf
from memory.prompts import prompt

NOW = datetime(2026, 12, 2, tzinfo=UTC)
DAY = timedelta(days=1)
ALIKE = Alike(method="words", figure=0.8, threshold=0.65)


@pytest.fixture
def events(tmp_path: Path) -> Iterator[EventLog]:
    found = EventLog(tmp_path, lambda: NOW)
    yield found
    found.close()


@pytest.fixture
def shelf(events: EventLog) -> Shelf:
    return Shelf(events)


def lesson(name: str, days: float = 30, **others: Any) -> Lesson:
    facts: dict[str, Any] = {
        "id": name, "kind": "general", "text": f"About {name}",
        "made_at": NOW - days * DAY, "made_by": f"p{name}", "events": (1, 2),
    }  # fmt: skip
    return Lesson(**facts | others)


def block(at: datetime = NOW) -> Block:
    return lambda live: chosen(live, at, frame=prompt("lessons.md"))


def merged(one: Lesson, into: str, *, counts: bool = True) -> Going:
    return Going(
        lesson=one, why="merged", reason="The same.", score=1.0, into=into, alike=ALIKE,
        counts=counts,
    )  # fmt: skip


def live(shelf: Shelf) -> list[str]:
    return [each.id for each in shelf.lessons(live=True)]


def test_what_was_put_in_comes_out(shelf: Shelf, tmp_path: Path) -> None:
    """Facts to the letter, also for another process."""
    made = (lesson("a", 9), lesson("b", 8, kind="user", events=()))
    shelf.add(made, NOW)
    assert shelf.lessons() == made
    again = EventLog(tmp_path, lambda: NOW)
    assert Shelf(again).lessons() == made
    again.close()


def test_looking_makes_nothing(shelf: Shelf, tmp_path: Path) -> None:
    """Who only looks finds nothing, and leaves no database."""
    assert (shelf.lessons(), shelf.block(), shelf.vectors("m")) == ((), (), {})
    assert list(tmp_path.iterdir()) == []


def test_a_corroboration_hangs_beneath_and_is_taken_back_with_it(shelf: Shelf) -> None:
    """Merged lessons back the one they went into, through another too, each once; restoring one
    takes back what it gave (F6)."""
    a, b, c = lesson("a", 30), lesson("b", 20), lesson("c", 10)
    shelf.add([a, b, c], NOW)
    shelf.let_go([merged(c, "b")], NOW, block=block())
    shelf.let_go([merged(b, "a")], NOW, block=block())
    [found] = shelf.lessons(live=True)
    assert [each.source for each in found.corroborations] == ["b", "c"]
    shelf.restore("c", NOW, block=block())
    kept = {each.id: each for each in shelf.lessons(live=True)}
    assert [each.source for each in kept["a"].corroborations] == ["b"]
    assert kept["c"].restored_at == NOW
    assert kept["c"].apart == {"a", "b"} and "c" in kept["a"].apart


def test_what_was_forgotten_keeps_its_history(shelf: Shelf, events: EventLog) -> None:
    """Text, events, days of use, when and why it went; the log names method and figure (F4)."""
    shelf.add([lesson("a"), lesson("b", 8)], NOW)
    shelf.let_go([merged(lesson("b", 8), "a")], NOW + DAY, block=block())
    [gone] = shelf.lessons(live=False)
    assert (gone.text, gone.events) == ("About b", (1, 2))
    assert gone.forgotten is not None
    assert (gone.forgotten.at, gone.forgotten.why, gone.forgotten.into) == (
        NOW + DAY,
        "merged",
        "a",
    )
    [line] = events.events("lesson_merged")
    assert line.data == {
        "lesson": "b", "into": "a", "method": "words", "figure": 0.8, "threshold": 0.65,
        "corroborates": True,
    }  # fmt: skip
    assert events.counts()["lesson_forgotten"] == 1


def test_what_changed_meanwhile_stays(shelf: Shelf) -> None:
    """A lesson that was restored, went, or lost what it would go into, is not taken off."""
    a, b = lesson("a"), lesson("b", 8)
    shelf.add([a, b], NOW)
    faded = Going(lesson=a, why="faded", reason="x", score=0.0)
    assert shelf.let_go([faded], NOW, block=block())[0] == (faded,)
    assert shelf.let_go([faded, merged(b, "a")], NOW, block=block()) == ((), 1)
    shelf.restore("a", NOW, block=block())
    assert shelf.let_go([faded], NOW, block=block()) == ((), 2)


def test_an_id_may_be_shortened(shelf: Shelf) -> None:
    """The only one that begins so; several or none are told."""
    shelf.add([lesson("abc1"), lesson("abd2")], NOW)
    assert shelf.find("abc").id == "abc1"
    for written, said in (("ab", "2 lessons begin"), ("x", "no lesson x"), ("", "no lesson")):
        with pytest.raises(NoSuchLesson, match=said):
            shelf.find(written)


def test_restoring_a_live_lesson_changes_nothing(shelf: Shelf) -> None:
    """It is not protected anew by being asked for again and again."""
    shelf.add([lesson("a")], NOW)
    assert shelf.restore("a", NOW, block=block()) == shelf.find("a")
    assert shelf.find("a").restored_at is None


def test_a_day_of_use_is_a_day_with_a_request(shelf: Shelf, events: EventLog) -> None:
    """Counted once a day, and only for a prefix that really went out (F3)."""
    shelf.add([lesson("a"), lesson("b")], NOW)
    shelf.rides_in("sha-1", shelf.lessons()[:1])
    for hours in (0, 1, 30):
        events.append("tokens", NOW + timedelta(hours=hours), data={"prefix_sha256": "sha-1"})
    events.append("tokens", NOW, data={"prefix_sha256": "another"})
    events.append("began", NOW + 9 * DAY, data={"prefix_sha256": "sha-1"})
    days = {each.id: each.used_on for each in shelf.lessons()}
    assert days == {"a": (date(2026, 12, 2), date(2026, 12, 3)), "b": ()}


def test_the_block_is_what_the_last_pass_chose(shelf: Shelf) -> None:
    """A new lesson rides from the next pass on; one that goes rides no longer."""
    shelf.add([lesson("a")], NOW)
    assert shelf.block() == ()
    shelf.let_go([], NOW, block=block())
    shelf.add([lesson("b", 1)], NOW)
    assert [each.id for each in shelf.block()] == ["a"]
    shelf.let_go(
        [Going(lesson=lesson("a"), why="dropped", reason="x", score=1)], NOW, block=block()
    )
    assert [each.id for each in shelf.block()] == ["b"]


def test_vectors_belong_to_a_model(shelf: Shelf) -> None:
    """Those of another model are not given."""
    row = np.array([0.6, 0.8], dtype=np.float32)
    shelf.add([lesson("a")], NOW, vectors=("m1", np.array([row])))
    shelf.put_vectors("m2", {"a": row[::-1].copy()})
    assert shelf.vectors("m1")["a"].tolist() == row.tolist()
    assert shelf.vectors("m3") == {}


def tidying(state: Path, ready: Any) -> None:
    """Merge, let go and restore for ever, until it is killed."""
    log = EventLog(state, lambda: NOW)
    shelf = Shelf(log)
    ready.set()
    number = 0
    while True:
        number += 1
        kept = shelf.lessons(live=True)
        older, newer = kept[0], kept[1]
        shelf.let_go([merged(newer, older.id)], NOW, block=block())
        shelf.restore(newer.id, NOW + number * DAY, block=block())


def test_a_kill_at_any_instant_loses_nothing_and_doubles_nothing(tmp_path: Path) -> None:
    """Ten kills in the middle: every lesson is there once, live or forgotten, and the log agrees
    (m25). bench/lessons.py does it a thousand times."""
    context = multiprocessing.get_context("fork")
    with_lessons = EventLog(tmp_path, lambda: NOW)
    Shelf(with_lessons).add([lesson("a", 30), lesson("b", 20), lesson("c", 10)], NOW)
    Shelf(with_lessons).let_go([], NOW, block=block())
    with_lessons.close()
    for _ in range(10):
        ready = context.Event()
        child = context.Process(target=tidying, args=(tmp_path, ready))
        child.start()
        assert ready.wait(10)
        assert child.pid is not None
        child.join(0.02)
        os.kill(child.pid, signal.SIGKILL)
        child.join()
        log = EventLog(tmp_path, lambda: NOW)
        shelf = Shelf(log)
        assert sorted(each.id for each in shelf.lessons()) == ["a", "b", "c"]
        counts = log.counts()
        gone = len(shelf.lessons(live=False))
        assert counts.get("lesson_forgotten", 0) - counts.get("lesson_restored", 0) == gone
        assert sorted(live(shelf)) == sorted(each.id for each in shelf.block())
        for each in shelf.lessons(live=False):
            shelf.restore(each.id, NOW, block=block())
        log.close()
