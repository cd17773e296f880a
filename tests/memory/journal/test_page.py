from __future__ import annotations

from datetime import date, datetime, time, timedelta, timezone

import pytest

from memory.journal import page
from memory.records import JournalEntry, JournalKind

AT = datetime(2026, 2, 5, 18, 42, tzinfo=timezone(timedelta(hours=1)))
DAY = date(2026, 2, 5)


def lines(
    title: str,
    text: str,
    *,
    stars: int = 3,
    tags: tuple[str, ...] = (),
    kind: JournalKind = "note",
) -> str:
    return page.lines(
        JournalEntry(at=AT, title=title, text=text, stars=stars, tags=tags, kind=kind)
    )


@pytest.mark.parametrize(
    "text", ["# 2026", "## 10:00 ★★★★★ False", "```", "~~~", "<!--", "%%", "---", "===", "#insight"]
)
def test_no_text_begins_another_entry(text: str) -> None:
    """A line that would be a heading, or tags, or hide what follows, is escaped; it is read back
    as it was."""
    written = lines("T", f"one\n{text}\ntwo")
    assert written.split("\n") == ["## 18:42 ★★★ T", "", "one", f"\\{text}", "two", ""]
    [found] = page.read(DAY, written)
    assert found.text == f"one\n{text}\ntwo"
    [last] = page.read(DAY, lines("T", f"one\n{text}"))
    assert (last.kind, last.tags) == ("note", ())


def test_a_title_is_one_short_line() -> None:
    """Line breaks become spaces, and a long title ends at a word."""
    assert lines("a\n## b", "x").startswith("## 18:42 ★★★ a ## b\n")
    [head, *_] = lines("word " * 40, "x").split("\n")
    assert head.endswith("word …")
    assert len(head) <= len("## 18:42 ★★★ ") + page.TITLE_CHARS


def test_no_secret_is_in_the_journal() -> None:
    """A secret leaves its kind behind, in a title too (S3)."""
    written = lines("my password is sunflower7", "the PIN is 4821\nand tea")
    assert "sunflower7" not in written
    assert "4821" not in written
    assert "⟦a password⟧" in written
    assert "and tea" in written


def test_what_nobody_sees_is_shown() -> None:
    """Hidden characters stand as marks."""
    assert "⟦U+202E⟧" in lines("a\u202eb", "x")
    assert "⟦U+200B⟧" in lines("a", "x\u200by")


@pytest.mark.parametrize(
    ("tag", "expected"),
    [
        ("Garden", "garden"),
        ("My Garden!", "my-garden"),
        ("../../etc/passwd", "etc-passwd"),
        ("Müller", "müller"),
        ("Mu\u0308ller", "müller"),
        ("Straße", "strasse"),
        ("项目", "项目"),
        ("a_b", "a-b"),
        ("..", ""),
        ("", ""),
        ("x" * 200, "x" * page.TAG_CHARS),
    ],
)
def test_a_topic_is_a_plain_name(tag: str, expected: str) -> None:
    """Whatever a tag holds, its file stays in its folder."""
    assert page.slug(tag) == expected


def test_what_is_written_is_read() -> None:
    """Time, stars, title, text, tags and kind come back."""
    written = page.heading(DAY) + lines(
        "A title", "One.\n\nTwo.", stars=5, tags=("Garden", "roses"), kind="insight"
    )
    [found] = page.read(DAY, written)
    assert (found.time, found.stars, found.title) == (time(18, 42), 5, "A title")
    assert (found.text, found.tags, found.kind) == (
        "One.\n\nTwo.", ("garden", "roses"), "insight",
    )  # fmt: skip
    assert (found.first_line, found.last_line) == (3, 9)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("# 2026-02-05\n\n", []),
        ("Just a line.\n", [(None, 3, "", "Just a line.", 1)]),
        ("# Day\nA line.\n", [(None, 3, "", "A line.", 2)]),
        ("---\ntags: x\n---\nA line.", [(None, 3, "", "A line.", 4)]),
        ("## 9:05 Lunch\nSoup.", [(time(9, 5), 3, "Lunch", "Soup.", 1)]),
        ("## Lunch\nSoup.", [(None, 3, "Lunch", "Soup.", 1)]),
        ("## ★★ Lunch", [(None, 2, "Lunch", "", 1)]),
        ("## 12:00 ★★☆☆☆ Lunch", [(time(12, 0), 2, "Lunch", "", 1)]),
        ("## 25:00 Odd", [(None, 3, "25:00 Odd", "", 1)]),
        ("### Not an entry\ntext", [(None, 3, "", "### Not an entry\ntext", 1)]),
        (
            "## 10:00 One\n```\n## 11:00 no\n```\n## 12:00 Two",
            [(time(10), 3, "One", "```\n## 11:00 no\n```", 1), (time(12), 3, "Two", "", 5)],
        ),
        ("## 10:00 One\r\ntext\r\n## 11:00 Two\r\n", [
            (time(10), 3, "One", "text", 1), (time(11), 3, "Two", "", 3),
        ]),
    ],
)  # fmt: skip
def test_what_the_user_writes_is_read(
    text: str, expected: list[tuple[time | None, int, str, str, int]]
) -> None:
    """A day's file is the user's: whatever stands there is an entry of its own."""
    found = page.read(DAY, text)
    assert [(e.time, e.stars, e.title, e.text, e.first_line) for e in found] == expected


def test_a_topics_line_is_one_link() -> None:
    """A title can't end its link."""
    entry = JournalEntry(at=AT, title="a](http://x) `b` <i>", text="x", tags=("t",))
    assert page.topic_line(entry) == (
        "- 2026-02-05 18:42 ★★★ [a\\](http://x) \\`b\\` \\<i\\>](../daily/2026-02-05.md)\n"
    )
