"""Files of the vault that may be read, and how: nothing outside of it, whatever stands in it (N5).

Every folder on the way is opened by its own name and without following links, so a link that is
put there between the look and the opening leads nowhere.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from memory.errors import VaultMissing
from memory.notebooks.page import read_text

NOTE_BYTES = 2 * 1024 * 1024
"""A larger file is no note."""

_SUFFIXES = (".md", ".txt")
_DEEPEST = 64

# A file that was written this recently may change again without another time or size.
_FRESH_NS = 50_000_000

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# Non-blocking: opening a named pipe would wait for its other end.
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC

Stamp = tuple[int, int, int, int]
"""Modified and changed in ns, bytes, inode: a file with the same stamp holds the same."""

NO_STAMP: Stamp = (0, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class Read:
    """A file's text. `stamp` is NO_STAMP where the file may change again unseen."""

    text: str
    stamp: Stamp


@dataclass(frozen=True, slots=True)
class Unread:
    """A file that is there and is no note; `reason` ends a sentence for the user."""

    reason: str
    stamp: Stamp = NO_STAMP


def is_note(file: str) -> bool:
    """Whether a file of this name, relative to the vault, may be a note."""
    parts = file.split("/")
    return (
        len(parts) <= _DEEPEST and not any(map(_is_out_of_sight, parts)) and _may_be_note(parts[-1])
    )


def _is_out_of_sight(part: str) -> bool:
    """A hidden name, the way up (".."), and what stands between two slashes."""
    return part[:1] in ("", ".")


def _may_be_note(name: str) -> bool:
    return name[-4:].lower().endswith(_SUFFIXES) and "\0" not in name and _is_storable(name)


def _is_storable(name: str) -> bool:
    """A name that is no UTF-8 can't be shown, nor written into an index."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def found_in(folder: Path, inside: str = "") -> dict[str, Stamp]:
    """Every file that may be a note, relative to `folder`, or those in its folder `inside`. Raises
    VaultMissing.

    What a person can't see (a name with a dot in front) and what is behind a link is left out,
    and so is a folder that can't be read. A folder that is no longer there raises: it is
    another thing than an empty one.
    """
    with _opened(folder) as top:
        return dict(_found(top, f"{inside}/" if inside else ""))


def is_folder_in(folder: Path, inside: str) -> bool:
    """Whether there is such a folder, reached without a link. Raises VaultMissing."""
    with _opened(folder) as top:
        try:
            os.close(_reached(top, inside))
        except OSError:
            return False
    return True


def _found(top: int, inside: str) -> Iterator[tuple[str, Stamp]]:
    waiting = [inside]
    while waiting:
        inside = waiting.pop()
        try:
            fd = _reached(top, inside)
        except OSError:
            continue
        try:
            with os.scandir(fd) as entries:
                for entry in entries:
                    name = entry.name
                    if name[0] == ".":
                        continue
                    if _may_be_note(name):
                        stamp = _stamp_of(entry)
                        if stamp is not None:
                            yield inside + name, stamp
                            continue
                    if _is_folder(entry) and inside.count("/") < _DEEPEST - 1:
                        waiting.append(f"{inside}{name}/")
        except OSError:
            continue
        finally:
            os.close(fd)


def _stamp_of(entry: os.DirEntry[str]) -> Stamp | None:
    try:
        if entry.is_file(follow_symlinks=False):
            return _stamp(entry.stat(follow_symlinks=False))
    except OSError:  # it is gone again
        pass
    return None


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir(follow_symlinks=False) and _is_storable(entry.name)
    except OSError:
        return False


def read_note(
    folder: Path, file: str, *, now_ns: Callable[[], int] = time.time_ns
) -> Read | Unread | None:
    """The text of a note as it is now; None where there is no such file. Raises VaultMissing.

    `now_ns` is the clock of the files.
    """
    if not is_note(file):
        return None
    parent, _, name = file.rpartition("/")
    with _opened(folder) as top:
        try:
            inside = _reached(top, parent)
        except OSError:
            return None
        try:
            fd = os.open(name, _FILE, dir_fd=inside)
        except FileNotFoundError:
            return None
        except OSError as fault:
            return None if _is_link(inside, name) else Unread(fault.strerror or str(fault))
        finally:
            os.close(inside)
        try:
            return _content(fd, file, now_ns)
        finally:
            os.close(fd)


def _content(fd: int, file: str, now_ns: Callable[[], int]) -> Read | Unread | None:
    before = os.fstat(fd)
    if not stat.S_ISREG(before.st_mode):
        return None
    stamp = _stamp(before)
    if before.st_size > NOTE_BYTES:
        return Unread(f"it is larger than {NOTE_BYTES >> 20} MiB", stamp)
    try:
        content = _all(fd, NOTE_BYTES + 1)
        after = os.fstat(fd)
    except OSError as fault:
        return Unread(fault.strerror or str(fault))
    if len(content) > NOTE_BYTES:
        return Unread("it grows while it is read")
    page = read_text(file, content)
    if content and not page.text:
        return Unread("it is not a text file", stamp)
    settled = _stamp(after) == stamp and now_ns() - before.st_ctime_ns > _FRESH_NS
    return Read(page.text, stamp if settled else NO_STAMP)


def _all(fd: int, most: int) -> bytes:
    parts = []
    while most > 0 and (part := os.read(fd, most)):
        parts.append(part)
        most -= len(part)
    return b"".join(parts)


@contextmanager
def _opened(folder: Path) -> Iterator[int]:
    """The vault itself may be a link: the user named it."""
    try:
        fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as fault:
        raise VaultMissing(
            f"The notes in {folder} can't be read: {fault.strerror or fault}. Look whether the "
            "folder is there, or name another with --vault (or JARVIS_VAULT)."
        ) from fault
    try:
        yield fd
    finally:
        os.close(fd)


def _reached(top: int, inside: str) -> int:
    """The folder `inside`, step by step."""
    fd = os.dup(top)
    for part in filter(None, inside.split("/")):
        try:
            deeper = os.open(part, _FOLDER, dir_fd=fd)
        finally:
            os.close(fd)
        fd = deeper
    return fd


def _is_link(inside: int, name: str) -> bool:
    try:
        return stat.S_ISLNK(os.stat(name, dir_fd=inside, follow_symlinks=False).st_mode)
    except OSError:
        return True


def _stamp(found: os.stat_result) -> Stamp:
    return (found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino)
