"""Who uses a state folder: every process that has its memory open, or one that wipes it."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from memory import store
from memory.errors import StateUnwritable

NAME = "in-use.lock"


class Presence:
    """Shared from `enter` to `leave`; the system frees it when the process dies.

    A state folder that isn't there, or can't be written, has no lock: there is nothing to wipe,
    or nobody can. Entering once more is no harm.
    """

    def __init__(self, state: Path) -> None:
        self._path = state / NAME
        self._fd: int | None = None

    def enter(self) -> None:
        """Raises StateUnwritable while another process wipes this state."""
        if self._fd is not None:
            return
        try:
            self._fd = self._open()
        except OSError:
            return
        if not _lock(self._fd, fcntl.LOCK_SH):
            self.leave()
            raise StateUnwritable(
                f"{self._path.parent} is being wiped by another Jarvis. Try again in a minute."
            )

    def leave(self) -> None:
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    @contextmanager
    def alone(self) -> Iterator[bool]:
        """Whether nobody else uses the state, for as long as this is open: who comes waits."""
        entered = self._fd is not None
        store.make_folder(self._path.parent, private=True)
        fd = self._fd if self._fd is not None else self._open()
        if not _lock(fd, fcntl.LOCK_EX):
            if not entered:
                os.close(fd)
            else:
                _lock(fd, fcntl.LOCK_SH)
            yield False
            return
        try:
            yield True
        finally:
            if entered:
                _lock(fd, fcntl.LOCK_SH)
            else:
                with suppress(OSError):
                    store.remove(self._path)
                os.close(fd)

    def _open(self) -> int:
        """The lock as it is now; one that a wipe took away meanwhile is none."""
        while True:
            fd = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                if os.path.samestat(os.fstat(fd), self._path.stat()):
                    return fd
            except FileNotFoundError:
                pass
            os.close(fd)


def _lock(fd: int, kind: int) -> bool:
    try:
        fcntl.flock(fd, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a disk without locks
        return kind == fcntl.LOCK_SH
    return True
