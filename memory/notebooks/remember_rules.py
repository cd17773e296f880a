"""The words and patterns by which “remember that” is heard, read once: `remember.toml` of each
language, compiled for all of them together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import re2

from memory.languages import packaged
from memory.languages.folding import fold
from memory.languages.patterns import NEVER, Written
from memory.records import LANGUAGES, Language

_GAP = r"(?:[\s,;:.!?…¿¡-]+|$)"
_SPACE = r"[\s,;:.…¿¡-]+"
_CLOSED = r"[\s,;:.!?…-]*$"


@dataclass(frozen=True, slots=True)
class Rules:
    language: Language
    opener: Any
    ask: Any
    note: Any
    statement: Any
    back: Any
    trailing: Any
    unfinished: Any
    ahead: Any
    predicate: Any
    joint: Any
    polite: Any
    directed: Any
    asking: Any
    duty: Any
    not_own: Any
    never: Any
    not_after: Any
    not_after_bare: Any
    working_notes: Any
    not_clause: frozenset[str]
    misheard: frozenset[str]
    verb_final: Mapping[str, Any]


@cache
def all_rules() -> tuple[Rules, ...]:
    tables = {
        language: Written(packaged.load(language, "remember"), f"{language}/remember.toml")
        for language in LANGUAGES
    }
    clauses = {language: table.alternation("clause") for language, table in tables.items()}
    clause = "|".join(f"(?P<{language}>{each})" for language, each in clauses.items())
    return tuple(_read(language, table, clause) for language, table in tables.items())


def _read(language: Language, written: Written, clause: str) -> Rules:
    opener, back = written.alternation("openers"), written.alternation("back")
    polite, between = written.alternation("polite"), written.alternation("between")
    closers = f"{polite}|{written.alternation('closers')}"
    closed = f"(?:{_SPACE}(?:{closers}))*{_CLOSED}"
    then = f"(?:{_SPACE}(?:{between}))*(?:{_SPACE}(?:{clause}))?{_GAP}"
    found = Rules(
        language=language,
        opener=_longest(f"(?:{opener}){_GAP}"),
        ask=re2.compile(f"(?:{written.alternation('ask')}){then}"),
        note=re2.compile(f"(?:{written.alternation('note')}){then}"),
        statement=_any(written.listed("statement")),
        back=re2.compile(f"(?:{back}){closed}"),
        trailing=re2.compile(
            f"{_SPACE}(?:(?:{opener}){_SPACE})*(?:{written.alternation('behind')}|{back}){closed}"
            f"|[,;.…-]{_SPACE}(?:(?:{opener}){_SPACE})*(?:{written.alternation('behind_mark')}){closed}"
        ),
        unfinished=re2.compile(f"(?:^|\\s)(?:{written.alternation('unfinished')})$"),
        ahead=re2.compile(f"(?:{written.alternation('ahead')})(?:{_SPACE}(?:{between}))*{_GAP}"),
        predicate=_any(written.listed("predicate")),
        joint=re2.compile(
            f"(?:[\\s,]+(?:{written.alternation('joints')}))+[\\s,]+|,[\\s,]+|[.!?…]\\s+"
        ),
        polite=re2.compile(f"(?:{_SPACE}(?:{polite}))+{_CLOSED}"),
        directed=re2.compile(f"\\b(?:{written.alternation('directed')})\\b"),
        asking=_any(written.listed("asking")),
        duty=_any(written.listed("duties")),
        not_own=_any(written.listed("not_own")),
        never=re2.compile(f"(?:{written.alternation('not')})(?:\\b|$)"),
        not_after=_any(written.listed("not_after")),
        not_after_bare=_any(written.listed("not_after_bare")),
        working_notes=re2.compile(f"(?:^|[^a-z0-9])(?:{written.alternation('working_notes')})"),
        not_clause=frozenset(written.take("not_clause")),
        misheard=frozenset(written.listed("misheard_clause")),
        verb_final=_folded(written.take("verb_final", {})),
    )
    written.finish()
    return found


def _any(patterns: list[str]) -> Any:
    """One of the patterns at the place asked; of none, nothing matches."""
    return re2.compile(f"(?:{'|'.join(patterns)})(?:\\b|$)" if patterns else NEVER)


def _longest(written: str) -> Any:
    """Of alternatives that begin alike the longest counts, in whatever order they stand."""
    options = re2.Options()
    options.longest_match = True
    return re2.compile(written, options)


def _folded(table: Mapping[str, Any]) -> dict[str, Any]:
    """Lists of words as sets; beginnings and endings, which are compared in part, as tuples."""
    return {
        name: {key: tuple(v) if isinstance(v, list) else v for key, v in listed.items()}
        if isinstance(listed, dict)
        else tuple(listed)
        if name in ("separable", "inseparable")
        else frozenset(map(fold, listed))
        for name, listed in table.items()
    }


def rules_of(language: str) -> Rules:
    return next(each for each in all_rules() if each.language == language)
