"""Whether a number that is put together from several words stays whole: "two hundred thousand" is
no two hundred, "four and a half" no four."""

from __future__ import annotations

from collections.abc import Iterator

from memory.languages.acts import Reading, acts_of
from memory.notebooks.case import Case, Refusal

_HUNDRED = 100


def keeps_numbers_whole(case: Case) -> Refusal | None:
    """A number may be left out with all its parts."""
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
