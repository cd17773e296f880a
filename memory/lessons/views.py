"""A lesson as the page and the command line show it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from memory.lessons.limits import FLOOR, HALF_LIFE_DAYS, LIVE_AT_MOST
from memory.lessons.records import Lesson
from memory.lessons.score import curve, fades_at, protected_until, score

FORGOTTEN_POINTS = 12


def shown(lesson: Lesson, at: datetime, *, rides: bool) -> dict[str, Any]:
    """One lesson with its score, its curve, and when it fades if nothing more happens.

    Of a forgotten one the score is what it would be now, and `forgotten` says why it went.
    `rides` is whether it is in prompts until the next pass.
    """
    gone = lesson.forgotten
    points = curve(lesson, at, points=FORGOTTEN_POINTS if gone else 24)
    return {
        "id": lesson.id,
        "kind": lesson.kind,
        "text": lesson.text,
        "score": round(score(lesson, at), 4),
        "half_life_days": HALF_LIFE_DAYS[lesson.kind],
        "made_at": lesson.made_at.isoformat(),
        "restored_at": lesson.restored_at.isoformat() if lesson.restored_at else None,
        "corroborations": [
            {"at": each.at.isoformat(), "lesson": each.source} for each in lesson.corroborations
        ],
        "used_days": len(lesson.used_on),
        "last_used_on": lesson.used_on[-1].isoformat() if lesson.used_on else None,
        "protected_until": protected_until(lesson).isoformat()
        if at < protected_until(lesson) and not gone
        else None,
        "fades_at": None if gone else fades_at(lesson, at).isoformat(),
        "in_prompts": rides,
        "events": list(lesson.events),
        "embedded_by": lesson.embedded_by,
        "forgotten": {
            "at": gone.at.isoformat(),
            "why": gone.why,
            "reason": gone.reason,
            "into": gone.into,
        }
        if gone
        else None,
        "curve": [{"at": when.isoformat(), "score": round(value, 4)} for when, value in points],
    }


def listed(
    lessons: Sequence[Lesson], block: Sequence[Lesson], at: datetime, *, forgotten: bool
) -> list[dict[str, Any]]:
    """Live ones strongest first, forgotten ones newest first."""
    riding = {each.id for each in block}
    if forgotten:
        ranked = sorted(
            lessons, key=lambda each: each.forgotten.at if each.forgotten else at, reverse=True
        )
    else:
        ranked = sorted(lessons, key=lambda each: -score(each, at))
    return [shown(each, at, rides=each.id in riding) for each in ranked]


def shelf_json(
    live: Sequence[Lesson], forgotten: Sequence[Lesson], block: Sequence[Lesson], at: datetime
) -> dict[str, Any]:
    """Everything that a view of the lessons draws."""
    return {
        "at": at.isoformat(),
        "floor": FLOOR,
        "live_at_most": LIVE_AT_MOST,
        "half_life_days": dict(HALF_LIFE_DAYS),
        "lessons": listed(live, block, at, forgotten=False),
        "forgotten": listed(forgotten, block, at, forgotten=True),
    }
