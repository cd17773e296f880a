"""What a turn asks plain code to do with what Jarvis knows, and whether it is a farewell (V16)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any, Literal

import re2

from memory.languages import acts, packaged
from memory.languages.folding import folded
from memory.languages.patterns import Written
from memory.languages.sentences import sentences
from memory.notebooks.evidence import is_said
from memory.records import LANGUAGES, Language

RequestKind = Literal[
    "forget",
    "forget if known",
    "forget last",
    "forget all",
    "about me",
    "search notes",
    "search journal",
    "search all",
    "act",
    "remind",
    "look up",
    "farewell",
]
"""`forget if known` is an idiom where no entry is named by it, `forget last` where nothing was
saved in this conversation. Nobody here can `act` (switch, call, play, order), `remind` at a time,
or `look up` what goes on outside."""

Picked = tuple[int, ...]

_GAP = r"[\s,;:.!?…¿¡-]+"
_CLOSED = r"[\s,;:.!?…-]*"
_EDGES = ' \t\r\n,;:.!?…¿¡-–—"“”„«»'
_SEARCHES: tuple[tuple[str, RequestKind], ...] = (
    ("all", "search all"),
    ("journal", "search journal"),
    ("notes", "search notes"),
)
_FORGETS: tuple[tuple[str, RequestKind], ...] = (
    ("forget_all", "forget all"),
    ("forget_last", "forget last"),
    ("forget", "forget"),
    ("forget_if_known", "forget if known"),
)
_OUT_OF_REACH: tuple[tuple[str, RequestKind], ...] = (
    ("remind", "remind"),
    ("act", "act"),
    ("look", "look up"),
)
_PICKS: tuple[tuple[str, Picked], ...] = (
    ("first", (0,)),
    ("second", (1,)),
    ("third", (2,)),
    ("every", (0, 1, 2)),
    ("none", ()),
)
_MOST_CHARS = 400


@dataclass(frozen=True, slots=True)
class Request:
    """`topic` is what it is about, in the user's letters; "" for the kinds without one.

    `whole`: the turn holds nothing besides.
    """

    kind: RequestKind
    topic: str
    language: Language
    whole: bool


@dataclass(frozen=True, slots=True)
class _Rules:
    language: Language
    front: Any
    kinds: tuple[tuple[RequestKind, Any], ...]
    never: Any
    mentions: Any
    farewell: Any
    parting: Any
    picks: tuple[tuple[Picked, Any], ...]


@cache
def _rules() -> tuple[_Rules, ...]:
    return tuple(map(_read, LANGUAGES))


def _read(language: Language) -> _Rules:
    asking = Written(
        {k: packaged.load(language, "remember")[k] for k in ("openers", "polite")},
        f"{language}/remember.toml",
    )
    written = Written(packaged.load(language, "requests"), f"{language}/requests.toml")
    opener, polite = asking.alternation("openers"), asking.alternation("polite")
    asks, search, farewell, pick, reach = map(
        written.table, ("asks", "search", "farewell", "pick", "reach")
    )
    behind = f"(?:{_GAP}(?:{polite}|{asks.alternation('closers')}))*{_CLOSED}"
    whole = farewell.alternation("whole")
    beside = f"{opener}|{polite}|{farewell.alternation('beside')}"
    listed = [
        *((kind, asks.listed(key)) for key, kind in _FORGETS),
        ("about me", asks.listed("about_me")),
        *((kind, search.listed(key)) for key, kind in _SEARCHES),
        *((kind, reach.listed(key)) for key, kind in _OUT_OF_REACH),
    ]
    rules = _Rules(
        language=language,
        front=_longest(f"[¿¡\\s]*(?:(?:{opener}){_GAP})+"),
        kinds=tuple(
            (kind, tuple(_whole(each, behind) for each in patterns)) for kind, patterns in listed
        ),
        never=re2.compile(f"(?:{asks.alternation('never')})(?:\\b|$)"),
        mentions=re2.compile(rf"\b(?:{asks.alternation('mentions')})\b"),
        parting=re2.compile(rf"\b(?:{whole})\b"),
        farewell=re2.compile(
            f"[¿¡\\s]*(?:(?:{beside}){_GAP})*(?:{whole})(?:{_GAP}(?:{beside}|{whole}))*{_CLOSED}"
        ),
        picks=tuple((places, _whole(pick.alternation(key), behind)) for key, places in _PICKS),
    )
    for table in (asks, search, farewell, pick, reach, written):
        table.finish()
    return rules


def _whole(written: str, behind: str) -> Any:
    return re2.compile(f"[¿¡\\s]*(?:{written}){behind}")


def _longest(written: str) -> Any:
    options = re2.Options()
    options.longest_match = True
    return re2.compile(written, options)


# What is asked ------------------------------------------------------------------------


@lru_cache(maxsize=16)
def requested(text: str, *, spoken: bool = True) -> Request | None:
    """The first request of a turn in the user's own words; None where it holds none.

    A long text, or one of several lines, was brought from elsewhere and asks for nothing.
    """
    if not is_said(text, spoken=spoken):
        return None
    farewell = _farewell(text)
    if farewell is not None:
        return Request("farewell", "", farewell, whole=True)
    parts = list(_parts(text[:_MOST_CHARS]))
    for start, part in parts:
        if start and acts.does("reading", text[:start]):
            return None  # "it says: forget that …"
        for rules in _rules():
            found = _kind(part, rules)
            if found is not None:
                kind, topic = found
                return Request(kind, topic, rules.language, whole=len(parts) == 1)
    return None


def speaks_of_forgetting(text: str) -> bool:
    """Whether the turn may mean that something is forgotten, in whatever words."""
    said = folded(text).text
    return any(rules.mentions.search(said) and not rules.never.search(said) for rules in _rules())


def speaks_of_parting(text: str) -> bool:
    said = folded(text).text
    return any(rules.parting.search(said) for rules in _rules())


def picked(text: str) -> Picked | None:
    """Which of the entries that were read out, by place; () none of them, None no answer."""
    for rules in _rules():
        for place in _places(text, rules):
            said = folded(text[place:]).text
            for places, pattern in rules.picks:
                if pattern.fullmatch(said):
                    return places
    return None


def _parts(text: str) -> Iterator[tuple[int, str]]:
    """The punctuated sentences of a turn, each with where it begins."""
    spans = dict.fromkeys(sentence.within for sentence in sentences(text))
    for start, end in spans:
        if text[start:end].strip(_EDGES):
            yield start, text[start:end]


def _places(part: str, rules: _Rules) -> Iterator[int]:
    """Where a request may begin: at the beginning, and behind all openers."""
    yield 0
    said = folded(part)
    front = rules.front.match(said.text)
    if front is not None and front.end() < len(said.text):
        yield said.raw_span(front.end(), front.end())[0]


def _kind(part: str, rules: _Rules) -> tuple[RequestKind, str] | None:
    for place in _places(part, rules):
        said = folded(part[place:])
        if rules.never.match(said.text):
            return None
        for kind, patterns in rules.kinds:
            for pattern in patterns:
                match = pattern.fullmatch(said.text)
                if match is not None:
                    return kind, _topic(match, said.raw_span, part[place:])
    return None


def _topic(match: Any, raw_span: Any, part: str) -> str:
    if "topic" not in match.re.groupindex:
        return ""
    start, end = raw_span(*match.span(match.re.groupindex["topic"]))
    return re.sub(r"\s+", " ", part[start:end]).strip(_EDGES)


def _farewell(text: str) -> Language | None:
    """Nothing but words of parting, and what is said beside them."""
    said = folded(text).text
    return next((rules.language for rules in _rules() if rules.farewell.fullmatch(said)), None)
