"""The event log: what happened when, in `<state>/events.db`.

Never what was said, with one exception: a proposal that was refused is kept with its text
and its quote (`rejected`), so that the user can see what the rules keep out. Hidden
characters are escaped there, and where the rule is about secrets the words are left out.

| kind           | data                                                                   |
|----------------|------------------------------------------------------------------------|
| `began`        | `kind` (call, chat), `engine`, `language`, `prefix_sha256`             |
| `ended`        | `reason`, `turns`, `user_turns`, `duration_s`                          |
| `latency`      | `engine`, `total_ms`, `stages_ms` (name → ms)                          |
| `tokens`       | `engine`, `prompt_tokens`, `cached_tokens`, `prefix_sha256`            |
| `microphone`   | `frames` of 20 ms, and how many were `delivered`, `missing`, `dropped` or still `waiting`; `waited_most` at once; `reasons` (why missing or dropped → frames) |
| `no_turn`      | `reason`, `duration_ms`                                                |
| `interrupted`  | `heard_ms`                                                             |
| `handed_over`  | `first`, `last`, `trigger`                                             |
| `engine_fault` | `engine`, `fault` (the exception's name)                               |
| `reviewed`     | `first`, `last`, `marked`, `corrections` (of them), `asked` (sentences that the model saw), `proposed`, `accepted`, `rejected`, `tokens_in`, `tokens_out`, `model`, `billing`, `outcome` (nothing marked, asked, given up, switched off) |
| `rejected`     | `rule`, `reason`, `operation`, `notebook`, `entry`, `text`, `quote`    |
| `review_failed`| `first`, `last`, `model`, `billing`, `fault` (unavailable, nonsense), `tries`, `next_at`, `tokens_in`, `tokens_out` |
| `remembered`   | `saved`, `notebook`, `reason`                                          |
| `merged`       | `outcome` (asking, before the call; merged, nothing, nonsense, unavailable, gave way), `groups`, `accepted`, `entries`, `tokens_in`, `tokens_out`, `model`, `billing` |
| `tidied`       | `duplicates`, `outdated`, `placed`                                     |
| `thought`      | `outcome` (asking, before the call, with the most it may cost; noted, nothing, repeat, refused, nonsense, unavailable, gave way), `rule`, `stars`, `tokens_in`, `tokens_out`, `model`, `billing`, `next_at`, `entries` (hashes of what was new), `text` (a hash), `language`, `words` (hashes), `denies` |
| `tool`         | `name`, `outcome` (done, nothing found, failed), `duration_ms`         |
| `reflected`    | `outcome` (asking, before the call; else as in lessons/records.py), `auto`, `read`, `last` and `providers_last` (the newest event that was read), `made`, `refused`, `tokens_in`, `tokens_out`, `model`, `billing` |
| `lesson_made`  | `lesson` (its id), `lesson_kind`, `events` (how many it rests on), `model` |
| `lesson_refused` | `rule`, `reason`                                                     |
| `lesson_merged`| `lesson`, `into`, `method`, `figure`, `threshold`, `corroborates`      |
| `lesson_forgotten` | `lesson`, `why`, `reason`, `score`, `into`                         |
| `lesson_restored` | `lesson`                                                            |
| `lessons_tidied` | `merged`, `updated`, `faded`, `no_room`, `live`, `waiting`           |
| `lessons_embedded` | `lessons`, `model`                                                 |

`turn_index` is the turn that an event belongs to, where there is one.
"""

from __future__ import annotations

import json
import logging
import sqlite3
import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, TypeVar

from memory import store
from memory.days import day_of
from memory.errors import StateUnwritable
from memory.lessons import schema
from memory.notebooks.prefix import show_hidden
from memory.notebooks.secrets import secret_in
from memory.records import Rejection

log = logging.getLogger(__name__)

T = TypeVar("T")

Kind = Literal[
    "began",
    "ended",
    "latency",
    "tokens",
    "microphone",
    "no_turn",
    "interrupted",
    "handed_over",
    "engine_fault",
    "reviewed",
    "rejected",
    "review_failed",
    "remembered",
    "merged",
    "tidied",
    "tool",
    "thought",
    "reflected",
    "lesson_made",
    "lesson_refused",
    "lesson_merged",
    "lesson_forgotten",
    "lesson_restored",
    "lessons_tidied",
    "lessons_embedded",
]
Value = str | int | float | bool | None | Mapping[str, int]

Keep = Callable[[Kind, datetime, Mapping[str, Value]], None]

_FIELDS: Mapping[Kind, frozenset[str]] = {
    "began": frozenset({"kind", "engine", "language", "prefix_sha256"}),
    "ended": frozenset({"reason", "turns", "user_turns", "duration_s"}),
    "latency": frozenset({"engine", "total_ms", "stages_ms"}),
    "tokens": frozenset({"engine", "prompt_tokens", "cached_tokens", "prefix_sha256"}),
    "microphone": frozenset(
        {"frames", "delivered", "missing", "dropped", "waiting", "waited_most", "reasons"}
    ),
    "no_turn": frozenset({"reason", "duration_ms"}),
    "interrupted": frozenset({"heard_ms"}),
    "handed_over": frozenset({"first", "last", "trigger"}),
    "engine_fault": frozenset({"engine", "fault"}),
    "reviewed": frozenset(
        {
            "first", "last", "marked", "corrections", "asked", "proposed", "accepted", "rejected",
            "tokens_in", "tokens_out", "model", "billing", "outcome",
        }
    ),
    "rejected": frozenset({"rule", "reason", "operation", "notebook", "entry", "text", "quote"}),
    "review_failed": frozenset(
        {
            "first", "last", "model", "billing", "fault", "tries", "next_at", "tokens_in",
            "tokens_out",
        }
    ),
    "remembered": frozenset({"saved", "notebook", "reason"}),
    "merged": frozenset(
        {
            "outcome", "groups", "accepted", "entries", "tokens_in", "tokens_out", "model",
            "billing",
        }
    ),
    "tidied": frozenset({"duplicates", "outdated", "placed"}),
    "tool": frozenset({"name", "outcome", "duration_ms"}),
    "thought": frozenset(
        {
            "outcome", "rule", "stars", "tokens_in", "tokens_out", "model", "billing", "next_at",
            "entries", "text", "language", "words", "denies",
        }
    ),
    "reflected": frozenset(
        {
            "outcome", "auto", "read", "last", "providers_last", "made", "refused", "tokens_in",
            "tokens_out", "model", "billing",
        }
    ),
    "lesson_made": frozenset({"lesson", "lesson_kind", "events", "model"}),
    "lesson_refused": frozenset({"rule", "reason"}),
    "lesson_merged": frozenset(
        {"lesson", "into", "method", "figure", "threshold", "corroborates"}
    ),
    "lesson_forgotten": frozenset({"lesson", "why", "reason", "score", "into"}),
    "lesson_restored": frozenset({"lesson"}),
    "lessons_tidied": frozenset({"merged", "updated", "faded", "no_room", "live", "waiting"}),
    "lessons_embedded": frozenset({"lessons", "model"}),
}  # fmt: skip
NAME_CHARS = 100
_REFUSED_CHARS = 1_000

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
_DAMAGE = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    id: int
    kind: str
    at: datetime
    conversation: str | None
    turn_index: int | None
    data: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class LatencySummary:
    """`stage` is "total" or a stage's name; percentiles over `count` answers of `engine`."""

    engine: str
    stage: str
    count: int
    p50_ms: int
    p95_ms: int
    p99_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenSummary:
    """Prompt tokens of `count` answers, and how many of them were read from a cache."""

    engine: str
    count: int
    prompt_tokens: int
    cached_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """A refused proposal as the log keeps it; None where the rule is about secrets."""

    at: datetime
    conversation: str | None
    rule: str
    reason: str
    operation: str
    notebook: str
    entry: str | None
    text: str | None
    quote: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewSummary:
    """Reviews of one way of billing; `billing` is "" for those that asked no model.

    `failed` counts questions without a usable answer, `merges` the calls that merged entries.
    """

    billing: str
    reviews: int
    failed: int
    merges: int
    accepted: int
    rejected: int
    tokens_in: int
    tokens_out: int


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
        row = _row(kind, at, conversation, turn_index, data or {})

        def insert(database: sqlite3.Connection) -> None:
            database.execute(_INSERT, row)
            if kind == "tokens" and data and data.get("prefix_sha256"):
                database.execute(schema.USED, (data["prefix_sha256"], day_of(at).isoformat()))

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
                database.execute(_INSERT, _row(kind, at, None, None, data))

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
        conversation: str | None = None,
        after: int = 0,
    ) -> list[Event]:
        """Events in the order in which they were kept; `after` is an id."""

        def select(database: sqlite3.Connection) -> list[tuple[Any, ...]]:
            return database.execute(
                "SELECT id, kind, at, conversation, turn_index, data FROM events"
                " WHERE (?1 IS NULL OR kind = ?1) AND (?2 IS NULL OR at >= ?2)"
                " AND (?3 IS NULL OR conversation = ?3) AND id > ?4 ORDER BY id",
                (kind, since and stored(since), conversation, after),
            ).fetchall()

        return [_event(row) for row in self._on_database(select)]

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
                " WHERE kind = ?1 AND (?2 IS NULL OR json_extract(data, '$.model') = ?2)"
                " ORDER BY id DESC LIMIT 1",
                (kind, model and model[:NAME_CHARS]),
            ).fetchall()

        return next(map(_event, self._on_database(select)), None)

    def refuse(self, rejection: Rejection, at: datetime, conversation: str | None) -> None:
        """Keep a refused proposal, unless this conversation's is there already: a review that is
        taken up after a crash refuses again."""
        data = _refused(rejection)
        if any(event.data == data for event in self.events("rejected", conversation=conversation)):
            return
        self.append("rejected", at, conversation=conversation, data=data)

    def rejections(self, since: datetime | None = None) -> list[Refused]:
        """What was refused, oldest first."""
        return [
            Refused(at=event.at, conversation=event.conversation, **event.data)
            for event in self.events("rejected", since=since)
        ]

    def reviews(self, since: datetime | None = None) -> list[ReviewSummary]:
        """By who pays; tokens that nobody counted are left out."""
        sums: dict[str, Counter[str]] = defaultdict(Counter)
        for event in self.events("reviewed", since=since):
            billing = event.data.get("billing") or ""
            sums[billing]["reviews"] += 1
            _add(sums[billing], event, "accepted", "rejected", "tokens_in", "tokens_out")
        for event in self.events("merged", since=since):
            if event.data.get("outcome") == "asking":
                continue
            billing = event.data.get("billing") or ""
            sums[billing]["merges"] += 1
            _add(sums[billing], event, "tokens_in", "tokens_out")
        for event in self.events("review_failed", since=since):
            billing = event.data.get("billing") or ""
            sums[billing]["failed"] += 1
            _add(sums[billing], event, "tokens_in", "tokens_out")
        return [
            ReviewSummary(
                billing=billing,
                reviews=found["reviews"],
                failed=found["failed"],
                merges=found["merges"],
                accepted=found["accepted"],
                rejected=found["rejected"],
                tokens_in=found["tokens_in"],
                tokens_out=found["tokens_out"],
            )
            for billing, found in sorted(sums.items())
        ]

    def latency(self, since: datetime | None = None) -> list[LatencySummary]:
        """By engine, the total first, then the stages in the order in which they came."""
        samples: dict[tuple[str, str], list[int]] = defaultdict(list)
        for event in self.events("latency", since=since):
            engine = event.data.get("engine") or ""
            samples[engine, "total"].append(event.data["total_ms"])
            for stage, ms in event.data.get("stages_ms", {}).items():
                samples[engine, stage].append(ms)
        return [
            LatencySummary(
                engine=engine,
                stage=stage,
                count=len(values),
                p50_ms=percentile(values, 50),
                p95_ms=percentile(values, 95),
                p99_ms=percentile(values, 99),
            )
            for (engine, stage), values in samples.items()
        ]

    def tokens(self, since: datetime | None = None) -> list[TokenSummary]:
        """By engine, over the answers whose tokens the engine counted."""
        counted: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for event in self.events("tokens", since=since):
            if event.data.get("prompt_tokens") is not None:
                counted[event.data.get("engine") or ""].append(
                    (event.data["prompt_tokens"], event.data.get("cached_tokens") or 0)
                )
        return [
            TokenSummary(
                engine=engine,
                count=len(pairs),
                prompt_tokens=sum(prompt for prompt, _ in pairs),
                cached_tokens=sum(cached for _, cached in pairs),
            )
            for engine, pairs in counted.items()
        ]

    def counts(self, since: datetime | None = None) -> dict[str, int]:
        """How many events of each kind there are."""

        def select(database: sqlite3.Connection) -> list[tuple[str, int]]:
            return database.execute(
                "SELECT kind, count(*) FROM events WHERE ?1 IS NULL OR at >= ?1"
                " GROUP BY kind ORDER BY kind",
                (since and stored(since),),
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
                if not _is_damage(fault):
                    raise self._unwritable(fault) from fault
                self.close()
                self._move_aside()
            try:
                return work(self._open())
            except sqlite3.DatabaseError as fault:
                raise self._unwritable(fault) from fault

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
            with store.locked(self._lock):
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
        with store.locked(self._lock):
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

    def _unwritable(self, fault: sqlite3.DatabaseError) -> StateUnwritable:
        code = getattr(fault, "sqlite_errorcode", 0) & 0xFF
        if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            advice = "another process holds it. End the other Jarvis, then try again"
        elif code == sqlite3.SQLITE_FULL:
            advice = "there is no room left on its disk. Free some space"
        else:
            advice = f"the database says: {fault}. Look at its folder's permissions, or choose another with --state"
        return StateUnwritable(f"{self._path} can't be used: {advice}.")


def _row(
    kind: Kind,
    at: datetime,
    conversation: str | None,
    turn_index: int | None,
    data: Mapping[str, Value],
) -> tuple[Any, ...]:
    limit = _REFUSED_CHARS if kind == "rejected" else NAME_CHARS
    fields = {
        name: value[:limit] if isinstance(value, str) else value for name, value in data.items()
    }
    assert fields.keys() <= _FIELDS[kind], f"{kind} has no {fields.keys() - _FIELDS[kind]}"
    return (kind, stored(at), conversation, turn_index, json.dumps(fields))


def _event(row: tuple[Any, ...]) -> Event:
    number, kind, at, conversation, turn_index, data = row
    return Event(
        id=number,
        kind=kind,
        at=datetime.fromisoformat(at),
        conversation=conversation,
        turn_index=turn_index,
        data=json.loads(data),
    )


def _refused(rejection: Rejection) -> dict[str, str | None]:
    """The data of a `rejected` event: what it would have written, so that anybody can read it."""
    proposal = rejection.proposal
    words = {"entry": proposal.entry, "text": proposal.text, "quote": proposal.quote}
    is_secret = any(word and secret_in(word) for word in words.values())
    return {
        "rule": rejection.rule,
        "reason": rejection.reason[:_REFUSED_CHARS],
        "operation": proposal.operation,
        "notebook": proposal.notebook,
        **{
            name: None if is_secret or word is None else show_hidden(word)[:_REFUSED_CHARS]
            for name, word in words.items()
        },
    }


def _add(sums: Counter[str], event: Event, *fields: str) -> None:
    for field in fields:
        sums[field] += event.data.get(field) or 0


def percentile(values: list[int], percent: int) -> int:
    """The smallest value that at least `percent` of them don't exceed."""
    ordered = sorted(values)
    return ordered[max(0, -(-len(ordered) * percent // 100) - 1)]


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
        return not _is_damage(fault)


def _damage(found: str) -> sqlite3.DatabaseError:
    fault = sqlite3.DatabaseError(found)
    fault.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
    return fault


def _is_damage(fault: sqlite3.DatabaseError) -> bool:
    return getattr(fault, "sqlite_errorcode", 0) & 0xFF in _DAMAGE


def stored(at: datetime) -> str:
    """A time as the tables hold it: it sorts as text."""
    assert at.tzinfo is not None
    return at.astimezone(UTC).isoformat(timespec="microseconds")
