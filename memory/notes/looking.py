"""Looking something up in the notes: by words, and by meaning where a model is on this machine."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from memory.index import Index
from memory.index.query import terms
from memory.index.records import Hit, Progress, Where, no_progress
from memory.notes.context import EXTRACTS_CHARS, chosen, question_of
from memory.notes.ranking import fused, ranked
from memory.notes.relevance import information
from memory.notes.relevance import relevant as that_matter
from memory.records import Extract

if TYPE_CHECKING:
    from memory.embedding import Embedder, Vectors
    from memory.notes.meaning import Meaning, Nearest

log = logging.getLogger(__name__)

LOOKED_AT = 40
"""Pieces that are ordered anew, of each way to find them."""

_RELEVANT_AMONG = 10
_FIRST_INDEX_S = 5.0
"""So long the first question waits for an index that is not there yet."""


def warm() -> None:
    """Read what look-ups go by, a third of a second's work, before a turn waits for it."""
    information(question_of("Where is the tea?"), None, 1)


@dataclass(frozen=True, slots=True)
class _Found:
    hits: tuple[Hit, ...]
    nearest: Nearest | None


class Notes:
    """Looks into one index. For any thread; waits for the disk, and for the model where told so.

    Raises StateUnwritable, VaultMissing.
    """

    def __init__(self, index: Index, embedder: Callable[[], Embedder | None]) -> None:
        self._index = index
        self._embedder = embedder
        self._guard = threading.Lock()
        self._meaning: Meaning | None = None

    def search(
        self,
        words: str,
        *,
        where: Where = "notes",
        limit: int = 10,
        folder: str = "",
        relevant: bool = False,
        fresh: bool = True,
        progress: Progress = no_progress,
    ) -> tuple[Hit, ...]:
        """The best pieces for any words, told whether they would be sent with them as a question
        (N3); `relevant` leaves only those. `fresh` looks first what changed."""
        if limit < 1 or not words.strip():
            return ()
        vector = self.vector_of(words)
        found = self._found(
            words, where, limit, folder=folder, vector=vector, fresh=fresh, progress=progress
        )
        fitting = {hit.piece for hit in self._relevant(found, words)}
        return tuple(
            replace(hit, relevant=hit.piece in fitting)
            for hit in found.hits[:limit]
            if hit.piece in fitting or not relevant
        )

    def extracts(
        self,
        said: str,
        *,
        chars: int = EXTRACTS_CHARS,
        vector: Vectors | None = None,
        fresh: bool = True,
    ) -> tuple[Extract, ...]:
        """What of the notes has to do with a turn; none for small talk, and none where nothing is
        relevant (N3). `vector` is what `vector_of` gave for these or for nearly these words."""
        question = question_of(said)
        if not question or not terms(question) or not self._index.ready_within(_FIRST_INDEX_S):
            return ()
        found = self._found(question, "notes", _RELEVANT_AMONG, vector=vector, fresh=fresh)
        return chosen(self._relevant(found, question), chars)

    def _relevant(self, found: _Found, question: str) -> tuple[Hit, ...]:
        _, pieces = self._index.counts()
        asked = tuple(term.word for term in terms(question))
        hits, nearest = found.hits[:_RELEVANT_AMONG], found.nearest
        deviations = None
        if nearest is not None:
            told = ((hit.piece, nearest.deviation(hit.piece)) for hit in hits)
            deviations = {piece: by for piece, by in told if by is not None}
        return that_matter(hits, asked, pieces, deviations)

    def vector_of(self, said: str) -> Vectors | None:
        """What a turn means; None where nothing is asked, or no model or no vector is there."""
        meaning = self._meant()
        question = question_of(said)
        return meaning.of(question) if meaning is not None and question else None

    def embed_some(self, most: int = 1) -> int:
        """Make so many vectors that are missing; 0 where none is, or there is no model."""
        meaning = self._meant()
        return meaning.embed_some(most) if meaning is not None else 0

    def _found(
        self,
        question: str,
        where: Where,
        limit: int,
        *,
        folder: str = "",
        vector: Vectors | None,
        fresh: bool,
        progress: Progress = no_progress,
    ) -> _Found:
        meaning = self._meant()
        wide = max(limit, LOOKED_AT)
        nearest = None
        if meaning is not None and vector is not None:
            nearest = meaning.nearest(vector, wide)
        hits = self._index.search(
            question,
            where=where,
            limit=wide,
            folder=folder,
            also=nearest.order if nearest else (),
            fresh=fresh,
            progress=progress,
        )
        by_words = ranked([hit for hit in hits if hit.matched], wide)
        if nearest is None or not nearest.order:
            return _Found(by_words, nearest)
        at = {hit.piece: hit for hit in hits}
        by_meaning = [piece for piece in nearest.order if piece in at]
        order = fused([[hit.piece for hit in by_words], by_meaning])
        return _Found(tuple(at[piece] for piece in order), nearest)

    def _meant(self) -> Meaning | None:
        embedder = self._embedder()
        if embedder is None:
            return None
        with self._guard:
            if self._meaning is None:
                from memory.notes.meaning import Meaning  # numpy, only where vectors are

                self._meaning = Meaning(self._index, embedder)
            return self._meaning
