"""Which lessons go in a pass, and why: merged, updated, faded, or more than are kept (F4, F6)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

from memory.lessons.limits import FLOOR, GONE_A_PASS, LIVE_AT_MOST
from memory.lessons.records import Alike, Going, Lesson
from memory.lessons.score import is_protected, score

Compare = Callable[[Lesson, Lesson], Alike]


def going(
    live: Sequence[Lesson], at: datetime, compare: Compare, *, most: int = GONE_A_PASS
) -> tuple[tuple[Going, ...], int]:
    """What goes in this pass, and how many more would have gone but for the cap.

    Merging comes first: what is said twice is no reason to drop either. Nothing goes into a
    lesson that goes itself in the same pass.
    """
    ordered = sorted(live, key=lambda each: each.made_at)  # as they were kept, where made at once
    merged = _merged(ordered, at, compare)
    gone = {each.lesson.id for each in merged}
    kept_by = {each.into for each in merged}
    rest = [each for each in ordered if each.id not in gone]
    faded = [
        _faded(each, at)
        for each in sorted(rest, key=lambda each: score(each, at))
        if each.id not in kept_by and not is_protected(each, at) and score(each, at) < FLOOR
    ]
    gone |= {each.lesson.id for each in faded}
    over = len(ordered) - len(gone) - LIVE_AT_MOST
    crowded = [
        _crowded(each, at)
        for each in sorted(rest, key=lambda each: score(each, at))
        if each.id not in gone and each.id not in kept_by and not is_protected(each, at)
    ][: max(0, over)]
    found = (*merged, *faded, *crowded)
    return found[:most], max(0, len(found) - most)


def _merged(ordered: Sequence[Lesson], at: datetime, compare: Compare) -> list[Going]:
    """The newer goes into the older one that is most alike. A newer number goes the other way
    round: the older lesson gives way, and nobody is the stronger for it."""
    kept: list[Lesson] = []
    found: list[Going] = []
    targets: set[str] = set()
    for newer in ordered:
        rivals = [
            (alike, older)
            for older in kept
            if older.kind == newer.kind
            and older.id not in newer.apart
            and newer.id not in older.apart
            and (
                (alike := compare(older, newer)).same
                or (alike.newer_numbers and older.id not in targets)
            )
        ]
        best = max(rivals, key=lambda pair: (pair[0].same, pair[0].figure), default=None)
        if best is None:
            kept.append(newer)
            continue
        alike, older = best
        if alike.same:
            targets.add(older.id)
            found.append(_same(newer, older, alike, at))
        else:
            kept.remove(older)
            kept.append(newer)
            targets.add(newer.id)
            found.append(_updated(older, newer, alike, at))
    return found


def corroborates(newer: Lesson, older: Lesson) -> bool:
    """Only a later pass that rests on something else is evidence; a lesson never backs itself."""
    before = set(older.events)
    return newer.made_by != older.made_by and not set(newer.events) <= before


def _same(newer: Lesson, older: Lesson, alike: Alike, at: datetime) -> Going:
    by = "meaning" if alike.method == "vectors" else "words"
    return Going(
        lesson=newer,
        why="merged",
        reason=f"It says the same as “{older.text}” (by {by}, {alike.figure:.3f}).",
        score=score(newer, at),
        into=older.id,
        alike=alike,
        counts=corroborates(newer, older),
    )


def _updated(older: Lesson, newer: Lesson, alike: Alike, at: datetime) -> Going:
    return Going(
        lesson=older,
        why="updated",
        reason=f"Newer numbers took its place: “{newer.text}”.",
        score=score(older, at),
        into=newer.id,
        alike=alike,
    )


def _faded(lesson: Lesson, at: datetime) -> Going:
    value = score(lesson, at)
    return Going(
        lesson=lesson,
        why="faded",
        reason=f"Its score fell to {value:.3f}, below {FLOOR}: nothing confirmed it of late.",
        score=value,
    )


def _crowded(lesson: Lesson, at: datetime) -> Going:
    value = score(lesson, at)
    return Going(
        lesson=lesson,
        why="no room",
        reason=f"More than {LIVE_AT_MOST} lessons are live, and its score of {value:.3f} is among "
        "the lowest.",
        score=value,
    )
