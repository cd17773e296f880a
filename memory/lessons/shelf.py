"""Lessons on disk: facts in, facts out, every change in one transaction with its log lines.

Nothing is deleted (F6). What was merged hangs beneath the lesson that it was merged into, so a
corroboration is a fact that `restore` takes back by itself: nothing is counted twice.
"""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, datetime
from typing import TYPE_CHECKING
from uuid import uuid4

from memory.errors import NoSuchLesson
from memory.event_records import Value, stored
from memory.events import EventLog, Keep
from memory.lessons.records import Corroboration, Forgotten, Going, Lesson

if TYPE_CHECKING:
    from memory.embedding import Vectors

_LESSONS = (
    "SELECT id, kind, text, made_at, made_by, restored_at, forgotten_at, why, reason, into_id"
    " FROM lessons WHERE (:live IS NULL OR (forgotten_at IS NULL) = :live)"
    " ORDER BY made_at, rowid"
)
# What was merged into a lesson, and into that.
_BENEATH = """
    WITH RECURSIVE beneath (root, id, made_at, counts) AS (
        SELECT into_id, id, made_at, counts FROM lessons
        WHERE why = 'merged' AND (:live IS NULL OR into_id IN
            (SELECT id FROM lessons WHERE (forgotten_at IS NULL) = :live))
        UNION ALL
        SELECT beneath.root, lessons.id, lessons.made_at, lessons.counts
        FROM lessons JOIN beneath ON lessons.into_id = beneath.id
        WHERE lessons.why = 'merged'
    )
    SELECT root, id, made_at FROM beneath WHERE counts ORDER BY made_at, id
"""

Block = Callable[[Sequence[Lesson]], Sequence[Lesson]]
"""Which of the live lessons ride in prompts until the next pass, strongest first."""


class Shelf:
    """For any thread; raises StateUnwritable as the event log does."""

    def __init__(self, events: EventLog) -> None:
        self._events = events

    # Reading ---------------------------------------------------------------------------

    def lessons(self, *, live: bool | None = None) -> tuple[Lesson, ...]:
        """The lessons, oldest first: the live ones, the forgotten ones, or all."""
        if not self._events.is_there:
            return ()
        return self._events.read(lambda database: _read(database, live))

    def find(self, written: str) -> Lesson:
        """The lesson with this id, or the only one that begins so; raises NoSuchLesson."""
        found = [each for each in self.lessons() if each.id == written.strip()] or [
            each
            for each in self.lessons()
            if written.strip() and each.id.startswith(written.strip())
        ]
        if len(found) != 1:
            raise NoSuchLesson(written, len(found))
        return found[0]

    def block(self) -> tuple[Lesson, ...]:
        """What rides in prompts, as the last pass chose it."""
        if not self._events.is_there:
            return ()

        def select(database: sqlite3.Connection) -> tuple[Lesson, ...]:
            rows = database.execute("SELECT lesson FROM lesson_block ORDER BY position").fetchall()
            if not rows:
                return ()
            known = {each.id: each for each in _read(database, True)}
            return tuple(known[name] for (name,) in rows if name in known)

        return self._events.read(select)

    def vectors(self, model: str) -> Mapping[str, Vectors]:
        """The vectors that this model made, by lesson."""
        if not self._events.is_there:
            return {}

        import numpy as np  # a tenth of a second that a command without vectors need not wait

        def select(database: sqlite3.Connection) -> dict[str, Vectors]:
            rows = database.execute(
                "SELECT lesson, vector FROM lesson_vectors WHERE model = ?", (model,)
            )
            return {name: np.frombuffer(blob, dtype=np.float32) for name, blob in rows}

        return self._events.read(select)

    # Changing --------------------------------------------------------------------------

    def add(
        self,
        made: Sequence[Lesson],
        at: datetime,
        *,
        log: Iterable[tuple[str, Mapping[str, Value]]] = (),
        model: str | None = None,
        vectors: tuple[str, Vectors] | None = None,
    ) -> None:
        """Lessons of a pass, their vectors by this model, and the pass' own log lines."""

        def insert(database: sqlite3.Connection, keep: Keep) -> None:
            for number, lesson in enumerate(made):
                database.execute(
                    "INSERT INTO lessons (id, kind, text, made_at, made_by) VALUES (?, ?, ?, ?, ?)",
                    (lesson.id, lesson.kind, lesson.text, stored(lesson.made_at), lesson.made_by),
                )
                database.executemany(
                    "INSERT OR IGNORE INTO lesson_events (lesson, event) VALUES (?, ?)",
                    [(lesson.id, event) for event in lesson.events],
                )
                if vectors is not None:
                    _put_vector(database, lesson.id, vectors[0], vectors[1][number])
                keep(
                    "lesson_made",
                    at,
                    {
                        "lesson": lesson.id,
                        "lesson_kind": lesson.kind,
                        "events": len(lesson.events),
                        "model": model,
                    },
                )
            for kind, data in log:
                keep(kind, at, data)  # type: ignore[arg-type]  # the pass names its own kinds

        self._events.transaction(insert)

    def let_go(
        self,
        going: Sequence[Going],
        at: datetime,
        *,
        block: Block,
        log: Callable[[tuple[Going, ...], int], Mapping[str, Value]] | None = None,
    ) -> tuple[tuple[Going, ...], int]:
        """Take these lessons off, choose anew what rides in prompts, and log it, all or nothing.

        A lesson that was restored or that went meanwhile stays as it is, and so does what would
        go into one that is not live any more. What went, and how many are live.
        """

        def change(database: sqlite3.Connection, keep: Keep) -> tuple[tuple[Going, ...], int]:
            gone = tuple(each for each in going if _goes(database, each, at))
            for each in gone:
                for kind, data in _lines(each):
                    keep(kind, at, data)  # type: ignore[arg-type]
            live = _rewrite_block(database, block)
            if log is not None:
                keep("lessons_tidied", at, log(gone, live))
            return gone, live

        return self._events.transaction(change)

    def restore(self, written: str, at: datetime, *, block: Block) -> Lesson:
        """Make a forgotten lesson count as live again: protected anew, and kept apart from what
        it was merged into. A live one stays as it is. Raises NoSuchLesson."""
        found = self.find(written)

        def change(database: sqlite3.Connection, keep: Keep) -> None:
            row = database.execute(
                "SELECT into_id FROM lessons WHERE id = ? AND forgotten_at IS NOT NULL", (found.id,)
            ).fetchone()
            if row is None:
                return
            above, seen = row[0], {found.id}
            while above is not None and above not in seen:
                seen.add(above)
                database.executemany(
                    "INSERT OR IGNORE INTO lesson_apart (lesson, other) VALUES (?, ?)",
                    [(found.id, above), (above, found.id)],
                )
                upper = database.execute(
                    "SELECT into_id FROM lessons WHERE id = ?", (above,)
                ).fetchone()
                above = upper[0] if upper else None
            database.execute(
                "UPDATE lessons SET forgotten_at = NULL, why = NULL, reason = NULL, into_id = NULL,"
                " counts = 0, restored_at = ? WHERE id = ?",
                (stored(at), found.id),
            )
            keep("lesson_restored", at, {"lesson": found.id})
            _rewrite_block(database, block)

        self._events.transaction(change)
        return self.find(found.id)

    def put_vectors(self, model: str, rows: Mapping[str, Vectors]) -> None:
        def insert(database: sqlite3.Connection, _keep: Keep) -> None:
            for name, vector in rows.items():
                _put_vector(database, name, model, vector)

        self._events.transaction(insert)

    def rides_in(self, sha256: str, lessons: Sequence[Lesson]) -> None:
        """A prefix with this digest holds these lessons: requests with it are their use."""
        if not lessons:
            return

        def insert(database: sqlite3.Connection, _keep: Keep) -> None:
            database.executemany(
                "INSERT OR IGNORE INTO lesson_prefixes (sha256, lesson) VALUES (?, ?)",
                [(sha256, each.id) for each in lessons],
            )

        self._events.transaction(insert)


def new_id() -> str:
    return uuid4().hex[:8]


def _read(database: sqlite3.Connection, live: bool | None) -> tuple[Lesson, ...]:
    events, uses, apart, backing, embedded = (
        defaultdict[str, list[int]](list),
        defaultdict[str, list[date]](list),
        defaultdict[str, set[str]](set),
        defaultdict[str, list[Corroboration]](list),
        dict[str, str](),
    )
    rows = database.execute(_LESSONS, {"live": live}).fetchall()
    for name, event in database.execute("SELECT lesson, event FROM lesson_events ORDER BY event"):
        events[name].append(event)
    for name, day in database.execute("SELECT lesson, day FROM lesson_uses ORDER BY day"):
        uses[name].append(date.fromisoformat(day))
    for name, other in database.execute("SELECT lesson, other FROM lesson_apart"):
        apart[name].add(other)
    for root, name, at in database.execute(_BENEATH, {"live": live}):
        backing[root].append(Corroboration(source=name, at=datetime.fromisoformat(at)))
    embedded.update(database.execute("SELECT lesson, model FROM lesson_vectors"))
    return tuple(
        Lesson(
            id=name,
            kind=kind,
            text=text,
            made_at=datetime.fromisoformat(made_at),
            made_by=made_by,
            events=tuple(events[name]),
            corroborations=tuple(backing[name]),
            used_on=tuple(uses[name]),
            restored_at=datetime.fromisoformat(restored_at) if restored_at else None,
            forgotten=Forgotten(
                at=datetime.fromisoformat(forgotten_at), why=why, reason=reason, into=into
            )
            if forgotten_at
            else None,
            apart=frozenset(apart[name]),
            embedded_by=embedded.get(name),
        )
        for (
            name, kind, text, made_at, made_by, restored_at, forgotten_at, why, reason, into,
        ) in rows
    )  # fmt: skip


def _put_vector(database: sqlite3.Connection, name: str, model: str, vector: Vectors) -> None:
    database.execute(
        "INSERT OR REPLACE INTO lesson_vectors (lesson, model, vector) VALUES (?, ?, ?)",
        (name, model, vector.astype("float32").tobytes()),
    )


def _goes(database: sqlite3.Connection, going: Going, at: datetime) -> bool:
    """Whether it went: it is as it was when it was judged, and where it goes into is live."""
    if going.into is not None:
        [(there,)] = database.execute(
            "SELECT count(*) FROM lessons WHERE id = ? AND forgotten_at IS NULL", (going.into,)
        )
        if not there:
            return False
    restored_at = going.lesson.restored_at
    changed = database.execute(
        "UPDATE lessons SET forgotten_at = ?, why = ?, reason = ?, into_id = ?, counts = ?"
        " WHERE id = ? AND forgotten_at IS NULL AND restored_at IS ?",
        (
            stored(at),
            going.why,
            going.reason,
            going.into,
            int(going.counts),
            going.lesson.id,
            stored(restored_at) if restored_at else None,
        ),
    )
    return changed.rowcount == 1


def _lines(going: Going) -> list[tuple[str, dict[str, Value]]]:
    lines: list[tuple[str, dict[str, Value]]] = []
    if going.alike is not None and going.why == "merged":
        lines.append(
            (
                "lesson_merged",
                {
                    "lesson": going.lesson.id,
                    "into": going.into,
                    "method": going.alike.method,
                    "figure": round(going.alike.figure, 4),
                    "threshold": going.alike.threshold,
                    "corroborates": going.counts,
                },
            )
        )
    lines.append(
        (
            "lesson_forgotten",
            {
                "lesson": going.lesson.id,
                "why": going.why,
                "reason": going.reason,
                "score": round(going.score, 6),
                "into": going.into,
            },
        )
    )
    return lines


def _rewrite_block(database: sqlite3.Connection, block: Block) -> int:
    live = _read(database, True)
    chosen = [(number, each.id) for number, each in enumerate(block(live))]
    before = database.execute("SELECT position, lesson FROM lesson_block ORDER BY position")
    if before.fetchall() != chosen:
        database.execute("DELETE FROM lesson_block")
        database.executemany("INSERT INTO lesson_block (position, lesson) VALUES (?, ?)", chosen)
    return len(live)
