"""What a change of an entry rests on: words about it, and for a removal such as take it back."""

from __future__ import annotations

from memory.languages.acts import THIRD, USER, Clause
from memory.notebooks.case import Case, Refusal, Said, meanings, resolved_in, weakness
from memory.notebooks.entailed import lives_there_now, where_moved
from memory.notebooks.persons import of_another_person


def about_the_old(case: Case) -> Refusal | None:
    """An update and a removal rest on words about the old entry."""
    if case.old is None or case.proposal.operation == "add":
        return None
    if any(
        lives_there_now(case, each) and not where_moved(case, each)
        for each in case.evidence.touched
    ):
        return Refusal("L5.2", "It is over, and the entry does not say so; or the other way round.")
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
        _ends_all_of_it(case, old, each) or where_moved(case, each)
        for each in case.evidence.touched
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
            if at in clause.subject_words and len(clause.subject_words) < len(meanings(case.old)):
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
    old = meanings(case.old)
    for start, end in reading.found["forget"]:
        clause = reading.clause_of(start)
        behind = [
            at
            for at in range(end, min(clause.last, end + 3))
            if reading.words[at].key and reading.words[at].kind == "word"
        ]
        ordered = clause.request and not any(
            reading.words[at].key for at in range(clause.first, start)
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
    return bool({word.key for word in words if word.key} - meanings(case.old) - glue)


def _is_over(case: Case) -> bool:
    """ "We sold the boat": done, and by the user or by whom the entry is about."""
    assert case.old is not None
    reading = case.evidence.reading
    mine = {word.key for word in case.old.words if word.key} | {USER}
    doubts = {"wanting", "hedge", "restriction"}
    for clause in case.evidence.touched:
        if not reading.touches("over", clause):
            continue
        clause = resolved_in(case, clause)
        weak = weakness(clause, reading, directive=False, conditional=False, temporal=True)
        people = clause.subject - {THIRD}
        named = bool(people & mine) or not clause.subject
        if weak is None and not clause.said_no and not clause.kept & doubts and named:
            return True
    return False


def _denies_the_end(clause: Clause, case: Case) -> bool:
    """ "I didn't sell it" takes nothing back."""
    return clause.said_no > 0 and case.evidence.reading.touches("over", clause)
