"""One watched folder as it was seen: what each of its files held."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path

from memory.watching.changes import What
from memory.watching.status import WatchedFolder
from memory.watching.tree import IGNORE_FILES, Folder, Stamp, Tree

log = logging.getLogger(__name__)

DIGESTED_BYTES = 8 * 1024 * 1024
"""A larger file counts as changed when its time or size does."""
GONE_S = 0.3
"""A file is gone when it is missing for so long: some editors delete, then create."""
WRITING_S = 2.0
"""A file that somebody has open for writing is read after this all the same."""


class Watched:
    """`digests` are what the files hold, by path; empty `folders` while the folder is away.

    `unsure` are files that are missing or being written: they are to be examined again.
    """

    def __init__(self, tree: Tree, clock: Callable[[], float] = time.monotonic) -> None:
        self.tree = tree
        self.folders: dict[str, Folder] = {}
        self.digests: dict[str, str] = {}
        self.unsure: dict[str, float] = {}
        self._stamps: dict[str, Stamp] = {}
        self._clock = clock
        self._inode = 0
        self._left_out = 0

    def has_moved(self) -> bool:
        """Whether the folder itself went, came back, or is another: what the system tells of it
        is of no use then."""
        return self._inode != (self.tree.inode() if self.tree.is_there() else 0)

    def look(self) -> list[str]:
        """Everything anew; the files that may hold something else than they did."""
        is_there = self.tree.is_there()
        self._inode = self.tree.inode() if is_there else 0
        if not is_there:
            # A drive that is away for a moment: nothing on it was deleted.
            self.folders = {}
            self.unsure.clear()
            return []
        found = self.tree.look()
        self.folders, self._left_out = found.folders, found.left_out
        return [rel for rel, stamp in found.files.items() if self._stamps.get(rel) != stamp] + [
            rel for rel in self.digests if rel not in found.files
        ]

    def told_of(self, path: str) -> str | None:
        """The file that is to be examined when the system names this path, absolute; "" where more
        than a file has changed; None where nothing that counts has."""
        root = str(self.tree.root)
        if path == root:
            return ""
        if not path.startswith(f"{root}/"):
            return None
        rel = path[len(root) + 1 :]
        parent, _, name = rel.rpartition("/")
        here = self.folders.get(f"{parent}/" if parent else "")
        if here is None:
            return None
        if f"{rel}/" in self.folders or name in IGNORE_FILES:
            return ""
        if self.tree.is_folder(rel):
            return "" if self.tree.wants_folder(here, name) else None
        return rel if rel in self.digests or self.tree.wants_file(here, name) else None

    def examine(self, rel: str, *, at_once: bool = False) -> What | None:
        """What became of the file since it was examined last; None where it holds what it held,
        or is not settled yet. `at_once` waits for nothing."""
        if not self.folders:
            return None
        stamp = self.tree.stamp(rel)
        content, is_settled = self.content(rel, stamp)
        if stamp is None or content is None:
            if rel not in self.digests or not (at_once or self._waited(rel, GONE_S)):
                return None
            del self.digests[rel]
            self._stamps.pop(rel, None)
            return "gone"
        if not self._is_wanted(rel):  # an ignore file names it by now
            self.digests.pop(rel, None)
            self.unsure.pop(rel, None)
            return None
        if not (is_settled or at_once or self._waited(rel, WRITING_S)):
            return None
        self.unsure.pop(rel, None)
        self._stamps[rel] = stamp
        before = self.digests.get(rel)
        found = self.digests[rel] = digest(stamp, content)
        if found == before:
            return None
        return "new" if before is None else "changed"

    def _is_wanted(self, rel: str) -> bool:
        parent, _, name = rel.rpartition("/")
        here = self.folders.get(f"{parent}/" if parent else "")
        return here is not None and self.tree.wants_file(here, name)

    def _waited(self, rel: str, seconds: float) -> bool:
        """Whether it has been unsure for so long; then it is no more."""
        now_s = self._clock()
        if now_s - self.unsure.setdefault(rel, now_s) < seconds:
            return False
        del self.unsure[rel]
        return True

    def content(self, rel: str, stamp: Stamp | None) -> tuple[bytes | None, bool]:
        """What the file holds, nothing of a giant one, and whether nobody writes it."""
        if stamp is None:
            self._forget_unsure(rel)
            return None, True
        if stamp[1] > DIGESTED_BYTES:
            return b"", True
        try:
            return self.tree.read(rel)
        except OSError as fault:
            log.info("a watched file can't be read: %s", fault.strerror)
            return None, True

    def _forget_unsure(self, rel: str) -> None:
        if rel not in self.digests:
            self.unsure.pop(rel, None)

    def path(self, rel: str) -> Path:
        return self.tree.path(rel)

    def project_of(self, rel: str) -> str:
        """The project that a file is in, or was in: "" for the folder itself."""
        parent = rel.rpartition("/")[0]
        while True:
            folder = self.folders.get(f"{parent}/" if parent else "")
            if folder is not None:
                return folder.project
            if not parent:
                return ""
            parent = parent.rpartition("/")[0]

    def shown(self) -> WatchedFolder:
        projects = {folder.project for folder in self.folders.values()} - {""}
        return WatchedFolder(
            path=str(self.tree.root),
            kind=self.tree.kind,
            state="watching" if self.folders else "gone",
            projects=tuple(sorted(path.rstrip("/") for path in projects)),
            files=len(self.digests),
            left_out=self._left_out,
        )


def digest(stamp: Stamp, content: bytes) -> str:
    """What tells one content from another; a giant file is told by size and time."""
    if stamp[1] > DIGESTED_BYTES:
        return f"{stamp[1]}-{stamp[0]}"
    return blake2b(content, digest_size=12).hexdigest()
