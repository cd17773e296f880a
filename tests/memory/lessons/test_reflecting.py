from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from memory.embedding import Role, Vectors
from memory.lessons.door import Lessons
from memory.lessons.limits import AUTO_PASSES_A_DAY, AUTO_TOKENS_A_DAY
from memory.task import MemoryTask
from tests.memory.learning import NONSENSE, Floor, House, for_a_while, gone, run

LONG = {"kind": "user", "text": "The user often interrupts long answers", "facts": [1]}


class Flat:
    """Vectors that say nothing, by a model without a threshold."""

    name = "flat"
    dimensions = 2

    def embed(self, texts: Any, role: Role = "passage") -> Vectors:
        del role
        return np.ones((len(texts), 2), dtype=np.float32)


def answer(*lessons: dict[str, Any]) -> str:
    return json.dumps({"lessons": lessons})


def with_lessons(house: House, **others: Any) -> tuple[Lessons, MemoryTask]:
    lessons = Lessons(house.events, Flat)
    return lessons, house.task(lessons=lessons, **others)


def interrupted(house: House, count: int = 4) -> None:
    for _ in range(count):
        house.events.append("interrupted", house.now(), data={"heard_ms": 9_000})


def slow(house: House, total_ms: int = 4_200) -> None:
    for _ in range(25):
        house.events.append(
            "latency",
            house.now(),
            data={"engine": "ollama", "total_ms": total_ms, "stages_ms": {}},
        )


def test_a_pass_makes_lessons_once(tmp_path: Path) -> None:
    """One question; what it made rests on events, has its vector, and rides from then on; the
    same events are not asked about again."""

    async def main() -> None:
        house = House(
            tmp_path, answer(LONG, {"kind": "user", "text": "The user is vegan", "facts": [1]})
        )
        lessons, task = with_lessons(house)
        assert (await task.reflect_now()).outcome == "nothing new"
        interrupted(house)
        report = await task.reflect_now()
        assert (report.outcome, report.asked, report.read) == ("made", 1, 4)
        assert [each.rule for each in report.refused] == ["F1.grounded"]
        [kept] = lessons.live()
        assert kept.events == (1, 2, 3, 4)
        assert kept.embedded_by == "flat"
        assert lessons.shelf.block() == (kept,)
        again = await task.reflect_now()
        assert (again.outcome, again.asked, again.read) == ("nothing new", 0, 0)
        assert len(house.model.questions) == 1
        assert house.logged("lesson_refused", "rule") == [("F1.grounded",)]
        assert house.logged("reflected", "outcome", "made", "last") == [
            ("asking", None, None),
            ("made", 1, 4),
        ]

    run(main)  # fmt: skip


def test_providers_need_no_model(tmp_path: Path) -> None:
    """A slow engine is noted with nobody to ask; seen again it is confirmed, and another figure
    takes its place."""

    async def main() -> None:
        house = House(tmp_path)
        lessons, task = with_lessons(house)
        for total_ms in (4_200, 4_700, 6_100):
            slow(house, total_ms)
            report = await task.reflect_now()
            assert (report.outcome, report.asked, len(report.made)) == ("made", 0, 1)
        [kept] = lessons.live()
        assert "more than 6 seconds" in kept.text
        [older] = [each for each in lessons.forgotten() if each.corroborations]
        assert older.forgotten is not None and older.forgotten.why == "updated"

    run(main)


def test_a_model_that_is_away_costs_nothing(tmp_path: Path) -> None:
    """The events wait, and are asked about once it is there."""

    async def main() -> None:
        house = House(tmp_path, gone())
        lessons, task = with_lessons(house)
        interrupted(house)
        report = await task.reflect_now()
        assert (report.outcome, report.faults) == ("unavailable", ("The model is away. Start it.",))
        house.model.will_answer(answer(LONG))
        assert (await task.reflect_now()).outcome == "made"
        assert len(lessons.live()) == 1

    run(main)


def test_nonsense_is_not_asked_about_twice(tmp_path: Path) -> None:
    """An answer that can't be read is paid for, logged, and gone."""

    async def main() -> None:
        house = House(tmp_path, NONSENSE["prose"])
        lessons, task = with_lessons(house)
        interrupted(house)
        assert (await task.reflect_now()).outcome == "nonsense"
        assert (await task.reflect_now()).asked == 0
        assert lessons.live() == ()

    run(main)


def test_by_itself_it_waits_for_quiet_and_keeps_its_caps(tmp_path: Path) -> None:
    """Nothing while somebody talks; two days of interruptions every hour passes no cap of passes or
    tokens a day; without anything new nothing is asked (F7, m36)."""

    async def main() -> None:
        house = House(tmp_path, *[answer(LONG)] * 200)
        floor = Floor(taken=True)
        lessons, task = with_lessons(house, quiet=floor)
        interrupted(house)
        await for_a_while(task, hours=3)
        assert house.model.questions == []
        floor.leave()
        for _ in range(2 * 24):
            interrupted(house)
            await for_a_while(task, hours=1)
        asked = len(house.model.questions)
        assert 2 <= asked <= 3 * AUTO_PASSES_A_DAY
        spent: dict[str, int] = {}
        passes: dict[str, int] = {}
        for event in house.events.events("reflected"):
            assert event.data["auto"]
            day = event.at.date().isoformat()
            passes[day] = passes.get(day, 0) + (event.data["outcome"] != "asking")
            spent[day] = spent.get(day, 0) + event.data["tokens_in"] + event.data["tokens_out"]
        assert max(passes.values()) <= AUTO_PASSES_A_DAY
        assert max(spent.values()) <= AUTO_TOKENS_A_DAY
        await for_a_while(task, hours=48)
        assert len(house.model.questions) - asked <= 1  # what had waited for the cap
        [kept] = lessons.live()
        assert len(kept.corroborations) >= 2
        last = len(house.model.questions)
        await for_a_while(task, hours=48)
        assert len(house.model.questions) == last

    run(main)


def test_auto_mode_switched_off_makes_none_by_itself(tmp_path: Path) -> None:
    """Who asks still gets a pass; reviews go on."""

    async def main() -> None:
        house = House(tmp_path, answer(LONG))
        lessons, task = with_lessons(house, reflects=False)
        interrupted(house)
        await for_a_while(task, hours=24)
        assert lessons.live() == ()
        assert (await task.reflect_now()).outcome == "made"

    run(main)


def test_the_caps_hold_over_restarts(tmp_path: Path) -> None:
    """They are counted in the event log: a house that starts anew all day asks no more often."""

    async def main() -> None:
        house = House(tmp_path, *[answer(LONG)] * 50)
        for _ in range(24):
            interrupted(house)
            _, task = with_lessons(house)
            await for_a_while(task, hours=1)
        assert 0 < len(house.model.questions) <= AUTO_PASSES_A_DAY

    run(main)


def test_learning_switched_off_makes_none(tmp_path: Path) -> None:
    """The one switch holds here too (L6.5)."""

    async def main() -> None:
        house = House(tmp_path, answer(LONG))
        _, task = with_lessons(house, learning=False)
        interrupted(house)
        report = await task.reflect_now()
        await for_a_while(task, hours=5)
        assert report.outcome == "switched off" and "switched off" in report.faults[0]
        assert house.model.questions == []

    run(main)
