"""What pieces mean, beside the words they hold: vectors made in idle time, and the nearest ones.

Everything here waits for a model or the disk: 0.3 s for a piece, 40 ms for a question, some
milliseconds for the nearest of ten thousand pieces. For any thread.
"""

from __future__ import annotations

import logging
import math
import threading
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from memory.embedding import Embedder, Vectors
from memory.index import Index
from memory.index.vectors import Meant, meant, put, state, without

log = logging.getLogger(__name__)

PIECES_AT_MOST = 50_000
"""More are found by their words alone: vectors of these take 80 MB in memory, half of that on disk, and four hours to make."""

_LEAST_FOR_A_SPREAD = 4
_DEVIATION_OF_MEDIAN = 1.4826
_LEAST_SPREAD = 0.02
_CLOSE = 1.0


@dataclass(frozen=True, slots=True)
class Nearest:
    """`order` are pieces, the nearest first: those that are about as near as the nearest of so
    many would be by chance, or nearer. `pieces` are all that have a vector, in order, and
    `deviations` how much nearer than the middle one each is, in standard deviations."""

    order: tuple[int, ...]
    pieces: npt.NDArray[np.int64]
    deviations: npt.NDArray[np.floating[Any]]

    def deviation(self, piece: int) -> float | None:
        """None of a piece that has no vector."""
        at = int(np.searchsorted(self.pieces, piece))
        known = at < len(self.deviations) and self.pieces[at] == piece
        return float(self.deviations[at]) if known else None


class Meaning:
    """Over one index, with one model."""

    def __init__(self, index: Index, embedder: Embedder) -> None:
        self._index = index
        self._embedder = embedder
        self._known: Meant | None = None
        self._guard = threading.Lock()

    def embed_some(self, most: int = 1) -> int:
        """Make vectors for so many contents that have none; 0 when all have. Raises
        StateUnwritable."""
        name = self._embedder.name
        waiting = self._index.asked(lambda base: without(base, name, PIECES_AT_MOST, most))
        if not waiting:
            return 0
        made = self._embedder.embed([text for _, text in waiting])
        contents = [content for content, _ in waiting]
        with self._index.changing() as database:
            put(database, name, zip(contents, made, strict=True))
        return len(waiting)

    def of(self, question: str) -> Vectors:
        """The question's vector."""
        vector: Vectors = self._embedder.embed([question], "query")[0]
        return vector

    def nearest(self, vector: Vectors, limit: int) -> Nearest:
        known = self._meant()
        if len(known.pieces) < _LEAST_FOR_A_SPREAD:
            return Nearest((), known.pieces, np.zeros(0))
        # Not by BLAS: its threads would wait for the cores on which the model's still spin, 4 to
        # 10 ms instead of the 0.2 that 3,000 pieces take.
        cosines = np.einsum("ij,j->i", known.matrix, vector)
        middle = float(np.median(cosines))
        # Of the middle half: what is near must not widen the measure that it is held to.
        spread = float(np.median(np.abs(cosines - middle))) * _DEVIATION_OF_MEDIAN
        deviations = (cosines - middle) / max(spread, _LEAST_SPREAD)
        some = np.argpartition(-deviations, min(limit, len(deviations) - 1))[:limit]
        best = some[np.argsort(-deviations[some], kind="stable")]
        by_chance = math.sqrt(2 * math.log(len(deviations))) - _CLOSE
        return Nearest(
            tuple(int(known.pieces[at]) for at in best if deviations[at] > by_chance),
            known.pieces,
            deviations,
        )

    def _meant(self) -> Meant:
        with self._guard:
            if self._known is None or self._known.state != self._index.asked(state):
                name, dimensions = self._embedder.name, self._embedder.dimensions
                self._known = self._index.asked(lambda base: meant(base, name, dimensions))
            return self._known
