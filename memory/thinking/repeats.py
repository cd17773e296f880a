"""Whether a thought was had before, in other words too.

Kept of a thought are short hashes of its words and never the words: the event log knows what was
thought also when the user has deleted it from the journal.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import blake2b

from memory.index.words import tokens
from memory.languages.acts import read
from memory.languages.words import language_of, lexicons

ALIKE = 0.6
"""Words that both have, of all words that either has. Measured by `bench.thinking`."""
WITHIN = 0.85
"""Words of the shorter that the longer has too, where the shorter has `_ENOUGH`."""
_ENOUGH = 4


@dataclass(frozen=True, slots=True)
class Trace:
    """Hashes of the words that mean something, as the text's own `language` reads them and as the
    others would: a short text does not always tell its language. `denies` is whether it says no.
    """

    language: str
    by_language: Mapping[str, frozenset[str]]
    denies: bool = False

    @property
    def words(self) -> frozenset[str]:
        return self.by_language[self.language]

    def as_data(self) -> dict[str, int]:
        """Each hash with the languages that it holds for, as bits in their order by name."""
        found: dict[str, int] = {}
        for bit, language in enumerate(sorted(self.by_language)):
            for word in self.by_language[language]:
                found[word] = found.get(word, 0) | 1 << bit
        return dict(sorted(found.items()))


def from_data(language: str, data: Mapping[str, int], *, denies: bool) -> Trace:
    by_language = {
        name: frozenset(word for word, bits in data.items() if bits >> bit & 1)
        for bit, name in enumerate(sorted(lexicons()))
    }
    return Trace(language=language, by_language=by_language, denies=denies)


def trace(text: str) -> Trace:
    language = language_of(text)
    dense = [token for token in tokens(text) if token.dense]
    runs = {token.word for token in dense}
    pairs = {
        part for token in dense for part in token.parts if len(part) > 1 or len(token.word) == 1
    }
    return Trace(
        language=language,
        by_language={
            name: frozenset(
                _hash(key)
                for key in pairs.union(
                    word.key for word in lexicon.words(text) if word.key and word.text not in runs
                )
            )
            for name, lexicon in lexicons().items()
        },
        denies=any(
            clause.said_no % 2 for clause in read(text, entry=True, language=language).clauses
        ),
    )


def _hash(word: str) -> str:
    return blake2b(word.encode("utf-8", "replace"), digest_size=4).hexdigest()


def likeness(one: Trace, other: Trace) -> float:
    """From 0 to 1; texts of the same words of which only one says no are not alike."""
    return max(
        _likeness(
            one.by_language[language], other.by_language[language], one.denies != other.denies
        )
        for language in (one.language, other.language)
    )


def _likeness(one: frozenset[str], other: frozenset[str], is_denied: bool) -> float:
    both, either = len(one & other), len(one | other)
    if not both or (is_denied and both == either):
        return 0.0
    figure = both / either
    shorter = min(len(one), len(other))
    if shorter >= _ENOUGH and both / shorter >= WITHIN:
        figure = max(figure, ALIKE)
    return figure


def is_repeat(new: Trace, earlier: Iterable[Trace]) -> bool:
    return any(likeness(new, each) >= ALIKE for each in earlier)


def is_within(one: Trace, other: Trace) -> bool:
    """Whether the other says nearly all that this one says."""
    both = one.words & other.by_language[one.language]
    return bool(both) and len(both) / len(one.words) >= WITHIN
