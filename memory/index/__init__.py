"""One index over the vault's notes and the journal: `<state>/index.db` (N3, N6, J1, J3).

All of it is derived from the files. What is missing, damaged or of another make is built anew
and swapped in whole. Any thread and any number of processes may use it.
"""

from __future__ import annotations

import hashlib
import logging
import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from pathlib import Path
from typing import TypeVar

from memory import locks, store
from memory.errors import MemoryFault, StateUnwritable, VaultMissing
from memory.index import schema
from memory.index import search as searching
from memory.index.building import Cutting, Writer, portions
from memory.index.connections import Connections
from memory.index.records import (
    Hit as Hit,
)
from memory.index.records import (
    Kind,
    Progress,
    Refreshed,
    Where,
    no_progress,
)
from memory.languages import packaged
from memory.notes.reading import Read, Stamp, Unread, found_in, is_folder_in, is_note, read_note
from memory.records import LANGUAGES
from memory.vault import Vault

log = logging.getLogger(__name__)

T = TypeVar("T")

_OWN = "society/jarvis/"
_JOURNAL = (f"{_OWN}daily/", f"{_OWN}topics/")
_SMALL_BYTES = 48 * 1024 * 1024
_SCRUBBED_AT_ONCE_BYTES = 8 * 1024 * 1024
_REBUILD_S = 600.0


class Index:
    """The index over a vault, or over another `folder` of notes.

    Nothing is opened before it is first used. Methods raise StateUnwritable where the state
    folder can't be written, VaultMissing where the folder can't be read.
    """

    def __init__(
        self,
        state: Path,
        vault: Vault,
        *,
        folder: Path | None = None,
        cutting: Cutting | None = None,
    ) -> None:
        self._folder = vault.path if folder is None else folder
        self._is_vault = folder is None
        self._cutting = cutting or Cutting()
        name = "index" if folder is None else f"index-{_short_hash(str(folder))}"
        self.path = state / f"{name}.db"
        self._part = state / f"{name}.part"
        self._lock_path = state / f"{name}.lock"
        self._connections = Connections(self.path)
        self._writing = threading.RLock()
        self._stopping = threading.Event()
        self._starting: threading.Thread | None = None

    def close(self) -> None:
        """A build that goes on is given up."""
        self._stopping.set()
        if self._starting is not None:
            self._starting.join()
            self._starting = None
        with self._writing:
            self._stopping.clear()
            if self._connections.is_open:
                with suppress(MemoryFault):  # it is tried again at the next start
                    self.scrub()
            self._connections.close()

    @contextmanager
    def of(self, folder: Path | None) -> Iterator[tuple[Index, str]]:
        """The index over `folder`, and which part of it is meant: of the vault this one, of
        another folder one of its own. Raises VaultMissing."""
        if folder is None:
            yield self, ""
            return
        there = folder if folder.is_dir() else self._folder / folder
        part = self._name(there.absolute())
        if not there.is_dir() or (part and not is_folder_in(self._folder, part)):
            raise VaultMissing(
                f"{folder} is not a folder here, nor one of the vault's. Name a folder of notes."
            )
        if part is not None:
            yield self, "" if part == "." else part
            return
        vault = Vault(there.resolve())
        vault.check(create=False)
        other = Index(self.path.parent, vault, folder=vault.path, cutting=self._cutting)
        try:
            yield other, ""
        finally:
            other.close()

    # Asking ----------------------------------------------------------------------------

    def search(
        self,
        query: str,
        *,
        where: Where = "all",
        limit: int = 10,
        beginnings: bool | None = None,
        folder: str = "",
        also: Sequence[int] = (),
        fresh: bool = True,
        progress: Progress = no_progress,
    ) -> tuple[Hit, ...]:
        """The best pieces for any string, best first; none where nothing is asked or found.

        `beginnings` also finds words that only begin so, by default in the journal alone.
        `folder` is relative, and only what is in it is found. `fresh` looks first which files
        changed; without, the index is asked as it is. `also` are pieces that are given in any case.
        """
        if fresh:
            self.refresh(progress)
        inside = f"{folder.strip('/')}/" if folder.strip("/") else ""
        wide = where == "journal" if beginnings is None else beginnings

        def ask(database: sqlite3.Connection) -> tuple[Hit, ...]:
            return searching.search(
                database,
                query,
                where=where,
                limit=limit,
                beginnings=wide,
                folder=inside,
                also=also,
            )

        return self._ask(ask, progress)

    def unread(self) -> dict[str, str]:
        """Files that are there and were not read, each with the reason."""
        return self._ask(
            lambda database: dict(
                database.execute("SELECT name, unread FROM file WHERE unread IS NOT NULL")
            )
        )

    def asked(self, ask: Callable[[sqlite3.Connection], T]) -> T:
        """What `ask` reads, in an index that is there and sound."""
        return self._ask(ask)

    def changing(self) -> AbstractContextManager[sqlite3.Connection]:
        """A transaction over what is derived from the pieces."""
        self._make_sure(no_progress)
        return self._connections.transaction()

    def counts(self) -> tuple[int, int]:
        """Files and pieces."""

        def count(database: sqlite3.Connection) -> tuple[int, int]:
            [(files, pieces)] = database.execute(
                "SELECT (SELECT count(*) FROM file), (SELECT count(*) FROM piece)"
            )
            return files, pieces

        return self._ask(count)

    def _ask(self, ask: Callable[[sqlite3.Connection], T], progress: Progress = no_progress) -> T:
        for last in (False, True):
            self._make_sure(progress)
            try:
                return self._connections.ask(ask)
            except sqlite3.DatabaseError as fault:
                if last or not schema.is_damage(fault):
                    raise self._connections.unusable(fault) from fault
                log.warning("%s is damaged (%s) and is built anew", self.path, fault)
                self.rebuild(progress)
        raise AssertionError("the second time it returns or raises")

    # Keeping ---------------------------------------------------------------------------

    def check(self, progress: Progress = no_progress) -> Refreshed:
        """At a start: whether it can be read, and what changed since; it is mended if need be."""
        self._make_sure(progress)
        if self.path.stat().st_size <= _SMALL_BYTES and not self.is_sound():
            log.warning("%s is damaged and is built anew", self.path)
            self.rebuild(progress)
        self._remove_left_over()
        found = self.refresh(progress)
        self.scrub()
        return found

    def _remove_left_over(self) -> None:
        """What a process left that died while it built."""
        holder = locks.try_lock(self._lock_path)
        if holder is not None:
            try:
                store.remove(self._part)
            finally:
                locks.drop_lock(holder)

    def is_sound(self) -> bool:
        """Whether SQLite finds its pages in order; reads all of them."""
        try:
            with closing(schema.opened(self.path)) as database:
                return database.execute("PRAGMA quick_check(1)").fetchall() == [("ok",)]
        except sqlite3.DatabaseError:
            return False

    def ready_within(self, seconds: float) -> bool:
        """Whether it is there to be asked. Where it is not it is built, in a thread of its own, and
        waited for so long, once: who waits for an answer does not wait for a first index."""
        if self._is_ready():
            return True
        if self._starting is None:
            self._starting = threading.Thread(target=self._start, name="first index", daemon=True)
            self._starting.start()
            self._starting.join(seconds)
        elif not self._starting.is_alive():
            self._starting = None
        return self._is_ready()

    def _start(self) -> None:
        try:
            self._make_sure(no_progress)
        except MemoryFault as fault:
            log.warning("the index was not built: %s", fault)

    def _is_ready(self) -> bool:
        return (self._connections.is_open and self.path.exists()) or self._is_current()

    def refresh(self, progress: Progress = no_progress) -> Refreshed:
        """Take in what was added, changed and removed since the index looked last."""
        self._make_sure(progress)
        with self._writing:
            there = {
                name: stamp
                for name, stamp in found_in(self._folder).items()
                if self._kind_of(name) is not None
            }
            known = self._ask(schema.stamps)
            new = [name for name in there if name not in known]
            changed = [name for name, stamp in there.items() if known.get(name, stamp) != stamp]
            gone = [name for name in known if name not in there]
            self._take_in([*gone, *changed, *new], progress)
            if self.path.stat().st_size <= _SCRUBBED_AT_ONCE_BYTES:
                self.scrub()
            return Refreshed(len(new), len(changed), len(gone))

    def update(self, paths: Iterable[Path | str]) -> None:
        """Take in these files and folders as they are now, absolute or relative to the folder; one
        that is gone is taken out."""
        self._make_sure(no_progress)
        names = list(dict.fromkeys(self._name(path) for path in paths))
        with self._writing:
            files = [
                inside
                for name in names
                if name is not None
                for inside in (name, *self._ask(schema.files_in(name)), *self._new_in(name))
                if is_note(inside) and self._kind_of(inside) is not None
            ]
            self._take_in(list(dict.fromkeys(files)), no_progress)

    def rebuild(self, progress: Progress = no_progress) -> None:
        """Build it anew from the files, and put it in place whole; until then the old one serves."""
        with self._writing, self._building():
            self._build(progress)

    def _new_in(self, name: str) -> Iterable[str]:
        """What stands in a folder that came as a whole."""
        if is_note(name) or not all(part[:1] not in ("", ".") for part in name.split("/")):
            return ()
        return found_in(self._folder, name)

    def scrub(self) -> bool:
        """Make sure that what was taken out has left no byte behind; True when nothing has.

        SQLite overwrites what it deletes, but not the copies that it leaves where rows moved from
        one page to another. Copying all pages takes a tenth of a second for ten thousand
        pieces, so it is done when nobody waits: at the end, at a start, and for a small index at
        the next look.
        """
        with self._writing:
            if not self.path.exists() or not self._ask(schema.is_unclean):
                return True
            with self._connections.writing() as database:
                database.execute("VACUUM")
                [(busy, *_)] = database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
                if busy:
                    return False
                database.execute("DELETE FROM meta WHERE name = 'unclean'")
                database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
            return True

    def _name(self, path: Path | str) -> str | None:
        if isinstance(path, str):
            path = self._folder / path
        for folder, found in ((self._folder, path), (self._folder.resolve(), path)):
            if found.is_relative_to(folder):
                return found.relative_to(folder).as_posix()
        return None

    def _kind_of(self, name: str) -> Kind | None:
        if not self._is_vault or not name.startswith(_OWN):
            return "notes"
        return "journal" if name.startswith(_JOURNAL) else None

    def _take_in(self, names: list[str], progress: Progress) -> None:
        try:
            done = 0
            for some in portions(self._folder, names):
                self._write(some)
                done += len(some)
                progress(done, len(names))
        except StateUnwritable as fault:
            cause = fault.__cause__
            if not isinstance(cause, sqlite3.DatabaseError) or not schema.is_damage(cause):
                raise
            log.warning("%s is damaged (%s) and is built anew", self.path, cause)
            self.rebuild(progress)

    def _write(self, files: list[tuple[str, Read | Unread | None]]) -> None:
        with self._connections.transaction() as database:
            writer = Writer(database, self._kind_of, self._cutting)
            for name, content in files:
                if content is None:
                    writer.take(name)
                else:
                    writer.put(name, content)
            writer.write()

    # The file --------------------------------------------------------------------------

    def _make_sure(self, progress: Progress) -> None:
        """The index is there and of this make."""
        if self._connections.is_open and self.path.exists():
            return
        if self._is_current():
            return
        with self._writing, self._building():
            if not self._is_current():
                self._build(progress)

    def _is_current(self) -> bool:
        made_for = schema.made_for(self.path)
        return made_for is not None and made_for.get("make") == self._make()

    def _make(self) -> str:
        """All that the rows depend on, besides the files."""
        data = [str(packaged.load(language, "search")) for language in LANGUAGES]
        return _short_hash(
            f"{schema.VERSION} {self._cutting} {self._folder.resolve()} {' '.join(data)}"
        )

    @contextmanager
    def _building(self) -> Iterator[None]:
        """One process builds at a time."""
        store.make_folder(self.path.parent, private=True)
        with locks.locked(self._lock_path, _REBUILD_S):
            yield

    def _build(self, progress: Progress) -> None:
        part = self._part
        names = [
            (name, stamp)
            for name, stamp in sorted(found_in(self._folder).items())
            if self._kind_of(name) is not None
        ]
        store.remove(part)
        try:
            with closing(schema.opened(part)) as database:
                self._fill(database, names, progress)
                schema.carry_over(database, self.path)
            self._connections.swap(part)
        except sqlite3.DatabaseError as fault:
            raise self._connections.unusable(fault) from fault
        finally:
            store.remove(part)

    def _fill(
        self,
        database: sqlite3.Connection,
        names: list[tuple[str, Stamp]],
        progress: Progress,
    ) -> None:
        database.execute("PRAGMA journal_mode = OFF")
        database.execute("PRAGMA synchronous = OFF")
        schema.create(database)
        database.execute("BEGIN")
        writer = Writer(database, self._kind_of, self._cutting, empty=True)
        for done, (name, _) in enumerate(names, start=1):
            if self._stopping.is_set():
                raise StateUnwritable(f"The index {self.path} was closed while it was built.")
            content = read_note(self._folder, name)
            if content is not None:
                writer.put(name, content)
            progress(done, len(names))
        writer.write()
        schema.create_indexes(database)
        database.execute("INSERT INTO meta VALUES ('make', ?)", (self._make(),))
        database.execute("INSERT INTO found (found) VALUES ('optimize')")
        database.execute("COMMIT")


def _short_hash(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
