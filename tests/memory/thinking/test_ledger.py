from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from memory.event_records import Event
from memory.thinking.ledger import Spent, past, spent

AT = datetime(2026, 2, 5, 12, 0, tzinfo=UTC)


def events(*found: dict[str, Any]) -> list[Event]:
    return [
        Event(
            id=number, kind="thought", at=AT + timedelta(minutes=number), conversation=None,
            turn_index=None, data=data,
        )
        for number, data in enumerate(found)
    ]  # fmt: skip


ASKED = {"outcome": "asking", "entries": {"a": 1}, "tokens_in": 900, "tokens_out": 250}
NOTHING = {"outcome": "nothing", "tokens_in": 700, "tokens_out": 10}
AWAY = {"outcome": "unavailable", "next_at": (AT + timedelta(hours=1)).isoformat()}
NOTED = {
    **NOTHING,
    "outcome": "noted",
    "text": "t",
    "language": "en",
    "words": {"w": 2},
    "denies": False,
}


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        ((), Spent()),
        ((ASKED, NOTHING), Spent(calls=1, tokens=710)),
        ((ASKED,), Spent(calls=1, tokens=1150)),
        ((ASKED, ASKED, NOTHING), Spent(calls=2, tokens=1860)),
        ((ASKED, AWAY), Spent(calls=1, tokens=0)),
        ((ASKED, NOTHING, ASKED, {**NOTHING, "tokens_in": None}), Spent(calls=2, tokens=720)),
    ],
)
def test_a_call_counts_before_it_is_made(found: tuple[Any, ...], expected: Spent) -> None:
    """Where a process died over it, with the most it may have cost."""
    assert spent(events(*found), AT) == expected


def test_what_is_older_is_over() -> None:
    """Twenty-four hours, whatever the day."""
    assert spent(events(ASKED, NOTHING, ASKED, NOTHING), AT + timedelta(minutes=2)).calls == 1


@pytest.mark.parametrize(
    ("found", "seen"),
    [
        ((ASKED, NOTHING), {"a"}),
        ((ASKED,), {"a"}),
        ((ASKED, AWAY), set()),
        ((ASKED, {"outcome": "gave way"}), set()),
        ((ASKED, {"outcome": "nonsense"}), {"a"}),
        ((ASKED, ASKED, AWAY), {"a"}),
    ],
)
def test_what_was_thought_about_is_not_new(found: tuple[Any, ...], seen: set[str]) -> None:
    """Unless the model gave no answer: then it still is."""
    assert past(events(*found)).seen == seen


def test_failures_count_until_there_is_an_answer() -> None:
    """With when to try again."""
    assert past(events(ASKED, AWAY, ASKED, AWAY)).failures == 2
    assert past(events(ASKED, AWAY)).next_at == AT + timedelta(hours=1)
    assert past(events(ASKED, AWAY, ASKED, NOTHING)).next_at is None


def test_what_was_noted_is_known() -> None:
    """By hashes."""
    found = past(events(ASKED, NOTED))
    assert found.texts == {"t"}
    assert [each.words for each in found.traces] == [{"w"}]
