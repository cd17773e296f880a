"""What was accepted and finds no room yet (L3.3): `<state>/waiting.jsonl`.

    {"waiting": {"id": "…", "accepted": {…}, "source": "remember", "at": "…", …}}
    {"done": "…", "at": "…", "outcome": "written" | "dropped"}

Its text stands in the journal as well. The file goes when nothing waits any more.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal

from pydantic import AwareDatetime, TypeAdapter, ValidationError

from memory import locks, store
from memory.records import Accepted, Source

log = logging.getLogger(__name__)

Outcome = Literal["written", "dropped"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """An accepted change that waits. `at` is when it was to be written, `said_at` when it
    was said."""

    id: str
    accepted: Accepted
    source: Source
    at: AwareDatetime
    conversation: str | None
    said_at: AwareDatetime | None

    def as_json(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "accepted": asdict(self.accepted),
            "source": self.source,
            "at": self.at.isoformat(),
            "conversation": self.conversation,
            "said_at": self.said_at.isoformat() if self.said_at else None,
        }


_WAITING = TypeAdapter(Waiting)


class WaitingRoom:
    """The caller holds the notebooks' lock; other vaults with this state have their own."""

    def __init__(self, state: Path) -> None:
        self._path = state / "waiting.jsonl"

    def waiting(self) -> tuple[Waiting, ...]:
        """Oldest first. Raises StateUnwritable where the file can't be read."""
        with store.writing(self._path):
            content = self._path.read_bytes() if self._path.exists() else b""
        found: dict[str, Waiting] = {}
        for line in content.splitlines():
            record = store.parse_line(line) or {}
            if "done" in record:
                found.pop(str(record["done"]), None)
                continue
            try:
                waits = _WAITING.validate_python(record.get("waiting"))
            except ValidationError:
                log.warning("a line of %s could not be read", self._path)
                continue
            found[waits.id] = waits
        return tuple(found.values())

    def add(
        self,
        accepted: Accepted,
        *,
        source: Source,
        at: datetime,
        conversation: str | None,
        said_at: datetime | None,
    ) -> None:
        """Let it wait, unless the same waits already."""
        with self._locked():
            there = self.waiting()
            if any(_same(each.accepted, accepted) for each in there):
                return
            named = repr((accepted, at, conversation))
            waits = Waiting(
                id=sha256(named.encode("utf-8", "backslashreplace")).hexdigest()[:12],
                accepted=accepted,
                source=source,
                at=at,
                conversation=conversation,
                said_at=said_at,
            )
            store.append_lines(self._path, [{"waiting": waits.as_json()}])

    def done(self, ids: Sequence[str], at: datetime, outcome: Outcome) -> None:
        if not ids:
            return
        with self._locked():
            if {each.id for each in self.waiting()} <= set(ids):
                store.remove(self._path)
                return
            records = [{"done": i, "at": at.isoformat(), "outcome": outcome} for i in ids]
            store.append_lines(self._path, records)

    def _locked(self) -> Any:
        store.make_folder(self._path.parent, private=True)
        return locks.locked(self._path.with_suffix(".lock"))


def _same(one: Accepted, other: Accepted) -> bool:
    return (one.notebook, one.entry, one.text) == (other.notebook, other.entry, other.text)
