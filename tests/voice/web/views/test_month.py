from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from memory import Event
from tests.voice.web.asking import asking
from voice.web.views.month import FIRST_TOKENS_IN, first_reviews, month_of


def event(name: str, day: int, conversation: str = "c1", month: int = 11, **data: Any) -> Event:
    at = datetime(2026, month, day, 12).astimezone()
    return Event(id=day, kind=name, at=at, conversation=conversation, turn_index=None, data=data)


@pytest.mark.parametrize(("turns", "reviews"), [(0, 0), (1, 1), (6, 1), (7, 2), (30, 5)])
def test_first_version(turns: int, reviews: int) -> None:
    """The first version reviewed every six turns of the user and what was left at the hang-up."""
    assert first_reviews(turns) == reviews


def test_a_month() -> None:
    """Only the month's own events count, each on its day, and what did not ask a model is free."""
    events = [
        event("began", 3, kind="call"),
        event("ended", 3, user_turns=14, duration_s=300),
        event("reviewed", 3, marked=2, proposed=2, accepted=1, tokens_in=900, tokens_out=100, outcome="asked", billing="key"),
        event("rejected", 3, rule="L5.2"),
        event("began", 4, "c2", kind="call"),
        event("ended", 4, "c2", user_turns=2, duration_s=60),
        event("reviewed", 4, "c2", marked=0, outcome="nothing marked"),
        event("thought", 5, tokens_in=500, tokens_out=50, billing="key"),
        event("began", 1, month=12, kind="call"),
    ]  # fmt: skip
    found = month_of(events, None, 2026, 11, (1.0, 2.0))
    assert (found["calls"], found["quiet_calls"], found["user_turns"]) == (2, 1, 16)
    assert (found["marked"], found["accepted"], found["refused"]) == (2, 1, 1)
    assert found["by_day"]["calls"][2:4] == [1, 1]
    assert found["by_day"]["marked"][2:4] == [1, 0]
    assert found["by_day"]["first_reviews"][2:4] == [3, 1]
    assert found["now"]["reviews"] == 1
    assert found["now"]["dollars"] == pytest.approx(0.0011)
    assert found["now"]["other_tokens"] == 550
    assert found["first"]["tokens_in"] == 4 * FIRST_TOKENS_IN


def test_an_empty_month() -> None:
    """A month without anything has figures of nothing, and no latencies."""
    found = month_of([], None, 2026, 2, (1.0, 2.0))
    assert found["calls"] == 0
    assert len(found["by_day"]["calls"]) == 28
    assert found["latency"] is None


async def test_latencies_of_a_month() -> None:
    """Those of the month, by step and by stage, the stages in their order in time."""
    answers = [
        (31, 10, 5_000, {"pause": 1}),
        (3, 11, 800, {"first_word": 600, "pause": 200}),
        (4, 11, 900, {"first_word": 600, "pause": 300}),
        (30, 11, 9_000, {}),
        (1, 12, 5_000, {"pause": 1}),
    ]
    async with asking() as page:
        for day, month, total_ms, stages_ms in answers:
            page.house.memory.events.append(
                "latency",
                datetime(2026, month, day, 12).astimezone(),
                data={"total_ms": total_ms, "stages_ms": stages_ms},
            )
        found = (await page.json("/api/month?month=2026-11"))["latency"]
    assert (found["count"], found["half_ms"], found["most_ms"]) == (3, 900, 9_000)
    assert found["steps"][5:7] == [1, 1] and found["steps"][-1] == 1 and sum(found["steps"]) == 3
    assert found["stages"] == [
        {"name": "pause", "half_ms": 200},
        {"name": "first_word", "half_ms": 600},
    ]


async def test_asking_for_a_month() -> None:
    """This month without a word; another by name; a name that is none is refused."""
    async with asking() as page:
        found = await page.json("/api/month")
        assert found["month"] == found["newest"]
        assert (await page.json("/api/month?month=2026-02"))["month"] == "2026-02"
        for wrong in ("2026-13", "2026", "x", "2026-02-01"):
            assert (await page.get(f"/api/month?month={wrong}")).status_code == 422
