"""What the words around a date tell: is it past, does it recur?"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable
from functools import cached_property
from itertools import pairwise

from memory.languages.dates.words import Words
from memory.languages.folding import fold

_SENTENCE_END = re.compile(r"(?<![0-9])[.!?;]+(?=\s|$)|[\n!?;]|(?<=[0-9]{4})\.(?=\s|$)")
_WORD = re.compile(r"[\w']+")


class Clause:
    """A piece of a sentence, between commas and conjunctions; folded, and as it was written.

    Verbs are asked for by language: "was" is English for the past and German for "what".
    """

    def __init__(self, text: str, accented: str, languages: tuple[Words, ...]) -> None:
        self._text = text
        self._accented = accented
        self._languages = languages
        self._verbs: dict[tuple[str, str], bool] = {}

    def past(self, words: Words) -> bool:
        known = self._verbs.get(("past", words.language))
        if known is None:
            known = _in_the_past(words, self._text, self._accented)
            self._verbs["past", words.language] = known
        return known

    def own_verb(self, words: Words) -> bool:
        """It says who does something, or has a verb of the present or future."""
        known = self._verbs.get(("present", words.language))
        if known is None:
            known = bool(words.present.search(self._text))
            self._verbs["present", words.language] = known
        return known

    def _has(self, name: str) -> bool:
        return any(getattr(words, name).search(self._text) for words in self._languages)

    @cached_property
    def yearly(self) -> bool:
        return self._has("yearly")

    @cached_property
    def once(self) -> bool:
        return self._has("once")

    @cached_property
    def habit(self) -> bool:
        return self._has("habit")

    def light(self, dates: list[tuple[int, int]]) -> bool:
        """Beside its dates there is nothing that could be what happens then."""
        text = self._text
        for start, end in reversed(dates):
            text = text[: max(start, 0)] + " " + text[end:]
        said = _WORD.findall(text)
        return any(all(word in words.light for word in said) for words in self._languages)


def _in_the_past(words: Words, text: str, accented: str) -> bool:
    if words.past.search(text):
        return True
    said = _WORD.findall(text)
    if words.simple_past is not None:
        for index, word in enumerate(said):
            if (
                words.simple_past.fullmatch(word)
                and word not in words.not_past
                and not words.auxiliary.intersection(said[max(0, index - 2) : index])
                and not words.determiners.intersection(said[max(0, index - 1) : index])
            ):
                return True
    if words.participle is not None and words.auxiliary.intersection(said):
        return any(words.participle.fullmatch(word) and word not in words.not_past for word in said)
    if words.past_accented is not None and not accented.isascii():
        return any(
            words.past_accented.fullmatch(word) and fold(word) not in words.not_past
            for word in _WORD.findall(accented)
        )
    return False


class Clauses:
    """A folded text in sentences and clauses; `accented` has the same length and its accents."""

    def __init__(self, text: str, accented: str, languages: tuple[Words, ...]) -> None:
        ends = [found.end() for found in _SENTENCE_END.finditer(text)]
        cuts = {found.start() for words in languages for found in words.clause.finditer(text)} | {
            found.start() for found in re.finditer(r"[,:]", text)
        }
        self._length = len(text)
        self._starts: list[int] = []
        self._clauses: list[Clause] = []
        self._sentence_of: list[int] = []
        self._sentences: list[list[Clause]] = []
        bounds = [0, *ends, len(text)]
        inner = sorted(cuts)
        at = 0
        for first, last in pairwise(bounds):
            if first >= last:
                continue
            pieces = [first]
            while at < len(inner) and inner[at] < last:
                if inner[at] > pieces[-1]:
                    pieces.append(inner[at])
                at += 1
            sentence: list[Clause] = []
            for start, end in zip(pieces, [*pieces[1:], last], strict=True):
                clause = Clause(text[start:end], accented[start:end], languages)
                self._starts.append(start)
                self._clauses.append(clause)
                self._sentence_of.append(len(self._sentences))
                sentence.append(clause)
            self._sentences.append(sentence)
        self._known: dict[tuple[int, str], bool] = {}

    def index(self, position: int) -> int:
        return max(0, bisect_right(self._starts, position) - 1)

    def clause(self, index: int) -> Clause:
        return self._clauses[index]

    def start(self, index: int) -> int:
        return self._starts[index]

    def end(self, index: int) -> int:
        return self._starts[index + 1] if index + 1 < len(self._starts) else self._length

    def sentence_is_past(self, index: int, words: Words) -> bool:
        return self._any(index, f"past {words.language}", lambda clause: clause.past(words))

    def sentence_is_yearly(self, index: int) -> bool:
        return self._any(index, "yearly", lambda clause: clause.yearly) and not self._any(
            index, "once", lambda clause: clause.once
        )

    def _any(self, index: int, what: str, holds: Callable[[Clause], bool]) -> bool:
        """Whether any clause of the sentence is so."""
        sentence = self._sentence_of[index]
        known = self._known.get((sentence, what))
        if known is None:
            known = any(map(holds, self._sentences[sentence]))
            self._known[sentence, what] = known
        return known
