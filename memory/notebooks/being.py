"""Whether an entry makes what somebody has into what they are, more of it into much, or one's into
the other's."""

from __future__ import annotations

from itertools import pairwise

from memory.languages.acts import JARVIS, THIRD, USER, Clause, Reading
from memory.notebooks.alignment import Match, matches
from memory.notebooks.case import Case, Refusal

_SINGLE = 1
"""Letters by which a word for him differs from one for her."""


def keeps_what_it_is(case: Case) -> Refusal | None:
    """ "I have a doctor", "is a doctor"; "I'm older now", "is old"; "Emma is my dentist", said of
    somebody else in the other half."""
    if case.new is None or case.directive:
        return None
    for clause in case.new.clauses:
        taken = matches(case, clause)
        for match in taken:
            if _turns_being(case, clause, match, taken) or _is_ones_own(case, clause, match):
                return Refusal("L5.2", "What somebody has is not what they are.")
            if _loses_degree(case, match):
                return Refusal("L5.2", "It is compared, and the entry says it without comparing.")
        if any(_is_further_away(case, match) for match in taken):
            return Refusal("L5.2", "The quote speaks of another person.")
        if _takes_from_the_next(case, clause, taken):
            return Refusal("L5.2", "The entry mixes words of two statements.")
    return None


def _verb_in(case: Case, reading: Reading, first: int, last: int) -> tuple[int, str] | None:
    """The last verb of being or having in front of a word, and which of the two."""
    lists = case.acts
    for at in range(last - 1, first - 1, -1):
        text = reading.words[at].text
        if text in lists.listed("being"):
            return at, "being"
        if text in lists.listed("having"):
            return at, "having"
    return None


def _turns_being(case: Case, clause: Clause, match: Match, taken: tuple[Match, ...]) -> bool:
    """Whether a noun stands behind a verb of the one kind, and stood behind one of the other."""
    said = match.said
    if said.source != "quote" or not _is_same_noun(case, match):
        return False
    now = _verb_in(case, case.judged_text, clause.first, match.at)
    was = _verb_in(case, said.reading, said.clause.first, said.at)
    if now is None or was is None or now[1] == was[1]:
        return False
    if not _is_what_follows(case, said.reading, was[0], said.at):
        return False
    if not _is_what_follows(case, case.judged_text, now[0], match.at):
        return False
    # "I have a sister, Anna", "Anna is the sister"
    return not any(each.at < now[0] and each.said.at > was[0] for each in taken)


def _is_ones_own(case: Case, clause: Clause, match: Match) -> bool:
    """ "Emma is my dentist", "is a dentist"."""
    lists, words = case.acts, match.said.reading.words
    told_of = case.judged_text.words[clause.first : match.at]
    if not told_of or told_of[0].text not in lists.listed("being"):
        return False
    if any(word.key or word.text in lists.listed("prepositions") for word in told_of):
        return False
    at = match.said.at
    return (
        match.said.source == "quote"
        and at > 0
        and words[at].text in lists.listed("kin")
        and words[at - 1].text in lists.listed("user_mine")
    )


def _is_same_noun(case: Case, match: Match) -> bool:
    """Not "an allergy", "allergic", nor the "red" of a red car."""
    lists, said = case.acts, match.said
    one, other = sorted((match.word.text, said.word.text), key=len)
    alike = other.startswith(one) or (
        bool(lists.listed("leaves_out"))
        and len(one) == len(other)
        and one[:-_SINGLE] == other[:-_SINGLE]
    )
    words = said.reading.words
    behind = words[said.at + 1] if said.at + 1 < said.clause.last else None
    modifies = behind is not None and bool(behind.key) and not behind.capital
    return alike and said.word.kind == "word" and (not modifies or lists.verb_second)


def _is_what_follows(case: Case, reading: Reading, verb: int, at: int) -> bool:
    """Behind the verb stand at most an article, "my" and what modifies the noun."""
    lists = case.acts
    between = range(verb + 1, at)
    if any(
        reading.words[each].text in lists.listed("prepositions")
        or reading.words[each].kind == "mark"
        or (
            reading.words[each].kind == "word"
            and not reading.words[each].key
            and not lists.holds(reading.words[each].text, _BEFORE_A_NOUN)
        )
        for each in between
    ):
        return False
    if lists.verb_second:
        return (
            reading.words[at].capital
            or at == verb + 1
            or any(reading.words[each].text in lists.listed("articles") for each in between)
        )
    return at == verb + 1 or any(
        reading.words[each].text in lists.listed("articles")
        or reading.words[each].text in lists.listed("user_mine")
        or reading.words[each].kind == "number"
        for each in between
    )


_BEFORE_A_NOUN = (
    "articles",
    "user_mine",
    "third_mine",
    "adverbs",
    "user",
    "third",
    "no",
    "user_named",
    "indefinite",
)


def _loses_degree(case: Case, match: Match) -> bool:
    """ "Older", "más alto", "more tired": told without the "more"."""
    lists, said = case.acts, match.said
    words, told_of = said.reading.words, case.judged_text.words
    if said.source != "quote" or said.word.kind != "word" or not said.word.key:
        return False
    if said.at and words[said.at - 1].text in lists.listed("degrees"):
        kept = any(word.text in lists.listed("degrees") for word in told_of)
        return not kept and match.word.text == said.word.text
    was = case.evidence.sentence[said.word.start : said.word.end].lower()
    now = match.word.text
    before = words[said.at - 1].text if said.at else ""
    if said.word.capital and lists.verb_second:
        return False
    if lists.verb_second and before in lists.listed("articles") | lists.listed("user_mine"):
        return False  # "ein schneller Hund"
    return any(
        was.endswith(end)
        and said.word.text in (f"{now}{end}", f"{now.rstrip('e')}{end}", f"{now}{now[-1:]}{end}")
        for end in lists.comparing_ends
    )


def _is_further_away(case: Case, match: Match) -> bool:
    """ "A friend who has a friend who is a pilot", "a friend who is a pilot"."""
    lists, words = case.acts, match.said.reading.words
    if match.word.key not in lists.kin_keys or match.said.source != "quote":
        return False
    places = [at for at, word in enumerate(words) if word.key == match.word.key]
    told_of = sum(word.key == match.word.key for word in case.judged_text.words)
    return told_of < len(places) and any(
        word.text in lists.listed("relative") for word in words[places[0] : places[-1]]
    )


def _takes_from_the_next(case: Case, clause: Clause, taken: tuple[Match, ...]) -> bool:
    """ "Anna is my boss, Emma is my dentist", "Emma is the boss"; "a cousin in Rome and a house in
    Milan", "a cousin in Milan"."""
    for one, other in pairwise(taken):
        mine, theirs = one.said.clause, other.said.clause
        if mine is theirs or one.said.reading is not other.said.reading:
            continue
        if one.said.source != "quote" or other.said.source != "quote":
            continue
        if _is_anothers(case, clause, one, theirs) or _hangs_on_the_next(case, one, other):
            return True
    return False


def _is_anothers(case: Case, clause: Clause, one: Match, theirs: Clause) -> bool:
    """Whether who the entry's clause begins with has a statement of their own, and so has who
    the other word was said of."""
    lists = case.acts
    opens = not any(word.key for word in case.judged_text.words[clause.first : one.at])
    words = one.said.reading.words
    mine = one.said.clause
    named = {words[at].key for at in theirs.subject_words if words[at].key}
    leads = one.said.at in mine.subject_words or not any(
        word.key for word in words[mine.first : one.said.at]
    )
    pointing = bool(theirs.subject & {USER, THIRD, JARVIS})
    verb = any(
        words[at].text in lists.listed("being") | lists.listed("verbs")
        for at in range(theirs.first, theirs.last)
    )
    first = next((word for word in words[theirs.first : theirs.last] if word.key), None)
    other = first is not None and first.capital and not lists.listed("user_named") & {first.text}
    return (
        opens
        and leads
        and verb
        and not pointing
        and not theirs.inherits
        and one.word.key not in theirs.subject
        and bool(one.word.capital or one.said.at in mine.subject_words)
        and (bool(named) or other)
        and words[theirs.first].text not in lists.listed("relative")
    )


def _hangs_on_the_next(case: Case, one: Match, other: Match) -> bool:
    """In the other's clause, which goes on without a verb, a noun stands in front of it that the
    entry leaves out."""
    words, lists = one.said.reading.words, case.acts
    theirs = other.said.clause
    if not theirs.inherits or theirs.first < one.said.clause.first:
        return False
    kept = {word.key for word in case.judged_text.words if word.key}
    if any(start <= other.said.at < end for start, end in other.said.reading.found["restriction"]):
        return False
    return any(
        words[at].key
        and words[at].kind == "word"
        and words[at].key not in kept
        and lists.holds(words[at - 1].text, ("articles", "user_mine"))
        and words[other.said.at - 1].text in lists.listed("prepositions")
        for at in range(theirs.first, other.said.at)
    )
