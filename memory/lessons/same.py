"""Whether two lessons say the same (F4, m28)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from memory.languages.words import language_of, lexicons
from memory.lessons.records import Alike, Lesson

if TYPE_CHECKING:
    from memory.embedding import Vectors

WORDS_THRESHOLD = 0.75


def comparing(
    lessons: Sequence[Lesson], model: str | None, vectors: Mapping[str, Vectors]
) -> Callable[[Lesson, Lesson], Alike]:
    """How alike two of these lessons are."""
    keys = {each.id: _keys(each.text) for each in lessons}

    def compare(older: Lesson, newer: Lesson) -> Alike:
        one, other = keys[older.id], keys[newer.id]
        figure = 2 * len(one & other) / max(1, len(one) + len(other))
        return Alike(method="words", figure=figure, threshold=WORDS_THRESHOLD)

    return compare


def _keys(text: str) -> frozenset[str]:
    lexicon = lexicons()[language_of(text)]
    return frozenset(word.key for word in lexicon.words(text) if word.key)
