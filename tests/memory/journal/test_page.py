from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path

import pytest

from memory.errors import NotebookUnwritable
from memory.journal import page
from memory.vault import Vault

AT = datetime(2026, 2, 5, 18, 42, tzinfo=timezone(timedelta(hours=1)))


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    return Vault(tmp_path)


def test_a_day_has_a_heading_and_its_entries(vault: Vault) -> None:
    """Each entry has its time, its stars, a title and its text (J2)."""
    path = page.append(vault, AT, "A title", "The text.\nMore of it.", stars=5)
    page.append(vault, AT + timedelta(minutes=3), "Another", "Its text.")
    assert path == vault.folder / "daily" / "2026-02-05.md"
    assert path.read_text("utf-8") == (
        "# 2026-02-05\n\n"
        "## 18:42 ★★★★★ A title\n\nThe text.\nMore of it.\n\n"
        "## 18:45 ★★★ Another\n\nIts text.\n"
    )
    assert [each.name for each in path.parent.iterdir()] == ["2026-02-05.md"]


@pytest.mark.parametrize(
    ("there", "between"),
    [
        (b"Mine.\n", b"\n"),
        (b"Mine.", b"\n\n"),
        (b"Mine.\r\n", b"\r\n"),
        (b"Mine.\r\n\r\n", b""),
        (b"\xef\xbb\xbf# Mine\n\n\n", b""),
        (b"a\rb\r", b"\r"),
    ],
)
def test_the_journal_only_grows(vault: Vault, there: bytes, between: bytes) -> None:
    """What stands in a file stays to the letter, and its line ends are taken over (m21)."""
    path = page.file_of(vault, date(2026, 2, 5))
    path.parent.mkdir(parents=True)
    path.write_bytes(there)
    page.append(vault, AT, "T", "text")
    end = b"\r\n" if b"\r\n" in there else b"\r" if b"\r" in there else b"\n"
    new = "## 18:42 ★★★ T\n\ntext\n".encode().replace(b"\n", end)
    assert path.read_bytes() == there + between + new


def test_an_empty_file_gets_its_heading(vault: Vault) -> None:
    """A file without a word in it is a new day."""
    path = page.file_of(vault, date(2026, 2, 5))
    path.parent.mkdir(parents=True)
    path.write_bytes(b"\n")
    page.append(vault, AT, "T", "text")
    assert path.read_text("utf-8") == "\n# 2026-02-05\n\n## 18:42 ★★★ T\n\ntext\n"


@pytest.mark.parametrize(
    "text", ["# 2026", "## 10:00 ★★★★★ False", "```", "~~~", "<!--", "%%", "---", "==="]
)
def test_no_text_begins_another_entry(text: str) -> None:
    """A line that would be a heading, or hide what follows, is escaped."""
    lines = page.entry(AT, "T", f"one\n{text}\ntwo").split("\n")
    assert lines == ["## 18:42 ★★★ T", "", "one", f"\\{text}", "two", ""]


def test_a_title_is_one_short_line() -> None:
    """Line breaks become spaces, and a long title ends at a word."""
    assert page.entry(AT, "a\n## b", "x").startswith("## 18:42 ★★★ a ## b\n")
    [head, *_] = page.entry(AT, "word " * 40, "x").split("\n")
    assert head.endswith("word …")
    assert len(head) <= len("## 18:42 ★★★ ") + page.TITLE_CHARS


def test_an_entry_that_is_there_is_not_repeated(vault: Vault) -> None:
    """A writer that crashed behind it asks for it once; another is appended."""
    for once in (True, True, False):
        path = page.append(vault, AT, "T", "text", once=once)
    assert path.read_text("utf-8").count("## 18:42") == 2


def test_the_day_is_the_users(vault: Vault) -> None:
    """The time's own offset decides which day it is (m15)."""
    late = datetime(2026, 2, 5, 23, 59, tzinfo=timezone(timedelta(hours=-8)))
    assert page.append(vault, late, "T", "x").name == "2026-02-05.md"
    assert page.append(vault, late.astimezone(UTC), "T", "x").name == "2026-02-06.md"


def test_a_journal_in_another_encoding_is_told(vault: Vault) -> None:
    """UTF-8 is not written behind something else."""
    path = page.file_of(vault, date(2026, 2, 5))
    path.parent.mkdir(parents=True)
    path.write_bytes("Größe\n".encode("cp1252"))
    with pytest.raises(NotebookUnwritable, match="Save it as UTF-8"):
        page.append(vault, AT, "T", "text")
    assert path.read_bytes() == "Größe\n".encode("cp1252")
