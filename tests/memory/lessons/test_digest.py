from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from memory.event_records import Event
from memory.lessons.digest import facts, is_worth_asking, language_in, troubles

NOW = datetime(2026, 12, 2, tzinfo=UTC)


def events(*rows: tuple[str, dict[str, Any]]) -> list[Event]:
    return [
        Event(id=number, kind=kind, at=NOW, conversation="c1", turn_index=None, data=data)
        for number, (kind, data) in enumerate(rows, start=1)
    ]


def answers(count: int, total_ms: int, engine: str = "ollama") -> list[tuple[str, dict[str, Any]]]:
    return [("latency", {"engine": engine, "total_ms": total_ms})] * count


REFUSED = (
    "rejected",
    {"rule": "L5.2", "reason": "“zebra” is about something else.", "text": "zebra", "quote": "x"},
)
CORRECTED = ("reviewed", {"marked": 2, "asked": 2, "corrections": 2})


@pytest.mark.parametrize(
    ("rows", "worth"),
    [
        ([], False),
        (answers(500, 900), False),
        ([("ended", {"reason": "hang-up"})] * 9, False),
        ([("reviewed", {"marked": 3, "asked": 3, "accepted": 3})] * 9, False),
        ([REFUSED] * 2, False),
        ([REFUSED] * 3, True),
        ([CORRECTED], True),
        ([("interrupted", {"heard_ms": 900})] * 3, True),
        ([("tool", {"name": "search", "outcome": "failed"})] * 3, True),
        ([("remembered", {"saved": False, "reason": "no room"})] * 3, True),
        ([("reflected", {"outcome": "made"}), ("lesson_made", {})] * 9, False),
    ],
)
def test_whether_there_is_anything_to_learn_costs_nothing(
    rows: list[tuple[str, dict[str, Any]]], worth: bool
) -> None:
    """What failed or was put right is worth a question; a good week, and Jarvis' own passes, are
    not (m36)."""
    assert is_worth_asking(facts(events(*rows))) is worth


def test_a_line_rests_on_its_events_and_repeats_no_words() -> None:
    """What a refused proposal said stays out, also where its reason quotes it."""
    found = facts(events(REFUSED, REFUSED, CORRECTED, *answers(3, 2_100)))
    assert {fact.events for fact in found} == {(1, 2), (3,), (4, 5, 6)}
    assert all("zebra" not in fact.text for fact in found)
    assert any("refused 2 proposals" in fact.text for fact in found)
    assert found[-1].signal == 0


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (answers(20, 4_200), [("ollama", "slow", 4)]),
        (answers(20, 2_900), []),
        (answers(19, 9_000), []),
        ([("engine_fault", {"engine": "openai", "fault": "Lost"})] * 3, [("openai", "failing", None)]),
        ([("engine_fault", {"engine": "openai", "fault": "Lost"})] * 2, []),
        (
            [("engine_fault", {"engine": "openai", "fault": "Lost"})] * 3
            + [("began", {"engine": "openai"})] * 60,
            [],
        ),
        ([("review_failed", {"model": "haiku", "fault": "unavailable"})] * 3, [("haiku", "away", None)]),
        ([("review_failed", {"model": "haiku", "fault": "nonsense"})] * 3, [("haiku", "nonsense", None)]),
    ],
)  # fmt: skip
def test_slow_and_failing_providers_are_told_by_counting(
    rows: list[tuple[str, dict[str, Any]]], expected: list[tuple[str, str, int | None]]
) -> None:
    """No model is asked whether a provider is slow, fails, or is away."""
    found = troubles(events(*rows))
    assert [(each.engine, each.what, each.seconds) for each in found] == expected


def test_the_language_is_that_of_the_last_conversation() -> None:
    """English where nobody talked."""
    assert language_in(events(("began", {"language": "de"}), ("began", {"language": "es"}))) == "es"
    assert language_in([]) == "en"
