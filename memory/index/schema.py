"""The index's file: `<state>/index.db`. All of it is derived, and may be deleted at any time.

`found` holds for each piece the numbers of its words and no text. So what a deleted note held is
gone with its rows, which SQLite overwrites with zeros, whatever FTS5 leaves in its segments.
"""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from memory import databases
from memory.notes.reading import Stamp

log = logging.getLogger(__name__)

VERSION = 6
JOURNAL_FROM = 1 << 40
"""Pieces of the journal have numbers from here on, so that one range is the journal."""

BUSY_S = 5.0

_TABLES = """
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE file (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    modified_ns INTEGER NOT NULL, changed_ns INTEGER NOT NULL,
    bytes INTEGER NOT NULL, inode INTEGER NOT NULL,
    digest BLOB NOT NULL,
    unread TEXT
);
CREATE TABLE piece (
    id INTEGER PRIMARY KEY,
    file INTEGER NOT NULL,
    first_line INTEGER NOT NULL, last_line INTEGER NOT NULL,
    heading TEXT NOT NULL, text TEXT NOT NULL,
    words BLOB NOT NULL, heading_words INTEGER NOT NULL,
    content BLOB NOT NULL,
    day TEXT, time TEXT, stars INTEGER
);
CREATE INDEX piece_content ON piece (content);
CREATE TABLE vector (
    content BLOB, model TEXT, value BLOB NOT NULL, PRIMARY KEY (content, model)
) WITHOUT ROWID;
CREATE TABLE word (
    id INTEGER PRIMARY KEY,
    word TEXT NOT NULL,
    pieces INTEGER NOT NULL,
    languages INTEGER NOT NULL
);
CREATE TABLE form (key TEXT, word INTEGER, PRIMARY KEY (key, word)) WITHOUT ROWID;
CREATE VIRTUAL TABLE found USING fts5(
    words, content='', detail=none, columnsize=0, tokenize='ascii'
);
"""


# Made when the rows are there: sorted at once, they are written in order and leave no copies of
# rows that were moved.
_INDEXES = """
CREATE UNIQUE INDEX word_word ON word (word);
CREATE INDEX piece_file ON piece (file);
"""


def opened(path: Path) -> sqlite3.Connection:
    """A connection that any thread may use, one at a time; transactions are opened by hand."""
    database = sqlite3.connect(
        path, timeout=BUSY_S, isolation_level=None, check_same_thread=False, cached_statements=256
    )
    try:
        database.execute("PRAGMA secure_delete = ON")
        database.execute("PRAGMA trusted_schema = OFF")
        database.execute("PRAGMA cache_size = -32000")
        database.execute("PRAGMA temp_store = MEMORY")
    except sqlite3.Error:
        database.close()
        raise
    return database


def create(database: sqlite3.Connection) -> None:
    database.executescript(_TABLES)
    if sqlite3.sqlite_version_info >= (3, 42):
        database.execute("INSERT INTO found(found, rank) VALUES ('secure-delete', 1)")


def create_indexes(database: sqlite3.Connection) -> None:
    for statement in filter(str.strip, _INDEXES.split(";")):
        database.execute(statement)


def carry_over(database: sqlite3.Connection, old: Path) -> None:
    """What another make of the index knew already: vectors take hours, the rest a minute."""
    if not old.is_file():
        return
    try:
        database.execute("ATTACH ? AS old", (f"{old}",))
        try:
            database.execute(
                "INSERT OR IGNORE INTO vector SELECT content, model, value FROM old.vector"
                " WHERE content IN (SELECT content FROM piece)"
            )
        finally:
            database.execute("DETACH old")
    except sqlite3.DatabaseError as fault:
        log.info("no vectors are taken over from the old index: %s", fault)


def made_for(path: Path) -> dict[str, str] | None:
    """What the index at `path` says of itself; None where there is none or it can't be read."""
    if not path.is_file():
        return None
    try:
        with closing(opened(path)) as database:
            return dict(database.execute("SELECT name, value FROM meta"))
    except sqlite3.DatabaseError:
        return None


def stamps(database: sqlite3.Connection) -> dict[str, Stamp]:
    return {
        name: (modified, changed, size, inode)
        for name, modified, changed, size, inode in database.execute(
            "SELECT name, modified_ns, changed_ns, bytes, inode FROM file"
        )
    }


def is_unclean(database: sqlite3.Connection) -> bool:
    return bool(database.execute("SELECT 1 FROM meta WHERE name = 'unclean'").fetchall())


def files_in(folder: str) -> Callable[[sqlite3.Connection], list[str]]:
    """What the index knows of a folder; nothing of what is a file."""

    def ask(database: sqlite3.Connection) -> list[str]:
        found = database.execute(
            "SELECT name FROM file WHERE name > ? AND name < ?",
            (f"{folder}/", f"{folder}0"),  # "0" comes behind "/"
        )
        return [name for (name,) in found]

    return ask


def is_damage(fault: sqlite3.DatabaseError) -> bool:
    """Whether the file is none, or not the one that we made; not that it is held or can't be
    written."""
    return databases.is_damage(fault) or databases.code_of(fault) == sqlite3.SQLITE_ERROR
