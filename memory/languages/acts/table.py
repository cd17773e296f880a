"""The words and patterns of `acts.toml`, read once for each language."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any

import re2

from memory.languages import packaged
from memory.languages.folding import fold, pattern
from memory.languages.words import Lexicon, Word, lexicons

_OWNERS = ("s", "es")


class Acts:
    """The acts of one language."""

    def __init__(self, lexicon: Lexicon) -> None:
        table = packaged.load(lexicon.language, "acts")
        self.lexicon = lexicon
        self._lists = {
            name: lexicon.forms(listed)
            for name, listed in table.items()
            if isinstance(listed, list)
        }
        if self._lists["owner_before"]:  # "die Frau meines Chefs": the owner has an ending
            self._lists["kin"] |= {f"{each}{end}" for each in self._lists["kin"] for end in _OWNERS}
        for name in ("own_ends", "not_own_ends"):  # as written, accents and all
            self._lists[name] = frozenset(table[name])
        self.endings = tuple(table["own_verb_endings"])
        self.verb_second = bool(table["verb_second"])
        self.contracted = {
            lexicon.plain(fold(short)): lexicon.plain(fold(long))
            for short, long in table["contracted"].items()
        }
        self.kin_keys = {lexicon.key(word)[0] or word for word in self._lists["kin"]}
        self.opposites = {
            lexicon.plain(fold(word)): lexicon.forms(others)
            for word, others in table["opposites"].items()
        }
        self._patterns = {
            name: self._compiled(written) for name, written in table["patterns"].items()
        }
        self.third_ends = tuple(table["third_ends"])
        self.not_order_ends = tuple(table["not_order_ends"])
        self.finite_ends = tuple(table["finite_ends"])
        self.last_verb_ends = tuple(table["last_verb_ends"])
        self.comparing_ends = tuple(table["comparing_ends"])
        self.asking_ends = tuple(table["asking_ends"])
        self.past_ends = tuple(table["past_ends"])
        self.future_ends = frozenset(table["future_ends"])
        self.infinitive_ends = tuple(table["infinitive_ends"])
        self.modifier_ends = tuple(table["modifier_ends"])
        self.acts = frozenset(self._patterns)
        self.anchored = frozenset(
            name
            for name, written in table["patterns"].items()
            if any("^" in each or "$" in each for each in written)
        )
        self._senses = {
            sense: self._compiled(written) for sense, written in table["senses"].items()
        }

    def _compiled(self, written: list[str]) -> Any:
        options = re2.Options()
        options.max_mem = 64 << 20
        options.log_errors = False
        return re2.compile(
            "|".join(f"(?:{self._plain(pattern(each))})" for each in written), options
        )

    def _plain(self, written: str) -> str:
        if self.lexicon.language != "de":
            return written
        return re.sub(r"([aou])e(?!\?)", r"\1", written)

    def listed(self, name: str) -> frozenset[str]:
        return self._lists[name]

    def holds(self, text: str, names: Iterable[str]) -> bool:
        """Whether one of these lists holds it."""
        return any(text in self._lists[name] for name in names)

    def uncontracted(self, preposition: str) -> str:
        """ "zum" is "zu"; and those that say the same of a place are one."""
        return self.contracted.get(preposition, preposition)

    def spans(self, act: str, text: str) -> Iterator[tuple[int, int]]:
        for match in self._patterns[act].finditer(text):
            if match.end() > match.start():
                yield match.start(), match.end()

    def senses(self, text: str) -> Iterator[tuple[str, int, int]]:
        """Words that mean something only where they stand: what by, and from where to where."""
        for sense, written in self._senses.items():
            for match in written.finditer(text):
                yield sense, match.start(), match.end()

    def search(self, act: str, text: str) -> bool:
        return self._patterns[act].search(text) is not None


@lru_cache(maxsize=1)
def _acts() -> Mapping[str, Acts]:
    return {
        language: Acts(lexicon)
        for language, lexicon in lexicons().items()
        if packaged.has(language, "acts")
    }


def acts_of(language: str) -> Acts:
    known = _acts()
    return known.get(language) or next(iter(known.values()))


def languages() -> tuple[str, ...]:
    return tuple(_acts())


def does(act: str, text: str, language: str | None = None) -> bool:
    """Whether the text does this, in any language, or in `language`.

    Acts are the names of the patterns in acts.toml, the same in each language.
    """
    asked = [acts_of(language)] if language else list(_acts().values())
    return any(acts.search(act, joined(acts.lexicon.words(text))[0]) for acts in asked)


def orders(text: str) -> bool:
    """Whether it reads like an order in any language, or lowers a guard."""
    return does("order", text) or does("bidding", text)


def joined(words: tuple[Word, ...]) -> tuple[str, list[int]]:
    """Words with one space between, and where each begins."""
    starts = []
    at = 0
    for word in words:
        starts.append(at)
        at += len(word.text) + 1
    return " ".join(word.text for word in words), starts
