from __future__ import annotations

import os
from pathlib import Path

import pytest

from memory.watching.tree import Tree, scan


def make(root: Path, *names: str) -> None:
    for name in names:
        path = root / name
        if name.endswith("/"):
            path.mkdir(parents=True, exist_ok=True)
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"{name}\n", encoding="utf-8")


def test_a_look_finds_what_counts(tmp_path: Path) -> None:
    """Files and folders, without noise, links, build output and what .gitignore names."""
    make(
        tmp_path, "pyproject.toml", "src/a.py", "src/a.pyc", "build/x.py", "docs/build/x.md",
        "node_modules/m/index.js", "private/diary.md", "kept/x.txt", ".git/config", "empty/",
    )  # fmt: skip
    (tmp_path / ".gitignore").write_text("private/\n*.log\n", encoding="utf-8")
    (tmp_path / "link").symlink_to(tmp_path / "private")
    (tmp_path / "link.md").symlink_to(tmp_path / "private" / "diary.md")
    os.mkfifo(tmp_path / "pipe.md")
    found = Tree(tmp_path).look()
    assert sorted(found.files) == [
        ".gitignore", "docs/build/x.md", "kept/x.txt", "pyproject.toml", "src/a.py",
    ]  # fmt: skip
    assert sorted(found.folders) == ["", "docs/", "docs/build/", "empty/", "kept/", "src/"]


def test_notes_are_looked_at_whatever_git_ignores(tmp_path: Path) -> None:
    """Of the vault the notes count, and nothing else."""
    make(tmp_path, "a.md", "b.TXT", "c.py", "private/d.md", ".obsidian/e.md", ".trash/f.md")
    (tmp_path / ".gitignore").write_text("private/\n", encoding="utf-8")
    found = Tree(tmp_path, "notes").look()
    assert sorted(found.files) == ["a.md", "b.TXT", "private/d.md"]


def test_what_jarvis_writes_is_left_out(tmp_path: Path) -> None:
    """A folder that is named is not looked into."""
    make(tmp_path, "a.md", "society/jarvis/daily/2026-02-05.md", "society/b.md")
    own = tmp_path / "society" / "jarvis"
    assert sorted(Tree(tmp_path, without=(own,)).look().files) == ["a.md", "society/b.md"]


def test_a_name_that_is_no_utf8_is_left_out(tmp_path: Path) -> None:
    """It could not be written down."""
    (tmp_path / os.fsdecode(b"caf\xe9.md")).write_text("x", encoding="utf-8")
    assert Tree(tmp_path).look().files == {}


def test_a_link_is_not_read(tmp_path: Path) -> None:
    """Not in the place of the file, nor of a folder above it (m35)."""
    outside = tmp_path / "outside"
    make(outside, "secret.md")
    root = tmp_path / "root"
    make(root, "a.md", "sub/")
    tree = Tree(root)
    assert tree.read("a.md") == (b"a.md\n", True)
    (root / "b.md").symlink_to(outside / "secret.md")
    (root / "sub").rmdir()
    (root / "sub").symlink_to(outside)
    assert tree.read("b.md")[0] is None
    assert tree.read("sub/secret.md")[0] is None
    assert tree.read("none.md")[0] is None
    assert tree.stamp("b.md") is None


def test_a_file_that_is_being_written_is_not_settled(tmp_path: Path) -> None:
    """Somebody has it open for writing."""
    make(tmp_path, "a.md")
    with (tmp_path / "a.md").open("a", encoding="utf-8"):
        assert Tree(tmp_path).read("a.md") == (b"a.md\n", False)
    assert Tree(tmp_path).read("a.md") == (b"a.md\n", True)


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ((), []),
        (("notes/a.md",), []),
        (("shop/package.json", "shop/src/a.js", "blog/go.mod"), [("blog", 1), ("shop", 2)]),
        (("shop/package.json", "shop/inner/Cargo.toml"), [("shop", 2)]),
        (("shop/package.json", "shop/node_modules/m/package.json"), [("shop", 1)]),
        (("deep/er/tool/pyproject.toml",), [("tool", 1)]),
        (("home/.git/", "home/x.md"), [("home", 1)]),
    ],
)
def test_projects_are_found_by_their_marks(
    tmp_path: Path, names: tuple[str, ...], expected: list[tuple[str, int]]
) -> None:
    """Each once: what lies in a project belongs to it."""
    make(tmp_path, *names)
    assert [(each.name, each.files) for each in scan(tmp_path)] == expected


def test_the_folder_itself_may_be_a_project(tmp_path: Path) -> None:
    """What is in it is found all the same."""
    root = tmp_path / "all"
    make(root, ".git/", "a.md", "shop/package.json")
    assert [(each.name, each.files, each.marks) for each in scan(root)] == [
        ("all", 1, (".git",)), ("shop", 1, ("package.json",)),
    ]  # fmt: skip
