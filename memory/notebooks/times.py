"""Where a sentence names a time, which an entry may leave out unless something is denied, and an age."""

from __future__ import annotations

from collections.abc import Iterator

from memory.languages.acts import Acts
from memory.languages.words import Word
from memory.notebooks.case import Case, dates_in


def times(case: Case) -> Iterator[int]:
    """Where the quote's sentence names a time."""
    dated = [
        (each.start, each.end)
        for each in dates_in(case.evidence.sentence, case.evidence.turn.began_at)
    ]
    words, lists = case.evidence.reading.words, case.acts
    for at, word in enumerate(words):
        if (
            (word.key and any(start <= word.start and word.end <= end for start, end in dated))
            or word.text in lists.listed("day_times")
            or _of_hours(lists, words, at)
        ):
            yield at


def _of_hours(lists: Acts, words: tuple[Word, ...], at: int) -> bool:
    """ "From ten to six": one of two numbers with prepositions in front of both."""
    return words[at].kind == "number" and any(
        first > 0
        and first + 2 < len(words)
        and words[first].kind == words[first + 2].kind == "number"
        and words[first - 1].text in lists.listed("range_from")
        and words[first + 1].text in lists.listed("range_to")
        for first in (at, at - 2)
    )


def is_age(case: Case, at: int) -> bool:
    """ "I'm forty and …", "is 40 years old": the number alone, behind what somebody is."""
    assert case.new is not None
    words, lists = case.evidence.reading.words, case.acts
    years, number = case.new.words[at], case.new.words[at - 1] if at else None
    return (
        number is not None
        and number.kind == "number"
        and years.key in lists.lexicon.glue
        and any(
            word.key == number.key
            and words[place - 1].text in lists.listed("aging")
            and not (place + 1 < len(words) and _goes_on(lists, words[place + 1]))
            for place, word in enumerate(words)
            if place
        )
    )


def _goes_on(lists: Acts, word: Word) -> bool:
    """ "Forty minutes", "forty in May"."""
    return bool(word.key) or word.text in lists.listed("prepositions")
