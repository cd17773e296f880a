"""Whether a number stays whole, and with what it counts: "two hundred thousand" is no two hundred,
"four and a half" no four, and "two brothers and three cats" make no two cats."""

from __future__ import annotations

from collections.abc import Iterator

from memory.languages.acts import Reading, acts_of
from memory.notebooks.alignment import taken_over
from memory.notebooks.case import Case, Refusal

_HUNDRED = 100


def keeps_numbers(case: Case) -> Refusal | None:
    """A number may be left out with all its parts, and what it counts."""
    return _is_whole(case) or _counts_the_same(case)


def _is_whole(case: Case) -> Refusal | None:
    if case.new is None:
        return None
    new = {word.key or word.text for word in case.new.words}
    words = case.evidence.reading.words
    for parts in _numbers(case.evidence.reading):
        lost = [at for at in parts if (words[at].key or words[at].text) not in new]
        if lost and len(lost) < len(parts):
            return Refusal(
                "L5.3", f"The entry leaves out “{words[lost[0]].text}”, a part of a number."
            )
    return None


def _counts_the_same(case: Case) -> Refusal | None:
    """Of two numbers one may be left out with what it counts: nothing is taken over from behind it,
    nor from behind an "and" in front of it. "My train leaves at 8 and Anna's at 10"."""
    if case.new is None or case.directive:
        return None
    reading, ands = case.evidence.reading, case.acts.listed("and")
    taken = taken_over(case)
    keys = {match.word.key for match in taken}
    places = [match.said.at for match in taken]
    lost = [
        at
        for at, word in enumerate(reading.words)
        if word.kind == "number" and word.key not in keys
    ]
    for number in (match.said.at for match in taken if match.word.kind == "number"):
        for other in sorted(at for at in places if at > number):
            joined = any(word.text in ands for word in reading.words[number + 1 : other])
            if any(number < at < other or (joined and other < at) for at in lost):
                word = reading.words[other].text
                return Refusal("L5.3", f"“{word}” stands beside another word in the quote.")
    return None


def _numbers(reading: Reading) -> Iterator[tuple[int, ...]]:
    """The places of each number that has several words."""
    fractions = acts_of(reading.language).listed("fractions")
    run: list[int] = []
    for at, word in enumerate(reading.words):
        fraction = word.text in fractions
        if word.kind != "number" and not fraction:
            continue
        if run and _goes_on(reading, run[-1], at, fraction=fraction):
            run.append(at)
            continue
        if len(run) > 1:
            yield tuple(run)
        run = [] if fraction else [at]
    if len(run) > 1:
        yield tuple(run)


def _goes_on(reading: Reading, last: int, at: int, *, fraction: bool) -> bool:
    """Side by side, "and a half", and "a hundred and two"."""
    lists = acts_of(reading.language)
    between = [word.text for word in reading.words[last + 1 : at]]
    if not between:
        return True
    if between[0] not in lists.listed("and"):
        return False
    if fraction:
        return all(each in lists.listed("articles") for each in between[1:])
    hundreds = reading.words[last].key[1:]
    return len(between) == 1 and hundreds.isdigit() and int(hundreds) % _HUNDRED == 0
