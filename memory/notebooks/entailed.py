"""What an entry may leave out because what remains follows from it.

"A blue car" is a car, "especially Bill Evans" takes nothing from jazz, and who is called "my wife
Sarah" is called Sarah, whatever is said of her.
"""

from __future__ import annotations

from collections.abc import Iterator

from memory.languages.acts import LIKING, THIRD, USER, Acts, Clause, Reading
from memory.notebooks.case import Case
from memory.notebooks.grounded import told

_DETERMINERS = ("articles", "user_mine", "third_mine", "indefinite")
_FINITE = ("verbs", "copula", "modals", "auxiliaries")


def looks(case: Case, taken: set[int], mine: list[Clause]) -> Iterator[int]:
    """A colour or a size of a thing or an animal that there is: "two black cats". Not behind "my",
    where it tells which, nor where another one is spoken of, which it may tell apart."""
    reading, lists = case.evidence.reading, case.acts
    plain = [at for at, word in enumerate(reading.words) if word.text in lists.listed("plain")]
    if len(plain) != 1 or case.shown:
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
    opens = lists.listed("inside") | lists.listed("placed")
    placed = any(
        at in taken
        and any(words[each].text in opens for each in range(max(clause.first, at - 2), at))
        for at in range(clause.first, clause.last)
        if at not in span
    )
    lives = any(word.text in lists.listed("living") for word in words[clause.first : span.start])
    named = any(words[at].capital and not lists.verb_second for at in span)
    if case.shown:
        return False
    if placed and lives and words[span.start].text in lists.listed("beside") and not named:
        return not any(words[at].text in lists.listed("verbs") for at in span)
    return (
        placed
        and words[span.start].text in lists.listed("beside")
        and lists.holds(words[span.start + 1].text, _DETERMINERS)
        and all(
            not words[at].key
            or words[at].text in lists.listed("kin")
            or lists.holds(words[at].text, _DETERMINERS)
            for at in span
        )
    )


def goes_without(case: Case, clause: Clause) -> bool:
    """ "…, especially Bill Evans", "…, have been since school": what opens so takes nothing away. Not
    "a pilot, especially on paper"."""
    reading, lists = case.evidence.reading, case.acts
    before = next((each for each in reading.clauses if each.last == clause.first), None)
    if before is None or clause.said_no > before.said_no or clause.ended or case.shown:
        return False
    if not clause.subject_words and goes_without(case, before):
        return True
    if any(start == clause.first for start, _ in reading.found["ever_since"]):
        return True
    if not before.said_no and any(start == clause.first for start, _ in reading.found["cause"]):
        return True
    if _tells_where(case, clause):
        return True
    is_so = any(
        word.text in lists.listed("as") | lists.listed("copula")
        for word in reading.words[before.first : before.last]
    )
    opened = next((end for start, end in reading.found["above_all"] if start == clause.first), 0)
    if not opened or opened >= clause.last or is_so:
        return False
    text = reading.words[opened].text
    return text not in lists.listed("prepositions") or text in lists.listed("origins")


def _tells_where(case: Case, clause: Clause) -> bool:
    """ "A cottage in Wales where we spend the summer": what the user does there."""
    words, lists = case.evidence.reading.words, case.acts
    return (
        words[clause.first].text in lists.listed("where")
        and USER in clause.subject
        and not clause.said_no
        and not clause.kept
        and case.new is not None
        and words[clause.first - 1].key in {word.key for word in case.new.words if word.key}
    )


def goes_on_about_them(case: Case, clause: Clause) -> bool:
    """ "Mein Vater hat Diabetes, der darf …": a "der" with its verb behind it is a "he"."""
    words, lists = case.evidence.reading.words, case.acts
    return (
        lists.verb_second
        and not case.shown
        and words[clause.first].text in lists.listed("relative")
        and clause.first + 1 < clause.last
        and lists.holds(words[clause.first + 1].text, _FINITE)
        and bool(clause.subject & case.acts.kin_keys)
    )


def comments_on_it(case: Case, clause: Clause) -> bool:
    """ "…, den hab ich verkauft", "…, das wär ich gern": what the user does with what stands in front."""
    words, lists = case.evidence.reading.words, case.acts
    pointing = lists.listed("articles") | lists.listed("object_articles") | lists.listed("relative")
    return (
        lists.verb_second
        and clause.last > clause.first + 2
        and words[clause.first].text in pointing
        and not words[clause.first + 1].capital
        and words[clause.first + 2].text in lists.listed("user")
    )


def names_somebody(case: Case) -> bool:
    """ "Wife is called Sarah", "has a brother called Tom": of "my wife Sarah works at home" no more
    than who she is."""
    if case.new is None or case.proposal.operation != "add" or case.shown:
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
            of_them or not lists.holds(words[at].text, allowed)
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
    now = lists.holds(verb, _FINITE) or (bool(lists.third_ends) and verb.endswith(lists.third_ends))
    # "My friend Bob is imaginary", "… lives in my head", "… was a dream"
    is_so = verb in lists.listed("copula") and words[last + 1].kind != "number"
    of_mine = any(word.text in lists.listed("user_mine") for word in words[last : clause.last])
    over = verb in lists.listed("past") or verb in lists.listed("past_forms")
    if not now or is_so or of_mine or over:
        return set()
    return {words[at].key for at in range(kin, last)}


def is_served(case: Case, at: int, source: Clause) -> bool:
    """ "I take my coffee with milk", "coffee with milk"; "the key lies under the mat", "key under the
    mat": an entry without a verb begins with what is had, or where it is."""
    words, lists, told_of = case.evidence.reading.words, case.acts, case.judged_text.words
    begins = next((word.key for word in told_of if word.key), "")
    opening = next((word.key for word in words[source.first : at] if word.key), "")
    if case.shown or any(lists.holds(word.text, _FINITE) for word in told_of):
        return False
    if words[at].text in lists.listed("lies") and not source.subject - {THIRD}:
        return not (source.said_no or source.kept or source.ended) and begins == opening != ""
    if (
        words[at].text not in lists.listed("serving")
        or bool(source.said_no) != bool(case.judged_text.clauses[0].said_no)
        or source.subject != {USER}
        or source.kept
        or source.ended
    ):
        return False
    behind = next((word.key for word in words[at + 1 : source.last] if word.key), "")
    if words[at - 1].text in lists.listed("doubles"):  # "el café lo tomo con leche"
        behind = opening
    return begins == behind != ""


def since_when(case: Case, mine: list[Clause]) -> Iterator[int]:
    """ "Since the accident I walk with a stick": what is so to this day, unless something is denied."""
    words, lists = case.evidence.reading.words, case.acts
    if case.shown or any(clause.said_no or clause.ended for clause in mine):
        return
    for at, word in enumerate(words[:-2]):
        if word.text not in lists.listed("since"):
            continue
        determined = any(words[at + 1].text in lists.listed(each) for each in (*_DETERMINERS, "object_articles"))  # fmt: skip
        if determined and words[at + 2].key and words[at + 2].kind == "word":
            yield at + 2


def lives_there_now(case: Case, clause: Clause) -> bool:
    """ "I've moved to Leeds", where an entry says where the user lives: it is there now."""
    reading, lists = case.evidence.reading, case.acts
    if case.proposal.operation != "update" or case.old is None or case.new is None:
        return False
    lives = (
        any(word.text in lists.listed("living") for word in each.words)
        for each in (case.old, case.new)
    )
    return (
        all(lives)
        and clause.subject == {USER}
        and reading.touches("has_moved", clause)
        and not (
            clause.said_no or clause.kept or clause.ended or clause.conditional or clause.unreal
            or clause.temporal or clause.question or clause.source or clause.embedded
        )
        and not any(
            word.kind == "number" or word.text in lists.listed("joiners")
            for word in reading.words[clause.first + 1 : clause.last]
        )
    )  # fmt: skip


def where_moved(case: Case, clause: Clause) -> frozenset[int]:
    """The words that say so, and the place behind them."""
    if not lives_there_now(case, clause):
        return frozenset()
    words, lists = case.evidence.reading.words, case.acts
    spans = {at for span in case.evidence.reading.found["has_moved"] for at in range(*span)}
    places = {
        at
        for at in range(clause.first + 1, clause.last)
        if words[at].key and words[at - 1].text in lists.listed("placed")
    }
    assert case.old is not None and case.new is not None
    old = {word.key for word in case.old.words}
    told_of = {word.key for word in case.new.words if word.text not in lists.listed("living")}
    there = {words[at].key for at in places}
    fits = len(places) == 1 and told_of - old - {""} == there
    return frozenset(spans | places) if fits else frozenset()
