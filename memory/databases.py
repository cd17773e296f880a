"""What SQLite's faults mean to the user."""

from __future__ import annotations

import sqlite3

from memory.errors import StateUnwritable

_DAMAGE = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}


def code_of(fault: sqlite3.DatabaseError) -> int:
    """Its primary code; 0 for a fault that is not SQLite's own."""
    return getattr(fault, "sqlite_errorcode", 0) & 0xFF


def is_damage(fault: sqlite3.DatabaseError) -> bool:
    """Whether the file is broken, or none of SQLite's."""
    return code_of(fault) in _DAMAGE


def unusable(name: str, fault: sqlite3.DatabaseError) -> StateUnwritable:
    """The sentence for the user: that `name` can't be used, why, and what to do."""
    code = code_of(fault)
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        advice = "another process holds it. Try again in a moment, or end the other Jarvis"
    elif code == sqlite3.SQLITE_FULL:
        advice = "there is no room left on its disk. Free some space"
    else:
        advice = (
            f"the database says: {fault}. Look at its folder's permissions, or choose another "
            "with --state"
        )
    return StateUnwritable(f"{name} can't be used: {advice}.")
