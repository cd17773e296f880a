"""Which proposals are written: plain code decides, from the user's own words (spec L5).

First the proposal by itself, then with each place where its quote stands. A check looks at one
thing and returns a Refusal or None; the first that refuses decides.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

from memory.languages import acts
from memory.languages.acts import JARVIS, LIKING, THIRD, USER, Clause, Reading, read
from memory.languages.words import other_language
from memory.notebooks import canonical
from memory.notebooks.alignment import keeps_its_order
from memory.notebooks.case import (
    Case,
    Grounds,
    Refusal,
    Said,
    dates_in,
    names_time,
    text_of,
    weakness,
    wrong_date,
)
from memory.notebooks.dropped import drops_nothing
from memory.notebooks.evidence import Evidence, NoEvidence, fit, found, spoken_sentences
from memory.notebooks.filter import marked
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
    of_another_person,
    statements,
    told,
)
from memory.records import Accepted, Proposal, Rejection

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

_FEELINGS = {LIKING, "=want"}


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
    clause = _resolved_in(case, clause)
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


def same_language(case: Case) -> Refusal | None:
    """An entry is in the language it was said in."""
    text = canonical.plain(case.proposal.text or "")  # without the dates that code writes
    if text and other_language(text, case.evidence.sentence, case.evidence.reading.language):
        return Refusal("L5.2", "The entry is not in the language it was said in.")
    return None


def dates_follow(case: Case) -> Refusal | None:
    if not case.text:
        return None
    known = [case.evidence.sentence]
    apart = _statement_of(case)
    if apart is not None and wrong_date(case.text, apart, case.evidence.turn.began_at):
        return Refusal("L5.3", "The date belongs to something else that was said.")
    known += [
        case.evidence.turn.text[start:end]
        for start, end in spoken_sentences(case.evidence.turn.text, case.evidence.turn.language)
    ]
    if case.proposal.operation == "update":
        known.append(canonical.plain(case.proposal.entry or ""))
    wrong = wrong_date(case.text, ". ".join(known), case.evidence.turn.began_at)
    if wrong is not None:
        return Refusal("L5.3", f"The date “{wrong}” was not said and does not follow.")
    return None


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
    pieces = [
        case.evidence.sentence[
            reading.words[clause.first].start : reading.words[clause.last - 1].end
        ]
        for clause in reading.clauses
        if numbers[clause.first] in mine
    ]
    return " ".join(pieces)


def keeps_its_meaning(case: Case) -> Refusal | None:
    """A wish is not a fact, a guess not a certainty; who said it is said; "only" stays."""
    if case.new is None:
        return None
    if _turns_to_the_opposite(case):
        return Refusal("L5.2", "The entry says the opposite of a word that was said.")
    used = _used(case)
    new_kept = frozenset().union(*(clause.kept for clause in case.new.clauses))
    dated = bool(dates_in(case.text, case.evidence.turn.began_at))
    for clause in used:
        if clause.source and not (
            case.new.does("reported") and any(one.source for one in case.new.clauses)
        ):
            return Refusal("L5.2", "Somebody else says so, and the entry does not name them.")
        if case.directive:
            continue
        if (
            "wanting" in clause.kept
            and "wanting" not in new_kept
            and not (case.new.does("intent") or dated)
        ):
            return Refusal("L5.2", "It is wanted, not done, and the entry does not say so.")
        if _by_others(case, clause):
            return Refusal("L5.2", "Others do it, and the entry says that the user does.")
        if "hedge" in clause.kept and not new_kept & {"hedge", "hedge_light"}:
            return Refusal("L5.2", "The user is not sure, and the entry is.")
        if _leaves_out_the_other(case, clause):
            return Refusal(
                "L5.2", "The user names another possibility, which the entry leaves out."
            )
        if _on_condition(case, clause):
            return Refusal("L5.2", "It holds at times only, and the entry does not say when.")
        if ("restriction" in clause.kept or _restricted(case, clause)) and (
            "restriction" not in new_kept
        ):
            return Refusal("L5.2", "It holds with a restriction that the entry leaves out.")
    said_kept = frozenset().union(*(clause.kept for clause in case.evidence.reading.clauses))
    if "restriction" in new_kept - said_kept and case.new.does("only") and not case.directive:
        return Refusal("L5.2", "The entry restricts what the quote does not.")
    return None


def _turns_to_the_opposite(case: Case) -> bool:
    """ "Before forty", "after forty"; "a month", "a year"."""
    assert case.new is not None
    opposites = case.acts.opposites
    said = {word.text for word in case.evidence.reading.words}
    if case.proposal.operation == "update" and case.old is not None:
        said |= {word.text for word in case.old.words}
    return any(
        word.text in opposites and word.text not in said and said & opposites[word.text]
        for word in case.new.words
    )


def _by_others(case: Case, clause: Clause) -> bool:
    """ "Me querían hacer jefa", "quería": the ending of many in the place of the ending of one."""
    assert case.new is not None
    if not case.acts.listed("leaves_out") or USER not in clause.subject:
        return False
    said = case.evidence.reading.words[clause.first : clause.last]
    return any(
        word.key == other.key
        and word.key not in ("", LIKING)
        and word.text.endswith("n")
        and not other.text.endswith(("n", "s"))
        and not word.capital
        for word in said
        for other in case.new.words
    )


def _restricted(case: Case, clause: Clause) -> bool:
    """ "… except mushrooms", "no coffee without milk": what follows narrows it down."""
    reading = case.evidence.reading
    leading = next((each for each in reading.clauses if each.last == clause.first), None)
    if leading is not None and clause.said_no and case.new is not None:
        opening = reading.words[leading.first].text
        keys = {word.key for word in reading.words[leading.first : leading.last] if word.key}
        if opening in case.acts.listed("lacking") and not keys & _meanings(case.new):
            return True
    following = next((each for each in reading.clauses if each.first == clause.last), None)
    if following is None:
        return False
    text = reading.words[following.first].text
    narrows = {word.key for word in reading.words[following.first : following.last] if word.key}
    kept = case.new is not None and bool(narrows) and narrows <= _meanings(case.new)
    return text in case.acts.listed("excepting") or (
        clause.said_no > 0 and text in case.acts.listed("lacking") and not kept
    )


def _leaves_out_the_other(case: Case, clause: Clause) -> bool:
    """ "The blue pills or the white ones": an "or" says neither. Of what is denied, it says both."""
    assert case.new is not None
    reading = case.evidence.reading
    following = next((each for each in reading.clauses if each.first == clause.last), None)
    if following is None or clause.said_no:
        return False
    if reading.words[following.first].text not in case.acts.listed("or"):
        return False
    told_of = {word.key for word in case.new.words if word.key}
    both = ({word.key for word in reading.words[each.first : each.last] if word.key}
            for each in (clause, following))  # fmt: skip
    return any(keys and not keys & told_of for keys in both)


def _on_condition(case: Case, clause: Clause) -> bool:
    """ "I eat meat when I travel": what stands beside it narrows it down."""
    assert case.new is not None
    if case.new.does("condition") or any(each.temporal for each in case.new.clauses):
        return False
    reading = case.evidence.reading
    told_of = {word.key for word in case.new.words if word.key}
    for each in reading.clauses:
        beside = each.first == clause.last or each.last == clause.first
        if not beside or each.ended or clause.ended or clause.temporal or clause.conditional:
            continue
        stopped = any(
            word.text in ".!?" for word in (reading.words[min(each.last, clause.last) - 1],)
        )
        narrows = each.temporal or (each.conditional and each.first == clause.last)
        keys = {word.key for word in reading.words[each.first : each.last] if word.key}
        if narrows and not stopped and not keys & told_of:
            return True
    return False


def _used(case: Case) -> tuple[Clause, ...]:
    """The touched clauses that ground a word of the new text."""
    assert case.new is not None
    keys = {word.key for word in case.new.words if word.key}
    words = case.evidence.reading.words
    return tuple(
        clause
        for clause in case.evidence.touched
        if any(word.key in keys for word in words[clause.first : clause.last] if word.key)
    )


def about_the_old(case: Case) -> Refusal | None:
    """An update and a removal rest on words about the old entry."""
    if case.old is None or case.proposal.operation == "add":
        return None
    spoken = {
        word.key
        for clause in case.evidence.touched
        for word in case.evidence.reading.words[clause.first : clause.last]
        if word.key
    }
    old = {word.key for word in case.old.words if word.key}
    broad = case.acts.lexicon.broad
    narrow = old - broad if case.proposal.operation == "remove" and old - broad else old
    if not spoken & narrow and not any(
        _ends_all_of_it(case, old, each) for each in case.evidence.touched
    ):
        return Refusal("L5.2", "The quote is not about the entry: they share no word.")
    return None


def _ends_all_of_it(case: Case, old: set[str], clause: Clause) -> bool:
    """ "I don't drive any more" is about each car that was driven."""
    words = case.evidence.reading.words[clause.first : clause.last]
    keys = {word.key for word in words if word.key}
    return bool(keys) and keys <= old and clause.ended == "stopped" and USER in clause.subject


def takes_back(case: Case) -> Refusal | None:
    """A removal needs words that deny, end or correct the entry."""
    if case.proposal.operation != "remove" or case.old is None:
        return None
    if _asks_to_forget(case) or _is_over(case):
        return None
    for clause in case.old.clauses:
        for at in range(clause.first, clause.last):
            word = case.old.words[at]
            if at in clause.subject_words and len(clause.subject_words) < len(_meanings(case.old)):
                continue
            for one in case.said.get(word.key, ()) if word.key else ():
                if one.source != "quote" or _denies_the_end(one.clause, case):
                    continue
                turned = one.clause.said_no != clause.said_no or one.clause.ended != clause.ended
                if (
                    turned
                    and not _ends_something_else(case, one)
                    and of_another_person(case, clause, one) is None
                ):
                    return None
    return Refusal("L5.2", "The quote does not take the entry back.")


def _asks_to_forget(case: Case) -> bool:
    """ "Delete the alarm at seven" is no word about a note: what is to go stands in it."""
    assert case.old is not None
    reading = case.evidence.reading
    old = _meanings(case.old)
    for start, end in reading.found["forget"]:
        clause = reading.clause_of(start)
        behind = [
            at
            for at in range(end, min(clause.last, end + 3))
            if reading.words[at].key and reading.words[at].kind == "word"
        ]
        ordered = clause.request and start == next(
            (at for at in range(clause.first, clause.last) if reading.words[at].kind == "word"), -1
        )
        errand = bool(behind) and reading.words[behind[0]].text in case.acts.listed("errands")
        if not (ordered and errand and reading.words[behind[0]].key not in old):
            return True
    return False


def _ends_something_else(case: Case, one: Said) -> bool:
    """ "There is no coffee left" is about nobody, and does not deny "likes coffee"."""
    assert case.old is not None
    if one.clause.subject:
        return False
    words = case.evidence.reading.words[one.clause.first : one.clause.last]
    glue = case.acts.lexicon.glue
    return bool({word.key for word in words if word.key} - _meanings(case.old) - glue)


def _is_over(case: Case) -> bool:
    """ "We sold the boat": done, and by the user or by whom the entry is about."""
    assert case.old is not None
    reading = case.evidence.reading
    mine = {word.key for word in case.old.words if word.key} | {USER}
    doubts = {"wanting", "hedge", "restriction"}
    for clause in case.evidence.touched:
        if not reading.touches("over", clause):
            continue
        clause = _resolved_in(case, clause)
        weak = weakness(clause, reading, directive=False, conditional=False, temporal=True)
        people = clause.subject - {THIRD}
        named = bool(people & mine) or not clause.subject
        if weak is None and not clause.said_no and not clause.kept & doubts and named:
            return True
    return False


def _denies_the_end(clause: Clause, case: Case) -> bool:
    """ "I didn't sell it" takes nothing back."""
    return clause.said_no > 0 and case.evidence.reading.touches("over", clause)


def _resolved_in(case: Case, clause: Clause) -> Clause:
    """The clause with "she" resolved, as far as it can be."""
    return next(
        (
            one.clause
            for each in case.said.values()
            for one in each
            if one.source == "quote" and one.clause.first == clause.first
        ),
        clause,
    )


def _meanings(reading: Reading) -> set[str]:
    return {word.key for word in reading.words if word.key}


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
    all_of_it_said,
    keeps_its_order,
    keeps_its_meaning,
    drops_nothing,
    worth_keeping,
    about_the_old,
    takes_back,
    not_taken_out,
)

WORDING = frozenset(
    {same_language, dates_follow, links_said, numbers_said, all_of_it_said, keeps_its_order, keeps_its_meaning, drops_nothing}
)  # fmt: skip
"""Checks that an entry says what was said, which the user's own words do."""
