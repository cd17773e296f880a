"""What an entry may leave out because what remains follows from it.

"A blue car" is a car, "especially Bill Evans" takes nothing from jazz, and who is called "my wife
Sarah" is called Sarah, whatever is said of her.
"""

from __future__ import annotations

from collections.abc import Iterator

from memory.languages.acts import LIKING, USER, Acts, Clause, Reading
from memory.notebooks.case import Case
from memory.notebooks.grounded import told

_DETERMINERS = ("articles", "user_mine", "third_mine", "indefinite")
_FINITE = ("verbs", "copula", "modals", "auxiliaries")


def looks(case: Case, taken: set[int], mine: list[Clause]) -> Iterator[int]:
    """A colour or a size of a thing or an animal that there is: "two black cats". Not behind "my",
    where it tells which, nor where another one is spoken of, which it may tell apart."""
    reading, lists = case.evidence.reading, case.acts
    plain = [at for at, word in enumerate(reading.words) if word.text in lists.listed("plain")]
    if len(plain) != 1:
        return
    [at] = plain
    for clause in mine:
        if not clause.first <= at < clause.last or _bends(reading, clause):
            continue
        noun = next((each for each in (at - 1, at + 1, at + 2) if each in taken
                     and _is_thing(lists, reading, each, clause)), None)  # fmt: skip
        if noun is None or (noun == at + 2 and at + 1 not in taken):
            continue
        one = min(at, noun) - 1
        counts = one >= clause.first and (
            reading.words[one].text in lists.listed("indefinite")
            or reading.words[one].kind == "number"
        )
        if counts and not _counts_another(lists, reading, max(at, noun) + 1):
            yield at


def _bends(reading: Reading, clause: Clause) -> bool:
    """What it says holds of no thing that there is, or of what is liked."""
    return bool(
        clause.said_no
        or clause.compared
        or clause.kept
        or clause.conditional
        or clause.unreal
        or any(word.key == LIKING for word in reading.words[clause.first : clause.last])
    )


def _is_thing(lists: Acts, reading: Reading, at: int, clause: Clause) -> bool:
    if not clause.first < at < clause.last:
        return False
    word = reading.words[at]
    made = word.capital and not lists.verb_second  # "a blue Renault"
    return made or word.text in lists.listed("plain_things") | lists.listed("animals")


def _counts_another(lists: Acts, reading: Reading, first: int) -> bool:
    """ "… and a white one"."""
    return any(
        word.kind == "number" or word.text in lists.listed("indefinite")
        for word in reading.words[first:]
    )


def in_company(case: Case, span: range, clause: Clause, taken: set[int]) -> bool:
    """ "Lives in Bonn with her husband": somebody of theirs beside them, where a place is told."""
    words, lists = case.evidence.reading.words, case.acts
    placed = any(
        at in taken
        and any(
            words[each].text in lists.listed("inside")
            for each in range(max(clause.first, at - 2), at)
        )
        for at in range(clause.first, span.start)
    )
    return (
        placed
        and words[span.start].text in lists.listed("beside")
        and words[span.start + 1].text in lists.listed("user_mine") | lists.listed("third_mine")
        and all(
            not words[at].key
            or words[at].text in lists.listed("kin")
            or any(words[at].text in lists.listed(name) for name in _DETERMINERS)
            for at in span
        )
    )


def goes_without(case: Case, clause: Clause) -> bool:
    """ "…, especially Bill Evans", "…, have been since school": what opens so takes nothing away."""
    return any(
        start == clause.first
        for act in ("above_all", "ever_since")
        for start, _ in case.evidence.reading.found[act]
    )


def goes_on_about_them(case: Case, clause: Clause) -> bool:
    """ "Mein Vater hat Diabetes, der darf …": a "der" with its verb behind it is a "he"."""
    words, lists = case.evidence.reading.words, case.acts
    return (
        lists.verb_second
        and words[clause.first].text in lists.listed("relative")
        and clause.first + 1 < clause.last
        and any(words[clause.first + 1].text in lists.listed(name) for name in _FINITE)
        and bool(clause.subject & case.acts.kin_keys)
    )


def names_somebody(case: Case) -> bool:
    """ "Wife is called Sarah", "has a brother called Tom": of "my wife Sarah works at home" no more
    than who she is."""
    if case.new is None or case.proposal.operation != "add":
        return False
    if any(clause.said_no or clause.ended or clause.source for clause in case.new.clauses):
        return False
    keys = {word.key for clause in case.new.clauses for _, word in told(case, clause)}
    keys -= {word.key for word in case.new.words if word.text in case.acts.listed("naming")}
    return _only_names(case, keys) and any(
        keys == _my_somebody(case, clause) for clause in case.evidence.reading.clauses
    )


def _only_names(case: Case, keys: set[str]) -> bool:
    """In its small words, and with who it is in front of the name."""
    assert case.new is not None
    words, lists = case.new.words, case.acts
    places = [at for at, word in enumerate(words) if word.key in keys]
    if len(places) < 2 or words[places[0]].text not in lists.listed("kin"):
        return False
    before = ("articles", "user_mine", "third_mine", "owning", "indefinite", "object_articles", "genitive", "user_named")  # fmt: skip
    between = ("naming", "copula", "relative", "third", "may_add")
    for at in range(places[-1]):
        allowed = before if at < places[0] else between
        of_them = words[at].text in lists.listed("genitive") and words[
            at - 1
        ].text not in lists.listed("user_named")
        if at not in places and words[at].kind == "word" and (
            of_them or not any(words[at].text in lists.listed(name) for name in allowed)
        ):  # fmt: skip
            return False
    return all(word.kind == "mark" for word in words[places[-1] + 1 :])


def _my_somebody(case: Case, clause: Clause) -> set[str]:
    """Who stands behind a "my", with their names, where something is told of them that goes on."""
    reading, lists = case.evidence.reading, case.acts
    words = reading.words
    if (
        clause.question or clause.request or clause.conditional or clause.unreal or clause.embedded
        or clause.source or clause.ended or clause.dictates or reading.touches("over", clause)
    ):  # fmt: skip
        return set()
    kin = next((at for at in range(clause.first + 1, clause.last)
                if words[at].text in lists.listed("kin")), 0)  # fmt: skip
    if not kin or words[kin - 1].text not in lists.listed("user_mine") or kin > clause.first + 2:
        return set()
    last = kin + 1
    while last < clause.last and words[last].capital and words[last].key:
        last += 1
    if last == kin + 1 or last == clause.last or USER in clause.subject:
        return set()
    verb = words[last].text
    now = any(verb in lists.listed(name) for name in _FINITE) or (
        bool(lists.third_ends) and verb.endswith(lists.third_ends)
    )
    # "My friend Bob is imaginary", "… lives in my head", "… was a dream"
    is_so = verb in lists.listed("copula") and words[last + 1].kind != "number"
    of_mine = any(word.text in lists.listed("user_mine") for word in words[last : clause.last])
    over = verb in lists.listed("past") or verb in lists.listed("past_forms")
    if not now or is_so or of_mine or over:
        return set()
    return {words[at].key for at in range(kin, last)}
