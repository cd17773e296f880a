"""What a model is told beside the prefix and what was said."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from voice.engines.told import time_told, told

NOW = datetime(2026, 3, 1, 9, 5, tzinfo=timezone(-timedelta(hours=3, minutes=30)))


@pytest.mark.parametrize(
    ("table", "now", "text"),
    [
        ("realtime", NOW, "It is Sunday, 1 March 2026, 09:05 (UTC-03:30)."),
        ("realtime", NOW.astimezone(UTC), "It is Sunday, 1 March 2026, 12:35 (UTC+00:00)."),
        ("local", NOW, "It is Sunday, 1 March 2026, 09:05."),
    ],
)
def test_the_time_is_told_in_the_user_s_own_zone(table: str, now: datetime, text: str) -> None:
    """Day, date and hour; a service elsewhere is told the offset too."""
    assert time_told(table, now) == text


def test_what_is_told_holds_what_was_said_to_the_letter() -> None:
    """A dollar or a brace in it is no variable."""
    said = "it cost $5 {or} ${more}"
    assert told("realtime", "heard", heard=said).endswith(f'"{said}"')


def test_a_variable_that_is_missing_is_a_mistake() -> None:
    """Nothing with an open variable in it reaches a model."""
    with pytest.raises(KeyError):
        told("tools", "unknown")
