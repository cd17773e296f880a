from __future__ import annotations

from datetime import datetime

import pytest

from memory.languages.dates import spoken_dates

AT = datetime.fromisoformat("2026-12-02T10:00:00+01:00")


@pytest.mark.parametrize(
    ("text", "kind", "written"),
    [
        ("next Friday", "day", "2026-12-04"),
        ("next week", "days", "2026-12-07 to 2026-12-13"),
        ("next month", "month", "2027-01"),
        ("next year", "year", "2027"),
        ("every March 12", "yearly", "every 03-12"),
        ("every Friday", "weekly", None),
        ("soon", "unresolved", None),
        ("on 03/04", "unresolved", None),
        ("2026-12-04", "day", "2026-12-04"),
    ],
)
def test_kinds_of_dates(text: str, kind: str, written: str | None) -> None:
    """Each date says how exactly it was named."""
    [found] = spoken_dates(text, AT)
    assert (found.kind, found.written, found.text) == (kind, written, text)
    assert found.resolved == (kind not in ("weekly", "unresolved"))


def test_places_are_those_of_the_raw_text() -> None:
    """Accents in either form, emojis and dates in brackets move nothing."""
    text = "🎂 ¡Mañana! (2027) y man\u0303ana por la man\u0303ana (2026-12-03)"
    first, second, third = spoken_dates(text, AT)
    assert [text[each.start : each.end] for each in (first, second, third)] == [
        "Mañana",
        "(2027)",
        "man\u0303ana por la man\u0303ana",
    ]
    assert third.real is not None and third.real.text == "(2026-12-03)"


def test_a_date_that_stands_there_is_kept() -> None:
    """The date in brackets is the real one, whatever the words would mean today."""
    [found] = spoken_dates("dentist next Friday (2026-11-06)", AT)
    assert found.real is not None
    assert (found.written, found.real.written) == ("2026-12-04", "2026-11-06")


@pytest.mark.parametrize("text", ["(2026-13-01)", "(2026-02-30)", "(every 02-30)", "(0000)"])
def test_brackets_hold_real_dates_only(text: str) -> None:
    """What the calendar does not have is no date."""
    assert not any(each.resolved for each in spoken_dates(text, AT))


@pytest.mark.parametrize(
    ("text", "past"), [("last Friday", True), ("three days ago", True), ("next Friday", False)]
)
def test_words_of_the_past(text: str, past: bool) -> None:
    """Some words say themselves that it is over."""
    [found] = spoken_dates(text, AT)
    assert found.past == past


def test_both_ends_of_a_span_lie_in_its_order() -> None:
    """From November to December, said between them: neither year can be told."""
    found = spoken_dates("from november 16th to december 16th", AT)
    assert [each.kind for each in found] == ["unresolved", "unresolved"]
    found = spoken_dates("from december 16th to january 16th", AT)
    assert [each.written for each in found] == ["2026-12-16", "2027-01-16"]


def test_a_moment_has_its_offset() -> None:
    """Without an offset nobody knows which day it is."""
    with pytest.raises(AssertionError):
        spoken_dates("tomorrow", datetime(2026, 12, 2))  # noqa: DTZ001
