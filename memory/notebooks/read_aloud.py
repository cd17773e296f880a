"""Whether the words are the user's own and meant: not read aloud, quoted, played or a joke."""

from __future__ import annotations

from memory.languages import acts
from memory.languages.acts import Acts, Reading
from memory.notebooks import canonical
from memory.notebooks.case import Case, Refusal
from memory.notebooks.evidence import fit


def not_read_aloud(case: Case) -> Refusal | None:
    """What follows "it says" is somebody else's, to the end of the turn; so is what a joke,
    a role or a text for others holds."""
    turn = case.evidence.turn_reading
    first, last = case.evidence.first_word, case.evidence.last_word
    for act, what in (
        ("reading", "The user reads or quotes it"),
        ("fiction", "The user makes it up"),
    ):
        for start, end in turn.found[act]:
            if start >= last:
                continue
            behind = end >= len(turn.words) - 1 or all(
                word.kind == "mark" for word in turn.words[end:]
            )
            touched_to = first + max(clause.last for clause in case.evidence.touched)
            behind = behind and not _asked_there(case, start - first)
            if start < touched_to or behind:
                return Refusal("L5.1", f"{what}; that proves nothing.")
    if turn.does("joke"):
        return Refusal("L5.1", "The user jokes or tests; that proves nothing.")
    if _taken_back(case):
        return Refusal("L5.1", "The user took it back as a joke.")
    reading = case.evidence.reading
    if any(
        start < clause.last and end <= clause.last
        for clause in case.evidence.touched
        for start, end in reading.found["claimed"]
    ):
        return Refusal("L5.1", "The user repeats what Jarvis said; that proves nothing.")
    if _is_told_elsewhere(case):
        return Refusal("L5.1", "Somebody else speaks there; that proves nothing.")
    if _in_quotes(case):
        return Refusal("L5.1", "It stands in quotation marks.")
    return None


_NEAR = 3
"""Words between what is named and who speaks in it."""


def _is_told_elsewhere(case: Case) -> bool:
    """ "The second verse is I was born in Kent", "in the film she can't drive"."""
    reading, lists = case.evidence.reading, case.acts
    last = max(clause.last for clause in case.evidence.touched)
    tales = lists.listed("tales")
    return _is_in_strange_words(lists, reading) or any(
        (
            (word.text in tales or word.text in lists.listed("medium"))
            and _is_what_it_says(lists, reading, at)
        )
        or (word.text in tales and _opens_inside(lists, reading, at))
        for at, word in enumerate(reading.words[:last])
    )


def _is_in_strange_words(lists: Acts, reading: Reading) -> bool:
    """ "The villain says I own this town": who is nobody's, in the words themselves."""
    words = reading.words
    for start, end in reading.found["reported"]:
        first = next(
            (
                at
                for at in range(start - 1, max(-1, start - 1 - _NEAR), -1)
                if words[at].text in lists.listed("articles")
            ),
            start,
        )
        nouns = words[first + 1 : start]
        strange = any(word.key for word in nouns) and not any(
            word.text in lists.listed("kin") or word.text in lists.listed("user_mine")
            for word in nouns
        )
        joined = end < len(words) and words[end - 1].text in lists.listed("joiners")
        if strange and not joined and _somebody_from(lists, reading, end):
            return True
    return False


def _is_what_it_says(lists: Acts, reading: Reading, at: int) -> bool:
    """Behind the noun an "is", and behind that somebody who does something; or it says so."""
    words = reading.words
    if any(at < start <= at + _NEAR for start, _ in reading.found["reported"]):
        return True
    for verb in range(at + 1, min(at + 2 + _NEAR, len(words))):
        if words[verb].text in lists.listed("copula") or words[verb].text in lists.listed("past"):
            return _somebody_from(lists, reading, verb + 1)
    return False


def _opens_inside(lists: Acts, reading: Reading, at: int) -> bool:
    """A sentence that opens with "in the film", where no subject stands in front."""
    words = reading.words
    first = at - 1
    while first >= 0 and at - first <= _NEAR and words[first].text not in lists.listed("inside"):
        first -= 1
    if first < 0 or words[first].text not in lists.listed("inside"):
        return False
    opened = all(
        not word.key or word.text in lists.listed("hesitations") for word in words[:first]
    ) and not any(word.text in lists.listed("user") for word in words[:first])
    return opened and _somebody_from(lists, reading, at + 1)


def _somebody_from(lists: Acts, reading: Reading, first: int) -> bool:
    for word in reading.words[first : first + _NEAR]:
        if word.text in lists.listed("joiners"):
            return False
        if lists.holds(word.text, _WHO) or (
            lists.listed("leaves_out") and word.text in lists.listed("own_verbs")
        ):
            return True
    return False


_WHO = ("user", "user_too", "user_object", "third")


def _asked_there(case: Case, at: int) -> bool:
    """Whether the word of the sentence stands in a question or request of its own."""
    reading = case.evidence.reading
    if not 0 <= at < len(reading.words):
        return False
    clause = reading.clause_of(at)
    return (clause.question or clause.request) and clause not in case.evidence.touched


def _taken_back(case: Case) -> bool:
    turns = [turn for turn in case.grounds.turns if turn.speaker == "user"]
    following = next(
        (turn for turn in turns if turn.index > case.evidence.turn.index and fit(turn)), None
    )
    if following is None:
        return False
    opening = following.text[:60]
    return acts.does("joke", opening, case.evidence.reading.language)


def _in_quotes(case: Case) -> bool:
    text = canonical.canonical(case.evidence.turn.text).text
    parts = text.split('"')
    inside = parts[1::2] if len(parts) > 2 else []
    wanted = canonical.bare(case.evidence.quote)
    return any(
        len(part.split()) >= 3 and (wanted in part.lower() or part.lower().strip() in wanted)
        for part in inside
    )
