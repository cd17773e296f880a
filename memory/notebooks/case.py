"""A proposal with one place of its quote: what was said there, and what it can prove."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import lru_cache
from itertools import pairwise

from memory.languages import acts, dates
from memory.languages.acts import LIKING, THIRD, USER, Acts, Clause, Reading, acts_of, read
from memory.languages.acts.line import STOPS
from memory.languages.words import Word
from memory.notebooks import canonical
from memory.notebooks.evidence import Evidence
from memory.records import Notebook, Proposal, Removed, Turn


def dates_in(text: str, at: datetime) -> tuple[dates.SpokenDate, ...]:
    """`dates.spoken_dates`, remembered: each check asks it of the same texts."""
    return _dates_in(text, at, at.utcoffset())


def with_dates(text: str, at: datetime) -> str:
    return _with_dates(text, at, at.utcoffset())


def wrong_date(text: str, said: str, at: datetime) -> str | None:
    return _wrong_date(text, said, at, at.utcoffset())


# The offset is in the key: two moments that are equal may be on two days.


@lru_cache(maxsize=256)
def _dates_in(text: str, at: datetime, _offset: timedelta | None) -> tuple[dates.SpokenDate, ...]:
    return dates.spoken_dates(text, at)


@lru_cache(maxsize=256)
def _with_dates(text: str, at: datetime, _offset: timedelta | None) -> str:
    return dates.with_dates(text, at)


@lru_cache(maxsize=256)
def _wrong_date(text: str, said: str, at: datetime, _offset: timedelta | None) -> str | None:
    return dates.follows(text, said, at)


@dataclass(frozen=True, slots=True, kw_only=True)
class Grounds:
    """What a proposal is judged by.

    `turns` are in order, of both sides. `notebooks` are the entries as they are, `removed`
    what the user took out.
    """

    turns: tuple[Turn, ...]
    notebooks: Mapping[Notebook, tuple[str, ...]]
    removed: tuple[Removed, ...] = ()


_READ_FROM = ("tool", "note", "pasted", "prefilled", "echo")


@dataclass(frozen=True, slots=True)
class Refusal:
    rule: str
    reason: str


@dataclass(frozen=True, slots=True)
class Said:
    """A word that was said: where, and in which clause of which reading."""

    word: Word
    at: int
    clause: Clause
    reading: Reading
    source: str  # "quote", "before" (the same turn), "old" (the entry that changes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A proposal with one place of its quote.

    `text` is what would be written: canonical, with real dates. `new` and `old` are the
    readings of the new and the old text. `said` are the words that may ground it, by key; `unproved` those that only stand where
    nothing is stated, and why.
    `directive` is whether the quote asks for a lasting manner, `verbatim` whether an addition is
    what the user said, word for word and whole, where nobody else is said to say so.
    """

    proposal: Proposal
    grounds: Grounds
    evidence: Evidence
    text: str
    new: Reading | None
    old: Reading | None
    said: Mapping[str, tuple[Said, ...]] = field(repr=False)
    unproved: Mapping[str, Refusal] = field(repr=False)
    directive: bool
    verbatim: bool

    @classmethod
    def of(cls, proposal: Proposal, grounds: Grounds, evidence: Evidence) -> Case:
        language = evidence.reading.language
        text = canonical.plain(proposal.text or "") if proposal.operation != "remove" else ""
        entry = canonical.plain(proposal.entry or "")
        old = read(entry, language, entry=True) if entry else None
        new = read(text, language, entry=True) if text else None
        if new is not None:
            new = _user_where_nobody(new)
        said: dict[str, list[Said]] = {}
        unproved: dict[str, Refusal] = {}
        directive = _asks_for_manner(evidence)
        conditional = new is not None and new.does("condition")
        temporal = new is not None and names_time(new)
        told_of = frozenset(word.key for word in new.words if word.key) if new else frozenset()
        for one in _said(evidence, old if proposal.operation == "update" else None, told_of):
            if not one.word.key:
                continue
            why = (
                None
                if one.source == "old"
                else weakness(
                    one.clause,
                    one.reading,
                    directive=directive,
                    conditional=conditional,
                    temporal=temporal,
                )
            )
            if one.source != "old" and one.at in one.reading.retracted:
                why = Refusal("L5.2", "The user put it right at once.")
            if why is None:
                said.setdefault(one.word.key, []).append(one)
            else:
                unproved.setdefault(one.word.key, why)
        return cls(
            proposal=proposal,
            grounds=grounds,
            evidence=evidence,
            text=with_dates(text, evidence.turn.began_at) if text else "",
            new=new,
            old=old,
            said={key: tuple(each) for key, each in said.items()},
            unproved=unproved,
            directive=directive,
            verbatim=(
                proposal.operation == "add"
                and not evidence.reading.does("reported")
                and _says_the_same(own_words(evidence), text)
            ),
        )

    @property
    def acts(self) -> Acts:
        return acts_of(self.evidence.reading.language)

    @property
    def shown(self) -> bool:
        """Whether there is a text that the user may read from."""
        return any(turn.origin in _READ_FROM for turn in self.grounds.turns)

    @property
    def judged_text(self) -> Reading:
        """The new text, or the old one where it is to go."""
        reading = self.new or self.old
        assert reading is not None, "a change has a text or an entry"
        return reading


def _user_where_nobody(new: Reading) -> Reading:
    """ "He is vegan", of nobody else named: the entry speaks of the user. So does "her doctor
    says that she is allergic"."""
    named = frozenset().union(*(clause.subject for clause in new.clauses)) - {THIRD, USER}
    return replace(
        new,
        clauses=tuple(
            replace(clause, subject=frozenset({USER}))
            if (
                THIRD in clause.subject
                and (clause.source or not named)
                and not _of_a_thing(new, clause)
            )
            or (clause.source and at and not clause.subject_words)
            else clause
            for at, clause in enumerate(new.clauses)
        ),
    )


def _of_a_thing(new: Reading, clause: Clause) -> bool:
    """ "It was handed back"."""
    things = acts_of(new.language).listed("third_thing")
    return bool(clause.subject_words) and all(
        new.words[at].text in things for at in clause.subject_words
    )


def _said(evidence: Evidence, old: Reading | None, told_of: frozenset[str]) -> Iterator[Said]:
    """`told_of` are the meanings of the entry: "not me" says what is not so of none but "me"."""
    people: frozenset[str] = frozenset()
    for reading in evidence.before:
        for clause in reading.clauses:
            clause = acts.resolved(clause, people)
            for at in range(clause.first, clause.last):
                yield Said(reading.words[at], at, clause, reading, "before")
        people = acts.people_before(reading) or people
    reading = evidence.reading
    head: Said | None = None
    for number, clause in enumerate(reading.clauses):
        clause = acts.resolved(clause, people)
        if number == 0 and people and _goes_on(reading, clause):
            clause = replace(clause, subject=people)
        denied = clause.said_no and not any(
            word.key in told_of for word in reading.words[clause.first : clause.last] if word.key
        )
        if clause.inherits and head is not None and not denied:
            yield Said(
                head.word, head.at, replace(clause, subject_words=frozenset()), reading, "quote"
            )
        elif not clause.inherits:
            head = None
        for at in range(clause.first, clause.last):
            word = Said(reading.words[at], at, clause, reading, "quote")
            if head is None and word.word.key and at not in clause.subject_words:
                head = word
            yield word
    if old is not None:
        for clause in old.clauses:
            clause = clause if clause.subject else replace(clause, subject=frozenset({USER}))
            for at in range(clause.first, clause.last):
                yield Said(old.words[at], at, clause, old, "old")


def _goes_on(reading: Reading, clause: Clause) -> bool:
    """Where a language leaves "she" out, a verb that opens a sentence speaks of who was named."""
    lists = acts_of(reading.language)
    if clause.subject or not lists.listed("leaves_out"):
        return False
    for word in reading.words[clause.first : clause.last]:
        if word.text in lists.listed("articles") or word.text in lists.listed("prepositions"):
            return False
        if word.key:
            return True
    return False


def _asks_for_manner(evidence: Evidence) -> bool:
    reading = evidence.reading
    lists = acts_of(reading.language)
    if any(
        clause.subject - {USER, THIRD, acts.JARVIS} and acts.JARVIS in following.subject
        for clause, following in pairwise(reading.clauses)
        if following in evidence.touched
    ):
        return False  # "the children would like you to …"
    return any(
        (lists.search("name_me", text) and not lists.search("not_name_me", text))
        or (lists.search("manner", text) and reading.does("lasting"))
        for text in (text_of(reading, clause) for clause in evidence.touched)
    )


def text_of(reading: Reading, clause: Clause) -> str:
    return acts.joined(reading.words[clause.first : clause.last])[0]


def stated(evidence: Evidence) -> tuple[Clause, ...]:
    """The clauses around the quote that state something: all of the sentence, or what stands
    before or behind a request or a question ("set a timer, I have a train at six"). None where
    they can't stand alone."""
    reading = evidence.reading
    directive = _asks_for_manner(evidence)
    runs: list[list[Clause]] = [[]]
    for clause in reading.clauses:
        if weakness(clause, reading, directive=directive, whole=True):
            runs.append([])
        else:
            runs[-1].append(clause)
    run = tuple(max(runs, key=lambda each: sum(clause in evidence.touched for clause in each)))
    if not any(clause in evidence.touched for clause in run):
        return ()
    if run != reading.clauses and not _stands_alone(reading, run):
        return ()
    if any(acts.people_before(each) for each in evidence.before) and _goes_on(reading, run[0]):
        return ()
    if any(_asks_oneself(reading, before, clause) for before, clause in pairwise(run)):
        return ()
    return run if _is_about_the_users(reading, run) else ()


def _asks_oneself(reading: Reading, before: Clause, clause: Clause) -> bool:
    """ "No sé si soy alérgico": in front of an "if" that means "whether"."""
    return clause.conditional and any(
        reading.touches(act, before) for act in ("question", "vouching", "thinking", "wonders")
    )


_OWN = ("user", "user_too", "user_object", "user_mine")


def _is_about_the_users(reading: Reading, run: tuple[Clause, ...]) -> bool:
    """Not "he hates delays", by itself, nor "if the user says so, …", which is no speech."""
    lists = acts_of(reading.language)
    words = {word.text for word in reading.words[run[0].first : run[-1].last]}
    named = frozenset().union(*(clause.subject for clause in run))
    somebody = named <= {THIRD} and (
        THIRD in named or bool(words & lists.listed("third")) or _points_at_somebody(reading, run)
    )
    own = any(words & lists.listed(name) for name in _OWN)
    return not words & lists.listed("user_named") and (own or not somebody)


_OPENING = 2
"""Words like "oh well" that may stand in front of who is spoken of."""


def _points_at_somebody(reading: Reading, run: tuple[Clause, ...]) -> bool:
    """ "Der hasst Verspätungen": an article with a verb behind it stands for somebody."""
    lists = acts_of(reading.language)
    words = reading.words[run[0].first : run[-1].last]
    at = next((at for at, word in enumerate(words) if word.text in lists.listed("articles")), -1)
    behind = words[at + 1] if 0 <= at <= _OPENING and at < len(words) - 1 else None
    return behind is not None and (behind.text in lists.listed("verbs") or behind.key == LIKING)


def _stands_alone(reading: Reading, run: tuple[Clause, ...]) -> bool:
    """It speaks of the user or of who is theirs, nothing of it hangs on what is left out, and
    that is asked of Jarvis and dictates nothing."""
    lists = acts_of(reading.language)
    opening = reading.words[run[0].first].text
    joined = opening in lists.listed("joiners") and opening not in lists.listed("and")
    words = {word.text for word in reading.words[run[0].first : run[-1].last]}
    left_out = [clause for clause in reading.clauses if clause not in run]
    return (
        bool(run[0].subject_words)
        and any(words & lists.listed(name) for name in _OWN)
        and not joined
        and not any(clause.inherits for clause in reading.clauses if clause.first == run[-1].last)
        and not any(
            clause.question and not clause.request
            for clause in left_out
            if clause.first < run[0].first
        )
        and not any(clause.dictates or clause.unreal for clause in left_out)
        and not any(reading.does(act) for act in _NEVER_BESIDE)
        and not any(clause.conditional or clause.temporal or clause.source for clause in run)
        and not any(reading.touches(act, clause) for act in _OPEN for clause in run)
    )


_NEVER_BESIDE = ("reading", "fiction", "text_for", "order")
"""Acts that say that what stands beside them may be somebody else's, or lowers a guard."""

_OPEN = ("reported", "attitude", "wonders")
"""Acts behind which something follows that is no statement of its own."""

_ENDS = " ,;:.!…-–"


@dataclass(frozen=True, slots=True)
class OwnWords:
    """What was stated: `quote` as it stands in the turn, `text` without "and" and "by the way" at
    its beginning and end."""

    quote: str
    text: str


def own_words(evidence: Evidence, told: Sequence[str] = ()) -> OwnWords | None:
    """Of a sentence that the entries of `told` were taken from, the part that they leave."""
    run = stated(evidence)
    if told:
        run = _not_told(evidence, run, told)
    if not run:
        return None
    words, asides = evidence.reading.words, evidence.reading.found["aside"]
    first, last = run[0].first, run[-1].last
    quote = evidence.sentence[words[first].start : words[last - 1].end]
    if first and words[first].text in acts_of(evidence.reading.language).listed("and"):
        first += 1
    for start, end in (*asides, *reversed(asides)):
        if start == first:
            first = end
        elif end == last:
            last = start
    if first >= last:
        return None
    text = canonical.plain(evidence.sentence[words[first].start : words[last - 1].end]).strip(_ENDS)
    return OwnWords(quote, text[:1].upper() + text[1:])


def _not_told(
    evidence: Evidence, run: tuple[Clause, ...], told: Sequence[str]
) -> tuple[Clause, ...]:
    """Of two things in one breath the other one, where it can stand alone: all statements from the
    quote's own on that share no word with what is told."""
    reading = evidence.reading
    keys = {
        word.key
        for entry in told
        for word in read(canonical.plain(entry), reading.language, entry=True).words
        if word.key
    }
    groups: list[list[Clause]] = []
    for clause in run:
        if clause.inherits and groups:
            groups[-1].append(clause)
        else:
            groups.append([clause])
    rest: list[list[Clause]] = [[]]
    for group in groups:
        if keys & {word.key for word in reading.words[group[0].first : group[-1].last] if word.key}:
            rest.append([])
        else:
            rest[-1] += group
    left = tuple(max(rest, key=lambda each: sum(clause in evidence.touched for clause in each)))
    fits = bool(left) and any(clause in evidence.touched for clause in left)
    return left if fits and _stands_alone(reading, left) else ()


def _says_the_same(own: OwnWords | None, text: str) -> bool:
    return own is not None and canonical.bare(own.text) == canonical.bare(text)


def weakness(
    clause: Clause,
    reading: Reading,
    *,
    directive: bool,
    conditional: bool = False,
    temporal: bool = False,
    whole: bool = False,
) -> Refusal | None:
    """Why this clause proves nothing: asked, supposed, requested, or of the moment.

    `directive`: a lasting manner is asked for. `conditional`, `temporal`: the entry names a
    condition, a time. `whole`: it says all of it, also on what condition and who thinks so.
    """
    if reading.does("tag") or clause.question or _asked(reading):
        return Refusal("L5.1", "The user asks; a question proves nothing.")
    told_by_whom = whole and not clause.conditional and _says_who_thinks_so(reading)
    if clause.embedded and not clause.source and not told_by_whom:
        return Refusal("L5.1", "It is thought, doubted or claimed, and not stated.")
    if clause.temporal and not (temporal or whole):
        return Refusal("L5.1", "It holds at times only, and the entry does not say when.")
    if clause.unreal:
        return Refusal("L5.1", "The user wishes or supposes it; that proves nothing.")
    if clause.conditional and not (conditional or whole):
        return Refusal("L5.1", "It holds on a condition only; that proves nothing.")
    if clause.request and not directive:
        return Refusal("L2.2", "It is a request, not something lasting.")
    if clause.moment:
        return Refusal("L2.2", "It holds for the moment only.")
    return None


def _says_who_thinks_so(reading: Reading) -> bool:
    """ "I think I told you that I'm allergic to wasps", and no line of a song."""
    words = {word.text for word in reading.words}
    thought = reading.does("thinking") or reading.does("vouching")
    medium = words & acts_of(reading.language).listed("medium")
    return thought and not medium and not reading.does("wonders")


def names_time(reading: Reading) -> bool:
    return any(clause.temporal for clause in reading.clauses)


def _asked(reading: Reading) -> bool:
    """A question mark that no question or request in front of it explains makes all of it a
    question."""
    asks = False
    for clause in reading.clauses:
        asks = asks or clause.question or clause.request
        for word in reading.words[clause.first : clause.last]:
            if word.text == "?" and not asks:
                return True
            if word.text in STOPS:
                asks = False
    return False


def resolved_in(case: Case, clause: Clause) -> Clause:
    """The clause with "she" resolved, as far as it can be."""
    return next(
        (
            one.clause
            for each in case.said.values()
            for one in each
            if one.source == "quote" and one.clause.first == clause.first
        ),
        clause,
    )


def meanings(reading: Reading) -> set[str]:
    return {word.key for word in reading.words if word.key}
