"""The free filter: which sentences are worth a review.

A sentence is marked when a rule of any language meets it and no veto of that language does.
One pass over the sentence meets all patterns of all languages at once, in linear time.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import cast, get_args

import re2

from memory.languages import data
from memory.languages.folding import fold
from memory.languages.patterns import Written
from memory.languages.sentences import sentences
from memory.records import Candidate, CandidateKind

ORDER: tuple[CandidateKind, ...] = ("correction", "self", "people", "preference", "plan")
VETOES = ("requests", "questions", "small_talk", "quoted", "conditions")

_MEMORY_BYTES = 256 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule with the numbers of its patterns.

    `after` are patterns over what Jarvis said just before: with none, it does not matter what
    that was. `despite` are the vetoes that this rule overrules.
    """

    name: str
    kind: CandidateKind
    patterns: frozenset[int]
    unless: frozenset[int]
    after: frozenset[int]
    not_after: frozenset[int]
    vetoes: frozenset[int]


class Patterns:
    """Patterns that are met in one pass. The same pattern has one number."""

    def __init__(self) -> None:
        options = re2.Options()
        options.max_mem = _MEMORY_BYTES
        options.log_errors = False
        self._set = re2.Set.SearchSet(options)
        self._numbers: dict[str, int] = {}

    def add(self, written: Iterable[str]) -> frozenset[int]:
        for each in written:
            if each not in self._numbers:
                self._numbers[each] = self._set.Add(each)
        return frozenset(self._numbers[each] for each in written)

    def compile(self) -> None:
        if self._numbers:
            self._set.Compile()

    def met(self, text: str) -> frozenset[int]:
        if not self._numbers:  # an empty set can't be compiled
            return frozenset()
        return frozenset(cast("list[int] | None", self._set.Match(text)) or ())

    @property
    def written(self) -> tuple[str, ...]:
        return tuple(self._numbers)


@dataclass(frozen=True, slots=True)
class Rules:
    """All languages' rules, in the order in which they are asked."""

    rules: tuple[Rule, ...]
    spoken: Patterns
    before: Patterns


@lru_cache(maxsize=1)
def rules() -> Rules:
    found: list[Rule] = []
    spoken, before = Patterns(), Patterns()
    for language in data.LANGUAGES_HERE:
        if data.has(language, "filter"):
            found.extend(_read(language, spoken, before))
    spoken.compile()
    before.compile()
    found.sort(key=lambda rule: ORDER.index(rule.kind))
    return Rules(tuple(found), spoken, before)


def _read(language: str, spoken: Patterns, before: Patterns) -> Iterable[Rule]:
    written = Written(data.load(language, "filter"), f"{language}/filter.toml")
    listed = written.table("vetoes")
    vetoes = {name: spoken.add(listed.listed(name, [])) for name in VETOES}
    listed.finish()
    for rule in written.tables("rule"):
        kind, despite = rule.take("kind"), rule.take("despite", [])
        if kind not in get_args(CandidateKind) or not set(despite) <= set(VETOES):
            raise ValueError(f"{rule.where}: its kind or one of its vetoes is unknown.")
        yield Rule(
            name=f"{language}.{kind}.{rule.take('name')}",
            kind=cast(CandidateKind, kind),
            patterns=spoken.add(rule.listed("patterns")),
            unless=spoken.add(rule.listed("unless", [])),
            after=before.add(rule.listed("after", [])),
            not_after=before.add(rule.listed("not_after", [])),
            vetoes=frozenset().union(*(vetoes[each] for each in VETOES if each not in despite)),
        )
        rule.finish()
    written.finish()


def marked(
    text: str, *, language: str | None = None, previous: str | None = None
) -> tuple[Candidate, ...]:
    """The sentences of `text` that say something worth keeping, in order, each once.

    `previous` is what Jarvis said just before. `language` is a hint for cutting sentences
    only: the rules of all languages run.
    """
    before: frozenset[int] | None = None
    found = []
    for sentence in sentences(text, language):
        met = rules().spoken.met(fold(sentence.text))
        if not met:
            continue
        if before is None and previous is not None:
            before = rules().before.met(fold(previous))
        rule = _first(rules().rules, met, before)
        if rule is not None:
            found.append(Candidate(kind=rule.kind, rule=rule.name, quote=sentence.text))
    return tuple(found)


def meeting(sentence: str, *, previous: str | None = None) -> tuple[str, ...]:
    """The names of all rules that mark `sentence`, which is taken as one sentence."""
    met = rules().spoken.met(fold(sentence))
    before = None if previous is None else rules().before.met(fold(previous))
    return tuple(rule.name for rule in rules().rules if _marks(rule, met, before))


def _first(
    asked: Sequence[Rule], met: frozenset[int], before: frozenset[int] | None
) -> Rule | None:
    return next((rule for rule in asked if _marks(rule, met, before)), None)


def _marks(rule: Rule, met: frozenset[int], before: frozenset[int] | None) -> bool:
    if rule.patterns.isdisjoint(met):
        return False
    if not rule.unless.isdisjoint(met) or not rule.vetoes.isdisjoint(met):
        return False
    if rule.after and (before is None or rule.after.isdisjoint(before)):
        return False
    return before is None or rule.not_after.isdisjoint(before)
