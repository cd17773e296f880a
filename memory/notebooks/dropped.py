"""Whether an entry leaves out what its words hang on.

What twists a sentence mostly stands in front of what it takes over: "I came close to", "people
think", "in the play". Such words can't be listed; which may be left out can. So what carries
meaning stays, from where the statement begins, but for what is named here.
"""

from __future__ import annotations

from collections.abc import Iterator

from memory.languages.acts import Clause
from memory.notebooks.alignment import matches, modifies, times
from memory.notebooks.case import Case, Refusal
from memory.notebooks.grounded import statements

_SAID_OTHERWISE = (
    "aside", "filler", "thinking", "glue", "hedge_light", "polite", "repair",
    "wanting", "used", "stopped", "reported", "against", "hedge",
)  # fmt: skip
"""Acts whose words say nothing of what is stated, or whose meaning is compared elsewhere."""


def drops_nothing(case: Case) -> Refusal | None:
    """Of an addition; an update rests on words of its entry as well."""
    if case.new is None or case.directive or case.proposal.operation != "add":
        return None
    reading = case.evidence.reading
    taken = {
        match.said.at
        for clause in case.new.clauses
        for match in matches(case, clause)
        if match.said.reading is reading
    }
    keys = {word.key for word in case.new.words if word.key}
    texts = {word.text for word in case.new.words}
    free = set(_free(case))
    for clause, at in _in_front(case, taken):
        word = reading.words[at]
        if word.key in keys or word.text in texts or at in free:
            continue
        if not (modifies(case.acts, reading, at, clause.first) and at + 1 in taken):
            return Refusal("L5.2", f"The entry leaves out “{word.text}”, which belongs to it.")
    return None


def _in_front(case: Case, taken: set[int]) -> Iterator[tuple[Clause, int]]:
    """The words that carry meaning in front of what was taken over, in its clauses and in those
    before and between them that belong to the same statement."""
    reading = case.evidence.reading
    mine = _source(case, taken)
    if not mine:
        return
    numbers = statements(reading)
    own = {numbers[clause.first] for clause in mine}
    begins = _begins(case, mine[0])
    for clause in reading.clauses:
        last = clause.last
        if clause in mine:
            last = min(at for at in range(clause.first, clause.last) if at in taken)
        elif not (
            begins <= clause.first < mine[-1].first
            and numbers[clause.first] in own
            and not clause.question
            and not clause.request
            and reading.words[clause.first].text not in case.acts.listed("compared")
            and not (clause.first < mine[0].first and _stands_by_itself(case, clause))
        ):
            continue
        for at in range(clause.first, last):
            listed = _is_listed(case, clause, at, last if clause in mine else mine[0].first)
            if reading.words[at].key and at not in clause.subject_words and not listed:
                yield clause, at


def _is_listed(case: Case, clause: Clause, at: int, last: int) -> bool:
    """ "Three kids and two dogs": a noun, and an "and" between it and what was taken over."""
    reading, lists = case.evidence.reading, case.acts
    joined = any(reading.words[each].text in lists.listed("and") for each in range(at, last + 1))
    noun = reading.words[at].kind == "number" or modifies(lists, reading, at, clause.first)
    return joined and (noun or last < clause.last)


def _source(case: Case, taken: set[int]) -> list[Clause]:
    """The clauses that the entry takes words from; the one clause that has them all."""
    reading = case.evidence.reading
    clauses = [
        clause
        for clause in reading.clauses
        if any(clause.first <= at < clause.last for at in taken)
    ]
    wanted = {reading.words[at].key for at in taken}
    for clause in clauses:
        if wanted <= {word.key for word in reading.words[clause.first : clause.last]}:
            return [clause]
    return clauses


def _begins(case: Case, clause: Clause) -> int:
    """Where the statement of the clause begins: behind "by the way", or with the clause itself
    where a word joins it that leaves it a statement of its own ("…, but I love fish")."""
    reading, lists = case.evidence.reading, case.acts
    words = [word.text for word in reading.words[clause.first : clause.first + 2]]
    hangs = any(words[0] in lists.listed(name) for name in ("that", "relative", "temporal"))
    hangs = hangs or words[0] in lists.listed("compared") or clause.conditional
    joined = words[0] in lists.listed("joiners") and not clause.inherits
    if (joined and not hangs) or any(word in lists.listed("therefore") for word in words):
        return clause.first
    return max((start for start, _ in reading.found["aside"] if start < clause.last), default=0)


def _stands_by_itself(case: Case, clause: Clause) -> bool:
    """ "My back hurts, …": with a subject of its own, no word that joins it, and a mark behind."""
    words = case.evidence.reading.words
    return (
        bool(clause.subject_words)
        and words[clause.first].text not in case.acts.listed("joiners")
        and words[clause.last - 1].kind == "mark"
    )


def _free(case: Case) -> Iterator[int]:
    reading, lists = case.evidence.reading, case.acts
    yield from times(case)
    yield from reading.retracted
    for at, word in enumerate(reading.words):
        if word.text in lists.listed("adverbs") or word.key in lists.lexicon.glue:
            yield at
            if at and reading.words[at - 1].kind == "number":
                yield at - 1  # "for ten years"
    for act in _SAID_OTHERWISE:
        for start, end in reading.found[act]:
            yield from range(start, end)
