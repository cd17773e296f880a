from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from memory.errors import VaultMissing
from memory.notes.reading import NO_STAMP, NOTE_BYTES, Read, Unread, found_in, is_note, read_note

PLAIN = "Serviced by Meier."


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of notes, with another beside it whose name begins the same (m35)."""
    notes = tmp_path / "notes"
    (notes / "deep" / "er").mkdir(parents=True)
    (notes / "a.md").write_text(PLAIN)
    (notes / "deep" / "er" / "B.TXT").write_text(PLAIN)
    (tmp_path / "notes-evil").mkdir()
    (tmp_path / "notes-evil" / "secret.md").write_text("secret")
    return notes


@pytest.mark.parametrize(
    ("file", "expected"),
    [
        ("a.md", True),
        ("deep/er/b.TXT", True),
        ("Müller 猫.md", True),
        ("", False),
        ("a.html", False),
        (".md", False),
        (".hidden.md", False),
        (".obsidian/a.md", False),
        ("deep/.trash/a.md", False),
        ("../notes-evil/secret.md", False),
        ("deep/../a.md", False),
        ("/etc/a.md", False),
        ("deep//a.md", False),
        ("a\0.md", False),
        ("a\udc80.md", False),
        ("/".join(["d"] * 80) + "/a.md", False),
    ],
)
def test_names_of_notes(file: str, expected: bool) -> None:
    """A note is called .md or .txt, is in sight, and its name leads nowhere else."""
    assert is_note(file) is expected


def test_notes_are_found(folder: Path) -> None:
    """Every note in every folder is found, by its name with slashes."""
    assert set(found_in(folder)) == {"a.md", "deep/er/B.TXT"}


def link(path: Path, to: Path) -> None:
    path.symlink_to(to)


@pytest.mark.parametrize(
    "put",
    [
        lambda notes: link(notes / "x.md", notes.parent / "notes-evil" / "secret.md"),
        lambda notes: link(notes / "x.md", notes / "a.md"),
        lambda notes: link(notes / "out", notes.parent / "notes-evil"),
        lambda notes: link(notes / "round", notes),
        lambda notes: os.mkfifo(notes / "x.md"),
        lambda notes: (notes / "x.md").mkdir(),
        lambda notes: (notes / "x.html").write_text("<b>no note</b>"),
        lambda notes: (notes / ".git").mkdir() or (notes / ".git" / "x.md").write_text("no"),
        lambda notes: link(notes / "x.md", Path("/dev/zero")),
        lambda notes: link(notes / "x.md", Path("nowhere")),
    ],
)
def test_nothing_else_is_found_or_read(folder: Path, put: Callable[[Path], object]) -> None:
    """Links, pipes, folders, other files and hidden ones are no notes, wherever they lead."""
    put(folder)
    assert set(found_in(folder)) == {"a.md", "deep/er/B.TXT"}
    for name in ("x.md", "out/secret.md", "round/a.md", "x.html", ".git/x.md"):
        assert read_note(folder, name) is None


@pytest.mark.parametrize("swapped", ["file", "folder"])
def test_a_link_put_there_between_look_and_opening_leads_nowhere(
    folder: Path, swapped: str
) -> None:
    """A file or a folder that becomes a link after it was found is not followed."""
    evil = folder.parent / "notes-evil"
    (evil / "B.TXT").write_text("secret")
    assert "deep/er/B.TXT" in found_in(folder)
    if swapped == "file":
        (folder / "deep" / "er" / "B.TXT").unlink()
        link(folder / "deep" / "er" / "B.TXT", evil / "B.TXT")
    else:
        (folder / "deep" / "er" / "B.TXT").rename(folder / "B.TXT")
        (folder / "deep" / "er").rmdir()
        link(folder / "deep" / "er", evil)
    assert read_note(folder, "deep/er/B.TXT") is None


def test_the_folder_itself_may_be_a_link(folder: Path) -> None:
    """The user named it, so it is theirs to say where it is."""
    link(folder.parent / "named", folder)
    assert "a.md" in found_in(folder.parent / "named")


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", ""),
        (b"plain", "plain"),
        ("Müller".encode(), "Müller"),
        (b"\xef\xbb\xbfmarked", "marked"),
        ("Müller".encode("utf-16"), "Müller"),
        ("Müller".encode("cp1252"), "Müller"),
        ("Mü".encode() + b"\xc3 torn", "Mü� torn"),
    ],
)
def test_encodings(folder: Path, content: bytes, expected: str) -> None:
    """Text is read in whatever encoding an editor left it."""
    (folder / "x.md").write_bytes(content)
    found = read_note(folder, "x.md")
    assert isinstance(found, Read) and found.text == expected


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (bytes(range(256)) * 40, "it is not a text file"),
        (b"\0" * 900, "it is not a text file"),
        (b"a" * (NOTE_BYTES + 1), "it is larger than 2 MiB"),
    ],
)
def test_what_is_no_note_is_said(folder: Path, content: bytes, reason: str) -> None:
    """A giant file and one that is no text are left out, with the reason."""
    (folder / "x.md").write_bytes(content)
    found = read_note(folder, "x.md")
    assert isinstance(found, Unread) and found.reason == reason


def test_a_file_that_pretends_to_be_giant_is_not_read(folder: Path) -> None:
    """A file of a terabyte of nothing takes no memory and no time."""
    with (folder / "x.md").open("wb") as file:
        file.truncate(1 << 40)
    assert isinstance(read_note(folder, "x.md"), Unread)


@pytest.mark.parametrize(("later_ns", "settled"), [(1_000, False), (1_000_000_000, True)])
def test_a_file_that_was_just_written_is_read_again(
    folder: Path, later_ns: int, settled: bool
) -> None:
    """What may change within the clock's tick has no stamp, so the next look reads it anew."""
    written = (folder / "a.md").stat().st_ctime_ns
    found = read_note(folder, "a.md", now_ns=lambda: written + later_ns)
    assert isinstance(found, Read)
    assert found.stamp == (found_in(folder)["a.md"] if settled else NO_STAMP)


def test_a_folder_that_is_gone_is_no_empty_one(tmp_path: Path) -> None:
    """A drive that is away must not look as if every note was deleted."""
    with pytest.raises(VaultMissing, match="can't be read"):
        found_in(tmp_path / "gone")
