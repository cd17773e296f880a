from __future__ import annotations

import pytest

from memory.watching import ignoring


@pytest.mark.parametrize(
    "path",
    [
        "notes.md~", ".notes.md.swp", "a/.b.swx", "4913", "#draft.md#", "a/.#draft.md", "x.tmp",
        "film.mkv.part", "~$letter.docx", ".~lock.letter.odt#", ".goutputstream-A1B2", "x.py___jb_tmp___",
        ".DS_Store", "a/Thumbs.db", "server.log", "x.pyc", "a/b/x.o", "package-lock.json",
        "node_modules/", "a/__pycache__/", ".git/", ".venv/", ".obsidian/", "lib.egg-info/",
        ".env", ".env.local", "id_ed25519", "server.pem", "keys/vault.kdbx", ".ssh/",
    ],
)  # fmt: skip
def test_noise_and_secrets_are_left_out(path: str) -> None:
    """Temporary files, what programs make, and files of secrets are never looked at."""
    assert ignoring.is_ignored(path, ())


@pytest.mark.parametrize(
    "path",
    [
        "notes.md", "main.py", "src/", "Makefile", ".gitignore", "a/b/environment.md", "git/",
        "templates/", "parts.md", "node_modules.md", "temperature.txt", "swap.md", "keys.md",
        "README", "build/", "target/", "bin/",
    ],
)  # fmt: skip
def test_what_people_write_is_looked_at(path: str) -> None:
    """A name that only looks like noise is none."""
    assert not ignoring.is_ignored(path, ())


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("drafts/", True),
        ("a.txt", True),
        ("keep.txt", False),
        ("sub/a.txt", True),
        ("sub/own.txt", False),
        ("sub/b.dat", True),
        ("b.dat", False),
        ("other/only-here", False),
        ("only-here", True),
    ],
)
def test_the_deepest_ignore_file_decides(path: str, expected: bool) -> None:
    """.gitignore holds below its folder, and one further down may say otherwise."""
    root = ignoring.rules("", ["drafts/", "*.txt", "!keep.txt", "/only-here"])
    stack = [root]
    if path.startswith("sub/"):
        stack.append(ignoring.rules("sub/", ["!own.txt", "*.dat"]))
    assert ignoring.is_ignored(path, stack) == expected


def test_a_line_that_is_no_pattern_costs_only_itself() -> None:
    """As in git, the rest of the file holds."""
    found = ignoring.rules("", ["!", "*.txt", "\\", "/"])
    assert ignoring.is_ignored("a.txt", [found])
    assert not ignoring.is_ignored("a.md", [found])


@pytest.mark.parametrize(
    ("name", "expected"),
    [("pyproject.toml", True), (".git", True), ("Shop.sln", True), ("go.mod", True), ("x", False)],
)
def test_projects_have_marks(name: str, expected: bool) -> None:
    """A project is known by what its tools leave in it."""
    assert ignoring.is_mark(name) == expected


def test_build_output_is_known_by_its_name() -> None:
    """Directly in a project; whoever asks knows that."""
    assert ignoring.is_build_output("dist")
    assert ignoring.is_build_output("cmake-build-debug")
    assert not ignoring.is_build_output("src")
