"""The event log in `<state>/events.db`: what happened when. What may stand in it:
`event_records.py`.
"""

from __future__ import annotations

import json
import logging
import sqlite3
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

from memory import locks, store
from memory.databases import is_damage, unusable
from memory.days import day_of
from memory.errors import StateUnwritable
from memory.event_records import (
    NAME_CHARS,
    Event,
    Kind,
    Refused,
    Value,
    event_of,
    refusal_of,
    row_of,
    stored,
)
from memory.figures import LatencySpread
from memory.lessons import schema
from memory.records import Rejection

log = logging.getLogger(__name__)

T = TypeVar("T")

Keep = Callable[[Kind, datetime, Mapping[str, Value]], None]

# One entry a version; what was released is never edited, only followed by another.
_MIGRATIONS = (
    """
    CREATE TABLE events (
        id INTEGER PRIMARY KEY,
        kind TEXT NOT NULL,
        at TEXT NOT NULL,          -- UTC, ISO 8601 with microseconds: sorts as text
        conversation TEXT,
        turn_index INTEGER,
        data TEXT NOT NULL         -- a JSON object
    );
    CREATE INDEX events_by_kind ON events (kind, at);
    CREATE INDEX events_by_conversation ON events (conversation, id);
    """,
    schema.LESSONS,
)

_INSERT = "INSERT INTO events (kind, at, conversation, turn_index, data) VALUES (?, ?, ?, ?, ?)"
_BUSY_TIMEOUT_S = 5.0

# Places are counted from 1, as in `figures.percentile`.
_LATENCIES = """
    WITH answers AS (
        SELECT json_extract(data, '$.total_ms') AS ms,
            row_number() OVER (ORDER BY json_extract(data, '$.total_ms')) AS place,
            count(*) OVER () AS count
        FROM events WHERE kind = 'latency' AND at >= :since AND at < :until
    )
    SELECT count(*), min(ms) FILTER (WHERE place >= (count + 1) / 2),
        min(ms) FILTER (WHERE place >= (95 * count + 99) / 100)
    FROM answers
"""
_LATENCY_STEPS = """
    SELECT min(:most, json_extract(data, '$.total_ms') / :step_ms) AS step, count(*)
    FROM events WHERE kind = 'latency' AND at >= :since AND at < :until GROUP BY step
"""
_LATENCY_STAGES = """
    WITH stages AS (
        SELECT stage.key AS name, stage.value AS ms,
            row_number() OVER (PARTITION BY stage.key ORDER BY stage.value) AS place,
            count(*) OVER (PARTITION BY stage.key) AS count
        FROM events, json_each(data, '$.stages_ms') AS stage
        WHERE kind = 'latency' AND at >= :since AND at < :until
    )
    SELECT name, ms FROM stages WHERE place = (count + 1) / 2
"""


class EventLog:
    """Safe for threads, and for several processes on one file.

    A damaged database is moved aside under a name with the time (`now`), told in
    `warnings`, and a new one is begun. `enter` is called whenever the file is opened. Every
    method raises StateUnwritable when the disk fails.
    """

    def __init__(
        self, state: Path, now: Callable[[], datetime], *, enter: Callable[[], None] | None = None
    ) -> None:
        self._enter = enter or (lambda: None)
        self._path = state / "events.db"
        self._lock = state / "events.lock"
        self._now = now
        self._guard = threading.RLock()
        self._database: sqlite3.Connection | None = None
        self._inode = 0
        self.warnings: list[str] = []

    def append(
        self,
        kind: Kind,
        at: datetime,
        *,
        conversation: str | None = None,
        turn_index: int | None = None,
        data: Mapping[str, Value] | None = None,
    ) -> None:
        """Keep an event. Data that its kind doesn't have is our mistake: what was said must not
        come in here. A text is a name, and cut after 100 characters; that of a refused proposal
        after 1,000."""
        row = row_of(kind, at, conversation, turn_index, data or {})

        def insert(database: sqlite3.Connection) -> None:
            database.execute(_INSERT, row)
            if kind == "tokens" and data and data.get("prefix_sha256"):
                database.execute(
                    schema.USED,
                    {"sha256": data["prefix_sha256"], "day": day_of(at).isoformat()},
                )

        self._on_database(insert)

    @property
    def is_there(self) -> bool:
        """Whether anything was ever kept: who only looks makes no database."""
        return self._path.exists()

    def read(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """What `work` finds in the tables beside the events, as they are now."""
        return self._on_database(work)

    def transaction(self, work: Callable[[sqlite3.Connection, Keep], T]) -> T:
        """All of `work` is kept or, when it raises or the process dies, nothing of it. Its second
        argument keeps an event in the same transaction."""

        def inside(database: sqlite3.Connection) -> T:
            def keep(kind: Kind, at: datetime, data: Mapping[str, Value]) -> None:
                database.execute(_INSERT, row_of(kind, at, None, None, data))

            database.execute("BEGIN IMMEDIATE")
            try:
                done = work(database, keep)
                database.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):
                    database.execute("ROLLBACK")
                raise
            return done

        return self._on_database(inside)

    def events(
        self,
        kind: Kind | None = None,
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        conversation: str | None = None,
        after: int = 0,
    ) -> list[Event]:
        """Events in the order in which they were kept; those at `until` are left out, and `after`
        is an id."""

        def select(database: sqlite3.Connection) -> list[tuple[Any, ...]]:
            return database.execute(
                "SELECT id, kind, at, conversation, turn_index, data FROM events"
                " WHERE (:kind IS NULL OR kind = :kind) AND (:since IS NULL OR at >= :since)"
                " AND (:conversation IS NULL OR conversation = :conversation) AND id > :after"
                " AND (:until IS NULL OR at < :until) ORDER BY id",
                {
                    "kind": kind,
                    "since": since and stored(since),
                    "conversation": conversation,
                    "after": after,
                    "until": until and stored(until),
                },
            ).fetchall()

        return [event_of(row) for row in self._on_database(select)]

    def with_ids(self, ids: Sequence[int]) -> list[Event]:
        """Those of these events that are kept, in their order."""

        def select(database: sqlite3.Connection) -> list[tuple[Any, ...]]:
            return database.execute(
                "SELECT id, kind, at, conversation, turn_index, data FROM events"
                " WHERE id IN (SELECT value FROM json_each(?)) ORDER BY id",
                (json.dumps(list(ids)),),
            ).fetchall()

        return [event_of(row) for row in self._on_database(select)]

    def latency_spread(
        self, since: datetime, until: datetime, *, step_ms: int, steps: int
    ) -> LatencySpread | None:
        """The answers' latencies from `since` on and before `until`; None where there were none.

        SQLite counts, without Python's lock: a month holds thousands, and calls go on meanwhile.
        """
        span = {"since": stored(since), "until": stored(until)}
        steps_of = {**span, "step_ms": step_ms, "most": steps - 1}

        def select(database: sqlite3.Connection) -> LatencySpread | None:
            [(count, half_ms, most_ms)] = database.execute(_LATENCIES, span).fetchall()
            if not count:
                return None
            found = dict(database.execute(_LATENCY_STEPS, steps_of).fetchall())
            return LatencySpread(
                count=count,
                half_ms=half_ms,
                most_ms=most_ms,
                step_ms=step_ms,
                steps=tuple(found.get(step, 0) for step in range(steps)),
                stages_ms=dict(database.execute(_LATENCY_STAGES, span).fetchall()),
            )

        return self._on_database(select)

    def first_at(self) -> datetime | None:
        """When the oldest event was."""

        def select(database: sqlite3.Connection) -> list[tuple[Any, ...]]:
            return database.execute("SELECT at FROM events ORDER BY id LIMIT 1").fetchall()

        return next((datetime.fromisoformat(at) for (at,) in self._on_database(select)), None)

    def last(self, kind: Kind, *, model: str | None = None) -> Event | None:
        """The newest event of this kind, or of this kind and background model."""

        def select(database: sqlite3.Connection) -> list[tuple[Any, ...]]:
            return database.execute(
                "SELECT id, kind, at, conversation, turn_index, data FROM events"
                " WHERE kind = :kind AND (:model IS NULL OR json_extract(data, '$.model') = :model)"
                " ORDER BY id DESC LIMIT 1",
                {"kind": kind, "model": model and model[:NAME_CHARS]},
            ).fetchall()

        return next(map(event_of, self._on_database(select)), None)

    def refuse(self, rejection: Rejection, at: datetime, conversation: str | None) -> None:
        """Keep a refused proposal, unless this conversation's is there already: a review that is
        taken up after a crash refuses again."""
        data = refusal_of(rejection)
        if any(event.data == data for event in self.events("rejected", conversation=conversation)):
            return
        self.append("rejected", at, conversation=conversation, data=data)

    def rejections(self, since: datetime | None = None) -> list[Refused]:
        """What was refused, oldest first."""
        return [
            Refused(at=event.at, conversation=event.conversation, **event.data)
            for event in self.events("rejected", since=since)
        ]

    def counts(self, since: datetime | None = None) -> dict[str, int]:
        """How many events of each kind there are."""

        def select(database: sqlite3.Connection) -> list[tuple[str, int]]:
            return database.execute(
                "SELECT kind, count(*) FROM events WHERE :since IS NULL OR at >= :since"
                " GROUP BY kind ORDER BY kind",
                {"since": since and stored(since)},
            ).fetchall()

        return dict(self._on_database(select))

    @contextmanager
    def held(self) -> Iterator[None]:
        """Nobody in this process uses the log while this is open; afterwards it is closed."""
        with self._guard:
            try:
                yield
            finally:
                self.close()

    def close(self) -> None:
        with self._guard:
            if self._database is not None:
                self._database.close()
                self._database = None

    # The database ----------------------------------------------------------------------

    def _on_database(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Do the work; once more on a new database where this one turns out to be damaged."""
        with self._guard:
            try:
                return work(self._open())
            except sqlite3.DatabaseError as fault:
                if not is_damage(fault):
                    raise unusable(str(self._path), fault) from fault
                self.close()
                self._move_aside()
            try:
                return work(self._open())
            except sqlite3.DatabaseError as fault:
                raise unusable(str(self._path), fault) from fault

    def _open(self) -> sqlite3.Connection:
        """The connection; a new one where another process put another file in its place."""
        if self._database is not None and self._found_inode() == self._inode:
            return self._database
        self.close()
        store.make_folder(self._path.parent, private=True)
        self._enter()
        database = sqlite3.connect(
            self._path, timeout=_BUSY_TIMEOUT_S, check_same_thread=False, isolation_level=None
        )
        try:
            # Two processes that start together would meet while one turns the journal on.
            with locks.locked(self._lock):
                _prepare(database, self._path)
            with suppress(OSError):
                self._path.chmod(0o600)
        except BaseException:
            database.close()
            raise
        self._database = database
        self._inode = self._found_inode()
        return database

    def _found_inode(self) -> int:
        try:
            return self._path.stat().st_ino
        except OSError:
            return 0

    def _move_aside(self) -> None:
        """Give the damaged file another name, unless another process has done so by now."""
        with locks.locked(self._lock):
            if not self._path.exists() or _is_sound(self._path):
                return
            aside = self._path.with_name(f"events.damaged-{self._now():%Y%m%dT%H%M%S}.db")
            number = 1
            while aside.exists():
                number += 1
                aside = aside.with_name(f"{aside.stem.partition('~')[0]}~{number}.db")
            with store.writing(self._path):
                # The journal first: a new database must not find an old one's.
                for suffix in ("-wal", "-shm", ""):
                    with suppress(FileNotFoundError):
                        Path(f"{self._path}{suffix}").replace(f"{aside}{suffix}")
        warning = (
            f"{self._path} is damaged. It was moved to {aside.name}, and a new one was begun: "
            "figures start from here. Bring the old one back from a backup if you have one."
        )
        self.warnings.append(warning)
        log.warning("%s", warning)


def _prepare(database: sqlite3.Connection, path: Path) -> None:
    """Check the file and bring it to the newest version."""
    [(found,)] = database.execute("PRAGMA quick_check(1)").fetchall()
    if found != "ok":
        raise _damage(found)
    database.execute("PRAGMA journal_mode = WAL")
    # A crash of Jarvis loses nothing; a power cut at most the last events, for which a
    # call needn't wait.
    database.execute("PRAGMA synchronous = NORMAL")
    version: int = database.execute("PRAGMA user_version").fetchone()[0]
    if version > len(_MIGRATIONS):
        raise StateUnwritable(
            f"{path} was written by a newer version of Jarvis. Update Jarvis, or choose "
            "another folder with --state."
        )
    for number, migration in enumerate(_MIGRATIONS[version:], start=version + 1):
        # One transaction: a version is there whole, or not at all.
        database.executescript(f"BEGIN; {migration} PRAGMA user_version = {number}; COMMIT;")


def _is_sound(path: Path) -> bool:
    try:
        database = sqlite3.connect(path, timeout=_BUSY_TIMEOUT_S)
        try:
            return bool(database.execute("PRAGMA quick_check(1)").fetchall() == [("ok",)])
        finally:
            database.close()
    except sqlite3.DatabaseError as fault:
        return not is_damage(fault)


def _damage(found: str) -> sqlite3.DatabaseError:
    fault = sqlite3.DatabaseError(found)
    fault.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
    return fault
