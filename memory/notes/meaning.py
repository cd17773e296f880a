"""What pieces mean, beside the words they hold: vectors made in idle time, and the nearest ones.

Everything here waits for a model or the disk: 0.3 s for a piece, 40 ms for a question, some
milliseconds for the nearest of ten thousand pieces. For any thread.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from memory.embedding import Embedder, Vectors
from memory.index import Index
from memory.index.vectors import Meant, meant, put, state, without

log = logging.getLogger(__name__)

PIECES_AT_MOST = 50_000
"""More are found by their words alone: vectors of these take 40 MB, and four hours to make."""

_ROWS_AT_ONCE = 8192
_LEAST_FOR_A_SPREAD = 8


@dataclass(frozen=True, slots=True)
class Nearest:
    """`order` are pieces, the nearest first; `deviations` tell of every piece that has a vector
    how much nearer than the average it is, in standard deviations."""

    order: tuple[int, ...]
    deviations: Mapping[int, float]


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
            return Nearest((), {})
        cosines = np.concatenate(
            [
                known.matrix[first : first + _ROWS_AT_ONCE].astype(np.float32) @ vector
                for first in range(0, len(known.pieces), _ROWS_AT_ONCE)
            ]
        )
        spread = float(cosines.std()) or 1.0
        deviations = (cosines - cosines.mean()) / spread
        some = np.argpartition(-deviations, min(limit, len(deviations) - 1))[:limit]
        best = some[np.argsort(-deviations[some], kind="stable")]
        return Nearest(
            tuple(int(known.pieces[at]) for at in best),
            dict(zip(known.pieces.tolist(), deviations.tolist(), strict=True)),
        )

    def _meant(self) -> Meant:
        with self._guard:
            if self._known is None or self._known.state != self._index.asked(state):
                name, dimensions = self._embedder.name, self._embedder.dimensions
                self._known = self._index.asked(lambda base: meant(base, name, dimensions))
            return self._known
