from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

from memory.lessons.limits import FLOOR
from memory.lessons.records import Forgotten, Lesson
from memory.lessons.views import shelf_json

NOW = datetime(2026, 12, 2, tzinfo=UTC)


def lesson(name: str, days: int, *, gone: int | None = None) -> Lesson:
    return Lesson(
        id=name,
        kind="skill",
        text=name,
        made_at=NOW - timedelta(days=days),
        made_by=name,
        events=(1, 2),
        forgotten=None
        if gone is None
        else Forgotten(at=NOW - timedelta(days=gone), why="faded", reason="It faded."),
    )


def test_everything_that_a_view_draws_is_there() -> None:
    """Live ones by strength with their curves, forgotten ones by when they went; JSON as it is."""
    live = (lesson("old", 90), lesson("new", 2))
    gone = (lesson("first", 300, gone=50), lesson("second", 300, gone=5))
    found = json.loads(json.dumps(shelf_json(live, gone, live[1:], NOW)))
    assert [row["id"] for row in found["lessons"]] == ["new", "old"]
    assert [row["in_prompts"] for row in found["lessons"]] == [True, False]
    assert [row["id"] for row in found["forgotten"]] == ["second", "first"]
    assert found["floor"] == FLOOR
    new, old = found["lessons"]
    assert old["score"] == 0.25 and old["half_life_days"] == 45
    assert old["protected_until"] is None and new["protected_until"] is not None
    assert new["curve"][0]["score"] == 1.0 and new["curve"][-1]["at"] == new["fades_at"]
    assert found["forgotten"][0]["forgotten"]["why"] == "faded"
    assert found["forgotten"][0]["fades_at"] is None
