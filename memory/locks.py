"""Locks between processes and threads: a file each, which goes when the lock is dropped."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import FileLock, Timeout

from memory import store
from memory.errors import StateUnwritable

_LOCK_TIMEOUT_S = 10.0
_LOCK_STEP_S = 0.01


def _acquired(holder: FileLock, timeout_s: float) -> bool:
    with store.writing(Path(holder.lock_file)):
        try:
            holder.acquire(timeout=timeout_s, poll_interval=_LOCK_STEP_S)
        except Timeout:  # an OSError too, but no fault of the disk
            return False
    return True


@contextmanager
def locked(path: Path, timeout_s: float = _LOCK_TIMEOUT_S) -> Iterator[None]:
    """Hold the lock at `path` for as long as this is open.

    Waiters queue: whoever stands first holds `<path>.next`. Otherwise a process that writes
    on and on would take the lock again before another looks.
    """
    until = time.monotonic() + timeout_s
    holder = None
    first = try_lock(path.with_name(f"{path.name}.next"), timeout_s)
    if first is not None:
        try:
            holder = try_lock(path, max(0.0, until - time.monotonic()))
        finally:
            drop_lock(first)
    if holder is None:
        raise StateUnwritable(
            f"Another process has held {path} for {timeout_s:.0f} seconds. "
            "End the other Jarvis, then try again."
        )
    try:
        yield
    finally:
        drop_lock(holder)


def try_lock(path: Path, timeout_s: float = 0.0) -> FileLock | None:
    """The lock, held; or None when another holds it.

    It serves any thread of this process, and the system frees it when the process dies.
    """
    holder = FileLock(path, thread_local=False)
    return holder if _acquired(holder, timeout_s) else None


@contextmanager
def held(path: Path) -> Iterator[bool]:
    """Whether the lock at `path` is ours for as long as this is open; nobody is waited for."""
    holder = try_lock(path)
    if holder is None:
        yield False
        return
    try:
        yield True
    finally:
        drop_lock(holder)


def drop_lock(holder: FileLock) -> None:
    """Release a lock and take its file away.

    The file goes while the lock is held: whoever waits on it sees that it is gone and
    begins anew.
    """
    try:
        with suppress(StateUnwritable):
            store.remove(Path(holder.lock_file))
    finally:
        holder.release()
