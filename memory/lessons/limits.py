"""The limits that lessons keep (spec F), each in one place; docs/lessons.md has the reasons."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

from memory.lessons.records import LessonKind

HALF_LIFE_DAYS: Mapping[LessonKind, int] = {
    "user": 120,
    "skill": 45,
    "general": 30,
    "provider": 10,
}

FLOOR = 0.1
"""A lesson below it fades: after 3.3 half-lives where nothing confirmed or used it, so that one
that is confirmed every month stays, of whatever kind."""

USE_WEIGHT = 0.05
USE_DAYS = 10
"""The first so many days on which it was in a request count, and no later ones (m29)."""

PROTECTED = timedelta(days=7)
"""So long a new or restored lesson is neither faded nor dropped for room."""

LIVE_AT_MOST = 120
GONE_A_PASS = 10
"""So many lessons go in one pass at most, merged ones among them (m24)."""

LESSON_CHARS = 200
LESSONS_A_PASS = 3
EVENTS_NAMED = 12
"""So many events a lesson rests on at most."""

BLOCK_TOKENS = 220
BLOCK_LESSONS = 8

REFLECT_TOKENS_IN = 1_300
REFLECT_TOKENS_OUT = 500

AUTO_PASSES_A_DAY = 4
AUTO_TOKENS_A_DAY = 6_000
AUTO_EVERY = timedelta(hours=2)
"""Between two passes that nobody asked for."""
