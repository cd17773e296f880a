"""What a session that follows is told."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta, timezone

import pytest

from memory.records import Speaker, Turn
from voice.engines.realtime_seed import (
    SEED_CHARS,
    Said,
    ToolUse,
    seed,
    time_is_due,
)

# Seeds ------------------------------------------------------------------------------------

NOW = datetime(2026, 3, 1, 9, 5, tzinfo=timezone(timedelta(hours=-3, minutes=-30)))


def turn(speaker: Speaker, text: str) -> Turn:
    return Turn(
        conversation="c", index=0, speaker=speaker, text=text, language="en",
        began_at=NOW, ended_at=NOW, origin="spoken",
    )  # fmt: skip


U, A = turn("user", "Hi"), turn("assistant", "Hello")
SEEDS: list[tuple[list[Turn], list[str], list[tuple[Speaker, str]]]] = [
    ([], [], []),
    ([U, A], [], [("user", "Hi"), ("assistant", "Hello")]),
    ([U, A], ["Hi"], [("user", "Hi"), ("assistant", "Hello"), ("user", "Hi")]),
    ([U], ["Hi"], [("user", "Hi")]),
    ([U, U], ["Hi", "Hi"], [("user", "Hi"), ("user", "Hi")]),
    ([U], ["Hi", "Hi"], [("user", "Hi"), ("user", "Hi")]),
    ([U], ["And?"], [("user", "Hi"), ("user", "And?")]),
]


@pytest.mark.parametrize(("turns", "waiting", "items"), SEEDS)
def test_a_new_session_is_told_each_turn_once(
    turns: list[Turn], waiting: list[str], items: list[tuple[Speaker, str]]
) -> None:
    """Words that wait for an answer stand last, whether the transcript has them yet or not."""
    assert seed(turns, waiting) == [Said(*item) for item in items]


def test_a_long_conversation_is_told_from_its_end() -> None:
    """The latest turns fit the limit, and the last one is always there."""
    told = seed([turn("user", "x" * 1000) for _ in range(100)], [])
    assert len(told) == SEED_CHARS // 1000
    assert seed([turn("user", "x" * 2 * SEED_CHARS)], []) == [Said("user", "x" * 2 * SEED_CHARS)]


@pytest.mark.parametrize(("minutes", "due"), [(0, False), (29, False), (30, True), (895, True)])
def test_the_time_is_told_again_rarely(minutes: int, due: bool) -> None:
    """After half an hour, and when the day changed."""
    assert time_is_due(NOW, NOW + timedelta(minutes=minutes)) == due
    before_midnight = NOW.replace(hour=23, minute=59)
    assert time_is_due(before_midnight, before_midnight + timedelta(minutes=1))


def test_a_tool_s_result_stands_where_it_was_asked_for() -> None:
    """Between the turns around it; a tool that still works is told when it is done."""
    done = ToolUse(call_id="c", name="n", arguments="{}", after=1, session=1, output="May")
    works = ToolUse(call_id="d", name="n", arguments="{}", after=1, session=1)
    assert seed([U, A], [], [done, works]) == [Said("user", "Hi"), done, Said("assistant", "Hello")]
    assert seed([U], ["And?"], [done]) == [Said("user", "Hi"), Said("user", "And?"), done]


def test_what_notes_showed_was_for_one_answer() -> None:
    """A turn of notes is not told again."""
    assert seed([U, replace(A, origin="note"), A], []) == seed([U, A], [])
