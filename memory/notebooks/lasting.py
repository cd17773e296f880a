"""Whether anything lasting is stated: no question, wish, condition or request, nothing of the
moment only, and something about the user or who is theirs."""

from __future__ import annotations

from memory.languages.acts import JARVIS, LIKING, USER, Acts, Clause, Reading
from memory.notebooks.case import Case, Refusal, names_time, resolved_in, text_of, weakness
from memory.notebooks.filter import marked

_FEELINGS = {LIKING, "=want"}


def worth_keeping(case: Case) -> Refusal | None:
    """Words about nobody that state nothing ("garage door open"), and wants of the moment: the
    free filter tells them from what is lasting."""
    if case.directive or case.proposal.operation != "add":
        return None
    if case.new is not None and all(
        word.key in _FEELINGS or word.kind == "mark" or word.text in case.acts.lexicon.function
        for word in case.new.words
    ):
        return Refusal("L2.2", "It does not say what is liked or wanted.")
    if any(_states(case, clause) for clause in case.evidence.touched):
        return None
    if marked(case.evidence.sentence) or marked(case.evidence.quote):
        return None
    return Refusal("L2.2", "It names nothing lasting about the user or people close to them.")


def tells_a_fact(case: Case) -> Refusal | None:
    """ "So I was thinking about my brother", "that helps", "I welcome the report": a topic alone,
    or an answer, states nothing that lasts. "I'm thinking about moving" is a plan."""
    if case.directive or case.proposal.operation != "add":
        return None
    if any(_tells_a_fact(case, clause) for clause in case.evidence.touched):
        return None
    return Refusal("L2.2", "It names what is thought or spoken of, and states nothing about it.")


_SAYS_NOTHING = ("reacts", "filler", "aside", "thinking")


def _tells_a_fact(case: Case, clause: Clause) -> bool:
    reading, lists = case.evidence.reading, case.acts
    if (
        _is_a_topic(reading, lists, clause)
        or _is_said_to_jarvis(reading, lists, clause)
        or _only_points(reading, lists, clause)
    ):
        return False
    nothing = {at for act in _SAYS_NOTHING for span in reading.found[act] for at in range(*span)}
    return any(
        reading.words[at].key
        and at not in nothing
        and reading.words[at].text not in lists.listed("adverbs")
        and reading.words[at].text not in lists.listed("hesitations")
        for at in range(clause.first, clause.last)
    )


def _is_said_to_jarvis(reading: Reading, lists: Acts, clause: Clause) -> bool:
    """ "I can't hear you", "ich melde mich morgen bei dir": it is about the talk itself."""
    begun = {at for act in _SAYS_NOTHING for span in reading.found[act] for at in range(*span)}
    return (
        USER in clause.subject
        and JARVIS not in clause.subject
        and not lists.search("manner", text_of(reading, clause))
        and any(
            reading.words[at].text in lists.listed("jarvis") and at not in begun
            for at in range(clause.first, clause.last)
        )
    )


def _only_points(reading: Reading, lists: Acts, clause: Clause) -> bool:
    """ "I know that", "das weiß ich schon": a verb, and instead of what it is about a word that
    points at it."""
    span = range(clause.first, clause.last)
    telling = [
        at
        for at in span
        if reading.words[at].key and reading.words[at].text not in lists.listed("adverbs")
    ]
    if len(telling) > 1 or len(reading.clauses) > 1:
        return False
    who = {at for at in span if reading.words[at].text in lists.listed("user")}
    return any(
        reading.words[at].text in lists.listed("pointing")
        and (at + 1 not in telling or at + 2 in who)  # "das weiß ich", and no "das Abitur"
        for at in span
    )


def _is_a_topic(reading: Reading, lists: Acts, clause: Clause) -> bool:
    """No verb goes on behind it ("thinking about my brother he lives in Rome")."""
    if reading.touches("more_than_topic", clause):
        return False
    before = next((each for each in reading.clauses if each.last == clause.first), None)
    hangs = clause.inherits or reading.words[clause.first].text in lists.listed("that")
    if before is not None and hangs and _is_a_topic(reading, lists, before):
        return True
    ends = [
        end for start, end in reading.found["topic"] if start < clause.last and end > clause.first
    ]
    return bool(ends) and not any(
        word.text in lists.listed("verbs") for word in reading.words[max(ends) : clause.last]
    )


def _states(case: Case, clause: Clause) -> bool:
    lists = case.acts
    words = case.evidence.reading.words[clause.first : clause.last]
    text = text_of(case.evidence.reading, clause)
    if clause.subject == {JARVIS}:
        return False
    if lists.search("goal", text) or clause.ended == "used":
        return True
    if clause.subject and (lists.search("manner", text) or clause.ended):
        return True
    if not clause.said_no and ("wanting" in clause.kept or lists.search("needing", text)):
        return False
    clause = resolved_in(case, clause)
    if clause.subject - {USER, JARVIS}:
        return _is_of_somebody(case, clause)
    named = {case.evidence.reading.words[at].text for at in clause.subject_words}
    if USER in clause.subject and not named & lists.listed("user_mine"):
        return True
    finite = lists.listed("verbs") | lists.listed("copula")
    if not clause.subject and not any(word.text in lists.listed("user_mine") for word in words):
        finite -= lists.listed("copula")
    return (
        any(
            word.text in finite and before.kind != "number"  # "2 am"
            for before, word in zip((words[0], *words), words, strict=False)
        )
        or any(
            bool(one.key and verb.key)
            and verb.text.endswith(lists.finite_ends)
            and not verb.capital
            and (
                after.text in lists.listed("prepositions")
                or after.text in lists.listed("articles")
                or after.text in lists.listed("user_object")
            )
            for one, verb, after in zip(words, words[1:], words[2:], strict=False)
        )
    )


def _is_of_somebody(case: Case, clause: Clause) -> bool:
    """ "Parrot mode off" names nobody: an animal is somebody's."""
    words = case.evidence.reading.words
    first = min(clause.subject_words, default=-1)
    if first < 0 or words[first].text not in case.acts.listed("animals"):
        return True
    return first > clause.first


def states_it(case: Case) -> Refusal | None:
    """A question, a wish, a condition, a request, a moment's state: none is a lasting fact."""
    takes_back = case.proposal.operation != "add" and case.evidence.reading.does("forget")
    conditional = case.new is not None and case.new.does("condition")
    first: Refusal | None = None
    if case.evidence.reading.does("wait") or case.evidence.reading.does("bare_order"):
        return Refusal("L2.2", "It holds for the moment only.")
    for clause in case.evidence.touched:
        why = weakness(
            clause,
            case.evidence.reading,
            directive=case.directive,
            conditional=conditional,
            temporal=case.new is not None and names_time(case.new),
            whole=case.verbatim,
        )
        if why is None or (takes_back and why.rule == "L2.2"):
            return None
        first = first or why
    return first
