"""A watched folder as it is on disk: its files, their stamps, and the project of each.

Links are not followed. What is left out (`memory/watching/ignoring.py`) is not looked into.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from memory import store
from memory.notebooks.page import read_text
from memory.watching import ignoring
from memory.watching.ignoring import Rules

FILES_AT_MOST = 100_000
FOLDERS_AT_MOST = 20_000
DEPTH_AT_MOST = 40
_NO_FILE = {
    errno.ENOENT,
    errno.ELOOP,
    errno.ENXIO,
    errno.EISDIR,
    errno.EACCES,
    errno.EPERM,
    errno.ENOTDIR,
}
_IGNORE_BYTES = 256 * 1024
IGNORE_FILES = (".gitignore", ".ignore")
NOTE_ENDINGS = (".md", ".txt")

Stamp = tuple[int, int, int]
"""Modified (ns), bytes, inode."""

Kind = Literal["project", "notes"]


@dataclass(slots=True)
class Folder:
    """A folder that is looked into. `path` is relative, "" or "a/b/"; `project` likewise: the
    outermost one that it is in, "" where that is the watched folder itself, or none.
    """

    path: str
    project: str
    stack: tuple[Rules, ...]
    is_marked: bool = False


@dataclass(slots=True)
class Found:
    """What one look has found; `left_out` counts what was too much."""

    folders: dict[str, Folder] = field(default_factory=dict)
    files: dict[str, Stamp] = field(default_factory=dict)
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class Tree:
    """`kind` is "notes" for the vault: all of its notes are looked at, whatever git ignores.

    `without` are folders that are left out: what Jarvis itself writes.
    """

    root: Path
    kind: Kind = "project"
    without: tuple[Path, ...] = ()

    def is_there(self) -> bool:
        return self.root.is_dir() and not self.root.is_symlink()

    def inode(self) -> int:
        try:
            return self.root.stat().st_ino
        except OSError:
            return 0

    def path(self, relative: str) -> Path:
        return self.root / relative

    def look(self, folder: Folder | None = None) -> Found:
        """Everything below a folder of the tree, or all of it."""
        found = Found()
        waiting = [folder or Folder("", "", ())]
        while waiting:
            here = waiting.pop()
            if len(found.folders) >= FOLDERS_AT_MOST or here.path.count("/") > DEPTH_AT_MOST:
                found.left_out += 1
                continue
            waiting += self._look_into(here, found)
        return found

    def _look_into(self, here: Folder, found: Found) -> list[Folder]:
        try:
            with os.scandir(self.root / here.path) as entries:
                listed = sorted(entries, key=lambda each: each.name)
        except OSError:  # gone, or not ours to read
            return []
        names = {each.name for each in listed}
        if self.kind == "project":
            here = self._dressed(here, names)
        found.folders[here.path] = here
        inner: list[Folder] = []
        for each in listed:
            try:
                if each.is_dir(follow_symlinks=False):
                    path = f"{here.path}{each.name}/"
                    if self.wants_folder(here, each.name):
                        inner.append(Folder(path, here.project, here.stack))
                elif each.is_file(follow_symlinks=False) and self.wants_file(here, each.name):
                    if len(found.files) >= FILES_AT_MOST:
                        found.left_out += 1
                        continue
                    found.files[f"{here.path}{each.name}"] = _stamp(
                        each.stat(follow_symlinks=False)
                    )
            except OSError:  # gone in this instant
                continue
        return inner

    def _dressed(self, here: Folder, names: set[str]) -> Folder:
        """The folder with its own ignore files, and as a project where it is one."""
        stack = here.stack
        for name in IGNORE_FILES:
            if name in names:
                stack = (*stack, ignoring.rules(here.path, _lines(self.root / here.path / name)))
        is_marked = any(map(ignoring.is_mark, names))
        project = here.project or (here.path if is_marked else "")
        return Folder(here.path, project, stack, is_marked)

    def wants_folder(self, here: Folder, name: str) -> bool:
        path = f"{here.path}{name}/"
        if (self.root / path) in self.without or not _is_clean(name):
            return False
        if here.is_marked and ignoring.is_build_output(name):
            return False
        return not ignoring.is_ignored(path, here.stack)

    def wants_file(self, here: Folder, name: str) -> bool:
        if self.kind == "notes" and not name.lower().endswith(NOTE_ENDINGS):
            return False
        return _is_clean(name) and not ignoring.is_ignored(f"{here.path}{name}", here.stack)

    def _is_behind_a_link(self, relative: str) -> bool:
        at = relative.find("/")
        while at >= 0:
            if stat.S_ISLNK(os.lstat(f"{self.root}/{relative[:at]}").st_mode):
                return True
            at = relative.find("/", at + 1)
        return False

    def is_folder(self, relative: str) -> bool:
        path = self.root / relative
        return path.is_dir() and not path.is_symlink()

    def stamp(self, relative: str) -> Stamp | None:
        """None where no file is there: nothing, a link, a folder, a pipe."""
        try:
            found = (self.root / relative).lstat()
        except OSError:
            return None
        return _stamp(found) if stat.S_ISREG(found.st_mode) else None

    def read(self, relative: str) -> tuple[bytes | None, bool]:
        """What the file holds, None where there is none, and whether nobody was writing it.

        A link that was put in its place, or in the place of a folder above it, is not followed.
        """
        path = self.root / relative
        try:
            found = store.read_once(path, follow=False)
            if self._is_behind_a_link(relative):
                return None, True
        except OSError as fault:
            if fault.errno not in _NO_FILE:
                raise
            return None, True
        return found


def _lines(path: Path) -> list[str]:
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
        with os.fdopen(fd, "rb") as file:
            content = file.read(_IGNORE_BYTES)
    except OSError:
        return []
    return read_text(path.name, content).text.splitlines()


def _is_clean(name: str) -> bool:
    """A name that is no UTF-8 can't be written down."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _stamp(found: os.stat_result) -> Stamp:
    return found.st_mtime_ns, found.st_size, found.st_ino


# Projects -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """`marks` are what shows that it is one, as in "pyproject.toml"."""

    name: str
    path: Path
    marks: tuple[str, ...]
    files: int


def scan(folder: Path) -> tuple[Project, ...]:
    """The projects in a folder, by path: those within another project belong to it.

    The folder itself may be one; what is in it is found all the same.
    """
    found = Tree(folder).look()
    own = _marks(folder)
    projects = {each.project for each in found.folders.values()} - {""}
    outermost = [*([""] if own else []), *sorted(projects)]
    return tuple(
        Project(
            name=path.rstrip("/").rpartition("/")[2] or folder.name,
            path=folder / path,
            marks=_marks(folder / path) if path else own,
            files=sum(1 for _ in _within(found, path, outermost)),
        )
        for path in outermost
    )


def _within(found: Found, path: str, projects: list[str]) -> Iterator[str]:
    """The files of a project; those of a project within the folder's own are not its."""
    inner = [each for each in projects if each] if not path else []
    for each in found.files:
        if each.startswith(path) and not any(map(each.startswith, inner)):
            yield each


def _marks(folder: Path) -> tuple[str, ...]:
    try:
        names = os.listdir(folder)  # noqa: PTH208 - names are all that is wanted
    except OSError:
        return ()
    return tuple(sorted(filter(ignoring.is_mark, names)))
