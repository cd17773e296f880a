from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from memory.lessons import same
from memory.lessons.limits import GONE_A_PASS, LIVE_AT_MOST
from memory.lessons.records import Alike, Corroboration, Going, Lesson
from memory.lessons.tidying import going

NOW = datetime(2026, 12, 2, tzinfo=UTC)
DAY = timedelta(days=1)


def lesson(name: str, text: str = "", days: float = 30, **others: Any) -> Lesson:
    facts: dict[str, Any] = {
        "id": name,
        "kind": "general",
        "text": text or f"About {name}",
        "made_at": NOW - days * DAY,
        "made_by": f"pass of {name}",
        "events": (hash(name) % 1000,),
    }
    return Lesson(**facts | others)


def by_words(older: Lesson, newer: Lesson) -> Alike:
    return same.by_words(older.text, newer.text)


def never(_older: Lesson, _newer: Lesson) -> Alike:
    return Alike(method="words", figure=0.0, threshold=0.65)


def gone(*lessons: Lesson, compare: Any = by_words) -> list[tuple[str, str, str | None, bool]]:
    found, _ = going(lessons, NOW, compare)
    return [(each.lesson.id, each.why, each.into, each.counts) for each in found]


SHORT, BRIEF = "The user prefers short answers", "Short answers are what the user prefers"


def test_the_newer_goes_into_the_older_which_earns_a_corroboration() -> None:
    """With the method, the figure and the threshold in hand (F4)."""
    older, newer = lesson("a", SHORT, days=9), lesson("b", BRIEF, days=8)
    [found], waiting = going([newer, older], NOW, by_words)
    assert (found.lesson.id, found.why, found.into, found.counts) == ("b", "merged", "a", True)
    assert found.alike is not None and found.alike.method == "words"
    assert found.alike.figure >= found.alike.threshold
    assert waiting == 0


def test_of_two_made_at_once_the_one_that_was_kept_later_is_the_newer() -> None:
    """Whatever their ids are."""
    same = "Long answers are interrupted."
    assert gone(lesson("z", same), lesson("a", same))[0][:3] == ("a", "merged", "z")
    assert gone(lesson("a", same), lesson("z", same))[0][:3] == ("z", "merged", "a")


@pytest.mark.parametrize(
    "newer",
    [
        lesson("b", BRIEF, days=8, events=(1, 2)),
        lesson("b", BRIEF, days=8, made_by="pass 1", events=(9,)),
    ],
    ids=["the same events", "the same pass"],
)
def test_nothing_corroborates_itself(newer: Lesson) -> None:
    """What rests on the same events, or comes from the same pass, is merged and counts nothing."""
    older = lesson("a", SHORT, days=9, made_by="pass 1", events=(1, 2, 3))
    assert gone(older, newer) == [("b", "merged", "a", False)]


def test_a_newer_number_takes_the_place_of_the_older() -> None:
    """The older one goes, and nobody is the stronger for it."""
    older = lesson("a", "Five of nine reviews were refused", days=9)
    newer = lesson("b", "Seven of nine reviews were refused", days=8)
    assert gone(older, newer) == [("a", "updated", "b", False)]


def test_other_kinds_and_what_the_user_keeps_apart_stay() -> None:
    """A restored lesson is not merged away again for the same reason."""
    older = lesson("a", SHORT)
    assert gone(older, lesson("b", BRIEF, days=8, kind="user")) == []
    assert gone(older, lesson("b", BRIEF, days=8, apart=frozenset({"a"}))) == []
    assert gone(lesson("a", SHORT, apart=frozenset({"b"})), lesson("b", BRIEF, days=8)) == []


def test_a_chain_goes_into_its_oldest() -> None:
    """Nothing goes into a lesson that goes itself in the same pass."""
    texts = (SHORT, BRIEF, "The user prefers answers that are short")
    lessons = [
        lesson(name, text, days=9 - at)
        for at, (name, text) in enumerate(zip("abc", texts, strict=True))
    ]
    assert gone(*lessons) == [("b", "merged", "a", True), ("c", "merged", "a", True)]


def test_what_faded_goes_and_what_is_protected_stays() -> None:
    """A score below the floor, and no protection from being new or restored."""
    old = lesson("old", days=120)
    restored = lesson("restored", days=400, restored_at=NOW - 3 * DAY)
    confirmed = lesson(
        "confirmed", days=120, corroborations=(Corroboration(source="x", at=NOW - 20 * DAY),)
    )
    provider = lesson("provider", days=40, kind="provider")
    assert gone(old, restored, confirmed, provider, lesson("new", days=1), compare=never) == [
        ("old", "faded", None, False), ("provider", "faded", None, False),
    ]  # fmt: skip


def test_a_pass_takes_only_so_many_and_says_how_many_wait() -> None:
    """The weakest first; the others in the next passes (m24)."""
    lessons = [lesson(f"{number:03}", days=150 + number) for number in range(35)]
    found, waiting = going(lessons, NOW, never)
    assert [each.lesson.id for each in found] == [f"{n:03}" for n in range(34, 24, -1)]
    assert (len(found), waiting) == (GONE_A_PASS, 25)


def test_more_than_are_kept_make_room_the_weakest_first() -> None:
    """Only what is not protected."""
    lessons = [lesson(f"{number:03}", days=10 + number / 10) for number in range(LIVE_AT_MOST + 3)]
    found: tuple[Going, ...] = going(lessons, NOW, never)[0]
    assert [each.lesson.id for each in found] == ["122", "121", "120"]
    assert {each.why for each in found} == {"no room"}
    protected = [lesson(f"{number:03}", days=1) for number in range(LIVE_AT_MOST + 3)]
    assert gone(*protected, compare=never) == []
