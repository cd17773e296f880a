"""The tables of the lessons, in `events.db`: primary data, changed by numbered migrations only."""

from __future__ import annotations

LESSONS = """
    CREATE TABLE lessons (
        id TEXT PRIMARY KEY,
        kind TEXT NOT NULL,
        text TEXT NOT NULL,
        made_at TEXT NOT NULL,         -- UTC, as events.at
        made_by TEXT NOT NULL,         -- the pass
        restored_at TEXT,
        forgotten_at TEXT,             -- NULL: it is live
        why TEXT,
        reason TEXT,
        into_id TEXT,                  -- what it was merged into, or what took its place
        counts INTEGER NOT NULL DEFAULT 0  -- whether it corroborates into_id
    );
    CREATE INDEX lessons_by_state ON lessons (forgotten_at);
    CREATE INDEX lessons_by_into ON lessons (into_id);
    CREATE TABLE lesson_events (
        lesson TEXT NOT NULL, event INTEGER NOT NULL, PRIMARY KEY (lesson, event)
    ) WITHOUT ROWID;
    CREATE TABLE lesson_uses (
        lesson TEXT NOT NULL, day TEXT NOT NULL, PRIMARY KEY (lesson, day)
    ) WITHOUT ROWID;
    CREATE TABLE lesson_apart (
        lesson TEXT NOT NULL, other TEXT NOT NULL, PRIMARY KEY (lesson, other)
    ) WITHOUT ROWID;
    CREATE TABLE lesson_vectors (
        lesson TEXT NOT NULL, model TEXT NOT NULL, vector BLOB NOT NULL,  -- float32, length one
        PRIMARY KEY (lesson, model)
    ) WITHOUT ROWID;
    CREATE TABLE lesson_block (
        position INTEGER PRIMARY KEY, lesson TEXT NOT NULL  -- what rides in prompts until the next pass
    );
    CREATE TABLE lesson_prefixes (
        sha256 TEXT NOT NULL, lesson TEXT NOT NULL, PRIMARY KEY (sha256, lesson)
    ) WITHOUT ROWID;
"""
USED = """
    INSERT OR IGNORE INTO lesson_uses (lesson, day)
    SELECT lesson, :day FROM lesson_prefixes WHERE sha256 = :sha256
"""
"""A request with this prefix was made on this day."""
