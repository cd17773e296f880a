"""The words for dates of each language, `memory/languages/<language>/dates.toml`, as patterns.

A form's template is a pattern in which a space stands for what separates words and these
stand for words of the language: `{weekday}`, `{month}`, `{safe_month}` (none that is a
verb), `{day}` (of a month), `{year}`, `{count}`, `{unit}`, `{part}` (of a day, may be
missing, brings its own space), and the language's own macros.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import re2

from memory.languages import packaged
from memory.languages.folding import fold, pattern

_SPACE = r"(?:[ \t]+)"
_GAP = r"[ \t-]+"
"""Between the words of one number."""
_SLOT = re.compile(r"\{([a-z_]+)\}")
_PATTERN_BYTES = 1 << 26
"""What a pattern may take while it runs; the longest needs about a quarter of it."""
_GATES = frozenset({"weekday", "month", "safe_month", "short_month", "unit"})
_WEEKS_OF_A_MONTH = 5
_CHOICE = re.compile(r"\{[a-z_]+\}(?= ?\||\)\?)|(?<=\|)\{[a-z_]+\}")
_SEPARATORS = re.compile(r"[\s,-]+")
_UMLAUTS = {"ä": ("a", "ae"), "ö": ("o", "oe"), "ü": ("u", "ue"), "ß": ("ss",)}


@dataclass(frozen=True, slots=True)
class Unit:
    days: int
    months: int


WEEK = Unit(7, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """One way to say something. `means` names a meaning of `meanings.py`.

    `rule` names its row in the file. `n`, `which` and `on` are the meaning's own. `needs_end`: a word that follows must be
    one of the language's `goes_on`, or this is no date ("on the first floor").
    `needs_more`: such a word must follow. `weak`: it gives way to whatever else its words
    belong to.
    """

    means: str
    pattern: Any
    needs: frozenset[str]
    """The slots without whose words it can't be there; see `Words.gates`."""
    n: int = 0
    which: str = "bare"
    on: tuple[int, int] | None = None
    rule: str = ""
    needs_end: bool = False
    needs_more: bool = False
    weak: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Shift:
    """Words that move the date beside them by `count` (or `n`) units: "a week from …"."""

    pattern: Any
    sign: int
    before: bool
    n: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """What one language says about dates; lookups go from folded words to numbers."""

    language: str
    weekday: Mapping[str, int]
    month: Mapping[str, int]
    day: Mapping[str, int]
    nth: Mapping[str, int]
    count: Mapping[str, int]
    year: Mapping[str, int]
    unit: Mapping[str, Unit]
    forms: tuple[Form, ...]
    years: Any
    gates: Mapping[str, Any]
    """By slot: whether a text has any of its words at all."""
    shifts: tuple[Shift, ...]
    up_to: Any
    """What stands between the two ends of a span; `and_` does behind `between`."""
    and_: Any
    between: Any
    goes_on: frozenset[str]
    measures: frozenset[str]
    yearly: Any
    once: Any
    habit: Any
    purpose: Any
    elsewhere_before: Any
    """Beside a date, these say that it is another one than the next: "last New Year's Eve"."""
    elsewhere_after: Any
    lasting: Any
    plan: Any
    clause: Any
    present: Any
    light: frozenset[str]
    past: Any
    simple_past: Any
    """Verbs of the past, unless one of `auxiliary` stands up to two words before ("is planned"),
    or one of `determiners` just before ("a used car")."""
    participle: Any
    """Makes the past with one of `auxiliary` anywhere in the clause ("habe … gesehen")."""
    past_accented: Any
    auxiliary: frozenset[str]
    determiners: frozenset[str]
    not_past: frozenset[str]

    def years_in(self, text: str) -> set[int]:
        """Those that a folded text names, in figures or spoken, wherever they stand."""
        said = (key(found["year"]) for found in self.years.finditer(text))
        return {
            int(each) if each.isdigit() else self.year[each]
            for each in said
            if each.isdigit() or each in self.year
        }

    def months_in(self, text: str) -> set[int]:
        return {self.month[found[0]] for found in self.gates["month"].finditer(text)}

    def number(self, said: str) -> int | None:
        found = key(said)
        return int(found) if found.isdigit() else self.count.get(found)


def key(words: str) -> str:
    """Folded words as the lookups know them."""
    return _SEPARATORS.sub(" ", words).strip()


def spellings(written: str) -> Iterator[str]:
    """Folded, with each umlaut as one letter and as two."""
    apart = [_UMLAUTS.get(letter, (letter,)) for letter in written.lower()]
    if all(len(each) == 1 for each in apart):
        yield fold(written)
        return
    for letters in zip(*(each if len(each) == 2 else each * 2 for each in apart), strict=True):
        yield fold("".join(letters))


def _lookup(rows: Iterable[tuple[str, int]]) -> dict[str, int]:
    return {key(spelling): value for written, value in rows for spelling in spellings(written)}


def _one_of(words: Iterable[str]) -> str:
    """Longest first: "twenty third" before "twenty"."""
    ordered = sorted(set(words), key=lambda word: (-len(word), word))
    return "|".join(re.escape(word).replace(r"\ ", _GAP) for word in ordered)


def _numbered(lists: list[list[str]] | list[str], first: int) -> Iterator[tuple[str, int]]:
    for value, words in enumerate(lists, first):
        for word in [words] if isinstance(words, str) else words:
            yield word, value


def _cardinals(table: dict[str, Any]) -> dict[str, int]:
    """0 to 99, from the words up to nineteen (or further), the tens, and how they are joined."""
    rows = list(_numbered(table["cardinals"], 0))
    ones = list(_numbered(table.get("joined_ones", table["cardinals"][1:10]), 1))
    tens = [(word, 10 * value) for word, value in _numbered(table["tens"], 2)]
    rows += tens
    rows += [
        (join.format(ten=ten, one=one), tens_value + one_value)
        for (ten, tens_value), (one, one_value), join in itertools.product(
            tens, ones, table["join"]
        )
    ]
    return _lookup(rows)


def _cardinal_pattern(table: dict[str, Any]) -> str:
    """Any of them, and little more: the lookup decides."""
    small = _one_of(
        spelling for word, _ in _numbered(table["cardinals"], 0) for spelling in spellings(word)
    )
    ones = _one_of(
        spelling
        for word, _ in _numbered(table.get("joined_ones", table["cardinals"][1:10]), 1)
        for spelling in spellings(word)
    )
    tens = _one_of(spelling for word in table["tens"] for spelling in spellings(word))
    joined = "|".join(
        join.replace(" ", _GAP).format(ten=f"(?:{tens})", one=f"(?:{ones})")
        for join in table["join"]
    )
    return f"(?:{joined}|{tens}|{small})"


def _years(rows: list[dict[str, Any]], cardinals: Mapping[str, int]) -> dict[str, int]:
    """Spoken years: a beginning ("two thousand"), and what may follow it from `low` to `high`."""
    found: dict[str, int] = {}
    for row in rows:
        if row.get("alone", False):
            found |= _lookup([(row["say"], row["value"])])
        for join in row["join"]:
            found |= {
                key(join.format(start=start, rest=word)): row["value"] + value
                for start in spellings(row["say"])
                for word, value in cardinals.items()
                if row["low"] <= value <= row["high"]
            }
    return found


def _year_pattern(rows: list[dict[str, Any]], cardinal: str) -> str:
    """Any of them, and little more: the lookup decides."""
    starts = f"(?:{_one_of(spelling for row in rows for spelling in spellings(row['say']))})"
    joins = sorted({join for row in rows for join in row["join"]})
    joined = [join.replace(" ", _GAP).format(start=starts, rest=cardinal) for join in joins]
    alone = [_one_of(spellings(row["say"])) for row in rows if row.get("alone", False)]
    return "|".join([*joined, *alone])


def _days(table: dict[str, Any]) -> dict[str, int]:
    ends = table.get("day_endings", [""])
    return _lookup(
        (word + end, value) for word, value in _numbered(table["days"], 1) for end in ends
    )


def _filled(template: str, slots: Mapping[str, str]) -> str:
    spaced = pattern(template).replace(" ", _SPACE)
    filled = _SLOT.sub(lambda found: slots[found[1]], spaced)
    end = "" if template.endswith((r"\.", " ")) else r"\b"
    if template.endswith(r"\.?"):
        filled, end = filled.removesuffix(r"\.?"), r"(?:\.|\b)"
    start = "" if template.startswith(" ") else r"\b"
    return f"{start}(?:{filled}){end}"


def _compiled(written: str, *, longest: bool = False) -> Any:
    options = re2.Options()
    options.max_mem = _PATTERN_BYTES
    options.longest_match = longest
    return re2.compile(written, options)


def _needs(template: str) -> frozenset[str]:
    """Slots that are not one choice of several."""
    return frozenset(_GATES.intersection(_SLOT.findall(_CHOICE.sub("", template))))


def _forms(
    row: dict[str, Any], macros: Mapping[str, list[str]], slots: Mapping[str, str]
) -> Iterator[Form]:
    """One for each template; templates without a name to look up make one together."""
    rule = " ".join(str(row[part]) for part in ("means", "which", "n", "on") if part in row)
    plain: list[str] = []
    named: list[tuple[str, frozenset[str]]] = []
    for said in row["say"]:
        for template in _expanded(said, macros):
            filled = _filled(template, slots)
            if "(?P<" in filled:
                named.append((filled, _needs(template)))
            else:
                plain.append(filled)
    patterns = [(_compiled(filled), needs) for filled, needs in named]
    if plain:
        patterns.append((_compiled("|".join(plain), longest=True), frozenset()))
    for compiled, needs in patterns:
        yield Form(
            means=row["means"],
            rule=rule,
            pattern=compiled,
            needs=needs,
            n=row.get("n", 0),
            which=row.get("which", "bare"),
            on=tuple(row["on"]) if "on" in row else None,
            needs_end=row.get("needs_end", False),
            needs_more=row.get("needs_more", False),
            weak=row.get("weak", False),
        )


def _expanded(template: str, macros: Mapping[str, list[str]]) -> Iterator[str]:
    for name, choices in macros.items():
        slot = f"{{{name}}}"
        if slot in template:
            for choice in choices:
                yield from _expanded(template.replace(slot, choice, 1), macros)
            return
    yield template


def _before(patterns: list[str]) -> Any:
    """What stands right in front of a date."""
    return re2.compile(r"\b(?:" + "|".join(map(pattern, patterns)) + r")[ \t]+$")


def _between(patterns: list[str]) -> Any:
    """What stands between two dates, and nothing beside it."""
    return re2.compile(r",?[ \t]*(?:" + "|".join(map(pattern, patterns)) + r")[ \t]*")


def _plain(patterns: list[str]) -> Any:
    return re2.compile(r"\b(?:" + "|".join(map(pattern, patterns)) + r")\b")


def _optional(context: Mapping[str, Any], name: str) -> Any:
    return re2.compile(pattern(context[name])) if name in context else None


def _accented(context: Mapping[str, Any]) -> Any:
    """Where an accent alone tells the past; for lower case text that has kept its accents."""
    return re2.compile(context["past_accented"]) if "past_accented" in context else None


def _slots(
    table: Mapping[str, Any],
    *,
    weekday: Mapping[str, int],
    month: Mapping[str, int],
    short: Mapping[str, int],
    day: Mapping[str, int],
    nth: Mapping[str, int],
    unit: Mapping[str, Unit],
) -> dict[str, str]:
    """What stands in braces in a form, as a pattern."""
    numbers = table["numbers"]
    cardinal = _cardinal_pattern(numbers)
    counts = _one_of(_lookup((word, 0) for word, _ in _numbered(numbers.get("counts", []), 1)))
    safe = [name for name in month if name not in table.get("verbs", [])]
    return {
        "weekday": f"(?P<weekday>{_one_of(weekday)})",
        "month": f"(?P<month>{_one_of(month)})",
        "short_month": f"(?P<month>{_one_of({**month, **short})})",
        "safe_month": f"(?P<month>{_one_of(safe)})",
        "day": f"(?P<day>{_one_of(day)}|{numbers['day_digits']})",
        "from_day": f"(?P<from_day>{_one_of(day)}|{numbers['day_digits']})",
        "spoken_day": f"(?P<day>{_one_of(day)})",
        "cardinal_day": f"(?P<day>{cardinal})",
        "nth": f"(?P<nth>{_one_of(nth)})",
        "ordinal": _one_of(day),
        "month_number": f"(?P<number>{_one_of(w for w, v in day.items() if v <= 12)})",
        "count": f"(?P<count>{cardinal}{'|' + counts if counts else ''}|[0-9]{{1,3}})",
        "unit": f"(?P<unit>{_one_of(unit)})",
        "year": f"(?P<year>{_year_pattern(table['years'], cardinal)}|(?:19|20)[0-9]{{2}})",
        "d": r"(?P<d>[0-9]{1,2})",
        "m": r"(?P<m>[0-9]{1,2})",
        "y": r"(?P<year>(?:19|20)[0-9]{2})",
        "part": rf"(?:[ \t]+(?:{pattern(table['parts']).replace(' ', _SPACE)}))?",
    }


def _shifts(table: Mapping[str, Any], slots: Mapping[str, str]) -> tuple[Shift, ...]:
    return tuple(
        Shift(
            pattern=_compiled(_filled(said, slots)),
            sign=row["sign"],
            before=row["beside"] == "before",
            n=row.get("n"),
        )
        for row in table["shift"]
        for said in row["say"]
    )


def _around(context: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of `Words` that say what the words beside a date make of it."""

    def every_spelling(words: list[str]) -> frozenset[str]:
        return frozenset(spelling for word in words for spelling in spellings(word))

    return {
        "up_to": _between(context["up_to"]),
        "and_": _between(context["and"]),
        "between": _before(context["between"]),
        "goes_on": frozenset(map(fold, context["goes_on"])),
        "measures": every_spelling(context["measures"]),
        "yearly": _plain(context["yearly"]),
        "once": _plain(context["once"]),
        "habit": _plain(context["habit"]),
        "purpose": _before(context["purpose"]),
        "elsewhere_before": _before(context["elsewhere_before"]),
        "elsewhere_after": re2.compile(
            r",?[ \t]+(?:" + "|".join(map(pattern, context["elsewhere_after"])) + r")\b"
        ),
        "lasting": _plain(context["lasting"]),
        "plan": _plain(context["plan"]),
        "clause": _plain(context["clause"]),
        "present": _plain(context["present"]),
        "light": every_spelling(context["light"]),
        "past": _plain(context["past"]),
        "simple_past": _optional(context, "simple_past"),
        "participle": _optional(context, "participle"),
        "past_accented": _accented(context),
        "determiners": frozenset(map(fold, context.get("determiners", []))),
        "auxiliary": every_spelling(context.get("auxiliary", [])),
        "not_past": every_spelling(context.get("not_past", [])),
    }


def _words(language: str) -> Words:
    table = packaged.load(language, "dates")
    numbers, context = table["numbers"], table["context"]
    cardinals = _cardinals(numbers)
    count = cardinals | _lookup(
        (word, value) for word, value in _numbered(numbers.get("counts", []), 1)
    )
    weekday = _lookup(_numbered(table["weekdays"], 0))
    month = _lookup(_numbered(table["months"], 1))
    short = _lookup(_numbered(table["short_months"], 1))
    day = _days(numbers)
    year = _years(table["years"], cardinals)
    nth = (
        _lookup(_numbered(numbers["nth"], 1))
        if "nth" in numbers
        else {word: value for word, value in day.items() if value <= _WEEKS_OF_A_MONTH}
    )
    unit = {
        spelling: Unit(row.get("days", 0), row.get("months", 0))
        for row in table["units"]
        for word in row["say"]
        for spelling in spellings(word)
    }
    slots = _slots(table, month=month, short=short, weekday=weekday, day=day, nth=nth, unit=unit)
    macros = table.get("macros", {})
    forms = tuple(form for row in table["form"] for form in _forms(row, macros, slots))
    gates = {
        "weekday": _one_of(weekday),
        "month": _one_of(month),
        "safe_month": _one_of(month),
        "short_month": _one_of(month | short),
        "unit": _one_of(unit),
    }
    return Words(
        language=language,
        weekday=weekday,
        month=month | short,
        nth=nth,
        day=day | {word: value for word, value in cardinals.items() if word not in day},
        count=count,
        year=year,
        unit=unit,
        forms=forms,
        years=_compiled(rf"\b{slots['year']}\b"),
        gates={name: _compiled(words) for name, words in gates.items()},
        shifts=_shifts(table, slots),
        **_around(context),
    )


@lru_cache(maxsize=1)
def languages() -> tuple[Words, ...]:
    """All of them, always: a call mixes languages."""
    return tuple(
        _words(language) for language in packaged.LANGUAGES_HERE if packaged.has(language, "dates")
    )
