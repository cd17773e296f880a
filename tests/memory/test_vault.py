from __future__ import annotations

import os
from pathlib import Path

import pytest

from memory.errors import StateUnwritable, VaultMissing
from memory.vault import MEMORY, USER, Vault


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    found = Vault(tmp_path / "vault")
    found.folder.mkdir(parents=True)
    return found


def write(vault: Vault, text: str, name: str = USER) -> Path:
    path = vault.folder / name
    path.write_text(text, encoding="utf-8")
    return path


# Whether it is there ------------------------------------------------------------------


def test_a_vault_that_is_not_there_is_told(tmp_path: Path) -> None:
    """A named vault that is missing, or a file, is VaultMissing with what to do."""
    (tmp_path / "file").write_text("")
    with pytest.raises(VaultMissing, match=r"isn't there.*--vault"):
        Vault(tmp_path / "none").check(create=False)
    with pytest.raises(VaultMissing, match=r"not a folder.*--vault"):
        Vault(tmp_path / "file").check(create=False)
    with pytest.raises(StateUnwritable, match="--vault"):
        Vault(tmp_path / "file").check(create=True)
    assert not (tmp_path / "none").exists()


def test_a_named_vault_is_left_as_it_is(tmp_path: Path) -> None:
    """Nothing is written into a vault that the user named."""
    Vault(tmp_path).check(create=False)
    assert list(tmp_path.iterdir()) == []


def test_the_default_vault_is_made_with_two_notebooks(tmp_path: Path) -> None:
    """Each new notebook says what it is, and holds no entry yet."""
    vault = Vault(tmp_path / "Jarvis")
    vault.check(create=True)
    for name in (USER, MEMORY):
        page = vault.page(name)
        assert page.lines[0].startswith("# ")
        assert page.lines[1].startswith("<!-- ")
        assert page.lines[1].endswith(" -->")
        assert len(page.lines) == 2
        assert (page.entries, page.warnings) == ((), ())
    assert {path.name for path in vault.folder.iterdir()} == {USER, MEMORY}


def test_making_the_vault_touches_nothing_that_is_there(vault: Vault) -> None:
    """A notebook of the user's stays; only the missing one is made."""
    path = write(vault, "- mine")
    vault.check(create=True)
    assert path.read_text(encoding="utf-8") == "- mine"
    assert (vault.folder / MEMORY).exists()


# Reading ------------------------------------------------------------------------------


def test_an_edit_is_seen_at_the_next_look(vault: Vault) -> None:
    """Each way of saving is seen: in place, by a new file, of the same length, removed."""
    assert vault.page(USER).text == ""
    path = write(vault, "- 1")
    assert vault.page(USER).text == "- 1"
    write(vault, "- 2")
    assert vault.page(USER).text == "- 2"
    write(vault, "- 3", "other").replace(path)
    assert vault.page(USER).text == "- 3"
    path.unlink()
    assert vault.page(USER).text == ""


def test_an_old_file_is_read_once(vault: Vault) -> None:
    """A file whose time, size and place are as before is not read again."""
    path = write(vault, "- 1")
    os.utime(path, (1_000_000_000, 1_000_000_000))
    assert vault.page(USER) is vault.page(USER)


def test_only_what_lies_in_the_vault_is_read(vault: Vault, tmp_path: Path) -> None:
    """A link out of the vault is not followed; one that stays inside is."""
    (tmp_path / "vault-evil").mkdir()
    secret = tmp_path / "vault-evil" / "key"
    secret.write_text("- secret")
    (vault.folder / USER).symlink_to(secret)
    page = vault.page(USER)
    assert page.text == ""
    assert "link to a place outside of the vault" in page.warnings[0]

    (vault.path / "me.md").write_text("- me")
    (vault.folder / MEMORY).symlink_to(vault.path / "me.md")
    assert vault.page(MEMORY).text == "- me"


@pytest.mark.parametrize("kind", ["folder", "pipe"])
def test_what_is_no_file_is_told(vault: Vault, kind: str) -> None:
    """A folder or a pipe in a notebook's place is named, and never waited for."""
    path = vault.folder / USER
    path.mkdir() if kind == "folder" else os.mkfifo(path)
    page = vault.page(USER)
    assert page.text == ""
    assert str(path) in page.warnings[0]


@pytest.mark.parametrize("line", ["- a line\n", "-ü", "x", "ü"])
def test_of_a_giant_file_the_beginning_is_read(vault: Vault, line: str) -> None:
    """A file of any size costs a bounded read, and is cut between letters."""
    write(vault, "-" + line * 300_000)
    page = vault.page(USER)
    assert 8_000 < len(page.text) <= 256 * 1024
    assert page.warnings == ()


def test_a_drive_that_goes_away_takes_nothing_with_it(vault: Vault) -> None:
    """While the vault is away the notebook is what it was, with a warning."""
    write(vault, "- known")
    assert vault.page(USER).text == "- known"
    vault.path.rename(vault.path.with_name("away"))
    page = vault.page(USER)
    assert page.text == "- known"
    assert "is gone" in page.warnings[0]


# Copies -------------------------------------------------------------------------------


def test_copies_of_sync_programs_are_named(vault: Vault) -> None:
    """Each of their ways of naming one is told; the user's own files are none."""
    copies = [
        "USER (conflicted copy 2026-12-01).md",
        "USER (Ann's conflicted copy 2026-12-01).md",
        "USER (In Konflikt stehende Kopie von Ann 2026-12-01).md",
        "USER (Copia en conflicto de Ann 2026-12-01).md",
        "MEMORY.sync-conflict-20261201-101010-ABCDEFG.md",
        "MEMORY (1).md",
        "USER 2.md",
        "USER-DESKTOP-1A2B3C.md",
        "USER_conflict-20261201-101010.md",
        "USER (saved meanwhile).md",
        "changes (conflicted copy 2026-12-01).jsonl",
        "changes.sync-conflict-20261201-101010-ABCDEFG.jsonl",
        "persona (1).md",
        "USER.md.orig",
    ]
    for name in [
        *copies,
        "USER.md",
        "USERS.md",
        "USER-notes.md",
        "Users guide 2.md",
        "changes.jsonl",
    ]:
        write(vault, "- x", name)
    told = vault.conflict_copies()
    assert [name for name in sorted(copies) if not any(name in each for each in told)] == []
    assert len(told) == len(copies)
    assert all("move what you want to keep over" in each for each in told)
    assert vault.page(USER).entries[0].text == "x"


def test_a_vault_without_our_folder_has_no_copies(tmp_path: Path) -> None:
    """Nothing there is nothing to tell."""
    assert Vault(tmp_path / "none").conflict_copies() == ()
