"""Which proposals are written: plain code decides, from the user's own words (spec L5).

First the proposal by itself, then with each place where its quote stands. A check looks at one
thing and returns a Refusal or None; the first that refuses decides.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

from memory.languages import acts
from memory.languages.acts import Reading, read
from memory.languages.dates import SpokenDate
from memory.languages.words import other_language
from memory.notebooks import canonical
from memory.notebooks.added import adds_nothing
from memory.notebooks.alignment import keeps_its_order, taken_over
from memory.notebooks.amounts import keeps_numbers
from memory.notebooks.being import keeps_what_it_is
from memory.notebooks.case import Case, Grounds, Refusal, dates_in, wrong_date
from memory.notebooks.dropped import drops_nothing
from memory.notebooks.evidence import Evidence, NoEvidence, found, spoken_sentences
from memory.notebooks.form import (
    AN_ORDER,
    FORM,
    entry_there,
    no_markup,
    nothing_hidden,
    one_script,
    same,
)
from memory.notebooks.grounded import (
    all_of_it_said,
    links_said,
    numbers_said,
    statements,
    told,
)
from memory.notebooks.lasting import states_it, tells_a_fact, worth_keeping
from memory.notebooks.meaning import keeps_its_meaning
from memory.notebooks.read_aloud import not_read_aloud
from memory.notebooks.subjects import keeps_its_subject
from memory.notebooks.taking_back import about_the_old, takes_back
from memory.records import Accepted, Language, Proposal, Rejection

__all__ = ["EVIDENCE", "FORM", "Grounds", "decide", "no_markup", "nothing_hidden", "one_script"]


def decide(proposal: Proposal, grounds: Grounds) -> Accepted | Rejection:
    """Never raises; the same proposal and grounds give the same answer."""
    for form_check in FORM:
        refusal = form_check(proposal, grounds)
        if refusal:
            return Rejection(proposal=proposal, rule=refusal.rule, reason=refusal.reason)
    first: Refusal | None = None
    for place in found(proposal.quote, grounds.turns):
        outcome = (
            Refusal(place.rule, place.reason)
            if isinstance(place, NoEvidence)
            else _judged(proposal, grounds, place)
        )
        if isinstance(outcome, Accepted):
            return outcome
        first = first or outcome
    assert first is not None, "evidence gives a place or a reason"
    return Rejection(proposal=proposal, rule=first.rule, reason=first.reason)


def _judged(proposal: Proposal, grounds: Grounds, evidence: Evidence) -> Accepted | Refusal:
    case = Case.of(proposal, grounds, evidence)
    for check in EVIDENCE:
        refusal = None if case.verbatim and check in WORDING else check(case)
        if refusal:
            return refusal
    entry = entry_there(proposal, grounds)
    return Accepted(
        operation=proposal.operation,
        notebook=proposal.notebook,
        entry=entry,
        text=case.text or None,
        quote=evidence.quote,
        turn_index=evidence.turn.index,
    )


Check = Callable[[Case], Refusal | None]


def clean_words(case: Case) -> Refusal | None:
    for text in (case.evidence.quote, case.evidence.sentence):
        mark = canonical.hidden(text)
        if mark:
            return Refusal("L5.4", f"What was said holds a character that nobody sees ({mark}).")
    return None


def bids_nothing(case: Case) -> Refusal | None:
    """ "Never read me the sources": how Jarvis is to answer, as the user says it."""
    if case.verbatim and case.directive:
        return None
    return Refusal("L5.4", AN_ORDER) if acts.does("bidding", case.text) else None


def same_language(case: Case) -> Refusal | None:
    """An entry is in the language it was said in."""
    text = canonical.plain(case.proposal.text or "")  # without the dates that code writes
    if text and other_language(text, case.evidence.sentence, case.evidence.reading.language):
        return Refusal("L5.2", "The entry is not in the language it was said in.")
    return None


def dates_follow(case: Case) -> Refusal | None:
    if not case.text:
        return None
    known = [_not_put_right(case.evidence.sentence, case.evidence.reading)]
    apart = _statement_of(case)
    if apart is not None and wrong_date(case.text, apart, case.evidence.turn.began_at):
        return Refusal("L5.3", "The date belongs to something else that was said.")
    stated = _stated(case)
    if stated is not None and wrong_date(case.text, stated, case.evidence.turn.began_at):
        return Refusal("L5.3", "The date stands in a question or a request.")
    if _takes_one_of_several(case):
        return Refusal("L5.3", "Several times were named, and the entry takes one of them.")
    turn = case.evidence.turn
    known += [
        _stated_in(turn.text[start:end], turn.language)
        for start, end in spoken_sentences(turn.text, turn.language)
    ]
    if case.proposal.operation == "update":
        known.append(canonical.plain(case.proposal.entry or ""))
    wrong = wrong_date(case.text, ". ".join(known), case.evidence.turn.began_at)
    if wrong is not None:
        return Refusal("L5.3", f"The date “{wrong}” was not said and does not follow.")
    return None


def _not_put_right(sentence: str, reading: Reading) -> str:
    """ "On May third, no, June third": without what was taken back."""
    for at in sorted(reading.retracted, reverse=True):
        word = reading.words[at]
        sentence = f"{sentence[: word.start]}…{sentence[word.end :]}"
    return sentence


def _stated_in(sentence: str, language: Language | None) -> str:
    """Without what is asked there: "anyway what is on tomorrow"."""
    reading = read(sentence, language)
    return " ".join(
        " ".join(
            sentence[word.start : word.end]
            for at, word in enumerate(reading.words[clause.first : clause.last], clause.first)
            if at not in reading.retracted
        )
        for clause in reading.clauses
        if not clause.question and not clause.request
    )


def _takes_one_of_several(case: Case) -> bool:
    """ "The dentist on Monday and the optician on Tuesday": a day that is left out, among what is
    taken over or behind it, may be the one that belongs to it."""
    if case.new is None or case.proposal.operation != "add":
        return False
    at, words = case.evidence.turn.began_at, case.evidence.reading.words
    told_of = {_day(each) for each in dates_in(case.text, at)}
    back = [words[place].start for place in case.evidence.reading.retracted]
    named = [
        each
        for each in dates_in(case.evidence.sentence, at)
        if not any(each.start <= place < each.end for place in back)
    ]
    kept = [each.start for each in named if _day(each) in told_of]
    taken = [words[match.said.at].start for match in taken_over(case)]
    if not kept or not taken:
        return False
    return any(
        min(taken + kept) < each.start < max(taken + kept)
        or any(max(kept) < place < each.start for place in taken)
        for each in named
        if _day(each) not in told_of
    )


def _day(each: SpokenDate) -> object:
    return each.first or (each.recurring, each.weekday, each.month)


def _words_of(case: Case, first: int, last: int) -> str:
    words = case.evidence.reading.words
    return case.evidence.sentence[words[first].start : words[last - 1].end]


def _stated(case: Case) -> str | None:
    """Of a sentence that also asks or requests the rest, where the entry takes its words from it."""
    if case.new is None or case.directive or case.proposal.operation == "update":
        return None
    reading = case.evidence.reading
    rest = [clause for clause in reading.clauses if not clause.question and not clause.request]
    if not rest or len(rest) == len(reading.clauses):
        return None
    return " ".join(_words_of(case, clause.first, clause.last) for clause in rest)


def _statement_of(case: Case) -> str | None:
    """Of a sentence with several statements the one that the entry takes its words from, where
    another has a time of its own."""
    if case.new is None or case.proposal.operation == "update":
        return None
    reading = case.evidence.reading
    numbers = dict(statements(reading))
    for before, clause in pairwise(reading.clauses):  # "bin day is Thursday, I put them out …"
        said = {word.text for word in reading.words[before.first : before.last]}
        stated = said & (case.acts.listed("verbs") | case.acts.listed("own_verbs"))
        if stated and clause.subject_words and not clause.inherits and not clause.source:
            own = numbers[clause.first] == numbers[before.first]
            shift = {first for first in numbers if first >= clause.first}
            numbers |= {first: numbers[first] + own for first in shift}
    keys = {word.key for clause in case.new.clauses for _, word in told(case, clause) if word.key}
    mine = {
        numbers[clause.first]
        for clause in reading.clauses
        if keys & {word.key for word in reading.words[clause.first : clause.last]}
    }
    if len(set(numbers.values())) < 2 or not mine:
        return None
    return " ".join(
        _words_of(case, clause.first, clause.last)
        for clause in reading.clauses
        if numbers[clause.first] in mine
    )


def not_taken_out(case: Case) -> Refusal | None:
    """What the user removed is not learned again from what was said before."""
    if not case.text:
        return None
    for removed in case.grounds.removed:
        if case.evidence.turn.began_at > removed.at:
            continue
        if same(removed.text, case.text) or _same_meaning(case, removed.text):
            return Refusal("L5.5", "The user took this out after it was said.")
    return None


def _same_meaning(case: Case, removed: str) -> bool:
    assert case.new is not None
    other = read(canonical.plain(removed), case.evidence.reading.language, entry=True)
    mine = {word.key for word in case.new.words if word.key}
    theirs = {word.key for word in other.words if word.key}
    return bool(mine) and (mine <= theirs or theirs <= mine)


EVIDENCE: tuple[Check, ...] = (
    clean_words,
    bids_nothing,
    states_it,
    not_read_aloud,
    same_language,
    dates_follow,
    links_said,
    numbers_said,
    keeps_numbers,
    all_of_it_said,
    adds_nothing,
    keeps_its_order,
    keeps_its_subject,
    keeps_what_it_is,
    keeps_its_meaning,
    drops_nothing,
    tells_a_fact,
    worth_keeping,
    about_the_old,
    takes_back,
    not_taken_out,
)

WORDING = frozenset(
    {same_language, dates_follow, links_said, numbers_said, keeps_numbers, all_of_it_said, adds_nothing, keeps_its_order, keeps_its_subject, keeps_what_it_is, keeps_its_meaning, drops_nothing}
)  # fmt: skip
"""Checks that an entry says what was said, which the user's own words do."""
