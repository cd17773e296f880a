"""Whether an entry makes somebody do what another does."""

from __future__ import annotations

from memory.languages.acts import LIKING, USER, Acts, Clause
from memory.notebooks.alignment import Match, governor, matches
from memory.notebooks.case import Case, Refusal, Said

_DETERMINERS = ("articles", "third_mine", "user_mine", "user_named")
_FINITE = ("verbs", "copula", "auxiliaries", "modals", "owning")


def keeps_its_subject(case: Case) -> Refusal | None:
    """ "I owe Tom money", "Tom owes money": who stands behind the user and the verb is not put in
    front of a verb, unless it is the user's ("I have a dog"), or has another verb."""
    if case.new is None or case.directive:
        return None
    for clause in case.new.clauses:
        taken = matches(case, clause)
        first = next((match for match in taken if _opens(case, clause, match)), None)
        if any(_did_it_to_the_user(case, clause, match) for match in taken) or (
            first is not None and _changes_places(case, clause, first, taken)
        ):
            return Refusal("L5.2", "The quote speaks of another person.")
        if first is not None and _is_done_to(case, first, taken):
            word = first.word.text
            return Refusal("L5.2", f"“{word}” stands in another role in the quote.")
        if any(_is_done_by_the_user(case, clause, match) for match in taken):
            return Refusal("L5.2", "The quote speaks of another person.")
        if any(_is_of_the_next(case, match) for match in taken):
            return Refusal("L5.2", "The quote speaks of another person.")
        swapped = _swapped(case, clause, taken)
        if swapped:
            return Refusal("L5.2", f"“{swapped}” stands in another role in the quote.")
    return None


def _swapped(case: Case, clause: Clause, taken: tuple[Match, ...]) -> str:
    """ "I sell shoes for cash", "sells cash for shoes": one loses its preposition to the other. Where
    a verb comes second, what stands around it tells less."""
    lists = case.acts
    if lists.verb_second:
        return ""
    hung = [
        (
            match.word.text,
            governor(lists, match.said.reading, match.said.at, match.said.clause.first),
            governor(lists, case.judged_text, match.at, clause.first),
        )
        for match in taken
        if match.said.reading is case.evidence.reading
    ]
    return next(
        (
            text
            for _, before, now in hung
            for text, other_before, other_now in hung
            if before and not now and not other_before and other_now == before
        ),
        "",
    )


def _did_it_to_the_user(case: Case, clause: Clause, match: Match) -> bool:
    """ "Anna schuldet mir Geld", "schuldet Anna Geld"; "mich hat Ben verlassen", "hat Ben
    verlassen": what opens an entry without who does it is what the user does."""
    lists, said = case.acts, match.said
    if not lists.verb_second or clause.subject - {USER} or said.source != "quote":
        return False
    told_of = case.judged_text.words[clause.first : clause.last]
    words = said.reading.words[said.clause.first : said.clause.last]
    opening = told_of[0].text
    if not any(word.text == opening for word in words) or not _is_finite_or_formed(lists, opening):
        return False
    if any(
        word.text in lists.listed("user") or word.text in lists.listed("own_verbs")
        for word in words
    ):
        return False
    done_to = any(lists.holds(word.text, ("user_object", "user_too")) for word in words)
    kept = any(
        lists.holds(word.text, ("third_object", "user_named", "reflexive")) for word in told_of
    )
    return done_to and not kept and match.word.capital and told_of[0].key != LIKING


def _is_finite_or_formed(lists: Acts, text: str) -> bool:
    return _is_finite(lists, text) or text.endswith(lists.third_ends)


def _changes_places(case: Case, clause: Clause, first: Match, taken: tuple[Match, ...]) -> bool:
    """ "Mia hat Anna ein Boot verkauft", "Anna hat Mia …": where no article tells who does it, who
    opens the sentence does."""
    lists, said = case.acts, first.said
    words = said.reading.words
    if not lists.verb_second or not first.word.capital or said.source != "quote":
        return False
    begins = said.clause.first
    while begins < said.at and (
        words[begins].text in lists.listed("articles")
        or words[begins].text in lists.listed("user_mine")
    ):
        begins += 1
    opener = next(
        (match for match in taken if match.said.at == begins and match is not first), None
    )
    if opener is None or opener.at < first.at or begins >= said.at - 1:
        return False
    bare = not any(
        words[at].text in lists.listed("prepositions")
        or words[at].text in lists.listed("object_articles")
        for at in range(said.clause.first, begins)
    )
    marked = any(
        lists.holds(word.text, ("object_articles", "prepositions"))
        for word in case.judged_text.words[clause.first : opener.at]
    )
    return (
        bare
        and not marked
        and words[begins].kind == "word"
        and (
            words[begins + 1].text in lists.listed("auxiliaries")
            or _is_finite_or_formed(lists, words[begins + 1].text)
        )
        and words[said.at - 1].text not in lists.listed("articles")
        and words[said.at - 1].text not in lists.listed("user_mine")
        and words[begins].text not in lists.listed("adverbs")
    )


def _is_done_by_the_user(case: Case, clause: Clause, match: Match) -> bool:
    """ "My parents want me to marry Tom", "stopped me from smoking": what stands behind the "me"
    is the user's to do."""
    lists, said = case.acts, match.said
    words = said.reading.words
    told_of = case.judged_text.words[clause.first : clause.last]
    named = any(
        lists.holds(word.text, ("user_named", "user_object", "third_object")) for word in told_of
    )
    return (
        said.reading is case.evidence.reading
        and USER not in clause.subject
        and not named
        and any(
            words[at].text in lists.listed("user_object")
            and words[at + 1].text in lists.listed("control")
            for at in range(said.clause.first, min(said.at, len(words) - 1))
        )
    )


def _is_of_the_next(case: Case, match: Match) -> bool:
    """ "I live in Rome and my brother in Milan": behind an "and" somebody else, with a verb that is
    not said again."""
    clause, words, lists = match.said.clause, match.said.reading.words, case.acts
    if not clause.inherits or words[clause.first].text not in lists.listed("and"):
        return False
    at = clause.first + 1
    while at < match.said.at and lists.holds(words[at].text, _DETERMINERS):
        at += 1
    somebody = words[at].text in lists.listed("kin") or words[at].capital
    kept = case.new is not None and any(word.key == words[at].key for word in case.new.words)
    return at < match.said.at and somebody and not kept


def _opens(case: Case, clause: Clause, match: Match) -> bool:
    """Whether the clause begins with this word, articles and the like aside, and a verb follows:
    one that says so itself, or what the user does in the quote."""
    words, lists = case.judged_text.words, case.acts
    if any(not lists.holds(word.text, _DETERMINERS) for word in words[clause.first : match.at]):
        return False
    behind = match.at + 1
    while behind < clause.last and words[behind].capital and not lists.verb_second:
        behind += 1  # "Tom Miller owes"
    if behind >= clause.last or not _is_somebody(case, match):
        return False
    if _is_finite(lists, words[behind].text):
        infinitive = behind + 1 == clause.last and words[behind].text in lists.listed("modals")
        return words[behind].text not in lists.listed("prepositions") and not infinitive
    return bool(words[behind].key) and words[behind].key == _what_is_done(lists, match.said)


def _is_somebody(case: Case, match: Match) -> bool:
    """Or something: no verb, and no "perhaps"."""
    reading, lists = case.judged_text, case.acts
    hedged = any(start <= match.at < end for start, end in reading.found["hedge"])
    adverb = match.word.text in lists.listed("adverbs")
    return not hedged and not adverb and not _is_finite(lists, match.word.text)


def _what_is_done(lists: Acts, said: Said) -> str:
    """The first word behind who does it that carries meaning, unless a verb without one is before."""
    words = said.reading.words
    first = max(said.clause.subject_words, default=said.clause.first - 1) + 1
    for word in words[first : said.at]:
        if word.text in lists.listed("adverbs") or not (word.key or _is_finite(lists, word.text)):
            continue
        return word.key
    return ""


def _is_finite(lists: Acts, text: str) -> bool:
    return lists.holds(text, _FINITE)


def _is_done_to(case: Case, first: Match, taken: tuple[Match, ...]) -> bool:
    said, lists = first.said, case.acts
    words = said.reading.words
    if said.reading is not case.evidence.reading or said.at in said.clause.subject_words:
        return False
    if any(match.said.clause is not said.clause for match in taken):
        # "I'm younger than my husband", and no "I have a daughter, she is five".
        return said.clause.compared and not all(match.said.clause.compared for match in taken)
    doers = [
        at
        for at in range(said.clause.first, said.at)
        if words[at].text in lists.listed("user") or words[at].text in lists.listed("own_verbs")
    ]
    by_form = bool(lists.listed("leaves_out")) and said.clause.subject == {USER}
    if not doers and not by_form:
        return False
    if any(words[at].text in lists.listed("user_mine") for at in said.clause.subject_words):
        return False
    return not _is_owned(lists, first)


def _is_owned(lists: Acts, first: Match) -> bool:
    """ "I have a dog": no verb closes it, as in "ich habe dem Hund geholfen"."""
    said = first.said
    words = said.reading.words
    last = max(
        (at for at in range(said.clause.first, said.clause.last) if words[at].key), default=said.at
    )
    closes = (
        bool(lists.last_verb_ends)
        and last != said.at
        and not words[last].capital
        and words[last].text.endswith(lists.last_verb_ends)
    )
    having = lists.listed("owning") - lists.listed("prepositions")
    return not closes and any(words[at].text in having for at in range(said.clause.first, said.at))
