"""The free filter: which sentences are worth a review.

A sentence is marked when a rule of any language meets it and no veto of that language does.
A pass over the sentence meets many patterns at once, in linear time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import cast

import re2

from memory.languages import packaged
from memory.languages.folding import fold
from memory.languages.patterns import Written
from memory.languages.sentences import sentences
from memory.notebooks.limits import QUOTE_CHARS
from memory.records import Candidate, CandidateKind

ORDER: tuple[CandidateKind, ...] = ("correction", "self", "people", "preference", "plan")
VETOES = ("requests", "questions", "small_talk", "quoted", "conditions")

_MEMORY_BYTES = 64 * 1024 * 1024
_PATTERNS_PER_AUTOMATON = 50


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule with the numbers of its patterns.

    `claims` are numbers of the patterns one of which must meet a sentence, `objections` of its
    own exceptions and the vetoes that it does not overrule. `after` and `not_after` are
    numbers of patterns over what Jarvis said just before.
    """

    name: str
    kind: CandidateKind
    claims: frozenset[int]
    objections: frozenset[int]
    after: frozenset[int]
    not_after: frozenset[int]

    def marks(
        self, claims: frozenset[int], objections: frozenset[int], before: frozenset[int] | None
    ) -> bool:
        """`before` is None where Jarvis said nothing."""
        if self.claims.isdisjoint(claims) or not self.objections.isdisjoint(objections):
            return False
        if self.after and (before is None or self.after.isdisjoint(before)):
            return False
        return before is None or self.not_after.isdisjoint(before)


class Patterns:
    """Patterns that are met together. The same pattern has one number.

    Patterns that begin alike share an automaton. One of them all would have so many states that
    building them, which re2 does as they are needed, would take most of the time.
    """

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._automata: list[tuple[re2.Set, tuple[int, ...]]] = []

    def add(self, written: Sequence[str]) -> frozenset[int]:
        return frozenset(self._numbers.setdefault(each, len(self._numbers)) for each in written)

    def compile(self) -> None:
        options = re2.Options()
        options.max_mem = _MEMORY_BYTES
        options.log_errors = False
        alike = sorted(self._numbers)
        for first in range(0, len(alike), _PATTERNS_PER_AUTOMATON):
            together = alike[first : first + _PATTERNS_PER_AUTOMATON]
            automaton = re2.Set.SearchSet(options)
            for pattern in together:
                automaton.Add(pattern)
            automaton.Compile()
            self._automata.append((automaton, tuple(self._numbers[each] for each in together)))

    def met(self, text: str) -> frozenset[int]:
        found: list[int] = []
        for automaton, numbers in self._automata:
            met = cast("list[int] | None", automaton.Match(text))  # None where nothing met
            if met:
                found.extend(numbers[each] for each in met)
        return frozenset(found)

    def __len__(self) -> int:
        return len(self._numbers)


@dataclass(frozen=True, slots=True)
class Rules:
    """One language's rules, in the order in which they are asked.

    What speaks for a mark and what speaks against it are apart, and so are languages: an
    automaton of them all would have many more states, and most sentences need only the first.
    """

    rules: tuple[Rule, ...]
    claims: Patterns
    objections: Patterns
    before: Patterns

    def marking(self, sentence: str, before: frozenset[int] | None) -> Iterator[Rule]:
        """`sentence` is folded."""
        claims = self.claims.met(sentence)
        if not claims:
            return
        objections = self.objections.met(sentence)
        for rule in self.rules:
            if rule.marks(claims, objections, before):
                yield rule


@cache
def rules() -> tuple[Rules, ...]:
    """Each language's, read once."""
    return tuple(_read(language) for language in packaged.LANGUAGES_HERE)


def _read(language: str) -> Rules:
    written = Written(packaged.load(language, "filter"), f"{language}/filter.toml")
    claims, objections, before = Patterns(), Patterns(), Patterns()
    listed = written.table("vetoes")
    vetoes = {name: objections.add(listed.listed(name, [])) for name in VETOES}
    listed.finish()
    found = []
    for rule in written.tables("rule"):
        kind, despite = rule.take("kind"), rule.take("despite", [])
        if kind not in ORDER or not set(despite) <= set(VETOES):
            raise ValueError(f"{rule.where}: its kind or one of its vetoes is unknown.")
        respected = (vetoes[veto] for veto in VETOES if veto not in despite)
        found.append(
            Rule(
                name=f"{language}.{kind}.{rule.take('name')}",
                kind=cast(CandidateKind, kind),
                claims=claims.add(rule.listed("patterns")),
                objections=objections.add(rule.listed("unless", [])).union(*respected),
                after=before.add(rule.listed("after", [])),
                not_after=before.add(rule.listed("not_after", [])),
            )
        )
        rule.finish()
    written.finish()
    for patterns in (claims, objections, before):
        patterns.compile()
    found.sort(key=_rank)
    return Rules(tuple(found), claims, objections, before)


def _rank(rule: Rule) -> int:
    return ORDER.index(rule.kind)


def marked(
    text: str, *, language: str | None = None, previous: str | None = None
) -> tuple[Candidate, ...]:
    """The sentences of `text` that say something worth keeping, in order.

    `previous` is what Jarvis said just before. `language` is a hint for cutting sentences
    only: the rules of all languages run.
    """
    before = _before(previous)
    found: list[Candidate] = []
    quoted_to = 0
    for sentence in sentences(text, language):
        if sentence.start < quoted_to:
            continue
        rule = min(_marking(sentence.text, before), key=_rank, default=None)
        if rule is None:
            continue
        quote, quoted_to = sentence.text, sentence.end
        if len(quote) < QUOTE_CHARS:  # too short to be evidence: with what is beside it, then
            start, quoted_to = sentence.within
            quote = text[start:quoted_to]
        found.append(Candidate(kind=rule.kind, rule=rule.name, quote=quote))
    return tuple(found)


def meeting(sentence: str, *, previous: str | None = None) -> tuple[str, ...]:
    """The names of all rules that mark `sentence`, which is taken as one sentence."""
    return tuple(rule.name for rule in _marking(sentence, _before(previous)))


def _before(previous: str | None) -> tuple[frozenset[int] | None, ...]:
    """For each language."""
    if previous is None:
        return (None,) * len(rules())
    said = " ".join(fold(previous).split())
    return tuple(each.before.met(said) for each in rules())


def _marking(sentence: str, before: tuple[frozenset[int] | None, ...]) -> Iterator[Rule]:
    said = " ".join(fold(sentence).split())
    for each, said_before in zip(rules(), before, strict=True):
        yield from each.marking(said, said_before)
