"""How an entry runs beside what was said: what was left out, and what changed its place.

Words alone don't tell who bit whom. What an entry takes from a clause stays in its order and
hangs on what it hung on; what it leaves out may not be what the rest depends on.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from memory.languages.acts import USER, Acts, Clause, Reading
from memory.languages.words import Word
from memory.notebooks.case import Case, Refusal, Said, dates_in
from memory.notebooks.entailed import is_served, where_moved
from memory.notebooks.grounded import disagrees, told, where_said
from memory.notebooks.times import times

_OWNER = "of"
_SAID_OTHERWISE = (
    "thinking", "repair", "filler", "glue", "stopped", "used", "wanting", "hedge", "reported", "against",
)  # fmt: skip
"""Acts whose words an entry may leave out here: what they mean is compared elsewhere."""

_DETERMINERS = (
    "articles", "user_mine", "third_mine", "object_articles", "user_named", "genitive",
)  # fmt: skip
_PHRASE = 4
"""Words that a noun phrase may have before its noun."""


@dataclass(frozen=True, slots=True)
class Match:
    """A word of the entry, and the word of the quote's sentence that it is."""

    at: int
    word: Word
    said: Said


def keeps_its_order(case: Case) -> Refusal | None:
    """What the entry takes over stays in its order and on its head; nothing that it depends on
    is left out."""
    if case.new is None or case.directive or case.evidence.reading.found["repair"]:
        return None
    for clause in case.new.clauses:
        taken = matches(case, clause)
        for check in (
            _people_stay_in_order,
            _runs_as_said,
            _hangs_where_it_hung,
            _beside_the_same_word,
            _leaves_out_nothing_it_needs,
        ):
            refusal = check(case, clause, taken)
            if refusal:
                return refusal
    return None


def matches(case: Case, clause: Clause) -> tuple[Match, ...]:
    """The told words of the clause that stand in the quote's sentence, each where it runs on
    from the one before if it can."""
    found: list[Match] = []
    last = -1
    for at, word in told(case, clause):
        places = [one for one in where_said(case, word) if one.source == "quote"]
        places = [one for one in places if disagrees(case, word, at, clause, one) is None] or places
        if not places:
            continue
        here = next((one for one in places if one.at > last), places[0])
        found.append(Match(at, word, here))
        last = here.at
    return tuple(found)


def taken_over(case: Case) -> tuple[Match, ...]:
    """The matches of all of the entry's clauses in the quote's own sentence."""
    if case.new is None:
        return ()
    return tuple(
        match
        for clause in case.new.clauses
        for match in matches(case, clause)
        if match.said.reading is case.evidence.reading
    )


def _is(lists: Acts, reading: Reading, at: int, name: str) -> bool:
    return 0 <= at < len(reading.words) and reading.words[at].text in lists.listed(name)


def _is_person(case: Case, match: Match) -> bool:
    """Somebody, or where names are told by their capital, whatever has one."""
    named = match.word.capital and match.at > 0 and case.evidence.reading.language != "de"
    if any(start <= match.said.at < end for start, end in match.said.reading.found["used"]):
        return False  # "de niño"
    return (
        match.word.key in case.acts.kin_keys
        or match.said.at in match.said.clause.subject_words
        or (named and match.word.kind == "word")
    )


def _people_stay_in_order(
    case: Case, _clause: Clause, matches: tuple[Match, ...]
) -> Refusal | None:
    people = [
        match for match in matches if _is_person(case, match) and not _with_the_user(match.said)
    ]
    for one, other in pairwise(people):
        if one.said.at > other.said.at and one.said.clause.first == other.said.clause.first:
            return Refusal("L5.2", "The entry names people in another order than the quote.")
    return None


def _with_the_user(said: Said) -> bool:
    """ "My wife and I": she may be named behind a "with"."""
    return said.at in said.clause.subject_words and USER in said.clause.subject


def _runs_as_said(_case: Case, _clause: Clause, matches: tuple[Match, ...]) -> Refusal | None:
    """One word may stand elsewhere, and what stood in front of the subject."""
    places = [
        match.said.at
        for match in matches
        if match.said.at > _subject_at(match.said) or not match.said.clause.subject_words
    ]
    if len(places) >= 3 and len(places) - _longest_rise(places) > 1:
        return Refusal("L5.2", "The entry puts the words in another order than the quote.")
    return None


def _subject_at(said: Said) -> int:
    return max(said.clause.subject_words, default=said.clause.first - 1)


def _longest_rise(places: list[int]) -> int:
    best: list[int] = []
    for number, place in enumerate(places):
        before = [best[other] for other in range(number) if places[other] < place]
        best.append(1 + max(before, default=0))
    return max(best, default=0)


def _hangs_where_it_hung(case: Case, clause: Clause, matches: tuple[Match, ...]) -> Refusal | None:
    """ "The dog of our neighbours bit my son": the neighbours stay behind their "of"."""
    for match in matches:
        if _with_the_user(match.said) or _says_it(case, match):
            continue
        if _turns_its_part(case, clause, match):
            return Refusal("L5.2", f"“{match.word.text}” stands in another role in the quote.")
        person = _is_person(case, match)
        if not person and not (match.word.capital and match.at > clause.first):
            continue
        if any(one.source == "old" for one in where_said(case, match.word)):
            continue
        before = governor(case.acts, match.said.reading, match.said.at, match.said.clause.first)
        now = governor(case.acts, case.judged_text, match.at, clause.first)
        if before != now and _reads_either_way(case, match, now):
            continue
        if match.said.at in where_moved(case, match.said.clause):
            continue
        if person and _did_it_to_the_user(case, clause, match, now):
            return Refusal("L5.2", f"“{match.word.text}” stands in another role in the quote.")
        if not person and (not before or case.judged_text.words[match.at - 1].text == ":"):
            continue
        if before != now and not (before == "" and match.at in clause.subject_words):
            return Refusal("L5.2", f"“{match.word.text}” stands in another role in the quote.")
        if match.at in clause.subject_words and _is_object(case.acts, match.said):
            return Refusal("L5.2", f"“{match.word.text}” stands in another role in the quote.")
    return None


def _reads_either_way(case: Case, match: Match, now: str) -> bool:
    """ "In meinem leben alkohol": where capitals don't tell, the word in front may be a noun."""
    reading, at = match.said.reading, match.said.at
    if not case.acts.verb_second or any(word.capital for word in reading.words):
        return False
    return (
        bool(reading.words[at - 1].key)
        and not _is(case.acts, reading, at - 1, "kin")
        and not _is_person(case, match)
        and not now
    )


def _did_it_to_the_user(case: Case, clause: Clause, match: Match, now: str) -> bool:
    """ "Mich hat meine Frau verlassen" makes no "hat seine Frau verlassen"."""
    lists, said = case.acts, match.said
    words = said.reading.words[said.clause.first : said.clause.last]
    told_of = case.judged_text.words[clause.first : clause.last]
    return (
        lists.verb_second
        and not now
        and any(word.text in lists.listed("user_object") for word in words)
        and not any(word.text in lists.listed("user") for word in words)
        and any(
            word.text in lists.listed("auxiliaries")
            for word in case.judged_text.words[clause.first : match.at]
        )
        and not any(
            word.text in lists.listed("user_named")
            and before.text in lists.listed("object_articles")
            for before, word in pairwise(told_of)
        )
        and not _is(lists, said.reading, said.at - 1, "object_articles")
    )


def _turns_its_part(case: Case, clause: Clause, match: Match) -> bool:
    """ "Bitten by a goose", "bit a goose"; "from renting to owning", "to renting"; "the son of a
    miner", "is a miner"."""
    lists, reading = case.acts, case.judged_text
    before = governor(lists, match.said.reading, match.said.at, match.said.clause.first)
    now = governor(lists, reading, match.at, clause.first)
    if _does_it_to_the_user(case, clause, match) or _has_what_is_the_users(case, clause, match):
        return True
    if before == now or _is(lists, reading, match.at, "adverbs"):
        return False
    front = not any(word.key for word in reading.words[clause.first : match.at])
    if before in lists.listed("agents"):
        return not front
    if now in lists.listed("agents"):
        return match.said.at > _subject_at(match.said) and match.said.at not in (
            match.said.clause.first,
            match.said.clause.first + 1,
        )
    if before in lists.listed("ways") and now in lists.listed("ways"):
        return True
    if before in lists.listed("next_to") and now == "in" and not match.word.capital:
        return True  # "next to a bakery", and no "moved to Leeds"
    behind = match.at - 1
    while behind > clause.first and _is(lists, reading, behind, "articles"):
        behind -= 1
    return (
        before in lists.listed("no_predicate")
        and not now
        and _is(lists, reading, behind, "copula")
        and match.said.reading is case.evidence.reading
    )


def _does_it_to_the_user(case: Case, clause: Clause, match: Match) -> bool:
    """ "Joan taught me", "taught Joan": who stands in front of what is done to the user does not
    stand behind it without a preposition."""
    lists, said = case.acts, match.said
    words = said.reading.words[said.clause.first : said.clause.last]
    if lists.verb_second or not lists.listed("agents"):
        return False
    opening = next((word for word in words if word.key), None)
    done_to = [at for at, word in enumerate(words) if word.text in lists.listed("user_object")]
    behind = done_to and words[done_to[0] - 1].key and words[done_to[0] - 1] is not opening
    told_of = case.judged_text.words[clause.first : match.at]
    return (
        bool(behind)
        and opening is not None
        and opening.key == match.word.key
        and USER not in clause.subject
        and any(word.key == words[done_to[0] - 1].key for word in told_of)
        and not any(word.text in lists.listed("prepositions") for word in told_of)
        and not any(word.text in lists.listed("user_named") for word in told_of)
    )


def _has_what_is_the_users(case: Case, clause: Clause, match: Match) -> bool:
    """ "My brother envies my garden", "brother has a garden"."""
    lists, said = case.acts, match.said
    told_of = case.judged_text.words[clause.first : clause.last]
    having = lists.listed("owning") - lists.listed("prepositions")
    if not clause.subject - {USER} or not any(word.text in having for word in told_of):
        return False
    words = said.reading.words[said.clause.first : said.clause.last]
    if any(word.text in having for word in words):
        return False  # "who has our key"
    at = said.at - 1
    while (
        at > said.clause.first
        and said.reading.words[at].key
        and at not in said.clause.subject_words
    ):
        at -= 1
    return (
        said.at not in said.clause.subject_words
        and _is(lists, said.reading, at, "user_mine")
        and not said.clause.subject_words & set(range(at, said.at))
        and not any(word.text in lists.listed("user_named") for word in told_of)
    )


def _is_object(lists: Acts, said: Said) -> bool:
    """ "Carla hat den Bruder geheiratet": an article that no subject has. What somebody has may
    be told of: "ich habe einen Hund, er heißt Rex"."""
    owned = USER in said.clause.subject and any(
        _is(lists, said.reading, at, "owning") for at in range(said.clause.first, said.at)
    )
    return not owned and any(
        _is(lists, said.reading, at, "object_articles")
        for at in range(max(said.clause.first, said.at - 2), said.at)
        if not any(
            _is(lists, said.reading, before, "prepositions") for before in range(at - 1, at + 2)
        )
    )


def _says_it(case: Case, match: Match) -> bool:
    """ "My doctor says": he may be named behind an "according to"."""
    return any(match.word.key in clause.source for clause in case.evidence.reading.clauses)


def governor(lists: Acts, reading: Reading, at: int, first: int) -> str:
    """What the noun hangs on: a preposition, "of" for an owner; empty for none."""
    named = reading.words[at].capital and not lists.verb_second and at > first + 1
    if named and _is(lists, reading, at - 1, "kin"):
        at -= 1  # "with my mate Dev"
    if _is(lists, reading, at + 1, "genitive"):
        return "" if _is(lists, reading, at + 2, "thing") else _OWNER
    determined = crossed = False
    for other in range(at - 1, max(first, at - _PHRASE) - 1, -1):
        text = reading.words[other].text
        whole = lists.uncontracted(text)
        if text in lists.listed("owner_before") and _is_noun(lists, reading, other - 1):
            return _OWNER
        if reading.words[other].key:
            word = reading.words[other]
            if determined or crossed or not _is_noun(lists, reading, other):
                break
            if _is(lists, reading, other, "kin"):
                break
            if (lists.verb_second and word.capital) or not text.endswith(lists.modifier_ends):
                break
            crossed = True
        elif any(
            each in lists.listed(name)
            for each in (text, whole)
            for name in ("prepositions", "dative")
        ):
            if crossed and text in lists.listed("infinitive"):
                break
            return _OWNER if text in lists.listed("of") else whole
        elif lists.holds(text, _DETERMINERS) and not (
            crossed and text in lists.listed("user_named")
        ):
            determined = True
        else:
            break
    return ""


def _is_noun(lists: Acts, reading: Reading, at: int) -> bool:
    return (
        at >= 0
        and bool(reading.words[at].key)
        and not _is(lists, reading, at, "verbs")
        and not _is(lists, reading, at, "own_verbs")
    )


def _beside_the_same_word(
    case: Case, _clause: Clause, matches: tuple[Match, ...]
) -> Refusal | None:
    """ "Green tea and a cat" make no green cat: words side by side stood so, but for what the
    entry has elsewhere."""
    keys = {match.word.key for match in matches}
    free = set(_free(case))
    for one, other in pairwise(matches):
        if other.at != one.at + 1 or one.said.reading is not other.said.reading:
            continue
        if _is_head(case.acts, one) or (
            _is_person(case, one) and (_is_person(case, other) or other.word.capital)
        ):
            continue
        if _says_it_of_the_same(one, other):
            continue
        low, high = sorted((one.said.at, other.said.at))
        words = one.said.reading.words
        between = [
            at
            for at in range(low + 1, high)
            if words[at].key and words[at].key not in keys and at not in free
        ]
        later = max(one.said, other.said, key=lambda said: said.at).clause
        apart = later.inherits and not (later.first <= low < later.last)
        if between or apart:
            return Refusal("L5.2", f"“{other.word.text}” stands beside another word in the quote.")
    return None


def _says_it_of_the_same(one: Match, other: Match) -> bool:
    """ "My dog has a chip and takes pills", "my dog takes pills"."""
    subject = one.said.clause.subject
    return (
        one.said.at in one.said.clause.subject_words
        and bool(subject - {USER})
        and other.said.clause.subject == subject
        and other.said.clause.first > one.said.at
    )


def _is_head(lists: Acts, match: Match) -> bool:
    """The first word of its clause that carries meaning, the subject aside."""
    said = match.said
    words = said.reading.words
    if said.at and lists.holds(words[said.at - 1].text, _DETERMINERS):
        return False
    return not said.clause.inherits and all(
        not said.reading.words[at].key or at in said.clause.subject_words
        for at in range(said.clause.first, said.at)
    )


def _last_verb_lost(case: Case, clause: Clause, source: Clause, left_out: list[int]) -> bool:
    """ "Ich habe mein Boot verkauft" makes no "hat ein Boot"."""
    ends = case.acts.last_verb_ends
    words = case.evidence.reading.words
    mine = range(source.first, source.last)
    last = max((at for at in mine if words[at].key), default=-1)
    if not ends or last not in left_out or words[last].capital:
        return False
    bare = all(
        not word.key or word.text in case.acts.listed("owning")
        for word in case.judged_text.words[clause.first : clause.first + 1]
    )
    return (
        bare
        and words[last].text.endswith(ends)
        and (
            any(_is(case.acts, case.evidence.reading, at, "auxiliaries") for at in mine)
            or not governor(case.acts, case.evidence.reading, last, source.first)
        )
    )


def _free(case: Case) -> Iterator[int]:
    """Places of the quote's sentence that may be left out: times, fillers, what was put right."""
    reading = case.evidence.reading
    lists = case.acts
    yield from times(case)
    for at, word in enumerate(reading.words):
        if (
            _is(lists, reading, at, "adverbs")
            or word.kind == "number"
            or (word.key in lists.lexicon.glue and not _is(lists, reading, at, "not_free"))
        ):
            yield at
    for act in _SAID_OTHERWISE:
        for start, end in reading.found[act]:
            yield from range(start, end)


def _leaves_out_nothing_it_needs(
    case: Case, clause: Clause, taken: tuple[Match, ...]
) -> Refusal | None:
    """ "I hope to become a mother": what stands between the speaker and what was taken over
    stays. Behind a negation everything stays."""
    kept = {match.said.at for each in case.judged_text.clauses for match in matches(case, each)}
    free = set(_free(case))
    reading = case.evidence.reading
    timed = set(times(case))
    dated = bool(dates_in(case.text, case.evidence.turn.began_at))
    for source in {match.said.clause.first: match.said.clause for match in taken}.values():
        mine = [match.said.at for match in taken if match.said.clause.first == source.first]
        left_out = [
            at
            for at in range(source.first, source.last)
            if reading.words[at].key
            and at not in kept
            and at not in free
            and at not in source.subject_words
            and not is_served(case, at, source)
            and at not in where_moved(case, source)
        ]
        after = max(source.subject_words, default=source.first - 1)
        head = [at for at in left_out if after < at < min(mine)]
        if head and not all(modifies(case.acts, reading, at, source.first) for at in head):
            return Refusal(
                "L5.2", f"The entry leaves out “{reading.words[head[0]].text}”, on which it hangs."
            )
        goes_on = any(
            each.inherits and each.first == source.last and kept & set(range(each.first, each.last))
            for each in reading.clauses
        )
        if _last_verb_lost(case, clause, source, left_out):
            return Refusal("L5.2", "The entry leaves out what was done.")
        narrowing = [
            at
            for at in range(source.first, source.last)
            if at not in kept
            and at not in source.subject_words
            and (at in left_out or (at in timed and not dated))
            and (at > after or at in timed or governor(case.acts, reading, at, source.first))
        ]
        if source.said_no and clause.said_no and not goes_on and narrowing:
            return Refusal("L5.2", "The entry denies more than the quote.")
    return None


def modifies(lists: Acts, reading: Reading, at: int, first: int) -> bool:
    """Whether the word stands within a noun phrase: "a big house"."""
    for other in range(at - 1, max(first, at - _PHRASE) - 1, -1):
        if (
            _is(lists, reading, other, "articles")
            or _is(lists, reading, other, "user_mine")
            or reading.words[other].kind == "number"
        ):
            return True
        if not reading.words[other].key:
            return False
    return False
