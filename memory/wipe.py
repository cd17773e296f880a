"""Wipe means wipe (S4): what Jarvis knows is listed, then overwritten and taken away.

What goes is Jarvis' own: its folder in the vault but for `persona.md`, and what it keeps in the
state folder. The user's notes and the models' weights are no memory and stay. The list is on
disk before the first file goes, so that a wipe that was cut short is finished at the next start.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

from memory import locks, store
from memory.errors import StateUnwritable, WipeRefused
from memory.presence import NAME as PRESENCE
from memory.presence import Presence
from memory.vault import PERSONA, copied_page

log = logging.getLogger(__name__)

MARKER = "wiping.json"
RECORDINGS = "recordings.jsonl"
"""Where calls were recorded: folders that the user chose, a line each."""
_RECORDED = "call.json"
_REVIEWER_S = 10.0

What = Literal[
    "notebooks",
    "change log",
    "journal",
    "event log and lessons",
    "index",
    "transcripts and recordings",
    "reviews",
    "waiting for room",
    "watched projects",
    "model states",
    "recordings",
]

# Names below the state folder; a folder is taken whole. Lessons, notes of what was searched and
# the watcher's own memory are in databases of these names.
_IN_STATE: tuple[tuple[What, tuple[str, ...]], ...] = (
    ("event log and lessons", ("events.db*", "events.damaged-*", "events.lock*")),
    ("index", ("index.*", "index-*", ".index*")),
    ("transcripts and recordings", ("calls",)),
    ("reviews", ("reviews",)),
    ("waiting for room", ("waiting.jsonl*", ".waiting.jsonl*")),
    ("recordings", (RECORDINGS,)),
    ("watched projects", ("watch*", "thinking*", "journal*")),
    ("model states", ("model-states",)),
)
_JOURNAL = ("daily", "topics")
# Parts of a page, an exchange or a lock that a crash left behind.
_LEFT_OVER = re.compile(
    r"\.(?P<name>USER\.md|MEMORY\.md|changes\.jsonl|.+\.md)\..*(?:part|tmp)|\.lock(?:\.next)?"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class WipeItem:
    """What goes under one name: so many files, `bytes` of them, in these places."""

    what: What
    places: tuple[str, ...]
    files: int
    bytes: int

    def as_json(self) -> dict[str, Any]:
        return {
            "what": self.what,
            "places": list(self.places),
            "files": self.files,
            "bytes": self.bytes,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class WipePlan:
    """What a wipe would clear; `stays` are sentences about what it leaves. `paths` are the files,
    then the folders that are empty afterwards, deepest first."""

    items: tuple[WipeItem, ...]
    stays: tuple[str, ...]
    paths: tuple[Path, ...]
    folders: tuple[Path, ...]

    @property
    def bytes(self) -> int:
        return sum(each.bytes for each in self.items)

    def as_json(self) -> dict[str, Any]:
        return {
            "items": [each.as_json() for each in self.items],
            "bytes": self.bytes,
            "stays": list(self.stays),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class WipeReport:
    """What was cleared, and what could not be, each with why."""

    cleared: tuple[WipeItem, ...]
    failed: tuple[str, ...]
    stays: tuple[str, ...]

    @property
    def bytes(self) -> int:
        return sum(each.bytes for each in self.cleared)

    def as_json(self) -> dict[str, Any]:
        return {
            "cleared": [each.as_json() for each in self.cleared],
            "bytes": self.bytes,
            "failed": list(self.failed),
            "stays": list(self.stays),
        }


# What there is -------------------------------------------------------------------------


def plan(folder: Path, state: Path) -> WipePlan:
    """What a wipe would clear now. `folder` is `<vault>/society/jarvis`."""
    found: dict[What, list[Path]] = {}
    stays: list[str] = []
    for path in _recordings(state):
        found.setdefault("recordings", []).append(path)
    for path in _inside(folder):
        what = _in_vault(path)
        if what is not None:
            found.setdefault(what, []).append(path)
        elif path.name != PERSONA:
            stays.append(f"{path} stays: it is none of Jarvis' files.")
    for path in _inside(state):
        what = next((w for w, names in _IN_STATE if any(map(path.match, names))), None)
        if what is not None:
            found.setdefault(what, []).append(path)
        elif path.name not in (MARKER, PRESENCE):
            stays.append(f"{path} stays: it is none of Jarvis' files.")
    if (folder / PERSONA).exists():
        stays.append(f"{folder / PERSONA} stays: how Jarvis is, which you may edit.")
    files: list[Path] = []
    folders: list[Path] = []
    items = []
    for what, places in found.items():
        here: list[Path] = []
        for place in places:
            _gather(place, here, folders, stays)
        if here or places:
            items.append(
                WipeItem(
                    what=what,
                    places=tuple(map(str, sorted(places))),
                    files=len(here),
                    bytes=sum(map(_size, here)),
                )
            )
        files += here
    return WipePlan(
        items=tuple(items), stays=tuple(stays), paths=tuple(files), folders=tuple(folders)
    )


def recorded_in(state: Path, folder: Path) -> None:
    """A call is being recorded there: a wipe takes the recording too. Raises StateUnwritable."""
    store.make_folder(state, private=True)
    with locks.locked(state / f"{RECORDINGS}.lock"):
        store.append_lines(state / RECORDINGS, [{"folder": str(folder)}])


def _recordings(state: Path) -> list[Path]:
    """Those that are still there, and still are recordings."""
    try:
        lines = (state / RECORDINGS).read_bytes().splitlines()
    except OSError:
        return []
    named = (record.get("folder") for line in lines if (record := store.parse_line(line)))
    folders = {Path(name) for name in named if isinstance(name, str)}
    return sorted(
        path
        for path in folders
        if (path / _RECORDED).is_file() and not path.is_relative_to(state / "calls")
    )


def _inside(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except (FileNotFoundError, NotADirectoryError):
        return []


def _in_vault(path: Path) -> What | None:
    name = path.name
    if name in _JOURNAL:
        return "journal"
    page = copied_page(name)
    left = _LEFT_OVER.fullmatch(name)
    if left is not None:
        page = left["name"] or "changes.jsonl"
    if page is None or page == PERSONA:
        return None
    return "change log" if page.endswith(".jsonl") else "notebooks"


def _gather(place: Path, files: list[Path], folders: list[Path], stays: list[str]) -> None:
    """The files of a place, and its folders, the inner ones first. A link goes itself; what it
    leads to is not ours."""
    if place.is_dir() and not place.is_symlink():
        for inner in _inside(place):
            _gather(inner, files, folders, stays)
        folders.append(place)
        return
    if place.is_symlink():
        stays.append(f"{place} is a link: the link goes, what it leads to stays.")
    files.append(place)


def _size(path: Path) -> int:
    try:
        return path.lstat().st_size
    except OSError:
        return 0


# What goes -----------------------------------------------------------------------------


def wipe(
    folder: Path,
    state: Path,
    at: datetime,
    *,
    presence: Presence,
    log_held: AbstractContextManager[None] | None = None,
) -> WipeReport:
    """Clear it all; on return it is off the disk. Raises WipeRefused, and nothing is touched, while
    a call or a chat goes on or another process uses this state; StateUnwritable where not even the
    list can be written.

    `log_held` keeps the event log of this process from being used meanwhile, and closes it only
    then: SQLite would take its write-ahead log away without overwriting it. What one file refuses costs no other: it is
    in `failed`, and the next start or wipe tries again.
    """
    with presence.alone() as alone:
        if not alone:
            raise WipeRefused(
                f"Another Jarvis uses {state}: a call, a chat, the page or a watch. End it, then "
                "wipe."
            )
        with _nobody_talks(state), _nobody_reviews(state), log_held or nullcontext():
            todo = plan(folder, state)
            store.make_folder(state, private=True)
            _mark(state, todo, at)
            return _clear(todo, state)


@contextmanager
def _nobody_talks(state: Path) -> Iterator[None]:
    """Conversations of this very process hold their own files."""
    for lock in sorted((state / "calls").glob("*.lock")):
        holder = locks.try_lock(lock)
        if holder is None:
            raise WipeRefused(f"A call or a chat goes on ({lock.stem}). Hang up, then wipe.")
        locks.drop_lock(holder)
    yield


@contextmanager
def _nobody_reviews(state: Path) -> Iterator[None]:
    """A review that is under way would write what it found into new notebooks."""
    lock = state / "reviews" / "lock"
    if not lock.parent.is_dir():
        yield
        return
    holder = locks.try_lock(lock, _REVIEWER_S)
    if holder is None:
        raise WipeRefused("A review is under way. Try again in a minute.")
    try:
        yield
    finally:
        locks.drop_lock(holder)


def _mark(state: Path, todo: WipePlan, at: datetime) -> None:
    """What goes, before it goes."""
    record = {
        "at": at.isoformat(),
        "files": [str(path) for path in todo.paths],
        "folders": [str(path) for path in todo.folders],
    }
    store.replace_plainly(state / MARKER, json.dumps(record).encode())


def _clear(todo: WipePlan, state: Path) -> WipeReport:
    failed = _erase(todo.paths, todo.folders)
    if not failed:
        store.erase(state / MARKER)
    cleared = _cleared(todo)
    log.info(
        "wiped: %d files, %d bytes; %d could not be",
        sum(each.files for each in cleared), sum(each.bytes for each in cleared), len(failed),
    )  # fmt: skip
    return WipeReport(cleared=cleared, failed=failed, stays=todo.stays)


def _erase(files: Sequence[Path], folders: Sequence[Path]) -> tuple[str, ...]:
    failed: list[str] = []
    for path in files:
        try:
            store.erase(path)
        except StateUnwritable as fault:
            failed.append(str(fault))
    for path in folders:
        try:
            store.remove_empty(path)
        except StateUnwritable as fault:
            failed.append(str(fault))
    return tuple(failed)


def _cleared(todo: WipePlan) -> tuple[WipeItem, ...]:
    """The plan's items without what is still there."""
    return tuple(
        replace(
            item,
            files=item.files - len(left),
            bytes=item.bytes - sum(map(_size, left)),
        )
        for item in todo.items
        for left in [_left(item, todo)]
    )


def _left(item: WipeItem, todo: WipePlan) -> list[Path]:
    return [
        path
        for path in todo.paths
        if any(path.is_relative_to(place) for place in item.places)
        and path.is_symlink() | path.exists()
    ]


def finish(folder: Path, state: Path) -> str | None:
    """Finish a wipe that was cut short: a sentence about it, or None where none was.

    Only what was on its list goes, and only from Jarvis' own folders. Raises StateUnwritable.
    """
    marker = state / MARKER
    try:
        written = marker.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as fault:
        raise store.unwritable(marker, fault) from fault
    record = store.parse_line(written) or {}
    ours = (folder.resolve(), state.resolve())
    files = [path for path in map(Path, record.get("files", ())) if _is_within(path, ours)]
    folders = [path for path in map(Path, record.get("folders", ())) if _is_within(path, ours)]
    failed = _erase(files, folders)
    if failed:
        raise StateUnwritable(
            f"A wipe that was cut short can't be finished: {failed[0]} Then start again, or run "
            "`jarvis wipe`."
        )
    elsewhere = [path for path in record.get("files", ()) if Path(path) not in files]
    left = [path for path in elsewhere if Path(path).exists()]
    store.erase(marker)
    if left:
        return (
            f"A wipe of {record.get('at', 'before')} was cut short. {len(left)} files elsewhere are "
            f"left of it ({left[0]} …): run `jarvis wipe` once more."
        )
    return f"A wipe of {record.get('at', 'before')} was cut short, and was finished now."


def _is_within(path: Path, folders: Sequence[Path]) -> bool:
    """A list that somebody else wrote must not lead to other files."""
    return any(path.parent.resolve().is_relative_to(folder) for folder in folders)
