"""Whether an entry means what was said: a wish stays a wish, a guess a guess, "only" stays."""

from __future__ import annotations

from memory.languages.acts import LIKING, USER, Clause
from memory.languages.acts.line import STOPS
from memory.notebooks.case import Case, Refusal, dates_in, meanings


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
        thought = bool(new_kept & {"hedge", "hedge_light"}) or case.new.does("reported")
        if _guesses_of_others(case, clause) and not thought:
            return Refusal("L5.2", "The user is not sure, and the entry is.")
        if _is_narrowed_behind(case, clause, "hedge") and not new_kept & {"hedge", "hedge_light"}:
            return Refusal("L5.2", "The user is not sure, and the entry is.")
        if _leaves_out_the_other(case, clause):
            return Refusal(
                "L5.2", "The user names another possibility, which the entry leaves out."
            )
        if _on_condition(case, clause):
            return Refusal("L5.2", "It holds at times only, and the entry does not say when.")
        narrowed = _restricted(case, clause) or _is_narrowed_behind(case, clause, "restriction")
        if ("restriction" in clause.kept or narrowed) and "restriction" not in new_kept:
            return Refusal("L5.2", "It holds with a restriction that the entry leaves out.")
    said_kept = frozenset().union(*(clause.kept for clause in case.evidence.reading.clauses))
    only = case.new.does("only") and not case.directive
    if only and ("restriction" not in said_kept or _not_only(case)):
        return Refusal("L5.2", "The entry restricts what the quote does not.")
    return None


def _guesses_of_others(case: Case, clause: Clause) -> bool:
    """ "I think my neighbour is a spy": what is guessed of oneself may be told, of others not; nor
    "I've been told I snore"."""
    before = next(
        (each for each in case.evidence.reading.clauses if each.last == clause.first), None
    )
    guessed = "hedge_light" in clause.kept or (before is not None and "hedge_light" in before.kept)
    hedged = any(end == clause.first for _, end in case.evidence.reading.found["hedge"])
    return hedged or (guessed and bool(clause.subject) and USER not in clause.subject)


def _is_narrowed_behind(case: Case, clause: Clause, act: str) -> bool:
    """ "I'm a doctor, well, almost": what is added behind a comma, and says nothing else."""
    reading = case.evidence.reading
    words = reading.words
    for each in reading.clauses:
        if each.first <= clause.first or words[each.first - 1].text in STOPS:
            continue
        opening = words[each.first].text
        goes_on = each.inherits or opening in case.acts.listed("until")
        if not goes_on or opening in case.acts.listed("and"):
            continue
        spans = [at for start, end in reading.found[act] for at in range(start, end)]
        if opening in case.acts.listed("until") and act == "restriction":
            return True
        if act in each.kept and not any(
            words[at].key
            and at not in spans
            and words[at].kind == "word"
            and words[at].text not in case.acts.listed("adverbs")
            and not any(
                words[before].text in case.acts.listed("prepositions")
                for before in range(each.first, at)
            )
            for at in range(each.first, each.last)
        ):
            return True
    return False


def _not_only(case: Case) -> bool:
    """ "Not only a dog": every "only" of the quote is denied."""
    reading = case.evidence.reading
    return all(
        any(begin < end and stop > start for begin, stop in reading.found["not_no"])
        for start, end in reading.found["only"]
    )


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
        if opening in case.acts.listed("lacking") and not keys & meanings(case.new):
            return True
    following = next((each for each in reading.clauses if each.first == clause.last), None)
    if following is None:
        return False
    text = reading.words[following.first].text
    narrows = {word.key for word in reading.words[following.first : following.last] if word.key}
    kept = case.new is not None and bool(narrows) and narrows <= meanings(case.new)
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
    ends = clause.last
    for each in reading.clauses:
        if each.first == ends and each.inherits and each.compared:
            ends = each.last
    for each in reading.clauses:
        beside = each.first == ends or each.last == clause.first
        if not beside or each.ended or clause.ended or clause.temporal or clause.conditional:
            continue
        stopped = any(word.text in ".!?" for word in (reading.words[min(each.last, ends) - 1],))
        narrows = each.temporal or (each.conditional and each.first == ends)
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
