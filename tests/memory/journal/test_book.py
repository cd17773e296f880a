from __future__ import annotations

import os
from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path

import pytest

from memory.errors import NotebookUnwritable
from memory.journal import book
from memory.records import JournalEntry, JournalKind
from memory.vault import Vault

AT = datetime(2026, 2, 5, 18, 42, tzinfo=timezone(timedelta(hours=1)))
DAY = date(2026, 2, 5)


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    return Vault(tmp_path)


def entry(
    title: str = "T",
    text: str = "text",
    at: datetime = AT,
    *,
    stars: int = 3,
    tags: tuple[str, ...] = (),
    kind: JournalKind = "note",
) -> JournalEntry:
    return JournalEntry(at=at, title=title, text=text, stars=stars, tags=tags, kind=kind)


def put(vault: Vault, content: bytes, day: date = DAY) -> Path:
    path = book.file_of(vault, day)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def test_a_day_has_a_heading_and_its_entries(vault: Vault) -> None:
    """Each entry has its time, its stars, a title and its text (J2)."""
    path = book.append(vault, entry("A title", "The text.\nMore of it.", stars=5))
    book.append(vault, entry("Another", "Its text.", AT + timedelta(minutes=3)))
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
    path = put(vault, there)
    book.append(vault, entry())
    end = b"\r\n" if b"\r\n" in there else b"\r" if b"\r" in there else b"\n"
    new = "## 18:42 ★★★ T\n\ntext\n".encode().replace(b"\n", end)
    assert path.read_bytes() == there + between + new


def test_an_empty_file_gets_its_heading(vault: Vault) -> None:
    """A file without a word in it is a new day."""
    path = put(vault, b"\n")
    book.append(vault, entry())
    assert path.read_text("utf-8") == "\n# 2026-02-05\n\n## 18:42 ★★★ T\n\ntext\n"


def test_an_entry_that_is_there_is_not_repeated(vault: Vault) -> None:
    """A writer that crashed behind it asks for it once; another is appended."""
    for once in (True, True, False):
        path = book.append(vault, entry(tags=("Garden",)), once=once)
    assert path.read_text("utf-8").count("## 18:42") == 2
    assert book.topic_file(vault, "garden").read_text("utf-8").count("18:42") == 2


def test_the_day_is_the_users(vault: Vault) -> None:
    """The time's own offset decides which day it is (m15)."""
    late = datetime(2026, 2, 5, 23, 59, tzinfo=timezone(timedelta(hours=-8)))
    assert book.append(vault, entry(at=late)).name == "2026-02-05.md"
    assert book.append(vault, entry(at=late.astimezone(UTC))).name == "2026-02-06.md"


def test_a_topic_has_a_line_for_each_of_its_entries(vault: Vault) -> None:
    """Tags lead to a file a topic, with links to the days."""
    book.append(vault, entry("Roses [cut]", tags=("My Garden", "../../etc", "insight")))
    book.append(vault, entry("More", at=AT + timedelta(days=1), tags=("my garden",), stars=4))
    topics = vault.folder / "topics"
    assert sorted(path.name for path in topics.iterdir()) == ["etc.md", "my-garden.md"]
    assert (topics / "my-garden.md").read_text("utf-8") == (
        "# my-garden\n\n"
        "- 2026-02-05 18:42 ★★★ [Roses \\[cut\\]](../daily/2026-02-05.md)\n"
        "- 2026-02-06 18:42 ★★★★ [More](../daily/2026-02-06.md)\n"
    )


def test_a_topic_that_cannot_be_written_costs_no_entry(vault: Vault) -> None:
    """The day has the entry, whatever is wrong with a topic's file."""
    path = book.topic_file(vault, "garden")
    path.parent.mkdir(parents=True)
    path.write_bytes("Größe\n".encode("cp1252"))
    book.append(vault, entry(tags=("garden",)))
    assert len(book.day(vault, DAY).entries) == 1
    assert path.read_bytes() == "Größe\n".encode("cp1252")


def test_a_journal_in_another_encoding_is_told(vault: Vault) -> None:
    """UTF-8 is not written behind something else."""
    path = put(vault, "Größe\n".encode("cp1252"))
    with pytest.raises(NotebookUnwritable, match="Save it as UTF-8"):
        book.append(vault, entry())
    assert path.read_bytes() == "Größe\n".encode("cp1252")
    assert "Save it as UTF-8" in str(book.day(vault, DAY).warning)


def test_days_are_the_files_that_there_are(vault: Vault) -> None:
    """Newest first; what has another name is none."""
    assert book.days(vault) == ()
    for name in ("2026-02-05.md", "2026-01-31.md", "2026-02-31.md", "todo.md", "2026-02-06.txt"):
        path = vault.folder / "daily" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x", encoding="utf-8")
    assert book.days(vault) == (date(2026, 2, 5), date(2026, 1, 31))


def test_a_day_is_as_the_user_left_it(vault: Vault) -> None:
    """An edit is read, a deleted entry is gone, a day without a file is empty (J1)."""
    path = book.append(vault, entry("One"))
    book.append(vault, entry("Two"))
    text = path.read_text("utf-8")
    path.write_text(text.replace("One", "First").partition("## 18:42 ★★★ Two")[0], "utf-8")
    found = book.day(vault, DAY)
    assert [each.title for each in found.entries] == ["First"]
    assert found.file == "society/jarvis/daily/2026-02-05.md"
    assert book.day(vault, date(2026, 2, 4)).entries == ()


def test_a_link_out_of_the_vault_is_not_read(tmp_path: Path) -> None:
    """A day's file that leads elsewhere, a pipe, a folder: a warning, and no entries."""
    inside = Vault(tmp_path / "vault")
    outside = tmp_path / "secret.md"
    outside.write_text("## 10:00 Secret\n", encoding="utf-8")
    daily = inside.folder / "daily"
    daily.mkdir(parents=True)
    (daily / "2026-02-05.md").symlink_to(outside)
    os.mkfifo(daily / "2026-02-06.md")
    (daily / "2026-02-07.md").mkdir()
    for number in (5, 6, 7):
        found = book.day(inside, date(2026, 2, number))
        assert found.entries == ()
        assert found.warning is not None


def test_the_latest_entries_come_first(vault: Vault) -> None:
    """By day and by time, of the kinds that are asked for."""
    book.append(vault, entry("old", at=AT - timedelta(days=1), kind="discovery"))
    book.append(vault, entry("second", at=AT, kind="discovery"))
    book.append(vault, entry("first, appended late", at=AT - timedelta(hours=1), kind="discovery"))
    book.append(vault, entry("thought", kind="insight"))
    found = book.latest(vault, ("discovery",), limit=2)
    assert [each.title for each in found] == ["second", "first, appended late"]
    assert [each.title for each in book.latest(vault, ("insight",), limit=5)] == ["thought"]
