"""Which day it is for the user."""

from __future__ import annotations

from datetime import date, datetime


def day_of(at: datetime) -> date:
    """The day in the time's own offset: where the user was when it was said (m15).

    `at` is aware; a time without an offset is our mistake.
    """
    assert at.tzinfo is not None, "a time without an offset is on no day"
    return at.date()
