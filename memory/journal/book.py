"""The journal on disk: `<vault>/society/jarvis/daily/2026-02-05.md` and `topics/<slug>.md`.

It can only be appended to (m21). What somebody wrote into it stays to the letter.
"""

from __future__ import annotations

import logging
import os
import re
import stat
from datetime import date
from pathlib import Path

from memory import locks, store
from memory.days import day_of
from memory.errors import MemoryFault
from memory.journal import page
from memory.notebooks.edit import clean_text
from memory.notebooks.page import read_text
from memory.records import JournalDay, JournalEntry, JournalKind, JournalRead
from memory.vault import Vault

log = logging.getLogger(__name__)

DAY_BYTES = 1024 * 1024
"""Of a larger file only the beginning is read."""

_LINE_END = re.compile(r"\r\n|\r|\n")
_ENDS_APART = re.compile(r"\n[ \t]*\n$")
_DAY = re.compile(r"(\d{4}-\d{2}-\d{2})\.md")


def file_of(vault: Vault, day: date) -> Path:
    return vault.folder / "daily" / f"{day.isoformat()}.md"


def topic_file(vault: Vault, tag: str) -> Path:
    """`tag` is a slug."""
    return vault.folder / "topics" / f"{tag}.md"


def append(vault: Vault, entry: JournalEntry, *, once: bool = False) -> Path:
    """Put an entry at the end of its day's file, synced, and a line into the file of each topic.

    `once` leaves out what stands there already, to the letter: for a writer that may have
    crashed behind it. Raises StateUnwritable, NotebookUnwritable (a file that is no UTF-8).
    """
    path = file_of(vault, day_of(entry.at))
    _append(path, page.heading(day_of(entry.at)), page.lines(entry), once=once, apart=True)
    for tag in page.slugs(entry.tags):
        try:
            _append(
                topic_file(vault, tag), page.topic_heading(tag), page.topic_line(entry), once=once
            )
        except MemoryFault as fault:
            # The entry stands in its day: a topic's file that can't be written costs its line.
            log.warning("%s", fault)
    return path


def _append(path: Path, heading: str, new: str, *, once: bool, apart: bool = False) -> None:
    store.make_folder(path.parent)
    with locks.locked(path.parent / ".lock"):
        with store.writing(path):
            content = path.read_bytes() if path.exists() else b""
        written = clean_text(path.name, content)
        there = _LINE_END.sub("\n", written)
        if once and new in there:
            return
        if not there.strip():
            new = heading + new
        elif not there.endswith("\n"):
            new = f"\n\n{new}" if apart else f"\n{new}"
        elif apart and not _ENDS_APART.search(there):
            new = f"\n{new}"
        found = _LINE_END.search(written)
        store.append_text(path, new.replace("\n", found[0] if found else "\n"))


# Reading ------------------------------------------------------------------------------


def days(vault: Vault) -> tuple[date, ...]:
    """The days that have a file, newest first."""
    try:
        names = os.listdir(vault.folder / "daily")  # noqa: PTH208 - names are all that is wanted
    except OSError:
        return ()
    found = []
    for name in names:
        match = _DAY.fullmatch(name)
        if match is not None:
            try:
                found.append(date.fromisoformat(match[1]))
            except ValueError:  # the user's own "2026-02-31.md"
                continue
    return tuple(sorted(found, reverse=True))


def day(vault: Vault, which: date) -> JournalDay:
    """The file of a day as it is now; without entries where there is none."""
    path = file_of(vault, which)
    name = path.relative_to(vault.path).as_posix()
    content, warning = _content(vault, path)
    read = read_text(path.name, content)
    return JournalDay(
        day=which,
        file=name,
        entries=page.read(which, read.text),
        warning=warning or next(iter(read.warnings), None),
    )


def _content(vault: Vault, path: Path) -> tuple[bytes, str | None]:
    """What the file holds, and why it holds less than it should."""
    try:
        if not path.resolve().is_relative_to(vault.path.resolve()):
            return b"", _unread(path, "it is a link to a place outside of the vault")
        # Non-blocking: opening a named pipe would wait for its other end.
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(fd, "rb") as file:
            if not stat.S_ISREG(os.fstat(fd).st_mode):
                return b"", _unread(path, "it is not a file")
            content = file.read(DAY_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError):
        return b"", None
    except OSError as fault:
        return b"", _unread(path, fault.strerror or str(fault))
    if len(content) > DAY_BYTES:
        whole = content[:DAY_BYTES].rpartition(b"\n")[0]
        return whole, f"{path} is very large: only its first {DAY_BYTES >> 20} MiB were read."
    return content, None


def _unread(path: Path, reason: str) -> str:
    return f"{path} was not read: {reason}. Put a plain text file there that you may read."


def latest(
    vault: Vault, kinds: tuple[JournalKind, ...] = page.KINDS, *, limit: int, days_back: int = 400
) -> tuple[JournalRead, ...]:
    """The newest entries of these kinds, newest first, out of so many of the latest files."""
    found: list[JournalRead] = []
    for which in days(vault)[:days_back]:
        here = [entry for entry in day(vault, which).entries if entry.kind in kinds]
        # By their time: an entry may have been appended late. The later in the file, the newer.
        here.sort(key=lambda entry: entry.time.isoformat() if entry.time else "")
        found += reversed(here)
        if len(found) >= limit:
            break
    return tuple(found[:limit])
