"""“Remember that …”: what of a turn the user asks to have written down, with no model (L3)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache
from typing import Any

import re2

from memory.languages import acts, data
from memory.languages.dates import with_dates
from memory.languages.folding import fold, folded
from memory.languages.patterns import Written
from memory.languages.sentences import opens_request, sentences
from memory.records import LANGUAGES, Language, Notebook

_GAP = r"(?:[\s,;:.!?…-]+|$)"
_CLOSED = r"[\s,;.!?…-]*$"
_EDGES = " \t\r\n,;:-–—…"
_WORD = re.compile(r"[^\W_]+")
_LEAST_WORDS = 2
_MOST_OPENERS = 6
_SHORTEST_VERB = 3


@dataclass(frozen=True, slots=True)
class Asked:
    """`fact` stands to the letter in `quote`, a sentence of the user's; both are empty where the
    request points back and there is nothing to point at. `subordinate`: it stood behind "that".
    `read_aloud`: words in front of it in the turn introduce something that is read.
    """

    fact: str
    quote: str
    language: Language
    subordinate: bool = False
    read_aloud: bool = False


@dataclass(frozen=True, slots=True)
class _Rules:
    language: Language
    opener: Any
    ask: Any
    back: Any
    trailing: Any
    joint: Any
    never: Any
    not_after: Any
    not_after_bare: Any
    clause: Any
    working_notes: Any
    verb_final: Mapping[str, frozenset[str]]


@cache
def _rules() -> tuple[_Rules, ...]:
    return tuple(map(_read, LANGUAGES))


def _read(language: Language) -> _Rules:
    written = Written(data.load(language, "remember"), f"{language}/remember.toml")
    opener, back = written.alternation("openers"), written.alternation("back")
    rules = _Rules(
        language=language,
        opener=re2.compile(f"(?:{opener}){_GAP}"),
        ask=re2.compile(f"(?:{written.alternation('ask')}){_GAP}"),
        back=re2.compile(f"(?:{back})(?:[\\s,]+(?:{opener}))*{_CLOSED}"),
        trailing=re2.compile(f"[\\s,;.…-]+(?:(?:{opener})[\\s,]+)*(?:{back}){_CLOSED}"),
        joint=re2.compile(f"(?:[\\s,]+(?:{opener}))+[\\s,]+"),
        never=re2.compile(f"(?:{written.alternation('not')})(?:\\b|$)"),
        not_after=_any(written.expanded(written.take("not_after"))),
        not_after_bare=_any(written.expanded(written.take("not_after_bare"))),
        clause=re2.compile(f"\\b(?:{written.alternation('clause')}){_CLOSED}"),
        working_notes=re2.compile(f"(?:^|[^a-z0-9])(?:{written.alternation('working_notes')})"),
        verb_final={
            name: frozenset(map(fold, words))
            for name, words in written.take("verb_final", {}).items()
        },
    )
    written.finish()
    return rules


def _any(patterns: list[str]) -> Any:
    """One of the patterns at the place asked; of none, nothing matches."""
    return re2.compile(f"(?:{'|'.join(patterns)})(?:\\b|$)" if patterns else r"[^\s\S]")


# What is asked for --------------------------------------------------------------------


def only_looks_like_it(text: str) -> bool:
    """“Do you remember …?”, “I can't remember that”, “remind me to …” (L3.2)."""
    return any(_is_other(sentence.text) for sentence in sentences(text))


def asked(text: str, before: str | None = None) -> tuple[Asked, ...]:
    """What a turn asks to remember. `before` is the user's previous turn: “remember that” alone
    points back to its last sentence."""
    parts = sentences(text)
    texts = [sentence.text for sentence in parts]
    found: dict[Asked, None] = {}
    for number, sentence in enumerate(parts):
        one = _asked_in(texts, number, before)
        if one is not None:
            found[replace(one, read_aloud=acts.does("reading", text[: sentence.start]))] = None
    return tuple(found)


def _asked_in(parts: Sequence[str], number: int, before: str | None) -> Asked | None:
    sentence = parts[number]
    if _is_other(sentence):
        return None
    said = folded(sentence)
    following = parts[number + 1] if number + 1 < len(parts) else ""
    for rules, place in _places(said.text):
        if rules.back.match(said.text[place:]):
            if sentence.endswith(":") and following:
                return _fact(following, following, rules)
            return _pointed_at(parts[:number], before, rules)
    for rules, place in _places(said.text):
        match = rules.ask.match(said.text[place:])
        if match is None:
            continue
        end = place + match.end()
        rest = said.text[end:]
        subordinate = rules.clause.search(said.text[place:end]) is not None
        if rules.not_after.match(rest) or (not subordinate and rules.not_after_bare.match(rest)):
            continue
        if _WORD.search(rest):
            raw = sentence[said.raw_span(end, len(said.text))[0] :]
            return _fact(raw, sentence, rules, subordinate=subordinate)
        if following:
            return _fact(following, following, rules)
        return _pointed_at(parts[:number], before, rules)
    for rules in _rules():
        match = rules.trailing.search(said.text)
        if match is not None and match.start() > 0:
            return _fact(sentence[: said.raw_span(0, match.start())[1]], sentence, rules)
    return None


def _is_other(sentence: str) -> bool:
    said = fold(sentence)
    return any(rules.never.match(said[place:]) for rules, place in _places(said))


def _places(said: str) -> list[tuple[_Rules, int]]:
    """Where a request may begin, for the rules of each language: at the start, and behind each
    opener of any language."""
    places = [0]
    while len(places) <= _MOST_OPENERS:
        at = places[-1]
        ends = [match.end() for rules in _rules() if (match := rules.opener.match(said[at:]))]
        if not ends or not max(ends):
            break
        places.append(at + max(ends))
    return [(rules, place) for place in places for rules in _rules()]


def _pointed_at(earlier: Sequence[str], before: str | None, rules: _Rules) -> Asked:
    """The last statement in front of a request that points back."""
    sources = earlier or [sentence.text for sentence in sentences(before or "")]
    for source in reversed(sources):
        if not _asks(source) and not _is_other(source):
            fact = _fact(source, source, rules)
            if fact is not None:
                return fact
    return Asked("", "", rules.language)


def _without_request(fact: str, rules: _Rules) -> str:
    """“I'm vegan and find me a restaurant” asks for two things; the first is to be remembered."""
    said = folded(fact)
    for joint in rules.joint.finditer(said.text):
        if joint.start() > 0 and opens_request(said.text[joint.end() :]):
            return fact[: said.raw_span(0, joint.start())[1]].rstrip(_EDGES)
    return sentences(fact)[0].text.rstrip(_EDGES) if sentences(fact) else fact


def _asks(sentence: str) -> bool:
    return sentence.rstrip().endswith("?") or acts.does("question", sentence)


def _fact(raw: str, quote: str, rules: _Rules, *, subordinate: bool = False) -> Asked | None:
    fact = _without_request(raw.strip(_EDGES), rules)
    if len(_WORD.findall(fact)) < _LEAST_WORDS:
        return None
    return Asked(fact, quote, rules.language, subordinate)


# What is written ----------------------------------------------------------------------


def entry(asked: Asked, at: datetime) -> str:
    """The user's words as an entry: one line, a sentence of its own, real dates beside relative
    ones as of `at`, when they were said."""
    fact = " ".join(asked.fact.split()).rstrip("?").rstrip()
    turned = _main_clause(fact, asked.language) if asked.subordinate else fact
    return with_dates(turned[:1].upper() + turned[1:], at)


def notebook_for(text: str) -> Notebook:
    """Set-up and agreements go into Jarvis' working notes, everything else is about the user."""
    said = fold(text)
    return "MEMORY.md" if any(r.working_notes.search(said) for r in _rules()) else "USER.md"


def _main_clause(fact: str, language: Language) -> str:
    """“ich seit 2019 in Bremen wohne” → “ich wohne seit 2019 in Bremen”; as it was where
    subject and verb are not sure."""
    words = {rules.language: rules.verb_final for rules in _rules()}[language]
    ending = fact[len(fact.rstrip(".!")) :]
    parts = fact.rstrip(".!").split()
    plain = [fold(part).strip(",") for part in parts]
    if not words or len(parts) < 3 or any("," in part for part in parts):
        return fact
    if any(part in words["several_clauses"] for part in plain):
        return fact
    if plain[0] in words["subjects"]:
        subject = 1
    elif plain[0] in words["determiners"] and plain[2] in words["after_subject"]:
        subject = 2
    elif parts[0][:1].isupper() and plain[1] in words["after_subject"]:
        subject = 1
    else:
        return fact
    verb, left = parts[-1], ""
    if plain[-1] not in words["never_separable"]:
        fitting = [each for each in words["separable"] if plain[-1].startswith(each)]
        prefix = max(fitting, key=len, default="")
        if prefix:
            if len(plain[-1]) - len(prefix) < _SHORTEST_VERB:
                return fact
            verb, left = verb[len(prefix) :], f" {verb[: len(prefix)]}"
    middle = " ".join(parts[subject:-1])
    return f"{' '.join(parts[:subject])} {verb} {middle}{left}{ending}"
