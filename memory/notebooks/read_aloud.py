"""Whether the words are the user's own and meant: not read aloud, quoted, played or a joke."""

from __future__ import annotations

from memory.languages import acts
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
    if _in_quotes(case):
        return Refusal("L5.1", "It stands in quotation marks.")
    return None


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
