from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.lessons.limits import FLOOR, HALF_LIFE_DAYS, PROTECTED, USE_DAYS, USE_WEIGHT
from memory.lessons.records import KINDS, Corroboration, Forgotten, Lesson, LessonKind
from memory.lessons.score import curve, fades_at, is_protected, protected_until, score

MADE = datetime(2026, 1, 1, 12, tzinfo=UTC)
DAY = timedelta(days=1)


def lesson(kind: LessonKind = "general", **others: Any) -> Lesson:
    facts: dict[str, Any] = {
        "id": "a", "kind": kind, "text": "x", "made_at": MADE, "made_by": "p1",
    }  # fmt: skip
    return Lesson(**facts | others)


def corroborated(*days: float) -> tuple[Corroboration, ...]:
    return tuple(Corroboration(source=f"c{day}", at=MADE + day * DAY) for day in days)


@pytest.mark.parametrize("kind", KINDS)
def test_the_half_lives_are_those_promised(kind: LessonKind) -> None:
    """user 120 days, skill 45, general 30, provider 10: exact to 1e-9."""
    assert HALF_LIFE_DAYS == {"user": 120, "skill": 45, "general": 30, "provider": 10}
    for lives in range(6):
        at = MADE + lives * HALF_LIFE_DAYS[kind] * DAY
        assert abs(score(lesson(kind), at) - 0.5**lives) < 1e-9


@given(
    kind=st.sampled_from(KINDS),
    days=st.lists(st.integers(0, 400), max_size=12),
    uses=st.sets(st.integers(0, 400), max_size=30),
)
def test_with_nothing_new_it_is_half_after_a_half_life(
    kind: LessonKind, days: list[int], uses: set[int]
) -> None:
    """Whatever spoke for it: every piece of evidence halves at one pace."""
    found = lesson(
        kind,
        corroborations=corroborated(*days),
        used_on=tuple(date(2026, 1, 1) + day * DAY for day in sorted(uses)),
    )
    at = MADE + 500 * DAY
    later = at + HALF_LIFE_DAYS[kind] * DAY
    assert score(found, later) == pytest.approx(score(found, at) / 2, abs=1e-9)


def test_a_thousand_reads_change_nothing() -> None:
    """The score is a function of facts and time, and reading it is neither (m26)."""
    found, at = lesson(corroborations=corroborated(3, 9)), MADE + 40 * DAY
    assert len({score(found, at) for _ in range(1_000)}) == 1


def test_the_first_days_of_use_count_and_no_later_ones() -> None:
    """A bad lesson that is used every day fades as one that was used on ten days (m29)."""
    every_day = tuple(date(2026, 1, 2) + number * DAY for number in range(365))
    used, ten = lesson(used_on=every_day), lesson(used_on=every_day[:USE_DAYS])
    at = MADE + 365 * DAY
    assert score(used, at) == score(ten, at) < FLOOR
    assert score(lesson(used_on=every_day[:1]), MADE + DAY + DAY) - score(
        lesson(), MADE + 2 * DAY
    ) == pytest.approx(USE_WEIGHT, rel=0.05)


def test_what_was_confirmed_outlives_a_guess() -> None:
    """A dozen confirmations carry it past one that nothing ever confirmed."""
    at = MADE + 365 * DAY
    assert score(lesson(), at) < FLOOR
    assert score(lesson(corroborations=corroborated(*range(30, 361, 30))), at) > 1.5


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_confirmed_every_month_never_fades(kind: LessonKind) -> None:
    """Also the kind with the shortest half-life, over the longest month."""
    found = lesson(kind, corroborations=corroborated(*range(31, 31 * 24, 31)))
    assert all(score(found, MADE + day * DAY) >= FLOOR for day in range(31 * 24))


def test_a_new_and_a_restored_lesson_are_protected() -> None:
    """For a week; a clock that was set back protects nothing for ever."""
    assert protected_until(lesson()) == MADE + PROTECTED
    restored = lesson(restored_at=MADE + 100 * DAY)
    assert is_protected(restored, MADE + 106 * DAY)
    assert not is_protected(restored, MADE + 108 * DAY)
    assert not is_protected(lesson(), MADE - 400 * DAY)
    assert score(restored, MADE + 100 * DAY) > 1.0


def test_when_it_fades_is_when_the_score_meets_the_floor() -> None:
    """The day that is shown is the day on which it goes."""
    found = lesson(corroborations=corroborated(5))
    when = fades_at(found, MADE + 20 * DAY)
    assert score(found, when) == pytest.approx(FLOOR, abs=1e-6)
    assert fades_at(lesson("provider"), MADE) > MADE + PROTECTED


def test_the_curve_runs_from_its_beginning_to_its_end() -> None:
    """Each piece of evidence is a point of it, and so is now."""
    found, now = lesson(corroborations=corroborated(5)), MADE + 20 * DAY
    points = curve(found, now)
    assert points[0] == (MADE, 1.0)
    assert points[-1][1] == pytest.approx(FLOOR, abs=1e-6)
    assert {MADE + 5 * DAY, now} <= {when for when, _ in points}
    gone = lesson(forgotten=Forgotten(at=MADE + 9 * DAY, why="dropped", reason="x"))
    assert curve(gone, now)[-1][0] == MADE + 9 * DAY
