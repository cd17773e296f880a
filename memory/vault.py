"""The user's folder, read: persona and notebooks from `<vault>/society/jarvis/`."""

from __future__ import annotations

import os
import re
import stat
import time
from dataclasses import dataclass, replace
from pathlib import Path

from memory import locks, store
from memory.errors import VaultMissing
from memory.notebooks.edit import BEGINNINGS
from memory.notebooks.page import Page, read_page

PERSONA, USER, MEMORY = "persona.md", "USER.md", "MEMORY.md"

# Of a larger file only the beginning is read: the prefix takes 8,000 characters of it.
_FILE_BYTES = 256 * 1024

# A file that was written this recently may change again without another time or size.
_FRESH_NS = 50_000_000

# Dropbox, Nextcloud, Google Drive and we ourselves: "USER (…).md"; Syncthing:
# "USER.sync-conflict-….md"; iCloud: "USER 2.md"; OneDrive: "USER-DESKTOP-1A2B.md"; git and
# ownCloud: "USER_conflict-….md", "USER.md.orig".
_CONFLICT_COPY = re.compile(
    r"(?P<stem>USER|MEMORY|persona|changes)"
    r"(?:(?: ?\([^()]*\)|[._-](?i:sync-)?(?i:conflict)[^/]*| \d+|-[A-Z][A-Z0-9-]*)(?P<suffix>\.md|\.jsonl)"
    r"|(?P<orig>\.md|\.jsonl)\.(?:orig|rej|bak~?))"
)

_Stamp = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class _Seen:
    stamp: _Stamp | None
    page: Page


def copied_page(name: str) -> str | None:
    """The page or log that a file of this name is, or is a copy of; None for any other file."""
    if name in (USER, MEMORY, PERSONA, "changes.jsonl"):
        return name
    found = _CONFLICT_COPY.fullmatch(name)
    return f"{found['stem']}{found['suffix'] or found['orig']}" if found else None


class Vault:
    """Reads a page anew only when its file changed; asking costs one `stat`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.folder = path / "society" / "jarvis"
        self._seen: dict[str, _Seen] = {}

    def check(self, *, create: bool) -> None:
        """Raises VaultMissing; `create` makes the folder and notebooks that aren't there.

        Nothing that is there is touched.
        """
        if create:
            self._create()
        if not self.path.exists():
            raise VaultMissing(
                f"The vault {self.path} isn't there. Make the folder, or name another with "
                "--vault (or JARVIS_VAULT)."
            )
        if not self.path.is_dir():
            raise VaultMissing(
                f"The vault {self.path} is a file, not a folder. Name a folder with --vault "
                "(or JARVIS_VAULT)."
            )
        if not os.access(self.path, os.R_OK | os.X_OK):
            raise VaultMissing(
                f"The vault {self.path} may not be read by this user. Change its permissions, "
                "or name another with --vault (or JARVIS_VAULT)."
            )

    def _create(self) -> None:
        store.make_folder(self.folder)
        if all((self.folder / name).exists() for name in BEGINNINGS):
            return
        with locks.locked(self.folder / ".lock"):
            for name, beginning in BEGINNINGS.items():
                store.replace(self.folder / name, beginning.encode(), expected=None)

    def conflict_copies(self) -> tuple[str, ...]:
        """A sentence for each copy that a sync program made of a notebook or of the log.

        Nobody reads or writes them; what stands only there is not known.
        """
        try:
            names = sorted(os.listdir(self.folder))  # noqa: PTH208 - names are all that is wanted
        except OSError:
            return ()
        return tuple(
            f"{self.folder / name} is a second copy of "
            f"{''.join((found['stem'], found['suffix'] or found['orig']))}, made by a program that "
            "keeps folders in step. Jarvis doesn't read it: move what you want to keep over, then "
            "delete it."
            for name in names
            if (found := _CONFLICT_COPY.fullmatch(name))
        )

    def page(self, name: str) -> Page:
        """The page as it is on disk now. A file that isn't there is an empty page."""
        path = self.folder / name
        seen = self._seen.get(name)
        try:
            found = path.stat()
        except (FileNotFoundError, NotADirectoryError):
            if seen is not None and not self.path.is_dir():
                return _kept(seen.page, path, f"the vault {self.path} is gone")
            self._seen[name] = _Seen(None, Page(name=name))
            return Page(name=name)
        except OSError as fault:
            return _kept(seen.page if seen else Page(name=name), path, fault.strerror or str(fault))
        stamp = (found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino)
        if seen is not None and seen.stamp == stamp:
            return seen.page
        page = self._read(name, path)
        is_fresh = time.time_ns() - found.st_mtime_ns < _FRESH_NS
        self._seen[name] = _Seen(None if is_fresh else stamp, page)
        return page

    def _read(self, name: str, path: Path) -> Page:
        # A vault may come from somewhere else; what lies outside of it is none of its business.
        if not path.resolve().is_relative_to(self.path.resolve()):
            return Page(
                name=name,
                warnings=(_unread(path, "it is a link to a place outside of the vault"),),
            )
        try:
            # Non-blocking: opening a named pipe would wait for its other end.
            fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
            with os.fdopen(fd, "rb") as file:
                if not stat.S_ISREG(os.fstat(fd).st_mode):
                    return Page(name=name, warnings=(_unread(path, "it is not a file"),))
                content = file.read(_FILE_BYTES + 1)
        except OSError as fault:
            return Page(name=name, warnings=(_unread(path, fault.strerror or str(fault)),))
        return read_page(name, _beginning(content))


def _kept(page: Page, path: Path, reason: str) -> Page:
    """What was read of it before, while it can't be read: a drive that is away for a moment."""
    return replace(page, warnings=(*page.warnings, _unread(path, reason)))


def _unread(path: Path, reason: str) -> str:
    return (
        f"{path} was not read: {reason}. Put a plain text file there that you may read; until "
        "then Jarvis knows nothing new from it."
    )


def _beginning(content: bytes) -> bytes:
    """Of a giant file the lines that are whole; of one giant line its beginning."""
    if len(content) <= _FILE_BYTES:
        return content
    cut = content[:_FILE_BYTES]
    whole, newline, _ = cut.rpartition(b"\n")
    if newline:
        return whole + newline
    while cut and cut[-1] & 0xC0 == 0x80:  # the tail of a letter in UTF-8 …
        cut = cut[:-1]
    return cut[:-1]  # … and its head
