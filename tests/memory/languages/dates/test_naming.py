"""A day that is asked for by its name."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest

from memory.languages.dates.naming import day_named

WEDNESDAY = datetime(2026, 12, 2, 10, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("2026-02-05", date(2026, 2, 5)),
        ("yesterday", date(2026, 12, 1)),
        ("gestern", date(2026, 12, 1)),
        ("Vorgestern", date(2026, 11, 30)),
        ("ayer", date(2026, 12, 1)),
        ("last friday", date(2026, 11, 27)),
        ("letzten Freitag", date(2026, 11, 27)),
        ("el viernes pasado", date(2026, 11, 27)),
        ("today", date(2026, 12, 2)),
        ("last week", None),
        ("yesterday and today", None),
        ("the day of yesterday's match", None),
        ("2026-13-05", None),
        ("soon", None),
        ("", None),
    ],
)
def test_a_day_is_named_or_it_is_not(text: str, day: date | None) -> None:
    assert day_named(text, WEDNESDAY) == day
