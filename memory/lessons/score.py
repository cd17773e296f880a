"""How strong a lesson is: a pure function of its facts and the time (F2, F3, m26).

Each piece of evidence counts from its own time and halves with the half-life of the lesson's
kind: that it was concluded (1), that a later pass concluded the same (1 each), that the user
brought it back (1), and the first days on which it was in a request (0.05 each). All halve at
one pace, so the sum does: with no new evidence the score is exactly half after a half-life.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, time, timedelta
from math import exp2, log2

from memory.lessons.limits import FLOOR, HALF_LIFE_DAYS, PROTECTED, USE_DAYS, USE_WEIGHT
from memory.lessons.records import Lesson

_DAY = timedelta(days=1)


def score(lesson: Lesson, at: datetime) -> float:
    """What speaks for the lesson at this time. What happened after `at` does not count."""
    half_life = HALF_LIFE_DAYS[lesson.kind]
    return sum(
        weight * exp2(-((at - since) / _DAY) / half_life)
        for since, weight in _evidence(lesson)
        if since <= at
    )


def _evidence(lesson: Lesson) -> Iterator[tuple[datetime, float]]:
    yield lesson.made_at, 1.0
    for each in lesson.corroborations:
        yield each.at, 1.0
    if lesson.restored_at is not None:
        yield lesson.restored_at, 1.0
    for day in lesson.used_on[:USE_DAYS]:
        yield datetime.combine(day, time(12), UTC), USE_WEIGHT


def protected_until(lesson: Lesson) -> datetime:
    """Until then it neither fades nor makes room."""
    began = max(lesson.made_at, lesson.restored_at or lesson.made_at)
    return began + PROTECTED


def is_protected(lesson: Lesson, at: datetime) -> bool:
    """A clock that was set back protects nothing for ever."""
    return at < protected_until(lesson) <= at + PROTECTED + _DAY


def fades_at(lesson: Lesson, at: datetime) -> datetime:
    """When the score falls below the floor if nothing more happens, or has fallen; not before
    the protection ends."""
    now = score(lesson, at)
    left = log2(now / FLOOR) * HALF_LIFE_DAYS[lesson.kind] if now > 0 else 0.0
    return max(at + timedelta(days=left), protected_until(lesson))


def curve(lesson: Lesson, at: datetime, *, points: int = 24) -> tuple[tuple[datetime, float], ...]:
    """The score from when the lesson was made to when it fades, or faded, at even distances, and
    at each piece of evidence; `at` is now."""
    begin = lesson.made_at
    end = lesson.forgotten.at if lesson.forgotten else max(fades_at(lesson, at), at)
    step = (end - begin) / points
    times = {begin + number * step for number in range(points)} | {end}
    times |= {since for since, _ in _evidence(lesson) if begin <= since <= end}
    if begin <= at <= end:
        times.add(at)
    return tuple((each, score(lesson, each)) for each in sorted(times))
