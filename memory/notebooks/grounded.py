"""Whether each word of an entry was said: of the same person, with the same negations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

from memory.languages.acts import JARVIS, THIRD, USER, Acts, Clause, Reading, acts_of
from memory.languages.words import Word
from memory.notebooks import canonical
from memory.notebooks.case import Case, Refusal, Said, dates_in
from memory.notebooks.persons import belongs_to_them, of_another_person, owned
from memory.notebooks.times import is_age

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
        and not lists.holds(before.text, ("articles", "prepositions"))
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
        if following in case.acts.listed("aged") and is_age(case, at):
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
    """ "Ten to five", "ten past five"; "from ten to six", "from six to ten"."""
    assert case.new is not None
    said, new = _betweens(case.evidence.reading), _betweens(case.new)
    return any(
        (pair in said and new[pair] != said[pair]) or (pair not in said and pair[::-1] in said)
        for pair in new
    )


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
        at in clause.subject_words or USER in one.clause.subject or owned(case, clause, one)
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
    if not is_person and not asked and not belongs_to_them(clause, one, case):
        why = of_another_person(case, clause, one)
        if why:
            return why
    if _told_as_now(case, word, one):
        return Refusal("L5.2", "It was so, and the entry says that it is.")
    names_subject = at in clause.subject_words or one.at in one.clause.subject_words
    if _is_not_had(case, at, clause, one):
        return Refusal("L5.2", "The entry turns the quote around: a negation is lost or won.")
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


def _is_not_had(case: Case, at: int, clause: Clause, one: Said) -> bool:
    """ "I have no cats", "Cats": without a verb who is named stands for what is had."""
    told_of = case.judged_text.words[clause.first : clause.last]
    finite = ("verbs", "copula", "modals", "auxiliaries", "naming")
    return (
        at in clause.subject_words
        and one.at not in one.clause.subject_words
        and one.clause.said_no > clause.said_no
        and not any(case.acts.holds(word.text, finite) for word in told_of)
        and all(word.key in clause.subject or not word.key for word in told_of)
    )


def _opens_as_done(case: Case, now: str) -> bool:
    """ "Hat im Juni geheiratet": an auxiliary, and what was done at the end of its clause."""
    reading = case.judged_text
    return any(
        any(word.text in case.acts.listed("auxiliaries") for word in words)
        and [word.text for word in words if word.key][-1:] == [now]
        for clause in reading.clauses
        for words in (reading.words[clause.first : clause.last],)
    )


def _told_as_now(case: Case, word: Word, one: Said) -> bool:
    """ "Collected", told as "collects": the same verb in a present form."""
    was, now = one.word.text, word.text
    if one.word.kind != "word" or one.word.capital:
        return False
    if case.acts.listed("leaves_out"):
        return _in_another_tense(case, word, one)
    if was == now:
        return False
    if case.evidence.reading.language == "de":
        return _past_told_as_now(case, was, now, one)
    done = any(
        each.text in case.acts.listed("perfect")
        for each in one.reading.words[one.clause.first : one.clause.last]
    )
    if now in (f"{was}ed", f"{was}d") and one.word.key == word.key:
        helped = any(each.text in case.acts.listed("perfect") for each in case.judged_text.words)
        return one.reading.words[one.at - 1].text in case.acts.listed("user") and not helped
    present = now.removesuffix("s")
    return was in (f"{present}ed", f"{present}d") and now != present and not done


def _in_another_tense(case: Case, word: Word, one: Said) -> bool:
    """ "Compro", "compró"; "compré", "compra"; "viviré", "vive": told by the ending. An accent counts
    as far as it was written."""
    was, now = one.word.text, word.text
    no_tense = case.acts.infinitive_ends
    if was.endswith(no_tense) or now.endswith(no_tense):
        return False
    alike = zip(was, now, strict=False)
    shared = next(
        (at for at, (before, behind) in enumerate(alike) if before != behind),
        min(len(was), len(now)),
    )
    ahead = case.acts.future_ends
    if (was[shared:] in ahead) != (now[shared:] in ahead):
        return True
    if one.clause.subject - {USER, THIRD, JARVIS}:
        return was == f"{now[:-1]}o" and now.endswith("a")
    if USER not in one.clause.subject:
        return False
    if _shown(case, word).lower().endswith(case.acts.past_ends):
        return was.endswith("o")
    same = now == f"{was[:-1]}a" and was.endswith("e")
    return same and not was[:-1].endswith(no_tense)


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
