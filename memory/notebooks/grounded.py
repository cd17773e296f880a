"""Whether each word of an entry was said: of the same person, with the same negations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

from memory.languages.acts import JARVIS, THIRD, USER, Acts, Clause, Reading, acts_of
from memory.languages.words import Word
from memory.notebooks import canonical
from memory.notebooks.case import Case, Refusal, Said, dates_in

_LONG_DIGITS = 5
_SHORTEST_VERB = 3


def all_of_it_said(case: Case) -> Refusal | None:
    """Each word that carries meaning was said: of the same person, with the same negation and
    the same ending."""
    if case.new is None:
        return None
    shared = False
    for clause in case.new.clauses:
        for at, word in told(case, clause):
            verdict = _grounded(case, word, at, clause)
            if isinstance(verdict, Refusal):
                return verdict
            shared = shared or verdict
        mixed = _mixes_clauses(case, clause)
        if mixed:
            return mixed
    if not shared and not _dates_shared(case):
        return Refusal("L5.2", "The quote is not about the change: they share no word.")
    return None


def _mixes_clauses(case: Case, clause: Clause) -> Refusal | None:
    """ "Green tea and a cat" make no green cat: the words of one clause were said in one."""
    apart = statements(case.evidence.reading)
    held: set[int] | None = None
    for at, word in told(case, clause):
        candidates = where_said(case, word)
        a_name = word.capital and (at == clause.first or case.evidence.reading.language != "de")
        named = at in clause.subject_words or a_name or word.kind != "word"
        if named or any(one.source != "quote" for one in candidates):
            continue
        here = {
            apart[one.clause.first]
            for one in candidates
            if disagrees(case, word, at, clause, one) is None and one.clause.first in apart
        }
        if not here:
            continue
        held = here if held is None else held & here
        if not held:
            return Refusal("L5.2", "The entry mixes words of two statements.")
    return None


def statements(reading: Reading) -> dict[int, int]:
    """For each clause, by its first word, the statement it belongs to: "and I …" begins one."""
    lists = acts_of(reading.language)
    found: dict[int, int] = {}
    number = 0
    for clause in reading.clauses:
        opening = reading.words[clause.first].text if reading.words else ""
        second = reading.words[clause.first + 1].text if clause.last > clause.first + 1 else ""
        begins = (
            opening in lists.listed("and")
            and (
                bool(clause.subject_words)
                or second in lists.listed("verbs")
                or second in lists.listed("own_verbs")
            )
            and not clause.inherits
        ) or (opening in lists.listed("and") and _has_own_verb(lists, reading, clause))
        number += begins
        found[clause.first] = number
    return found


def _has_own_verb(lists: Acts, reading: Reading, clause: Clause) -> bool:
    """ "… y el viernes empiezo": a verb that names the speaker by its ending."""
    words = reading.words[clause.first : clause.last]
    return bool(lists.endings) and any(
        word.key
        and word.text.endswith(lists.endings)
        and not any(before.text in lists.listed(name) for name in ("articles", "prepositions"))
        for before, word in pairwise(words)
    )


def _dates_shared(case: Case) -> bool:
    """A date of the entry that follows from the quote is shared with it."""
    at = case.evidence.turn.began_at
    quoted = " ".join(
        case.evidence.sentence[
            case.evidence.reading.words[clause.first].start : case.evidence.reading.words[
                clause.last - 1
            ].end
        ]
        for clause in case.evidence.touched
    )
    return bool(dates_in(case.text, at)) and bool(dates_in(quoted, at))


def told(case: Case, clause: Clause) -> Iterator[tuple[int, Word]]:
    """The words of the new text's clause that must have been said."""
    assert case.new is not None
    lexicon = case.acts.lexicon
    text = canonical.plain(case.proposal.text or "")
    dated = [
        (each.start, each.real.end if each.real else each.end)
        for each in dates_in(text, case.evidence.turn.began_at)
        if each.resolved
        or each.recurring is not None
        or each.real is not None
        or each.weekday is not None
    ]
    free = {at for start, end in case.new.found["glue"] for at in range(start, end)}
    for at in range(clause.first, clause.last):
        word = case.new.words[at]
        if (
            at in free
            or not word.key
            or any(start <= word.start and word.end <= end for start, end in dated)
        ):
            continue
        following = case.new.words[at + 1].text if at + 1 < len(case.new.words) else ""
        if word.text in lexicon.labels and following == ":" and word.key not in case.said:
            continue
        if word.kind == "word" and word.key not in case.said:
            if word.key in lexicon.glue:
                continue
            if case.directive and word.key in lexicon.glue_of_manner:
                continue
        yield at, word


def _grounded(case: Case, word: Word, at: int, clause: Clause) -> bool | Refusal:
    """Whether the word stands in the quote's own clauses; a Refusal where nothing grounds it."""
    if weighs(word):
        return _own(case, word)
    candidates = where_said(case, word)
    if not candidates:
        return case.unproved.get(word.key) or Refusal(
            "L5.2", f"“{_shown(case, word)}” was not said."
        )
    refusal: Refusal | None = None
    for one in candidates:
        why = disagrees(case, word, at, clause, one)
        if why is None:
            return one.source == "quote" and any(
                touched.first <= one.at < touched.last for touched in case.evidence.touched
            )
        refusal = refusal or why
    assert refusal is not None
    return refusal


def _shown(case: Case, word: Word) -> str:
    return canonical.plain(case.proposal.text or "")[word.start : word.end]


def _long(word: Word) -> bool:
    return sum(letter.isdigit() for letter in word.text) >= _LONG_DIGITS


def weighs(word: Word) -> bool:
    return word.kind == "link" or (word.kind == "number" and _long(word))


def _own(case: Case, word: Word) -> bool:
    return any(
        each.key == word.key and each.kind == word.kind
        for reading in (case.evidence.reading, *case.evidence.before)
        for each in reading.words
    )


def links_said(case: Case) -> Refusal | None:
    """A link, an address or a long number stands in what the user said, or in the notebooks."""
    if case.new is None:
        return None
    lexicon = case.acts.lexicon
    for clause in case.new.clauses:
        for _, word in told(case, clause):
            if not weighs(word) or _own(case, word):
                continue
            known = any(
                each.key == word.key
                for entries in case.grounds.notebooks.values()
                for entry in entries
                for each in lexicon.words(canonical.plain(entry))
            )
            if not known:
                what = "link or address" if word.kind == "link" else "number"
                return Refusal(
                    "L5.3", f"The {what} “{_shown(case, word)}” was not said by the user."
                )
    return None


def numbers_said(case: Case) -> Refusal | None:
    if case.new is None:
        return None
    if _counts_twice(case):
        return Refusal("L5.3", "The entry says a number more often than the quote.")
    if _puts_between(case):
        return Refusal("L5.3", "The entry puts the numbers together in another way.")
    for clause in case.new.clauses:
        for _, word in told(case, clause):
            if word.kind == "number" and not weighs(word) and not where_said(case, word):
                return Refusal("L5.3", f"The number “{_shown(case, word)}” was not said.")
    return None


def _counts_twice(case: Case) -> bool:
    """ "A dozen nieces and nephews" are no twelve of each."""
    assert case.new is not None
    new = Counter(
        word.key for clause in case.new.clauses for _, word in told(case, clause)
        if word.kind == "number" and word.key != "#1"
    )  # fmt: skip
    said = {
        key: len({(one.source, one.word.start) for one in case.said.get(key, ())}) for key in new
    }
    return any(count > 1 and count > said[key] > 0 for key, count in new.items())


def _puts_between(case: Case) -> bool:
    """ "Ten to five", "ten past five"."""
    assert case.new is not None
    said, new = _betweens(case.evidence.reading), _betweens(case.new)
    return any(pair in said and new[pair] != said[pair] for pair in new)


def _betweens(reading: Reading) -> dict[tuple[str, str], str]:
    """Two numbers with one word between them, by the numbers."""
    return {
        (one.key, other.key): between.text
        for one, between, other in zip(
            reading.words, reading.words[1:], reading.words[2:], strict=False
        )
        if one.kind == other.kind == "number" and between.kind == "word"
    }


def where_said(case: Case, word: Word) -> tuple[Said, ...]:
    direct = case.said.get(word.key, ())
    if direct or word.kind != "word":
        if word.key == "#1":
            return direct or tuple(case.said.get("", ()))
        return direct
    return _put_together(case, word) or _parts_of(case, word) or _taken_apart(case, word)


def _parts_of(case: Case, word: Word) -> tuple[Said, ...]:
    """ "Gluten-free", "gluten free": the one is written together, in the entry or the quote."""
    lexicon = case.acts.lexicon
    if "-" in word.text:
        parts = [
            f"#{lexicon.numbers[part]}" if part in lexicon.numbers else lexicon.key(part)[0]
            for part in word.text.split("-")
            if part
        ]
        wanted = [key for key in parts if key and key not in lexicon.glue]
        return case.said[wanted[0]] if wanted and all(key in case.said for key in wanted) else ()
    return next(
        (
            each
            for each in case.said.values()
            if "-" in each[0].word.text
            and word.key in {lexicon.key(part)[0] for part in each[0].word.text.split("-") if part}
        ),
        (),
    )


def _put_together(case: Case, word: Word) -> tuple[Said, ...]:
    """A compound of two words that were said: Klavier and Lehrerin, Klavierlehrerin."""
    for key, said in case.said.items():
        if len(key) < 3 or not word.key.startswith(key):
            continue
        rest = word.key[len(key) :]
        for joint in ("", "s", "n", "en", "es", "er", "e"):
            if rest.startswith(joint) and rest[len(joint) :] in case.said:
                return said
    return ()


def _taken_apart(case: Case, word: Word) -> tuple[Said, ...]:
    """ "Ziehe um", "umgezogen", "umzuziehen": a verb and its particle, apart and together."""
    particles = case.acts.listed("separable")
    whole = [each for each in particles if word.text.startswith(each)]
    for particle in whole:
        for key in _verb_keys(case, word.text, particle):
            apart = tuple(
                one
                for one in case.said.get(key, ())
                if any(
                    each.text == particle for each in one.reading.words[one.at : one.clause.last]
                )
            )
            if apart:
                return apart
    alone = particles & {each.text for each in case.judged_text.words}
    return tuple(
        one
        for said in (case.said.values() if alone else ())
        for one in said
        if any(
            one.word.text.startswith(particle)
            and word.key in _verb_keys(case, one.word.text, particle)
            for particle in alone
        )
    )


def _verb_keys(case: Case, text: str, particle: str) -> Iterator[str]:
    """What the verb behind its particle is compared by, as a participle and an infinitive too."""
    rest = text.removeprefix(particle)
    for between in case.acts.listed("between_parts") | {""}:
        verb = rest.removeprefix(between)
        if len(verb) >= _SHORTEST_VERB and rest.startswith(between):
            yield case.acts.lexicon.key(verb)[0]


def disagrees(case: Case, word: Word, at: int, clause: Clause, one: Said) -> Refusal | None:
    """Why what was said does not say this: another person, another negation, an ending lost."""
    people = case.acts.kin_keys
    is_person = (word.key in people or word.key in one.clause.subject) and (
        at in clause.subject_words or USER in one.clause.subject or _owned(case, clause, one)
    )
    is_person = is_person or (
        bool(clause.source)
        and any(word.key in each.source for each in case.evidence.reading.clauses)
    )
    if one.source == "before" and not is_person and not _same_speech(one):
        return Refusal("L5.2", f"“{word.text}” was said in another sentence.")
    if (
        _is_name(case, word, at)
        and one.word.text != word.text
        and not word.text.startswith(one.word.text)
    ):
        return Refusal("L5.2", f"“{word.text}” was not said; “{one.word.text}” was.")
    asked = case.directive and (
        one.clause.request or not one.clause.subject or JARVIS in one.clause.subject
    )
    if not is_person and not asked and not _belongs_to_them(clause, one, case):
        why = of_another_person(case, clause, one)
        if why:
            return why
    if _told_as_now(case, word, one):
        return Refusal("L5.2", "It was so, and the entry says that it is.")
    names_subject = at in clause.subject_words or one.at in one.clause.subject_words
    if not names_subject:
        if not _same_ending(clause, one.clause) and not _same_past(case, clause, one):
            return Refusal(
                "L5.2", "It is over, and the entry does not say so; or the other way round."
            )
        if one.clause.said_no != clause.said_no and not _both_over(clause, one.clause):
            return Refusal("L5.2", "The entry turns the quote around: a negation is lost or won.")
        if one.clause.compared != clause.compared:
            return Refusal("L5.2", "The entry turns a comparison around.")
    return None


def _opens_as_done(case: Case, now: str) -> bool:
    """ "Hat im Juni geheiratet": an auxiliary, and what was done at the end of its clause."""
    reading = case.judged_text
    return any(
        any(word.text in case.acts.listed("auxiliaries") for word in words)
        and [word.text for word in words if word.key][-1:] == [now]
        for clause in reading.clauses
        for words in (reading.words[clause.first : clause.last],)
    )


def _belongs_to_them(clause: Clause, one: Said, case: Case) -> bool:
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


def _told_as_now(case: Case, word: Word, one: Said) -> bool:
    """ "Collected", told as "collects": the same verb in a present form."""
    was, now = one.word.text, word.text
    if was == now or one.word.kind != "word" or one.word.capital:
        return False
    if case.evidence.reading.language == "de":
        return _past_told_as_now(case, was, now, one)
    if case.acts.listed("leaves_out"):
        third = bool(one.clause.subject - {USER, THIRD, JARVIS})
        return third and was == f"{now[:-1]}o" and now.endswith("a")
    done = any(
        each.text in case.acts.listed("perfect")
        for each in one.reading.words[one.clause.first : one.clause.last]
    )
    present = now.removesuffix("s")
    return was in (f"{present}ed", f"{present}d") and now != present and not done


def _past_told_as_now(case: Case, was: str, now: str, one: Said) -> bool:
    """ "Kam", "kommt"; "rauchte", "raucht": unless an auxiliary makes it a past of its own."""
    lists = case.acts
    said = one.reading.words[one.clause.first : one.clause.last]
    helped = any(word.text in lists.listed("perfect") for word in said)
    if now.startswith("ge") and not was.startswith("ge") and was.endswith(("e", "t")):
        present = was not in lists.listed("past_forms") and not was.endswith("te")
        return present and not helped and _opens_as_done(case, now)
    if was == f"{now}e" and now.endswith("t") and USER not in one.clause.subject:
        return True
    if any(word.text in lists.listed("perfect") for word in case.judged_text.words):
        return False
    return was in lists.listed("past_forms") and now not in lists.listed("past_forms")


def _owned(case: Case, clause: Clause, one: Said) -> bool:
    """ "Has a dog", of "my dog": who belongs to the user may stand behind a "has"."""
    reading = case.judged_text
    lists = case.acts
    having = any(
        reading.words[at].text in lists.listed("owning") for at in range(clause.first, clause.last)
    )
    return having and one.at in one.clause.subject_words and _is_mine(case, one)


def _same_speech(one: Said) -> bool:
    """A word of an earlier sentence counts only as the name of somebody."""
    return one.word.capital and one.at > 0


def _is_name(case: Case, word: Word, at: int) -> bool:
    return (
        word.capital and at > 0 and case.evidence.reading.language != "de" and word.kind == "word"
    )


def _same_ending(new: Clause, said: Clause) -> bool:
    if said.ended == new.ended:
        return True
    if said.ended == "stopped":
        return new.ended == "used" or new.said_no == 1
    return said.ended == "used" and new.ended == "stopped"


def _same_past(case: Case, clause: Clause, one: Said) -> bool:
    """The same form of a verb in both ends it in both."""
    told_of = {word.text for word in case.judged_text.words[clause.first : clause.last]}
    stopped = "stopped" in (clause.ended, one.clause.ended)
    return (
        not stopped
        and clause.said_no == one.clause.said_no
        and any(
            word.text in told_of and word.text in case.acts.listed("past")
            for word in one.reading.words[one.clause.first : one.clause.last]
        )
    )


def _both_over(new: Clause, said: Clause) -> bool:
    return said.ended == "stopped" and new.said_no == 1 and said.said_no == 0


def of_another_person(case: Case, clause: Clause, one: Said) -> Refusal | None:
    said, new = one.clause.subject, clause.subject
    wrong = Refusal("L5.2", "The quote speaks of another person.")
    if _puts_the_user_in(case, clause, one):
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
    if not places or USER in clause.subject or one.source != "quote":
        return False
    owns = any(
        told_of[at].text.endswith("s")
        or (at + 1 < len(told_of) and told_of[at + 1].text in lists.listed("genitive"))
        or (at and told_of[at - 1].text in lists.listed("of"))
        or (  # "de la usuaria"
            at > 1
            and told_of[at - 1].text in lists.listed("articles")
            and told_of[at - 2].text in lists.listed("of")
        )
        for at in places
    )
    if owns and lists.verb_second and _is_others(case, clause, one):
        return True
    said = one.reading.words[one.clause.first : one.clause.last]
    return not owns and not any(
        word.text in lists.listed(name)
        for word in said
        for name in ("user", "user_too", "user_object")
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
        told_of[at].text in case.acts.listed(name)
        for at in range(clause.first, max(clause.subject_words, default=clause.first))
        for name in whose
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
    if any(words[0].text in lists.listed(name) for name in _NO_VERB):
        return False
    last = words[-1]
    closes = last.text.endswith(lists.last_verb_ends) and not last.capital and last.key
    return bool(closes) and last.key != person


_NO_VERB = ("articles", "user_mine", "third_mine", "prepositions", "adverbs", "copula")


def _has_it(case: Case, clause: Clause) -> bool:
    """ "Has a dog": the dog is not who the entry speaks of."""
    words = case.judged_text.words[clause.first : clause.last]
    first = next((word for word in words if word.kind == "word"), None)
    return first is not None and any(
        first.text in case.acts.listed(name) for name in ("owning", "copula", "verbs")
    )


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
            if any(before.text in lists.listed(name) for name in _BEFORE_NOUNS):
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
