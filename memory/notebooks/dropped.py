"""Whether an entry leaves out what its words hang on.

What twists a sentence mostly stands beside what it takes over: "I came close to", "people think",
"in the play", "or so they say". Such words can't be listed; which may be left out can. So what
carries meaning stays, in all of the sentence, but for what is named here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise

from memory.languages.acts import Clause
from memory.notebooks.alignment import modifies, taken_over
from memory.notebooks.case import Case, Refusal
from memory.notebooks.entailed import (
    comments_on_it,
    goes_on_about_them,
    goes_without,
    in_company,
    is_served,
    looks,
    names_somebody,
    since_when,
)
from memory.notebooks.grounded import told
from memory.notebooks.times import times

_SAID_OTHERWISE = (
    "aside", "filler", "thinking", "glue", "hedge_light", "polite", "repair",
    "wanting", "used", "stopped", "reported", "against", "hedge",
)  # fmt: skip
"""Acts whose words say nothing of what is stated, or whose meaning is compared elsewhere."""

_HANGING = ("that", "relative", "temporal", "compared", "or")
"""Lists of words that make what follows a part of what stands before."""


def drops_nothing(case: Case) -> Refusal | None:
    """Of an addition; an update rests on words of its entry as well."""
    if case.new is None or case.proposal.operation != "add":
        return None
    taken = {match.said.at for match in taken_over(case)}
    mine = _source(case, taken)
    if _denies_the_wish(case, mine):
        return Refusal("L5.2", "The entry turns the quote around: a negation is lost or won.")
    if case.directive:
        return _changes_the_wish(case, mine)
    if names_somebody(case):
        return None
    kept = _kept(case)
    free = set(_free(case, taken)) | taken | set(_phrases(case, taken, mine))
    free |= set(looks(case, taken, mine)) | set(since_when(case, mine))
    free |= {at for clause in mine for at in range(clause.first, clause.last)
             if is_served(case, at, clause)}  # fmt: skip
    for at in _beside(case, taken, mine):
        if not kept(at) and at not in free:
            return _left_out(case, at)
    return None


def _left_out(case: Case, at: int) -> Refusal:
    word = case.evidence.reading.words[at].text
    return Refusal("L5.2", f"The entry leaves out “{word}”, which belongs to it.")


def _denies_the_wish(case: Case, mine: list[Clause]) -> bool:
    """ "Call me Ben", "doesn't want that people call him Ben": a "not" of a clause without words
    that are compared denies what follows."""
    assert case.new is not None
    denied = any(clause.said_no and not any(told(case, clause)) for clause in case.new.clauses)
    return denied and not any(clause.said_no for clause in mine)


def _changes_the_wish(case: Case, mine: list[Clause]) -> Refusal | None:
    """ "Never read me long lists": no "hates lists", and of what is not wanted nothing is left out
    but what Jarvis is to do."""
    assert case.new is not None
    reading = case.evidence.reading
    hated = any(word.turned for word in reading.words) or reading.does("against")
    if any(word.turned for word in case.new.words) and not hated:
        return Refusal("L5.2", "The user asks for a manner, and does not say what is hated.")
    kept = _kept(case)
    free = set(_free(case, set()))
    for clause in mine:
        keyed = [at for at in range(clause.first, clause.last) if reading.words[at].key]
        for at in keyed[1:] if clause.said_no or clause.ended == "stopped" else ():
            if not kept(at) and at not in free and at not in clause.subject_words:
                return _left_out(case, at)
    return None


def _kept(case: Case) -> Callable[[int], bool]:
    """Whether the entry has the word of the quote's sentence, or one that is compared as it."""
    assert case.new is not None
    words, lexicon = case.evidence.reading.words, case.acts.lexicon
    texts = {part for word in case.new.words for part in (word.text, *word.text.split("-"))}
    keys = {word.key for word in case.new.words if word.key}
    keys |= {lexicon.key(part)[0] for part in texts if part}

    def kept(at: int) -> bool:
        parts = words[at].text.split("-")
        return words[at].key in keys or all(
            part in texts or lexicon.key(part)[0] in keys for part in parts
        )

    return kept


def _beside(case: Case, taken: set[int], mine: list[Clause]) -> Iterator[int]:
    """The words that carry meaning in the clauses that were taken from, and in those around them,
    as far as "by the way" on both sides, that are no question, request or other statement."""
    reading = case.evidence.reading
    if not mine:
        return
    asides = [start for start, _ in reading.found["aside"]]
    begins = max((start for start in asides if start < mine[0].last), default=0)
    ends = min((start for start in asides if start >= mine[-1].last), default=len(reading.words))
    for clause in reading.clauses:
        if clause not in mine and (
            clause.last <= begins
            or clause.first >= ends
            or clause.question
            or clause.request
            or _is_another(case, clause, mine)
        ):
            continue
        for at in range(clause.first, clause.last):
            named = _may_go_unnamed(case, clause, at, taken)
            if reading.words[at].key and not named and not _is_listed(case, clause, at, taken):
                yield at


def _may_go_unnamed(case: Case, clause: Clause, at: int, taken: set[int]) -> bool:
    """ "My sister Anna lives in Rome", "sister lives in Rome"; but of an imaginary friend no friend."""
    word = case.evidence.reading.words[at]
    if at not in clause.subject_words:
        return False
    somebody = word.capital or word.key in clause.subject
    return somebody or not taken & clause.subject_words


def _is_whose(case: Case, at: int) -> bool:
    """ "My old boss", "mein alter Name": beside a "my" and who or what is the user's it tells which."""
    words, lists = case.evidence.reading.words, case.acts
    return (
        bool(words[at].key)
        and 0 < at < len(words) - 1
        and words[at - 1].text in lists.listed("user_mine")
        and words[at + 1].text in lists.listed("kin") | lists.lexicon.labels
    )


def _is_listed(case: Case, clause: Clause, at: int, taken: set[int]) -> bool:
    """ "Three kids and two dogs": a noun, and an "and" between it and what was taken over."""
    reading, lists = case.evidence.reading, case.acts
    joins = lists.listed("and") | lists.listed("or_alone")
    before = max((other for other in taken if other < at), default=at)
    behind = min((other for other in taken if other > at), default=at)
    noun = reading.words[at].kind == "number" or modifies(lists, reading, at, clause.first)
    if any(reading.words[each].text in joins for each in range(before, at)):
        return True
    if _opens_a_list(case, clause, at, behind):
        return _adds_no_small_word(case, clause, behind)
    joined = any(reading.words[each].text in joins for each in range(at, behind))
    return joined and (noun or behind >= clause.last)


def _opens_a_list(case: Case, clause: Clause, at: int, behind: int) -> bool:
    """ "Speaks Spanish, Catalan and …": a word behind what is done, a comma, and the word that was
    taken over, with an "and" in front of the last."""
    reading, lists = case.evidence.reading, case.acts
    done = not case.shown and any(reading.words[each].key for each in range(clause.first, at))
    last = next((each for each in reading.clauses if each.first > behind), None)
    return (
        done
        and behind == at + 2
        and reading.words[at + 1].text == ","
        and last is not None
        and last.first in (behind + 1, behind + 2)
        and last.inherits
        and reading.words[last.first].text in lists.listed("and") - lists.listed("or_alone")
    )


def _adds_no_small_word(case: Case, clause: Clause, last: int) -> bool:
    """ "Spanish, Catalan and a bit of German" is no bit of Catalan."""
    assert case.new is not None
    said = {word.text for word in case.evidence.reading.words[clause.first : last]}
    holding = case.acts.listed("may_add") | case.acts.listed("user_named")
    holding |= case.acts.listed("articles") - case.acts.listed("indefinite")
    return all(
        word.key or word.kind == "mark" or word.text in said | holding for word in case.new.words
    )


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


def _is_another(case: Case, clause: Clause, mine: list[Clause]) -> bool:
    """ "My back hurts, …", "… and I work as a nurse", "… but I love fish": plainly stated, with a
    subject or a verb of its own, and a mark or a word between that lets each stand alone."""
    reading, lists = case.evidence.reading, case.acts
    words = reading.words
    opening = words[clause.first].text
    behind = clause.first > mine[0].first
    if behind and opening in lists.listed("therefore"):
        return True
    if clause.compared:
        return not behind or (reading.does("rival") and not _is_measured(case, clause))
    if behind and goes_without(case, clause):
        return True
    lacking = opening in lists.listed("prepositions")  # "beer without alcohol"
    if behind and opening in lists.listed("no") and not lacking and not _stands(case, clause):
        return True  # "I'm vegan, not vegetarian"
    if (
        clause.kept
        or clause.conditional
        or clause.temporal
        or clause.embedded
        or clause.unreal
        or clause.source
        or not (_stands(case, clause) or goes_on_about_them(case, clause))
    ):
        return False
    if behind and goes_on_about_them(case, clause):
        return True
    if behind and comments_on_it(case, clause):
        return False
    if not behind and _has_infinitives(case, clause, mine):
        return False
    if behind and _is_relative(case, clause):
        return False
    edge = clause
    if not behind:
        edge = next(later for one, later in pairwise(reading.clauses) if one is clause)
    opening = words[edge.first].text
    first = _behind_small_talk(case, clause)
    if not behind and (not clause.subject or words[first].text in lists.listed("joiners")):
        return False
    if edge.conditional or lists.holds(opening, _HANGING):
        return False
    if opening in lists.listed("joiners"):
        return _stands(case, edge)
    marked = edge.first > 0 and words[edge.first - 1].kind == "mark"
    alone = behind or _says_what_one_is(case, clause, first)
    return (marked and not edge.inherits) or (alone and edge.first in edge.subject_words)


def _behind_small_talk(case: Case, clause: Clause) -> int:
    """ "So I'm a nurse": a word that begins a talk joins nothing."""
    words, lists = case.evidence.reading.words, case.acts
    talks = not case.shown and words[0].text in lists.listed("talk_opens")
    talks = talks and clause.first == 0
    return clause.first + talks


def _says_what_one_is(case: Case, clause: Clause, first: int) -> bool:
    """ "I'm a nurse I work …": with no mark between, what a noun with its article closes."""
    words, lists = case.evidence.reading.words, case.acts
    return (
        clause.last - first == 4
        and words[first].text in lists.listed("user")
        and words[first + 1].text in lists.listed("as")
        and words[first + 2].text in lists.listed("indefinite")
        and bool(words[first + 3].key)
    )


def _is_measured(case: Case, clause: Clause) -> bool:
    """ "Older than Tom", "three bikes more than Tom": by whom it is measured."""
    words, lists = case.evidence.reading.words, case.acts
    before = words[max(0, clause.first - 2) : clause.first]
    if any(word.text in lists.listed("degrees") for word in before):
        return True
    last = before[-1] if before else None
    return (
        last is not None
        and not last.capital
        and last.text.endswith(lists.comparing_ends or ("\0",))
    )


def _is_relative(case: Case, clause: Clause) -> bool:
    """ "… den Termin, den ich abgesagt habe"."""
    words, lists = case.evidence.reading.words, case.acts
    return (
        lists.verb_second
        and words[clause.first].text in lists.listed("articles")
        and clause.last > clause.first + 1
        and lists.holds(words[clause.first + 1].text, ("user", "third"))
    )


def _has_infinitives(case: Case, clause: Clause, mine: list[Clause]) -> bool:
    """ "Ich vergesse oft, Tabletten zu nehmen": behind a comma what is done or not, without who."""
    words, lists = case.evidence.reading.words, case.acts
    if (
        not lists.verb_second
        or mine[0].first != clause.last
        or any(words[at].text not in lists.listed("user_mine") for at in mine[0].subject_words)
    ):
        return False
    span = words[mine[0].first : mine[0].last]
    return any(
        (word.text == "zu" and behind.text.endswith(lists.last_verb_ends) and not behind.capital)
        or ("zu" in word.text[2:-3] and word.text.endswith("en") and word.key)
        for word, behind in pairwise((*span, span[-1]))
    ) and not any(word.text in lists.listed("auxiliaries") for word in span)


def _phrases(case: Case, taken: set[int], mine: list[Clause]) -> Iterator[int]:
    """ "… in the cellar", "… because of the noise": what a preposition opens behind what was taken
    over, where all of it is left out, and it holds no number, negation, verb or somebody."""
    reading, lists = case.evidence.reading, case.acts
    opening = lists.listed("prepositions") | lists.listed("dative") | lists.listed("phrase_opens")
    for clause in reading.clauses:
        if not (clause in mine or (clause.inherits and mine and clause.first > mine[0].first)):
            continue
        done = _what_was_done(case, clause)
        first = min((at for at in taken if clause.first <= at < clause.last), default=clause.first)
        edges = [
            at
            for at in range(first, clause.last)
            if lists.uncontracted(reading.words[at].text) in opening or _is_no(case, at)
        ]
        for start, end in pairwise([*edges, clause.last]):
            span = range(start, end)
            if (
                done not in span
                and not _is_no(case, start)
                and not _is_infinitive(case, start)
                and not taken & set(span)
                and not _tells_which(case, start)
                and (
                    not any(_weighs(case, at) for at in span)
                    or in_company(case, span, clause, taken)
                )
            ):
                yield from span


def _what_was_done(case: Case, clause: Clause) -> int:
    """ "… beim Hochwasser verloren": behind an auxiliary the verb that closes the clause."""
    words, lists = case.evidence.reading.words, case.acts
    last = max((at for at in range(clause.first, clause.last) if words[at].key), default=-1)
    helped = any(
        word.text in lists.listed("auxiliaries") or word.text in lists.listed("modals")
        for word in words[clause.first : clause.last]
    )
    closes = last >= 0 and helped and words[last].text.endswith(lists.last_verb_ends)
    return last if closes and not words[last].capital else -1


def _tells_which(case: Case, start: int) -> bool:
    """ "The king of the world", "the head of sales": behind a "the" and its noun an "of"."""
    words, lists = case.evidence.reading.words, case.acts
    return (
        words[start].text in lists.listed("of")
        and start > 1
        and bool(words[start - 1].key)
        and words[start - 2].text in lists.listed("definite")
    )


def _is_infinitive(case: Case, at: int) -> bool:
    """ "I like to watch people who swim": no place, but what is done."""
    words, lists = case.evidence.reading.words, case.acts
    return (
        words[at].text in lists.listed("infinitive")
        and at + 1 < len(words)
        and bool(words[at + 1].key)
        and words[at + 1].kind == "word"
        and not words[at + 1].capital
    )


def _is_no(case: Case, at: int) -> bool:
    return case.evidence.reading.words[at].text in case.acts.listed("no")


def _weighs(case: Case, at: int) -> bool:
    word, lists = case.evidence.reading.words[at], case.acts
    named = word.capital and case.evidence.reading.language != "de"
    return (
        (word.kind == "number" and word.key != "#1")
        or word.kind == "link"
        or named
        or lists.holds(word.text, ("kin", "unreal_of"))
        or _is_in_the_body(case, at)
        or (word.text in lists.listed("verbs") and not _is_for_work(case, at))
    )


def _is_in_the_body(case: Case, at: int) -> bool:
    """ "I have butterflies in my stomach" is a figure of speech."""
    words, lists = case.evidence.reading.words, case.acts
    clause = case.evidence.reading.clause_of(at)
    return words[at].text in lists.listed("body") and any(
        word.text in lists.listed("having") for word in words[clause.first : at]
    )


def _is_for_work(case: Case, at: int) -> bool:
    words, lists = case.evidence.reading.words, case.acts
    behind = words[at - 1].text in lists.listed("prepositions") and not case.shown
    return behind and words[at].text in lists.listed("noun_too")


def _stands(case: Case, clause: Clause) -> bool:
    words = case.evidence.reading.words[clause.first : clause.last]
    lists = case.acts
    finite = lists.listed("verbs") | lists.listed("copula")
    if lists.listed("leaves_out") and not case.shown:  # "pero llevo ocho años aquí"
        finite |= lists.listed("own_verbs")
    return bool(clause.subject_words) or any(word.text in finite for word in words)


def _heads(case: Case, at: int) -> bool:
    """ "A cat person" is no cat: what a noun stands in front of is what it is."""
    words, lists = case.evidence.reading.words, case.acts
    head = words[at].text in lists.listed("heads")
    return head and bool(words[at - 1].key) and words[at - 1].kind == "word"


def _free(case: Case, taken: set[int]) -> Iterator[int]:
    reading, lists = case.evidence.reading, case.acts
    yield from times(case)
    yield from reading.retracted
    for at, word in enumerate(reading.words):
        if word.text in lists.listed("hesitations") and not case.shown:
            yield at
        if word.text in lists.listed("adverbs") or word.key in lists.lexicon.glue:
            if _is_whose(case, at):
                continue
            if at - 1 in taken and _heads(case, at):
                continue
            yield at
            if at and reading.words[at - 1].kind == "number":
                yield at - 1  # "for ten years"
    for act in _SAID_OTHERWISE:
        for start, end in reading.found[act]:
            yield from range(start, end)
