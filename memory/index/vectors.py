"""Vectors of pieces in the index: kept by model and content, so that an edit costs only what is new."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from memory.index.building import meant_by

Matrix = npt.NDArray[np.float32]

_KEPT = np.float16


@dataclass(frozen=True, slots=True)
class Meant:
    """The pieces that have a vector, a row of `matrix` each; `state` changes when they do."""

    state: tuple[int, ...]
    pieces: npt.NDArray[np.int64]
    matrix: Matrix


def without(
    database: sqlite3.Connection, model: str, at_most: int, limit: int
) -> list[tuple[bytes, str]]:
    """So many contents that have no vector yet, with their text; none once `at_most` have one."""
    found = database.execute(
        "SELECT piece.content, file.name, heading, text FROM piece"
        " JOIN file ON file.id = piece.file WHERE NOT EXISTS"
        " (SELECT 1 FROM vector WHERE vector.content = piece.content AND model = ?)"
        " AND (SELECT count(*) FROM vector WHERE model = ?) < ?"
        " GROUP BY piece.content LIMIT ?",
        (model, model, at_most, limit),
    )
    return [(content, meant_by(name, heading, text)) for content, name, heading, text in found]


def put(
    database: sqlite3.Connection,
    model: str,
    found: Iterable[tuple[bytes, npt.NDArray[np.float32]]],
) -> None:
    """Vectors of contents that are still there; those of another model go."""
    database.execute("DELETE FROM vector WHERE model <> ?", (model,))
    database.executemany(
        "INSERT OR REPLACE INTO vector (content, model, value) SELECT :content, :model, :value"
        " WHERE EXISTS (SELECT 1 FROM piece WHERE piece.content = :content)",
        (
            {"content": content, "model": model, "value": value.astype(_KEPT).tobytes()}
            for content, value in found
        ),
    )


def state(database: sqlite3.Connection) -> tuple[int, ...]:
    """Changes with every change to the index that this connection did not make."""
    [(version,)] = database.execute("PRAGMA data_version")
    return (id(database), version)


def meant(database: sqlite3.Connection, model: str, dimensions: int) -> Meant:
    found = database.execute(
        "SELECT piece.id, vector.value FROM piece JOIN vector ON vector.content = piece.content"
        " WHERE vector.model = ? ORDER BY piece.id",
        (model,),
    ).fetchall()
    matrix = np.frombuffer(b"".join(value for _, value in found), dtype=_KEPT).astype(np.float32)
    return Meant(
        state(database),
        np.array([piece for piece, _ in found], dtype=np.int64),
        matrix.reshape(len(found), dimensions),
    )
