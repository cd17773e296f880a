"""Small on purpose (spec L6): what goes for free, and what a merge may do.

Only entries that Jarvis wrote are touched; a line of the user's own hand stays as it is, also
where it says the same as another (L1.3).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import cache, lru_cache
from typing import Literal

from memory.languages import packaged
from memory.languages.acts import THIRD, USER, Clause, Reading, orders, read
from memory.languages.dates import dates_named, passed, spoken_dates
from memory.languages.folding import fold
from memory.languages.words import Word, language_of, tells_language
from memory.notebooks import canonical
from memory.notebooks.limits import ENTRY_CHARS
from memory.notebooks.merging import Merge
from memory.notebooks.secrets import secret_in
from memory.records import NOTEBOOKS, Accepted, Change, Notebook, Operation

AT_ONCE = 10
"""So many entries go in one pass at most; the others in the next (m24)."""

_TOKEN = re.compile(r"[^\W_]+(?:['.:/-][^\W_]+)*|[^\w\s]")
KEPT_WORDS = 0.5
"""A merge keeps at least this share of the words that mean something, of each entry."""

_ANY_TIME = datetime(2026, 1, 7, 12, tzinfo=UTC)  # which day "on Monday" is makes no difference

Entries = Mapping[Notebook, tuple[str, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ours:
    """An entry that Jarvis wrote; `said_on` is the day on which its words were said."""

    notebook: Notebook
    text: str
    said_on: date


@dataclass(frozen=True, slots=True, kw_only=True)
class Drop:
    """An entry that goes; `reason` is a sentence for the log."""

    notebook: Notebook
    text: str
    why: Literal["duplicate", "outdated"]
    reason: str


def ours(changes: Sequence[Change], entries: Entries) -> tuple[Ours, ...]:
    """The entries that are there and were written by Jarvis, in their order.

    What the user ever wrote or changed by hand is the user's, and so is what an undo brought
    back: it would else go again.
    """
    hand = {(each.notebook, each.new) for each in changes if each.source in ("user", "undo")}
    days: dict[tuple[Notebook, str], date] = {}
    for change in changes:
        if change.new is not None:
            days[change.notebook, change.new] = (change.said_at or change.at).date()
    return tuple(
        Ours(notebook=notebook, text=text, said_on=days[notebook, text])
        for notebook in NOTEBOOKS
        for text in dict.fromkeys(entries.get(notebook, ()))
        if (notebook, text) in days and (notebook, text) not in hand
    )


# Duplicates (L6.1) --------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Words:
    """A language's words for this, folded."""

    leads: tuple[tuple[str, ...], ...]
    same: Mapping[str, tuple[str, ...]]
    adding: frozenset[str]
    extending: frozenset[str]
    speaking: frozenset[str]
    taking_back: frozenset[str]


@cache
def _words() -> _Words:
    """Of all languages together: a notebook mixes them."""
    tables = [packaged.load(language, "tidy") for language in packaged.LANGUAGES_HERE]
    leads = {tuple(fold(lead).split()) for table in tables for lead in table["lead"]}
    return _Words(
        leads=tuple(sorted(leads, key=lambda lead: (-len(lead), lead))),
        same={
            fold(written): tuple(fold(read).split())
            for table in tables
            for written, read in table["same"].items()
        },
        adding=frozenset(fold(word) for t in tables for word in t["contained"]["adding"]),
        extending=frozenset(fold(word) for t in tables for word in t["contained"]["extending"]),
        speaking=frozenset(fold(word) for t in tables for word in t["contained"]["speaking"]),
        taking_back=frozenset(fold(word) for t in tables for word in t["contained"]["taking_back"]),
    )


@lru_cache(maxsize=1024)
def _all_tokens(text: str) -> tuple[str, ...]:
    """The words and marks of an entry, without marks behind."""
    known = _words()
    tokens: list[str] = []
    for token in _TOKEN.findall(fold(text)):
        tokens += known.same.get(token, (token,))
    while tokens and not tokens[-1][-1].isalnum():
        tokens.pop()
    return tuple(tokens)


def _tokens(text: str) -> tuple[str, ...]:
    """Without what names the user in front."""
    tokens = _all_tokens(text)
    for lead in _words().leads:
        if tokens[: len(lead)] == lead and len(tokens) > len(lead):
            return tokens[len(lead) :]
    return tokens


def _plain(text: str) -> tuple[str, ...]:
    return tuple(token for token in _tokens(text) if token[-1].isalnum())


def says_as_much(longer: str, shorter: str) -> bool:
    """Whether `longer` says all that `shorter` says: the same, or the same and more.

    The rest must not take it back, narrow it, doubt it or put it into another's mouth.
    """
    if _plain(longer) == _plain(shorter):
        return bool(_plain(shorter))
    if _holds(_tokens(longer), _tokens(shorter), 0):
        return True
    held, whole = _all_tokens(shorter), _all_tokens(longer)
    known = _words()
    if not held or held[0] not in known.speaking:
        return False
    return any(
        _holds(whole, held, place)
        for place in range(1, len(whole) - len(held) + 1)
        if not whole[place - 1][-1].isalnum() or whole[place - 1] in known.adding
    )


def _holds(whole: tuple[str, ...], held: tuple[str, ...], place: int) -> bool:
    """Whether `held` stands at this place of `whole`, and the rest leaves it as it is."""
    end = place + len(held)
    if not held or whole[place:end] != held:
        return False
    before, behind = whole[:place], whole[end:]
    known = _words()
    if "?" in (*before, *behind) or known.taking_back & {*before, *behind}:
        return False
    # What denies is weakened by what follows, what says yes only made more exact.
    joining = known.adding if known.taking_back & set(held) else known.adding | known.extending
    return not behind or not behind[0][-1].isalnum() or behind[0] in joining


def duplicates(entries: Entries, written: Sequence[Ours]) -> tuple[Drop, ...]:
    """Entries of ours that another entry says as well, the first of equal ones stays."""
    own = {(each.notebook, each.text) for each in written}
    there = [(notebook, text) for notebook in NOTEBOOKS for text in entries.get(notebook, ())]
    gone: set[int] = set()
    drops = []
    for number in reversed(range(len(there))):
        if there[number] not in own:
            continue
        notebook, text = there[number]
        for other, (_, kept) in enumerate(there):
            if other == number or other in gone or not says_as_much(kept, text):
                continue
            gone.add(number)
            drops.append(
                Drop(
                    notebook=notebook,
                    text=text,
                    why="duplicate",
                    reason=f"Another entry says so: “{kept}”.",
                )
            )
            break
    return tuple(drops)


# Outdated (L6.3) ----------------------------------------------------------------------


def outdated(written: Sequence[Ours], today: date) -> tuple[Drop, ...]:
    """Entries of ours whose date was still to come when they were said, and is over now.

    Whatever recurs stays, and what was past already when it was said: a birth, a move.
    """
    return tuple(
        Drop(
            notebook=each.notebook,
            text=each.text,
            why="outdated",
            reason="Its date has passed.",
        )
        for each in written
        if passed(each.text, today) and _was_ahead(each)
    )


def _was_ahead(entry: Ours) -> bool:
    dates = dates_named(entry.text)
    return bool(dates) and all(
        each.last is not None and each.last > entry.said_on for each in dates
    )


def drops(entries: Entries, changes: Sequence[Change], today: date) -> tuple[Drop, ...]:
    """What goes for free, in one pass: each entry once, and no more than `AT_ONCE`."""
    written = ours(changes, entries)
    over = outdated(written, today)
    gone = {(each.notebook, each.text) for each in over}
    rest = {
        notebook: tuple(text for text in texts if (notebook, text) not in gone)
        for notebook, texts in entries.items()
    }
    return (*over, *duplicates(rest, written))[:AT_ONCE]


# Merging (L6.2) -----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Case:
    """A merge, with the readings of its text and of its entries."""

    merge: Merge
    text: Reading
    entries: tuple[Reading, ...]


def refusal(merge: Merge) -> str | None:
    """Why a merge is not accepted; None where it says what its entries say, in fewer letters."""
    for entry_check in (_is_shorter, _is_clean):
        reason = entry_check(merge)
        if reason:
            return reason
    # One language for all: a word is compared by its stem, which each language cuts its own way.
    plain = [canonical.plain(each) for each in (*merge.entries, merge.text)]
    language = language_of(" ".join(plain))
    if any(tells_language(each) not in (None, language) for each in plain):
        return "It is in several languages."
    *readings, text = (read(each, language) for each in plain)
    case = _Case(merge, text, tuple(readings))
    return next((reason for check in MERGE_CHECKS if (reason := check(case))), None)


def _is_shorter(merge: Merge) -> str | None:
    if len(merge.text) >= sum(map(len, merge.entries)):
        return "It is no shorter than what it replaces."
    if len(merge.text) > ENTRY_CHARS:
        return f"It is longer than {ENTRY_CHARS} characters."
    return None


def _is_clean(merge: Merge) -> str | None:
    text = merge.text
    if len(text.splitlines()) != 1:
        return "It is more than one line."
    if canonical.hidden(text) or canonical.disguised(text) or canonical.breaks_out(text):
        return "It holds characters that nobody sees, or markup."
    kind = secret_in(text)
    if kind:
        return f"It holds {kind}."
    if orders(text):
        return "It reads like an order, or lowers a guard."
    return None


def _exact(reading: Reading) -> set[str]:
    """Numbers, links and names: what has no other form."""
    return {
        word.key
        for at, word in enumerate(reading.words)
        if word.key and (word.kind in ("number", "link") or _is_name(reading, at))
    }


def _is_name(reading: Reading, at: int) -> bool:
    word = reading.words[at]
    return word.capital and at > 0 and reading.language != "de" and word.kind == "word"


def _keys(reading: Reading) -> set[str]:
    return {word.key for word in reading.words if word.key}


def invents_nothing(case: _Case) -> str | None:
    """Every word that means something stands in an entry, numbers, links and names among them."""
    there = set().union(*map(_keys, case.entries))
    new = next((w for w in case.text.words if w.key and w.key not in there), None)
    return None if new is None else f"“{new.text}” stands in none of its entries."


def loses_nothing_exact(case: _Case) -> str | None:
    there = _keys(case.text)
    for entry in case.entries:
        lost = sorted(_exact(entry) - there)
        if lost:
            return f"“{lost[0].lstrip('#@')}” is lost."
    dates = {d.written or d.text for entry in case.merge.entries for d in dates_named(entry)}
    if dates != {d.written or d.text for d in dates_named(case.merge.text)}:
        return "A date is lost, or another one."
    return None


def keeps_its_days(case: _Case) -> str | None:
    """A weekday that is lost would leave its doings to another one."""
    if set().union(*map(_weekdays, case.merge.entries)) != _weekdays(case.merge.text):
        return "A day of the week is lost, or another one."
    return None


def _weekdays(text: str) -> set[int]:
    found = spoken_dates(text, _ANY_TIME)
    return {each.weekday for each in found if each.weekday is not None}


def keeps_names_in_place(case: _Case) -> str | None:
    """A name or number hangs on the word that it hung on in an entry."""
    text = [word for word in case.text.words if word.key]
    entries = [[word.key for word in entry.words if word.key] for entry in case.entries]
    exact = set().union(*map(_exact, case.entries))
    for place, word in enumerate(text):
        if word.key not in exact:
            continue
        holding = [keys for keys in entries if word.key in keys]
        if not any(_hangs_on(word.key, text[:place], keys) for keys in holding):
            return f"“{word.text}” belongs to something else."
    return None


def _hangs_on(key: str, before: Sequence[Word], entry: Sequence[str]) -> bool:
    """Whether the last word of the entry's that stands before is the one that did there."""
    left = next((word.key for word in reversed(before) if word.key in entry), None)
    return any(
        left == (entry[at - 1] if at else None) for at, each in enumerate(entry) if each == key
    )


def keeps_most(case: _Case) -> str | None:
    there = _keys(case.text)
    for entry, text in zip(case.entries, case.merge.entries, strict=True):
        keys = _keys(entry)
        if keys and len(keys & there) < KEPT_WORDS * len(keys):
            return f"Too little is left of “{text}”."
    return None


def turns_nothing_around(case: _Case) -> str | None:
    """Each word is said of the same people, with the same "not" and "no longer", as in an entry."""
    for at, word in enumerate(case.text.words):
        if not word.key:
            continue
        clause = case.text.clause_of(at)
        said = [
            entry.clause_of(place)
            for entry in case.entries
            for place, other in enumerate(entry.words)
            if other.key == word.key
        ]
        if not any(_says_the_same(clause, other) for other in said):
            return f"“{word.text}” is said of somebody else, or turned around."
    return None


def _says_the_same(one: Clause, other: Clause) -> bool:
    return (
        one.said_no == other.said_no
        and one.ended == other.ended
        and _people(one) == _people(other)
        and one.source == other.source
    )


def _people(clause: Clause) -> frozenset[str]:
    """Whom it speaks of; where nobody is named it is the user."""
    return clause.subject - {THIRD} or frozenset({USER})


def keeps_its_doubts(case: _Case) -> str | None:
    """A wish stays a wish, a guess a guess, and "only" stays."""
    kept = frozenset().union(*(clause.kept for clause in case.text.clauses))
    for entry in case.entries:
        for clause in entry.clauses:
            lost = sorted((clause.kept - kept) & {"wanting", "hedge", "restriction"})
            if lost:
                return "A wish, a doubt or a restriction of its entries is lost."
    conditional = any(clause.conditional for clause in case.text.clauses)
    if conditional != any(clause.conditional for entry in case.entries for clause in entry.clauses):
        return "A condition is lost or won."
    return None


MERGE_CHECKS: tuple[Callable[[_Case], str | None], ...] = (
    invents_nothing,
    loses_nothing_exact,
    keeps_its_days,
    keeps_names_in_place,
    keeps_most,
    turns_nothing_around,
    keeps_its_doubts,
)


def agreed(merge: Merge) -> tuple[Accepted, ...]:
    """A merge as changes: its first entry becomes the text, the others go. All, or none."""
    first, *others = merge.entries
    return (
        _change("update", merge.notebook, first, merge.text),
        *(_change("remove", merge.notebook, entry, None) for entry in others),
    )


def dropped(drop: Drop) -> Accepted:
    return _change("remove", drop.notebook, drop.text, None)


def _change(operation: Operation, notebook: Notebook, entry: str, text: str | None) -> Accepted:
    """Nothing was said for it, so it has no quote."""
    return Accepted(
        operation=operation, notebook=notebook, entry=entry, text=text, quote="", turn_index=None
    )
