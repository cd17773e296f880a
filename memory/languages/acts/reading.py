"""A text, read: its pieces, each with what holds for it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache

from memory.languages.acts.clauses import clause_from, has_any_verb
from memory.languages.acts.line import STOPS, Line
from memory.languages.acts.pieces import pieces_of
from memory.languages.acts.records import THIRD, USER, Clause, Reading
from memory.languages.acts.table import Acts, acts_of, joined
from memory.languages.words import Word, language_of

_SAYS_IT = 6
"""Words that may name who said what stands in front."""

_STAMMER = 4
"""Words that may be said over again."""


@lru_cache(maxsize=512)
def read(
    text: str,
    language: str | None = None,
    *,
    entry: bool = False,
    cuts: tuple[int, ...] = (),
) -> Reading:
    """Linear in the text.

    `language` is a hint for what was said, where its words don't tell; for an `entry` it is
    known. `cuts` are places in the text where something new begins, for all that is known.
    """
    acts = acts_of(language if entry and language else language_of(text, language))
    words = acts.lexicon.words(text)
    words = _with_short_verbs(words, acts)
    if not entry:
        once = _without_stammers(words, acts)
        cuts = tuple(cut for cut in cuts if not _cuts_a_stammer(cut, words, once))
        words = once
    return _reading(Line(acts, words, raw=text, entry=entry, cuts=cuts))


def _with_short_verbs(words: tuple[Word, ...], acts: Acts) -> tuple[Word, ...]:
    """ "My dad's from Cork": what would name an owner is short for a verb."""
    if not any(word.text in acts.listed("genitive") for word in words):
        return words
    text, starts = joined(words)
    short = {bisect_right(starts, start) - 1 for start in _short_verbs(acts, text)}
    return tuple(
        replace(word, text=min(acts.listed("copula_short")))
        if at in short and words[at - 1].text not in acts.listed("user_named")
        else word
        for at, word in enumerate(words)
    )


def _short_verbs(acts: Acts, text: str) -> Iterator[int]:
    """Where each stands: in what the pattern meets, the first word that could be an owner's."""
    for start, end in acts.spans("is_short", text):
        for owner in acts.listed("genitive"):
            found = text.find(owner, start, end)
            if found >= 0:
                yield found


def _without_stammers(words: tuple[Word, ...], acts: Acts) -> tuple[Word, ...]:
    """ "Ich ich esse", "I'm uh I'm a nurse": what is said twice running is said once, but for a
    "no" alone, and small words with a comma between."""
    kept: list[Word] = []
    for word in words:
        kept.append(word)
        for length in range(1, _STAMMER + 1):
            heard = [
                at
                for at, each in enumerate(
                    kept[-3 * length - 2 :], max(0, len(kept) - 3 * length - 2)
                )
                if each.text not in acts.listed("hesitations") and each.text != ","
            ]
            again, first = heard[-length:], heard[-2 * length : -length]
            same = len(first) == length and all(
                kept[one].text == kept[other].text and kept[one].kind == "word"
                for one, other in zip(first, again, strict=True)
            )
            comma = any(each.text == "," for each in kept[first[0] : again[-1]]) if same else False
            answers = word.text in acts.listed("particle") and not (
                first and first[0] and kept[first[0] - 1].kind == "word"
            )  # "no, no", and not "he no no longer"
            twice = acts.listed("no_of_rest") - acts.listed("particle")
            answers = answers or word.text in twice  # "I'm not not vegan"
            if same and not (length == 1 and ((comma and not word.key) or answers)):
                del kept[first[0] : again[0]]
                break
    return tuple(kept)


def _cuts_a_stammer(cut: int, words: tuple[Word, ...], once: tuple[Word, ...]) -> bool:
    """ "I never wake | wake up": nothing new begins where a word is said over again."""
    before = [word for word in words if word.start < cut]
    return bool(before) and all(word.start != before[-1].start for word in once)


def _reading(line: Line) -> Reading:
    clauses: list[Clause] = []
    people: list[tuple[frozenset[str], int]] = []
    for first, last in pieces_of(line):
        clause = clause_from(line, first, last, clauses[-1] if clauses else None, people)
        clauses.append(clause)
    _deny_what_stands_before(line, clauses)
    _doubt_answers_to_oneself(line, clauses)
    _suppose_what_opens_with_its_verb(line, clauses)
    _say_who_follows(line, clauses)
    return Reading(
        language=line.acts.lexicon.language,
        words=line.words,
        clauses=tuple(clauses) or (Clause(first=0, last=0),),
        people=tuple(people),
        retracted=frozenset()
        if line.found["defining"]
        else frozenset(at for start, _ in line.found["repair"] for at in line.put_right(start)),
        found=line.found,
    )


def _deny_what_stands_before(line: Line, clauses: list[Clause]) -> None:
    """ "Religious, that I am not": a clause of a verb and a "not" alone denies the words in
    front of it that have no verb; "Tom can, but not me" does not."""
    for at, clause in enumerate(clauses):
        bare = clause.said_no and not any(
            line.words[place].key and not line.is_(place, "no")
            for place in range(clause.first, clause.last)
        )
        named = any(line.is_(place, "verbs") for place in range(clause.first, clause.last))
        alone = all(
            line.words[place].kind == "mark" or line.is_(place, "no")
            for place in range(clause.first, clause.last)
        )
        if not bare or not (named or alone):
            continue
        for earlier in range(at - 1, -1, -1):
            if line.words[clauses[earlier].last - 1].text in STOPS:
                break
            place = clauses[earlier]
            if place.said_no or has_any_verb(line, place.first, place.last):
                continue
            clauses[earlier] = replace(clauses[earlier], said_no=1)


def _doubt_answers_to_oneself(line: Line, clauses: list[Clause]) -> None:
    """ "How many children do I have, I have three children": the question goes on."""
    asked: set[str] = set()
    for at, clause in enumerate(clauses):
        keys = {word.key for word in line.words[clause.first : clause.last] if word.key}
        if clause.first and line.words[clause.first - 1].text in STOPS:
            asked = set()
        if clause.question:
            asked |= keys
        elif asked & keys:
            clauses[at] = replace(clause, question=True)


def _suppose_what_opens_with_its_verb(line: Line, clauses: list[Clause]) -> None:
    """ "Gewinne ich im Lotto, kaufe ich ein Haus": where a verb comes second, one that comes first,
    with another behind it, says "if"."""
    if not line.acts.verb_second or line.entry:
        return
    first = 0
    for at, clause in enumerate(clauses):
        if at + 1 < len(clauses) and line.words[clause.last - 1].text not in STOPS:
            continue
        begins, ends = clauses[first].first, clause.last
        while begins < ends and _may_stand_in_front(line, begins):
            begins += 1
        if _opens_with_its_verb(line, begins) and any(
            _opens_with_its_verb(line, other, sure=line.words[other - 1].kind == "mark")
            for other in range(begins + 2, ends)
        ):
            clauses[first : at + 1] = [
                replace(each, conditional=True) for each in clauses[first : at + 1]
            ]
        first = at + 1


def _may_stand_in_front(line: Line, at: int) -> bool:
    return (
        line.words[at].kind == "mark"
        or line.is_(at, "hesitations")
        or line.is_(at, "and")
        or line.is_(at, "particle")
    )


def _opens_with_its_verb(line: Line, at: int, *, sure: bool = True) -> bool:
    """A verb with who does it behind it. `sure` is a place where one may begin."""
    if at + 1 >= len(line.words) or any(line.is_(at, name) for name in _NO_VERBS):
        return False
    verb = line.words[at].text
    known = any(line.is_(at, name) for name in _FINITE)
    if line.is_(at + 1, "user"):
        return known or verb.endswith(("en" if line.is_(at + 1, "we") else "e",))
    somebody = (
        line.is_(at + 1, "third") or line.is_(at + 1, "user_mine") or line.is_(at + 1, "articles")
    )
    return sure and somebody and (known or verb.endswith((*line.acts.third_ends, "e")))


_FINITE = ("verbs", "opens_before", "modals", "auxiliaries", "past_forms", "copula")
_NO_VERBS = (
    "since",
    "joiners",
    "adverbs",
    "prepositions",
    "articles",
    "no",
    "user",
    "user_too",
    "temporal",
)


def _say_who_follows(line: Line, clauses: list[Clause]) -> None:
    """ "I may not eat, says my doctor": what is said stands in front of who says it."""
    for at, clause in enumerate(clauses):
        opens = any(start == clause.first for start, _ in line.found["reported"])
        if not at or not opens or line.words[clause.first - 1].text != ",":
            continue
        end = next(
            (
                place
                for place in range(clause.first, len(line.words))
                if line.words[place].text in STOPS
            ),
            len(line.words),
        )
        span = range(clause.first + 1, min(end, clause.first + _SAYS_IT))
        if end > clause.first + _SAYS_IT or any(line.is_(place, "user") for place in span):
            continue
        source = frozenset(
            line.words[place].key
            for place in span
            if line.is_(place, "kin") or (line.words[place].capital and line.words[place].key)
        )
        for earlier in range(at - 1, -1, -1):
            if line.words[clauses[earlier].last - 1].text in STOPS:
                break
            if not clauses[earlier].source:
                clauses[earlier] = replace(clauses[earlier], source=source or frozenset({THIRD}))


def people_before(reading: Reading) -> frozenset[str]:
    """Whom a "she" in the next sentence speaks of: the last who were named."""
    if reading.people:
        return reading.people[-1][0]
    last = reading.clauses[-1].subject - {USER, THIRD}
    return frozenset(last)


def resolved(clause: Clause, people: frozenset[str]) -> Clause:
    """The clause with those named before in the place of "he" and "she"."""
    if THIRD not in clause.subject or clause.subject - {THIRD, USER}:
        return clause
    return replace(clause, subject=(clause.subject - {THIRD}) | people | {THIRD})
