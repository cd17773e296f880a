"""Whether a word was said of the person that the entry says it of."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from memory.languages.acts import JARVIS, THIRD, USER, Acts, Clause, Reading
from memory.languages.words import Word
from memory.notebooks.case import Case, Refusal, Said


def of_another_person(case: Case, clause: Clause, one: Said) -> Refusal | None:
    said, new = one.clause.subject, clause.subject
    wrong = Refusal("L5.2", "The quote speaks of another person.")
    if _puts_the_user_in(case, clause, one) or _of_the_next_one(case, clause, one):
        return wrong
    if THIRD in said and not said - {THIRD}:
        return None if new == said else wrong  # "it was handed back"
    if USER in said and _they(case, clause, one):
        return None
    if new - {USER, THIRD}:
        keys = _keys(case, clause)
        if USER in said and _is_what_the_user_is(case, clause, one):
            return None
        if USER in said and _concerns_the_user(case, clause, one):
            return None
        if USER in said and (_is_had(case, clause, one) or _bears_a_name(case, clause, one)):
            return wrong if case.shown else None
        if _is_who_it_was(case, clause, one):
            return None
        if not (said & (new - {USER, THIRD})):
            return wrong if said - {THIRD} else (None if not said and new <= keys else wrong)
        if _mixes(new - {USER, THIRD}, said, one.reading):
            return wrong
        if not one.clause.owners <= (new | clause.owners | keys | _theirs(case, clause)):
            return wrong
        return None
    if THIRD in new and USER in said and _they(case, clause, one):
        return None
    if USER in said and _leaves_out_whose(case, clause, one):
        return wrong
    if USER in new:
        return None if USER in said or (not said and _fragment(case, one.clause)) else wrong
    if not said:
        kept = _keeps_opening(case, one) and not _makes_it_owned(case, clause, one)
        return None if kept else wrong
    if USER in said:
        return None
    if _named_behind(case, clause, said):
        return None
    opening = _opening(case, clause)
    if opening not in said or _does_it_to(case, clause, opening):
        return wrong
    return wrong if _has_it(case, clause) and not _is_mine(case, one) else None


def _of_the_next_one(case: Case, clause: Clause, one: Said) -> bool:
    """ "My boss is called Pedro and my neighbour Luis": behind another who is named without a
    verb, a word is of them."""
    people, words, lists = clause.subject - {USER, THIRD, JARVIS}, one.reading.words, case.acts
    if not people or one.source != "quote":
        return False
    mine = max((at for at in range(one.at) if words[at].key in people), default=-1)
    return mine >= 0 and any(
        words[at].text in lists.listed("kin")
        and words[at].key not in people | clause.owners
        and at not in one.clause.subject_words
        and lists.holds(words[at - 1].text, ("user_mine", "articles"))
        and words[at - 2].text in lists.listed("and")
        for at in range(mine + 3, one.at)
    )


def _leaves_out_whose(case: Case, clause: Clause, one: Said) -> bool:
    """ "Nuestro alcalde está imputado", "Está imputado": where the user is named by a "my" alone,
    it speaks of what is the user's, and the entry says of what."""
    lists = case.acts
    words = one.reading.words
    places = one.clause.subject_words
    if one.source != "quote" or len(places) != 1 or one.clause.inherits:
        return False
    at = min(places)
    if words[at].text not in lists.listed("user_mine") or at > one.clause.first + 1:
        return False
    noun = next((word for word in words[at + 1 : one.clause.last] if word.key), None)
    if noun is None or noun.text in lists.lexicon.labels or noun.key in lists.lexicon.glue:
        return False
    verbs = {word.text for word in words[at : one.clause.last]} & lists.listed("verbs")
    told_of = case.judged_text.words
    kept = any(word.text in verbs for word in told_of[clause.first : clause.last])
    return kept and all(word.key != noun.key for word in told_of)


def _theirs(case: Case, clause: Clause) -> frozenset[str]:
    """ "Uncle Hartmut and his wife come": whose wife the words in front of her tell."""
    reading = case.judged_text
    first = min(clause.subject_words, default=0)
    if not any(
        reading.words[at].text in case.acts.listed("third_mine")
        for at in (first - 1, first)
        if at > clause.first
    ):
        return frozenset()
    return frozenset().union(*(each.subject for each in reading.clauses if each.last <= first))


def _named_behind(case: Case, clause: Clause, said: frozenset[str]) -> bool:
    """ "The bakery belongs to the father": what is no person stands first, and who is meant
    behind the verb."""
    words = case.judged_text.words[clause.first : clause.last]
    people = said - {THIRD, USER, JARVIS}
    return (
        bool(case.acts.verb_second)
        and not clause.subject
        and bool(words)
        and words[0].text in case.acts.listed("articles")
        and bool(people)
        and people <= _keys(case, clause)
    )


def _is_mine(case: Case, one: Said) -> bool:
    first = min(one.clause.subject_words, default=0)
    words = one.reading.words[max(0, first - 1) : max(one.clause.subject_words, default=0) + 1]
    return not one.clause.owners and any(
        word.text in case.acts.listed("user_mine") for word in words
    )


def _they(case: Case, clause: Clause, one: Said) -> bool:
    """ "When we travel", "when they travel": the user and theirs."""
    we, they = case.acts.listed("we"), case.acts.listed("they")
    said = one.reading.words[one.clause.first : one.clause.last]
    told_of = case.judged_text.words[clause.first : clause.last]
    if any(word.text in we for word in said) and any(word.text in they for word in told_of):
        return True
    return bool(case.acts.listed("leaves_out")) and any(
        word.key == other.key and word.text.endswith("mos") and other.text.endswith("n")
        for word in said
        for other in told_of
        if word.key
    )


def _puts_the_user_in(case: Case, clause: Clause, one: Said) -> bool:
    """ "The neighbour gave my daughter a bike": not the user, who is no more than named there."""
    lists = case.acts
    told_of = case.judged_text.words[clause.first : clause.last]
    places = [at for at, word in enumerate(told_of) if word.text in lists.listed("user_named")]
    said = one.reading.words[one.clause.first : one.clause.last]
    named = [at for at in places if not _owns(lists, told_of, at)]
    done_to = any(lists.holds(word.text, ("user_too", "user_object")) for word in said)
    if len(named) > 1 and not done_to and one.source == "quote":
        return True  # "the user taught the user"
    if one.source == "quote" and any(
        _has_anothers_name(case, told_of[at + 1 : at + 2]) for at in named
    ):
        return True
    if not places or USER in clause.subject or one.source != "quote":
        return False
    owns = len(named) < len(places)
    if owns and lists.verb_second and _is_others(case, clause, one):
        return True
    does_it = any(word.text in lists.listed("user") for word in said)
    return not owns and not done_to and not does_it


def _has_anothers_name(case: Case, behind: Sequence[Word]) -> bool:
    """ "I taught Ben", "the user Ben taught …": a name that the user did not give as their own."""
    reading = case.evidence.reading
    return (
        any(each.key for each in behind)
        and not case.acts.verb_second
        and not reading.does("name_me")
        and any(
            word.capital and at and word.key == behind[0].key
            for at, word in enumerate(reading.words)
        )
    )


def _owns(lists: Acts, words: Sequence[Word], at: int) -> bool:
    """ "The user's", "of the user"."""
    return (
        words[at].text.endswith("s")
        or (at + 1 < len(words) and words[at + 1].text in lists.listed("genitive"))
        or (
            at > 0
            and words[at - 1].text in lists.listed("of")
            and ((at > 1 and bool(words[at - 2].key)) or not lists.verb_second)  # "der Nutzer"
        )
        or (  # "de la usuaria"
            at > 1
            and words[at - 1].text in lists.listed("articles")
            and words[at - 2].text in lists.listed("of")
        )
    )


def _is_others(case: Case, clause: Clause, one: Said) -> bool:
    """ "The dog that my father has bites" tells of no dog of the user's."""
    words, mine = one.reading.words, case.acts.listed("user_mine")
    places = [at for at, word in enumerate(words) if word.key in clause.subject]
    others = frozenset().union(*(keys for keys, _ in one.reading.people)) - clause.subject
    return (
        bool(others)
        and bool(places)
        and not any(USER in each.subject for each in one.reading.clauses)
        and not any(word.text in mine for at in places for word in words[max(0, at - 2) : at])
        and any(
            words[at - 1].text in mine for at, word in enumerate(words) if at and word.key in others
        )
    )


def _concerns_the_user(case: Case, clause: Clause, one: Said) -> bool:
    """ "Storms frighten me", "storms frighten the user", where a language names both: what it is
    about stands first in both, and the user is no more than whom it concerns."""
    lists = case.acts
    said = one.reading.words[one.clause.first : one.clause.last]
    if clause.inherits and one.clause.inherits:
        return True  # what it hangs on was looked at
    named = {one.reading.words[at].text for at in one.clause.subject_words}
    if not named or not named <= lists.listed("user_too") or len(clause.subject) > 1:
        return False
    if any(word.text in lists.listed("user") for word in said):
        return False
    told_of = [word.key for word in said if word.key]
    opens = said[0].text in lists.listed("user_too")  # "mir machen Gewitter Angst"
    return clause.subject <= set(told_of[: 2 if opens else 1])


def _is_what_the_user_is(case: Case, clause: Clause, one: Said) -> bool:
    """ "I work as a teacher", "Teacher in Bath": the teacher is the user."""
    words = one.reading.words
    told_of = case.judged_text.words
    whose = ("owning", "third_mine", "user_named", "user_mine")
    if len(clause.subject) > 1 or any(
        case.acts.holds(told_of[at].text, whose)
        for at in range(clause.first, max(clause.subject_words, default=clause.first))
    ):
        return False
    for at in range(one.clause.first, one.clause.last):
        if words[at].key not in clause.subject or words[at].text not in case.acts.listed("kin"):
            continue
        behind = at - 1
        while behind > one.clause.first and words[behind].text in case.acts.listed("articles"):
            behind -= 1
        return words[behind].text in case.acts.listed("as")
    return False


def _is_had(case: Case, clause: Clause, one: Said) -> bool:
    """ "I have two cats", "Two cats": an entry without a verb begins with what the user has."""
    words, lists, told_of = one.reading.words, case.acts, case.judged_text.words
    has = lists.listed("owning") - lists.listed("prepositions")
    if (
        len(clause.subject) > 1
        or one.clause.said_no != clause.said_no
        or one.clause.ended != clause.ended
        or one.clause.kept
        or any(lists.holds(word.text, _SAYING) for word in told_of)
    ):
        return False
    at = next((at for at in range(one.clause.first, one.clause.last)
               if words[at].key in clause.subject and words[at].text in lists.listed("kin")), 0)  # fmt: skip
    if one.clause.inherits:
        before = [each for each in one.reading.clauses if each.last <= one.clause.first]
        head = next((each for each in reversed(before) if not each.inherits), None)
        at = head.last - 2 if head is not None and words[head.last - 2].key in clause.subject else 0
        if not one.word.capital:
            return False
    kept = {word.key for word in told_of if word.key}
    while at > 0 and (
        words[at].key in kept
        or words[at].text in lists.listed("indefinite")
        or words[at].text in lists.listed("articles")
    ):
        at -= 1
    return one.at > at and any(words[each].text in has for each in (at, max(0, at - 1)))


_SAYING = ("verbs", "copula", "modals", "auxiliaries", "naming")


def _bears_a_name(case: Case, clause: Clause, one: Said) -> bool:
    """ "Two cats, Salt and Pepper", "two cats named Salt and Pepper"."""
    words, lists = one.reading.words, case.acts
    told_of = case.judged_text.words[clause.first : clause.last]
    opens = told_of[0].text in lists.listed("naming")
    beside = any(
        name.key == one.word.key and who.text in lists.listed("kin")
        for who, name in pairwise(told_of)
    )
    if not (opens or beside or clause.inherits):
        return False
    if not one.word.capital or not one.clause.inherits:
        return False
    at = one.at - 1
    while at > 0 and (
        words[at].kind == "mark" or words[at].capital or words[at].text in lists.listed("and")
    ):
        if words[at].key in clause.subject:
            break
        at -= 1
    return words[at].key in clause.subject and words[at].text in lists.listed("kin")


def _is_who_it_was(case: Case, clause: Clause, one: Said) -> bool:
    """ "Son Tom is nine", "Tom is ten now": of an update, who the old entry spoke of, by the name
    that the quote's clause begins with."""
    words, lists = one.reading.words, case.acts
    old = case.old if case.proposal.operation == "update" else None
    first = one.clause.first
    return (
        old is not None
        and one.source == "quote"
        and any(each.subject == clause.subject for each in old.clauses)
        and not one.clause.subject_words
        and words[first].capital
        and words[first].key in clause.subject
        and words[first].text not in lists.listed("kin")
        and lists.holds(words[first + 1].text, _SAYING)
        and not lists.verb_second
    )


def _makes_it_owned(case: Case, clause: Clause, one: Said) -> bool:
    """ "The car is my father's" makes no "has a car"."""
    lists = case.acts
    words = case.judged_text.words[clause.first : clause.last]
    first = next((word for word in words if word.kind == "word"), None)
    if first is None or first.text not in lists.listed("owning"):
        return False
    said = one.reading.words[one.clause.first : one.clause.last]
    return any(word.text in lists.listed("copula") for word in said) and not any(
        word.text in lists.listed("owning") for word in said
    )


def _does_it_to(case: Case, clause: Clause, person: str) -> bool:
    """ "Hat der Tante etwas geliehen", "Wurde vom Kater gekratzt": in front of who is named
    stands a verb that is the user's, and what was done closes the sentence."""
    lists = case.acts
    words = [
        word for word in case.judged_text.words[clause.first : clause.last] if word.kind != "mark"
    ]
    if not lists.last_verb_ends or not words or words[0].key == person:
        return False
    if lists.holds(words[0].text, _NO_VERB):
        return False
    last = words[-1]
    closes = last.text.endswith(lists.last_verb_ends) and not last.capital and last.key
    return bool(closes) and last.key != person


_NO_VERB = ("articles", "user_mine", "third_mine", "prepositions", "adverbs", "copula")


def _has_it(case: Case, clause: Clause) -> bool:
    """ "Has a dog": the dog is not who the entry speaks of."""
    words = case.judged_text.words[clause.first : clause.last]
    first = next((word for word in words if word.kind == "word"), None)
    return first is not None and case.acts.holds(first.text, ("owning", "copula", "verbs"))


def _mixes(new: frozenset[str], said: frozenset[str], reading: Reading) -> bool:
    """ "Brother Ben", where the brother is Tom and Ben is a friend."""
    return any(
        keys & (new - said) and len(keys) > 1 and said - keys - {USER, THIRD}
        for keys, _ in reading.people
    )


def _keys(case: Case, clause: Clause) -> frozenset[str]:
    return frozenset(
        word.key for word in case.judged_text.words[clause.first : clause.last] if word.key
    )


def _opening(case: Case, clause: Clause) -> str:
    return next(
        (word.key for word in case.judged_text.words[clause.first : clause.last] if word.key), ""
    )


def _keeps_opening(case: Case, one: Said) -> bool:
    """Where nobody is named, what the clause begins with is what it is about: it stays."""
    if case.directive:
        return True
    words = one.reading.words[one.clause.first : one.clause.last]
    opening = next((word for word in words if word.key and word.kind == "word"), None)
    if opening is None:
        return True
    return any(word.key == opening.key for word in case.judged_text.words)


def _fragment(case: Case, clause: Clause) -> bool:
    """Words without anybody named that still speak of the user: an answer, a request for good."""
    if case.directive:
        return True
    words = case.evidence.reading.words[clause.first : clause.last]
    opening = next((word for word in words if word.kind == "word"), None)
    if opening is not None and opening.text in case.acts.listed("own_verbs"):
        return True
    return bool(case.acts.listed("leaves_out")) and _changes_person(case, clause)


def _changes_person(case: Case, clause: Clause) -> bool:
    """ "Ayer empecé", "empezó"; "la tesis la defiendo", "defiende": where a verb names its person
    by its form alone, another form tells that the speaker's was put into the third person. What
    is no verb has an article, a preposition or somebody in front of it."""
    lists = case.acts
    words = case.evidence.reading.words
    for at in range(clause.first, clause.last):
        word = words[at]
        if not word.key or word.kind != "word" or not word.text.endswith(("o", "e", "i", "mos")):
            continue
        before = words[at - 1] if at > clause.first else None
        verb_before = any(
            words[each].key and words[each].text not in lists.listed("adverbs")
            for each in range(clause.first, at)
        )
        doubled = before is not None and (
            before.text in lists.listed("before_verbs")
            or (before.text in lists.listed("doubles") and word.text.endswith("o"))
        )
        if before is not None and verb_before and not doubled:
            if lists.holds(before.text, _BEFORE_NOUNS):
                continue
            if not word.text.endswith(("o", "mos")) or word.text in lists.listed("not_own"):
                continue
        if any(_is_third_of(word, other) for other in case.judged_text.words):
            return True
    return False


_BEFORE_NOUNS = ("articles", "prepositions", "kin", "copula", "user_mine", "verbs")


def _is_third_of(word: Word, other: Word) -> bool:
    return (
        word.key == other.key
        and word.text != other.text
        and not (word.text.endswith("mos") and other.text.endswith(("s", "mos")))
    )


def belongs_to_them(clause: Clause, one: Said, case: Case) -> bool:
    """ "My demented mother", "my friend Gesine": a word beside who the entry speaks of is theirs,
    whoever the quote's clause speaks of."""
    words, lists = one.reading.words, case.acts
    people = clause.subject - {USER, THIRD, JARVIS}
    if len(people) != 1 or one.source != "quote" or one.word.kind != "word":
        return False

    def mine(at: int) -> bool:
        return at >= 0 and words[at].text in lists.listed("user_mine")

    def them(at: int) -> bool:
        return at < len(words) and words[at].key in people and words[at].text in lists.listed("kin")

    named = (
        them(one.at - 1)
        and (mine(one.at - 2) or (one.at > 2 and mine(one.at - 3) and bool(words[one.at - 2].key)))
        and any(word.text in lists.listed("naming") for word in case.judged_text.words)
    )
    told_so = one.word.text.endswith(lists.modifier_ends) and them(one.at + 1) and mine(one.at - 1)
    return named or (told_so and not one.word.capital)


def owned(case: Case, clause: Clause, one: Said) -> bool:
    """ "Has a dog", of "my dog": who belongs to the user may stand behind a "has"."""
    reading = case.judged_text
    lists = case.acts
    having = any(
        reading.words[at].text in lists.listed("owning") for at in range(clause.first, clause.last)
    )
    return having and one.at in one.clause.subject_words and _is_mine(case, one)
