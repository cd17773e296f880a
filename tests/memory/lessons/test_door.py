from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

from memory.door import Memory
from memory.embedding import Role, Vectors
from memory.errors import NoSuchLesson
from memory.events import EventLog
from memory.lessons.door import Lessons
from memory.lessons.records import Lesson

NOW = datetime(2026, 12, 2, 12, tzinfo=UTC)
DAY = timedelta(days=1)


class Same:
    """Every text has one and the same vector, by a model that has a threshold."""

    name = "multilingual-e5-small/test"
    dimensions = 2

    def embed(self, texts: Sequence[str], role: Role = "passage") -> Vectors:
        del role
        return np.array([[1.0, 0.0]] * len(texts), dtype=np.float32)


@pytest.fixture
def events(tmp_path: Path) -> Iterator[EventLog]:
    found = EventLog(tmp_path, lambda: NOW)
    yield found
    found.close()


def lesson(name: str, text: str, days: float = 30) -> Lesson:
    return Lesson(
        id=name, kind="user", text=text, made_at=NOW - days * DAY, made_by=name,
        events=(ord(name),),
    )  # fmt: skip


RIDDLES, PUZZLES = "The user enjoys riddles at breakfast", "The user enjoys puzzles at breakfast"


def test_without_a_model_words_count_and_it_says_so(events: EventLog) -> None:
    """No embedding model is normal (F5)."""
    lessons = Lessons(events, lambda: None)
    lessons.shelf.add([lesson("a", RIDDLES), lesson("b", PUZZLES, 9)], NOW)
    report = lessons.embed(NOW)
    assert (report.model, report.embedded, report.live) == (None, 0, 2)
    assert lessons.tidy(NOW).going == ()


def test_older_lessons_get_their_vectors(events: EventLog) -> None:
    """With progress, once each, forgotten ones too; then meaning counts."""
    lessons = Lessons(events, Same)
    lessons.shelf.add([lesson("a", RIDDLES), lesson("b", PUZZLES, 9), lesson("c", "Gone")], NOW)
    lessons.drop("c", NOW)
    steps: list[tuple[int, int]] = []
    report = lessons.embed(NOW, lambda done, of: steps.append((done, of)))
    assert (report.embedded, report.live, report.forgotten) == (3, 2, 1)
    assert steps == [(3, 3)]
    assert lessons.embed(NOW).embedded == 0
    [found] = lessons.tidy(NOW).going
    assert found.alike is not None and found.alike.method == "vectors"


def test_a_dry_run_changes_nothing_and_tells_the_same(events: EventLog) -> None:
    """What would go is what goes (F7)."""
    lessons = Lessons(events, Same)
    lessons.shelf.add([lesson("a", RIDDLES), lesson("b", RIDDLES, 9), lesson("c", "Old", 900)], NOW)
    dry = lessons.tidy(NOW, dry_run=True)
    assert len(lessons.live()) == 3
    wet = lessons.tidy(NOW)
    assert [each.lesson.id for each in dry.going] == [each.lesson.id for each in wet.going]
    assert (dry.live, wet.live) == (1, 1)


def test_what_was_restored_stays(tmp_path: Path) -> None:
    """After a restart, and over the next passes, for as long as it is protected; merged or faded,
    it does not go for the same reason (F6)."""
    events = EventLog(tmp_path, lambda: NOW)
    lessons = Lessons(events, lambda: None)
    lessons.shelf.add([lesson("a", RIDDLES), lesson("b", RIDDLES, 9), lesson("c", "Old", 900)], NOW)
    assert len(lessons.tidy(NOW).going) == 2
    for name in ("b", "c"):
        lessons.restore(name, NOW + DAY)
    events.close()
    again = EventLog(tmp_path, lambda: NOW)
    lessons = Lessons(again, lambda: None)
    for days in range(2, 60):
        assert lessons.tidy(NOW + days * DAY).going == ()
    assert sorted(each.id for each in lessons.live()) == ["a", "b", "c"]
    again.close()


def test_the_prefix_holds_still_between_passes(tmp_path: Path) -> None:
    """Behind the notebooks, byte for byte, whatever time it is and whatever is made or read; a
    running conversation keeps what it began with (F1, V7)."""
    (tmp_path / "vault").mkdir()
    memory = Memory.open(tmp_path / "vault", tmp_path / "state", lambda: NOW)
    bare = memory.prefix().text
    memory.lessons.shelf.add([lesson("a", RIDDLES)], NOW)
    assert memory.prefix().text == bare
    memory.lessons.tidy(NOW)
    session = memory.session()
    with_one = session.prefix.text
    assert with_one.startswith(bare) and RIDDLES in with_one
    memory.lessons.shelf.add([lesson("b", "Another", 1)], NOW)
    for _ in range(20):
        assert memory.prefix().text == with_one
        memory.lessons.as_json(NOW + 50 * DAY)
    memory.lessons.tidy(NOW + DAY)
    assert "Another" in memory.prefix().text
    assert session.prefix.text == with_one
    memory.close()


def test_use_is_counted_where_it_was_in_a_request(tmp_path: Path) -> None:
    """A session alone is none; an answer is (F3)."""
    (tmp_path / "vault").mkdir()
    memory = Memory.open(tmp_path / "vault", tmp_path / "state", lambda: NOW)
    memory.lessons.shelf.add([lesson("a", RIDDLES)], NOW)
    memory.lessons.tidy(NOW)
    session = memory.session()
    assert memory.lessons.live()[0].used_on == ()
    for at in (NOW, NOW + timedelta(hours=1), NOW + DAY):
        memory.events.append("tokens", at, data={"prefix_sha256": session.prefix.sha256})
    assert len(memory.lessons.live()[0].used_on) == 2
    memory.close()


def test_what_a_lesson_rests_on_is_told_in_lines(events: EventLog) -> None:
    """What happened, summed up, of its own events only; a lesson that is not there is an error."""
    for _ in range(3):
        events.append("interrupted", NOW, data={"heard_ms": 4_000})
    events.append("ended", NOW, data={"reason": "hang-up"})
    lessons = Lessons(events, lambda: None)
    of_two = replace(lesson("a", RIDDLES), events=(1, 3))
    lessons.shelf.add([of_two], NOW)
    [line] = lessons.grounds("a")
    assert line.startswith("2 of 2 answers were interrupted by the user")
    with pytest.raises(NoSuchLesson):
        lessons.grounds("z")
