"""The index's file: a connection that asks, one that writes, and the swap that renews it."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TypeVar

from memory import store
from memory.databases import unusable
from memory.errors import StateUnwritable
from memory.index import schema

T = TypeVar("T")


class Connections:
    """Opened when they are first needed, and anew when another file is in the old one's place.

    Any thread may ask; whoever writes or closes sees to it that nobody else does. What SQLite
    raises is passed on where one asks, and is StateUnwritable where one writes.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._reading = threading.RLock()
        self._reader: sqlite3.Connection | None = None
        self._writer: sqlite3.Connection | None = None
        self._reads: tuple[int, int] | None = None
        self._writes: tuple[int, int] | None = None

    @property
    def is_open(self) -> bool:
        """Whether somebody has asked since it was closed."""
        return self._reader is not None

    def close(self) -> None:
        with self._reading:
            self._close_reader()
            self._close_writer()

    def ask(self, ask: Callable[[sqlite3.Connection], T]) -> T:
        with self._reading:
            there = self._there()
            if self._reader is None or self._reads != there:
                self._close_reader()
                self._reader, self._reads = schema.opened(self._path), there
                self._reader.execute("PRAGMA query_only = ON")
            return ask(self._reader)

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        try:
            yield self._opened_to_write()
        except sqlite3.DatabaseError as fault:
            raise self.unusable(fault) from fault

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Committed at the end, and no copy of what was overwritten stays beside the index."""
        with self.writing() as database:
            database.execute("BEGIN IMMEDIATE")
            try:
                yield database
            except BaseException:
                if database.in_transaction:  # a full disk has ended it already
                    database.execute("ROLLBACK")
                raise
            database.execute("COMMIT")
            database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def swap(self, part: Path) -> None:
        """`part` is copied into the old file's place in one transaction, so that no one who has it
        open sees half; a file that is none of SQLite's is replaced."""
        with self._reading:
            self.close()
            try:
                with closing(schema.opened(part)) as new, closing(schema.opened(self._path)) as old:
                    old.execute("PRAGMA journal_mode = WAL")
                    new.backup(old)
                    old.execute("PRAGMA journal_mode = WAL")
                    old.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            except sqlite3.DatabaseError as fault:
                if not schema.is_damage(fault):
                    raise
                for suffix in ("-wal", "-shm", ""):
                    store.remove(Path(f"{self._path}{suffix}"))
                with store.writing(self._path):
                    part.replace(self._path)
                with closing(schema.opened(self._path)) as database:
                    database.execute("PRAGMA journal_mode = WAL")
            with store.writing(self._path):
                self._path.chmod(0o600)

    def unusable(self, fault: sqlite3.DatabaseError) -> StateUnwritable:
        return unusable(f"The index {self._path}", fault)

    def _opened_to_write(self) -> sqlite3.Connection:
        there = self._there()
        if self._writer is None or self._writes != there:
            self._close_writer()
            self._writer, self._writes = schema.opened(self._path), there
            # What a power cut takes is found in the files again.
            self._writer.execute("PRAGMA synchronous = NORMAL")
        return self._writer

    def _there(self) -> tuple[int, int]:
        found = self._path.stat()
        return found.st_dev, found.st_ino

    def _close_reader(self) -> None:
        if self._reader is not None:
            self._reader.close()
        self._reader = self._reads = None

    def _close_writer(self) -> None:
        if self._writer is not None:
            self._writer.close()
        self._writer = self._writes = None
