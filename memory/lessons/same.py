"""Whether two lessons say the same (F4, m28).

By meaning where both have a vector of one model, else by words. A figure alone merges nothing:
"March 12" and "March 13" are closer than most paraphrases. So numbers, names, polarity, words of
contrast, who does what to whom, and a word in the place of another keep two lessons apart.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

from memory.lessons.reading import Told, alike_words, is_measure, tables, told
from memory.lessons.records import Alike, Lesson, Method

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray

WORDS_THRESHOLD = 0.65
"""Of the words that weigh, so many must be in both (twice the common ones over all)."""

MEANING: Mapping[str, tuple[float, float]] = {"multilingual-e5-small": (0.93, 0.93)}
"""By model: the cosine of two lessons, and of a word that stands in the place of another. A
threshold belongs to the model that made the vectors; other models have none, and words count."""

_LOOKS_ALIKE = 0.6

Closeness = Callable[[str, str], float]


def thresholds_of(model: str | None) -> tuple[float, float] | None:
    if model is None:
        return None
    return next((both for name, both in MEANING.items() if model.startswith(name)), None)


def comparing(
    model: str | None, vectors: Mapping[str, NDArray[float32]], closeness: Closeness | None = None
) -> Callable[[Lesson, Lesson], Alike]:
    """How alike two lessons are. `vectors` are those that `model` made, by lesson; `closeness` is
    the cosine of two words of that model."""
    limits = thresholds_of(model)

    def compare(older: Lesson, newer: Lesson) -> Alike:
        one, other = vectors.get(older.id), vectors.get(newer.id)
        if limits is None or one is None or other is None:
            return by_words(older.text, newer.text)
        return by_meaning(older.text, newer.text, float(one @ other), limits, closeness)

    return compare


def by_words(older: str, newer: str) -> Alike:
    one, other = told(older), told(newer)
    overlap, ours, theirs = _overlap(one, other)
    swapped = _substituted(one, other, ours, theirs, None, 0.0)
    return _judged("words", overlap, WORDS_THRESHOLD, one, other, swapped)


def by_meaning(
    older: str,
    newer: str,
    cosine: float,
    limits: tuple[float, float],
    closeness: Closeness | None,
) -> Alike:
    one, other = told(older), told(newer)
    _, ours, theirs = _overlap(one, other)
    threshold, of_words = limits
    apart = cosine < threshold or _first_veto(one, other) is not None
    swapped = None if apart else _substituted(one, other, ours, theirs, closeness, of_words)
    return _judged("vectors", cosine, threshold, one, other, swapped)


def _judged(
    method: Method, figure: float, threshold: float, one: Told, other: Told, swapped: str | None
) -> Alike:
    veto = _first_veto(one, other)
    numbers = _numbers(one, other)
    return Alike(
        method=method,
        figure=figure,
        threshold=threshold,
        veto=numbers or veto or swapped,
        newer_numbers=numbers is not None
        and veto is None
        and swapped is None
        and figure >= threshold
        and _is_update(one, other),
    )


# What keeps two lessons apart ----------------------------------------------------------


def _numbers(one: Told, other: Told) -> str | None:
    if one.numbers == other.numbers:
        return None
    return f"numbers: {_shown(one.numbers)} against {_shown(other.numbers)}"


def _shown(numbers: Sequence[str]) -> str:
    return ", ".join(each.removeprefix("#").removeprefix("id ") for each in numbers) or "none"


def _is_update(one: Told, other: Told) -> bool:
    """Measured anew: as many numbers, all of them measures."""
    return (
        len(one.numbers) == len(other.numbers)
        and all(map(is_measure, (*one.numbers, *other.numbers)))
        and not tables(one.language).dated & one.marks.keys()
    )


def _languages(one: Told, other: Told) -> str | None:
    """Stems of two languages are never the same by their letters."""
    return None if one.language == other.language else "languages"


def _names(one: Told, other: Told) -> str | None:
    """A name of the one that the other does not have, in whatever case it is written there."""
    ours = one.names - set(other.keys) - other.names
    theirs = other.names - set(one.keys) - one.names
    if not ours and not theirs:
        return None
    return (
        f"names: {', '.join(sorted(ours)) or 'none'} against {', '.join(sorted(theirs)) or 'none'}"
    )


def _polarity(one: Told, other: Told) -> str | None:
    if one.denies != other.denies:
        return "polarity: only one of them says no"
    if one.denies and (
        (one.denied & other.affirmed) - other.denied - one.affirmed
        and (other.denied & one.affirmed) - one.denied - other.affirmed
    ):
        return "polarity: they say no to different things"
    if one.ended != other.ended:
        return "polarity: only one of them is over"
    return None


def _contrast(one: Told, other: Told) -> str | None:
    ours, theirs = one.marks.keys() - other.marks.keys(), other.marks.keys() - one.marks.keys()
    if not ours and not theirs:
        return None
    left = ", ".join(sorted(one.marks[each] for each in ours))
    right = ", ".join(sorted(other.marks[each] for each in theirs))
    return f"contrast: {left or 'nothing'} against {right or 'nothing'}"


def _roles(one: Told, other: Told) -> str | None:
    if one.doer is not None and other.doer is not None and one.doer != other.doer:
        return f"roles: {one.doer} does it, or {other.doer}"
    return None


def _order(one: Told, other: Told) -> str | None:
    """The same words, but two of them have changed places: English at work and German at home.

    A sentence that is only turned round moves its parts as wholes, or its first word.
    """
    left = [key for key in one.keys if key in other.keys]
    right = [key for key in other.keys if key in one.keys]
    if left != right and len(tables(one.language).sequence & one.marks.keys()) > 1:
        return "order: another thing comes first"
    moved = [at for at in range(len(left)) if left[at] != right[at]]
    if len(moved) != 2:
        return None
    first, second = moved
    if second - first > 2 or (second - first == 2 and first > 0):
        return f"order: {one.plain[left[first]]} and {one.plain[left[second]]} changed places"
    return None


VETOES: tuple[Callable[[Told, Told], str | None], ...] = (
    _languages,
    _names,
    _polarity,
    _contrast,
    _roles,
    _order,
)


def _first_veto(one: Told, other: Told) -> str | None:
    return next((why for veto in VETOES if (why := veto(one, other))), None)


# Words ---------------------------------------------------------------------------------


def _overlap(one: Told, other: Told) -> tuple[float, list[str], list[str]]:
    """The share of words that are in both, and those that are left on either side."""
    ours = [key for key in one.keys if key not in other.keys]
    theirs = [key for key in other.keys if key not in one.keys]
    forms = [
        pair
        for pair in alike_words(ours, theirs)
        if _opposite(one, pair) is None and not {*pair} & (one.names | other.names)
    ]
    ours = [key for key in ours if key not in {pair[0] for pair in forms}]
    theirs = [key for key in theirs if key not in {pair[1] for pair in forms}]
    light = tables(one.language).light
    weigh = len([key for key in one.keys if key not in light or key not in ours]) + len(
        [key for key in other.keys if key not in light or key not in theirs]
    )
    common = (
        weigh
        - len([k for k in ours if k not in light])
        - len([k for k in theirs if k not in light])
    )
    return (
        common / max(1, weigh),
        [k for k in ours if k not in light],
        [k for k in theirs if k not in light],
    )


def _opposite(lesson: Told, pair: tuple[str, str]) -> str | None:
    """Whether one is the other with a syllable of no in front: trust, distrust."""
    longer, shorter = sorted(pair, key=len, reverse=True)
    for prefix in tables(lesson.language).negating:
        if longer == prefix + shorter:
            return f"polarity: {longer} against {shorter}"
    return None


def _substituted(
    one: Told,
    other: Told,
    ours: Sequence[str],
    theirs: Sequence[str],
    closeness: Closeness | None,
    least: float,
) -> str | None:
    """A word of the one in the place of another word of the other: "recipes" and "football".

    Words that were only added on one side are told by the figure, unless they may be names.
    """
    if not ours or not theirs:
        added = [key for key in (*ours, *theirs) if _may_name(key, one) or _may_name(key, other)]
        return f"names: {added[0]} is only in one of them" if added else None
    fewer, more = sorted((list(ours), list(theirs)), key=len)
    for word in fewer:
        for each in more:
            why = _opposite(one, (word, each)) or _misspelled(word, each, one, other)
            if why:
                return why
        if closeness is None or max(closeness(word, each) for each in more) < least:
            return f"another word: {word} against {', '.join(more)}"
    return None


def _may_name(key: str, lesson: Told) -> bool:
    return key in lesson.large or key == lesson.first


def _misspelled(word: str, other: str, one: Told, two: Told) -> str | None:
    """Names that look alike are two names: Marten, Morten."""
    large = (_may_name(word, one) or _may_name(word, two)) and (
        _may_name(other, one) or _may_name(other, two)
    )
    if large and SequenceMatcher(None, word, other).ratio() > _LOOKS_ALIKE:
        return f"names: {word} against {other}"
    return None
