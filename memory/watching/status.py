"""What the watch does, for other processes: `<state>/watch/status.json`.

It holds names of files and folders of the user's, and stays in the state folder.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from pydantic import AwareDatetime, TypeAdapter, ValidationError

from memory import locks, store
from memory.errors import StateUnwritable

FolderState = Literal["watching", "gone"]


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchedFolder:
    """`left_out` counts folders and files that were too many to be watched."""

    path: str
    kind: Literal["project", "notes"]
    state: FolderState
    projects: tuple[str, ...] = ()
    files: int = 0
    left_out: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """A file that changed, and when it was seen. `path` is absolute."""

    at: AwareDatetime
    path: str
    what: Literal["new", "changed", "gone"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """An entry of the journal about changes."""

    at: AwareDatetime
    title: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchStatus:
    """`method` says whether the system tells of changes or Jarvis looks again and again.

    `faults` are sentences for the user. `running` is not kept: it is whether the process that
    wrote this still watches.
    """

    pid: int
    began_at: AwareDatetime
    updated_at: AwareDatetime
    folders: tuple[WatchedFolder, ...] = ()
    method: Literal["notified", "polling"] = "notified"
    seen: int = 0
    last_seen: Seen | None = None
    last_told: Told | None = None
    waiting: int = 0
    index_updated_at: AwareDatetime | None = None
    faults: tuple[str, ...] = ()
    running: bool = field(default=False)

    def as_json(self) -> dict[str, Any]:
        found: dict[str, Any] = _STATUS.dump_python(self, mode="json")
        return found


_STATUS = TypeAdapter(WatchStatus)
_BYTES = 1024 * 1024


def folder(state: Path) -> Path:
    return state / "watch"


def lock_of(state: Path) -> Path:
    """Held by the process that watches."""
    return folder(state) / "lock"


def read(state: Path) -> WatchStatus | None:
    """None where nobody ever watched, or what is there is no status."""
    path = folder(state) / "status.json"
    try:
        with path.open("rb") as file:
            found = _STATUS.validate_json(file.read(_BYTES))
    except (OSError, ValidationError):
        return None
    fields = {name: getattr(found, name) for name in WatchStatus.__dataclass_fields__}
    return WatchStatus(**{**fields, "running": is_running(state)})


def is_running(state: Path) -> bool:
    lock = lock_of(state)
    if not lock.exists():
        return False
    try:
        with locks.held(lock) as is_ours:
            return not is_ours
    except StateUnwritable:
        return False


def write(state: Path, status: WatchStatus) -> None:
    """Replace the file; the caller holds the lock. Raises StateUnwritable."""
    path = folder(state) / "status.json"
    content = _STATUS.dump_json(status, exclude={"running"}, indent=1)
    with store.writing(path):
        before = path.read_bytes() if path.exists() else None
    store.replace(path, content, expected=before)
