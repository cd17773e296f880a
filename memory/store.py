"""Files that survive a crash at any instant: the only module that writes them.

A file of JSON lines only grows. A line is there when it ends with a newline; what a crash
left behind the last newline is finished if it is whole and cut off if it is torn, before
anything else is written. A page is replaced whole, or not at all.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import fcntl
import json
import os
import signal
import stat
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, cast

from memory.errors import StateUnwritable

Record = dict[str, Any]

_BLOCK_BYTES = 65_536
_SETTLING_S = 0.25
_SETTLING_STEP_S = 0.002

_REASONS = {
    errno.ENOSPC: "there is no room left on its disk. Free some space",
    errno.EDQUOT: "your disk quota is used up. Free some space",
    errno.EFBIG: "the file would grow beyond the size that is allowed. Raise the limit (ulimit -f)",
    errno.EROFS: "its disk is read-only. Choose another folder with --state or --vault",
    errno.EACCES: "you have no permission to write there. Change it, or choose another folder with --state or --vault",
    errno.EPERM: "you have no permission to write there. Change it, or choose another folder with --state or --vault",
    errno.ENOTDIR: "a part of its path is a file, not a folder. Choose another folder with --state or --vault",
    errno.EEXIST: "there is a file where a folder is needed. Choose another folder with --state or --vault",
    errno.EIO: "its disk reports a fault. Check the disk, or choose another folder with --state or --vault",
}


def unwritable(path: Path, fault: OSError) -> StateUnwritable:
    """The sentence for the user: what can't be written, why, and what to do."""
    reason = _REASONS.get(
        fault.errno or 0,
        f"the system says: {fault.strerror or fault}. Choose another folder with --state or --vault",
    )
    return StateUnwritable(f"{path} can't be written: {reason}. What was written before is safe.")


@contextlib.contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turns a failing disk into StateUnwritable."""
    try:
        yield
    except OSError as fault:
        raise unwritable(path, fault) from fault


def make_folder(path: Path, *, private: bool = False) -> None:
    """The folder and its parents; `private` keeps a new one from other users of the machine."""
    with writing(path):
        path.mkdir(mode=0o700 if private else 0o777, parents=True, exist_ok=True)


# Lines --------------------------------------------------------------------------------


def as_line(record: Record) -> bytes:
    try:
        return json.dumps(record, ensure_ascii=False).encode() + b"\n"
    except UnicodeEncodeError:  # half a surrogate pair, typed or pasted: only escaped it is UTF-8
        return json.dumps(record).encode() + b"\n"


def parse_line(line: bytes) -> Record | None:
    """The record, or None where the line is none."""
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None


def append_lines(path: Path, records: Sequence[Record]) -> None:
    """Append and sync: on return the lines are on disk, all of them or (raising) none.

    Mends a torn last line first. One writer at a time: the caller holds the file's lock.
    """
    with writing(path):
        new = not path.exists()
        fd = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            _mend(fd)
            _write_synced(fd, b"".join(map(as_line, records)))
        finally:
            os.close(fd)
        if new:
            _sync_folder(path.parent)


def _mend(fd: int) -> None:
    size = os.fstat(fd).st_size
    tail_at, tail = _tail(fd, size)
    if not tail:
        return
    if parse_line(tail) is None:
        os.ftruncate(fd, tail_at)
        os.fsync(fd)
    else:
        _write_synced(fd, b"\n")


def _tail(fd: int, size: int) -> tuple[int, bytes]:
    """What stands behind the last newline, and where it begins."""
    tail = b""
    at = size
    while at > 0:
        block_at = max(0, at - _BLOCK_BYTES)
        block = os.pread(fd, at - block_at, block_at)
        newline = block.rfind(b"\n")
        if newline >= 0:
            return block_at + newline + 1, block[newline + 1 :] + tail
        tail = block + tail
        at = block_at
    return 0, tail


def _write_synced(fd: int, content: bytes) -> None:
    size = os.fstat(fd).st_size
    view = memoryview(content)
    try:
        while view:
            view = view[os.write(fd, view) :]
        os.fsync(fd)
    except OSError:
        # Half a line must not stay where the next one goes; if even this fails, the next
        # append mends it.
        with contextlib.suppress(OSError):
            os.ftruncate(fd, size)
        raise


def remove(path: Path) -> None:
    with writing(path):
        path.unlink(missing_ok=True)


def erase(path: Path) -> None:
    """Overwrite the file with zeros, sync, and take it away. A file with a second name is only
    taken away here: what stands under the other name is somebody's copy."""
    with writing(path):
        try:
            found = path.lstat()
        except FileNotFoundError:
            return
        if stat.S_ISREG(found.st_mode) and found.st_nlink == 1:
            if not found.st_mode & 0o200:
                path.chmod(found.st_mode | 0o200)
            fd = os.open(path, os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
            try:
                _write_zeros(fd, found.st_size)
            finally:
                os.close(fd)
        path.unlink(missing_ok=True)
        _sync_folder(path.parent)


def _write_zeros(fd: int, size: int) -> None:
    zeros = bytes(_BLOCK_BYTES)
    left = size
    while left > 0:
        left -= os.write(fd, zeros[: min(left, len(zeros))])
    os.fsync(fd)


def remove_empty(path: Path) -> None:
    """Take a folder away, if nothing is in it."""
    with writing(path):
        try:
            path.rmdir()
        except FileNotFoundError:
            return
        except OSError as fault:
            if fault.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                raise


def replace_plainly(path: Path, content: bytes) -> None:
    """Put this into the file, whole or not at all; nobody else writes it."""
    part = path.with_name(f".{path.name}.tmp")
    with writing(path):
        fd = _opened_empty(part)
        try:
            _fill(fd, content, None)
            part.replace(path)
        except OSError:
            part.unlink(missing_ok=True)
            raise
        _sync_folder(path.parent)


# Pages --------------------------------------------------------------------------------


def replace(path: Path, content: bytes, *, expected: bytes | None) -> bool:
    """Put `content` in the place of `expected` (None: of no file), whole or not at all.

    False, and nothing is touched, when the file holds something else by now: somebody
    edited it. Permissions stay, and a link stays a link. The caller holds the folder's lock.
    """
    target = path.resolve()
    part = target.with_name(f".{target.name}.tmp")
    with writing(path):
        before = target.stat() if target.exists() else None
        fd = _opened_empty(part)
        try:
            _fill(fd, content, before)
            found = target.read_bytes() if target.exists() else None
            if found != expected:
                part.unlink()
                return False
            part.replace(target)
        except OSError:
            part.unlink(missing_ok=True)
            raise
        _sync_folder(target.parent)
    return True


# Pages that are logged before they change ----------------------------------------------


_UNTOLD: set[int] = set()
"""Devices that don't tell who has a file open."""


def read_settled(path: Path, *, awaited: bool = False) -> tuple[bytes | None, bool]:
    """What the file holds (None without a file), and whether nobody is in the middle of
    writing it.

    An editor that saves in place empties the file first. `awaited` means that it should be
    there: an editor that deletes and creates it leaves it missing for a moment. Such
    moments are waited for, at most `_SETTLING_S`.
    """
    until = time.monotonic() + _SETTLING_S
    while True:
        content, is_settled = read_once(path)
        is_settled = is_settled and not (content is None and awaited)
        if is_settled or time.monotonic() >= until:
            return content, is_settled or content is None
        time.sleep(_SETTLING_STEP_S)


def read_once(path: Path, *, follow: bool = True) -> tuple[bytes | None, bool]:
    """What the file holds, and whether nobody had it open for writing.

    Without `follow` a link is an OSError.
    """
    try:
        links = 0 if follow else os.O_NOFOLLOW
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | links)
    except FileNotFoundError:
        return None, True
    with os.fdopen(fd, "rb") as file:
        is_settled = _without_writer(fd)
        return file.read(), is_settled


def _without_writer(fd: int) -> bool:
    """Whether nobody has this file open for writing; True where the system can't tell.

    Linux grants a read lease only then. It is given back at once.
    """
    if sys.platform != "linux" or os.fstat(fd).st_dev in _UNTOLD:
        return True
    try:
        # Whoever opens the file in this instant makes the system signal us: with SIGURG,
        # which is ignored, instead of SIGIO, which ends a process.
        fcntl.fcntl(fd, fcntl.F_SETSIG, signal.SIGURG)
        fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_RDLCK)
        fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    except OSError as fault:
        return fault.errno != errno.EAGAIN
    return True


def is_read_only(path: Path) -> bool:
    """Whether nobody may write this file, as its mode says: replacing it would be possible,
    and against the user's wish."""
    found = _stat(path)
    return found is not None and not found.st_mode & 0o222


def is_same_file(one: Path, other: Path) -> bool:
    """Whether these are two names of one file."""
    first, second = _stat(one), _stat(other)
    return first is not None and second is not None and os.path.samestat(first, second)


def _stat(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except FileNotFoundError:
        return None


def stage(part: Path, page: Path, content: bytes) -> None:
    """Write and sync what is to become `page` under the name `part`, in the same folder.

    `part` is there whole or not at all, and stays until the page holds what it held.
    """
    beginning = part.with_name(f"{part.name}.tmp")
    with writing(page):
        before = _stat(page)
        fd = _opened_empty(beginning)
        try:
            _fill(fd, content, before)
            _learn_what_is_told(beginning)
            beginning.replace(part)
        except OSError:
            beginning.unlink(missing_ok=True)
            raise


def _learn_what_is_told(own: Path) -> None:
    """Network disks refuse leases as if somebody had the file open. Nobody has this one."""
    fd = os.open(own, os.O_RDONLY | os.O_CLOEXEC)
    try:
        if not _without_writer(fd):
            _UNTOLD.add(os.fstat(fd).st_dev)
    finally:
        os.close(fd)


def commit(part: Path, page: Path, *, expected: bytes | None) -> bool:
    """Put the staged `part` in the place of `page` (None: of no file).

    False when the page isn't `expected` any more: it stays what somebody else has saved,
    and `part` stays as well. Where the system can exchange two names in one step (Linux,
    most disks) there is no instant in which another program's save is overwritten.
    """
    with writing(page):
        try:
            done = _create(part, page) if expected is None else _change(part, page, expected)
        except FileNotFoundError:  # deleted in this instant
            if not part.exists():
                raise
            return False
        _sync_folder(page.parent)
    return done


def _create(part: Path, page: Path) -> bool:
    try:
        page.hardlink_to(part)
    except FileExistsError:
        return False
    except OSError:  # a disk without links
        if page.exists():
            return False
        part.replace(page)
        return True
    part.unlink()
    return True


def _change(part: Path, page: Path, expected: bytes) -> bool:
    if page.read_bytes() != expected:
        return False
    ours = part.read_bytes()
    if not _exchange(part, page):
        part.replace(page)
        return True
    if read_settled(part) == (expected, True):
        part.unlink()
        return True
    give_back(part, page, ours)
    return False


def give_back(part: Path, page: Path, ours: bytes) -> None:
    """`part` is a save of somebody's that `ours` took the place of: make it the page again.

    If the page was saved once more since, the later save stays. `part` is ours again.
    """
    with writing(page):
        try:
            _exchange(part, page)
        except FileNotFoundError:  # an editor that deletes and creates
            part.replace(page)
        else:
            if read_settled(part)[0] == ours:
                return
            _exchange(part, page)
    stage(part, page, ours)


def set_aside(part: Path, page: Path) -> Path:
    """Make `part` a file of its own beside the page, for the user to see."""
    with writing(page):
        shown = page.with_name(f"{page.stem} (saved meanwhile){page.suffix}")
        number = 1
        while shown.exists():
            number += 1
            shown = page.with_name(f"{page.stem} (saved meanwhile {number}){page.suffix}")
        part.rename(shown)
        _sync_folder(page.parent)
    return shown


def _exchange(one: Path, other: Path) -> bool:
    """Exchange two names in one step; False where the system can't."""
    if _renameat2 is None:
        return False
    done = _renameat2(_AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(other), _EXCHANGE)
    if done == 0:
        return True
    code = ctypes.get_errno()
    if code in (errno.EINVAL, errno.ENOSYS, errno.ENOTSUP):
        return False
    raise OSError(code, os.strerror(code), str(other))


def _find_renameat2() -> Callable[..., int] | None:
    if sys.platform != "linux":
        return None
    found = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if found is None:
        return None
    found.argtypes = (
        ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint,
    )  # fmt: skip
    found.restype = ctypes.c_int
    return cast("Callable[..., int]", found)


_AT_FDCWD = -100
_EXCHANGE = 2
_renameat2 = _find_renameat2()


def append_text(path: Path, text: str) -> None:
    """Append and sync, all of it or (raising) nothing. The caller holds the file's lock."""
    with writing(path):
        new = not path.exists()
        fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try:
            _write_synced(fd, text.encode())
        finally:
            os.close(fd)
        if new:
            _sync_folder(path.parent)


def _opened_empty(path: Path) -> int:
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o666)


def _fill(fd: int, content: bytes, like: os.stat_result | None) -> None:
    """Write, sync and close a file that has the owner and permissions of what it is to replace."""
    try:
        if like is not None:
            _dress_as(fd, like)
        _write_synced(fd, content)
    finally:
        os.close(fd)


def _dress_as(fd: int, before: os.stat_result) -> None:
    with contextlib.suppress(PermissionError):  # only root may give a file away
        os.fchown(fd, before.st_uid, before.st_gid)
    os.fchmod(fd, stat.S_IMODE(before.st_mode))


def _sync_folder(folder: Path) -> None:
    """A new name is on disk when its folder is."""
    fd = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
