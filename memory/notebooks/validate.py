"""Which proposals are written: plain code decides, from the user's own words (spec L5).

First the proposal by itself, then with each place where its quote stands. A check looks at one
thing and returns a Refusal or None; the first that refuses decides.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from memory.languages import acts
from memory.languages.acts import JARVIS, THIRD, USER, Acts, Clause, Reading, acts_of, read
from memory.languages.dates import follows, spoken_dates, with_dates
from memory.languages.words import Word, other_language
from memory.notebooks import canonical
from memory.notebooks.evidence import Evidence, NoEvidence, fit, found, spoken_sentences
from memory.notebooks.filter import marked
from memory.notebooks.limits import ENTRY_CHARS
from memory.notebooks.secrets import secret_in
from memory.records import Accepted, Notebook, Proposal, Rejection, Removed, Turn

_LONG_DIGITS = 5
ENTRY_SENTENCES = 2
"""An entry is one sentence; a second, short one is let through."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Grounds:
    """What a proposal is judged by.

    `turns` are in order, of both sides. `notebooks` are the entries as they are, `removed`
    what the user took out.
    """

    turns: tuple[Turn, ...]
    notebooks: Mapping[Notebook, tuple[str, ...]]
    removed: tuple[Removed, ...] = ()


@dataclass(frozen=True, slots=True)
class Refusal:
    rule: str
    reason: str


def decide(proposal: Proposal, grounds: Grounds) -> Accepted | Rejection:
    """Never raises; the same proposal and grounds give the same answer."""
    for form_check in FORM:
        refusal = form_check(proposal, grounds)
        if refusal:
            return Rejection(proposal=proposal, rule=refusal.rule, reason=refusal.reason)
    first: Refusal | None = None
    for place in found(proposal.quote, grounds.turns):
        outcome = (
            Refusal(place.rule, place.reason)
            if isinstance(place, NoEvidence)
            else _judged(proposal, grounds, place)
        )
        if isinstance(outcome, Accepted):
            return outcome
        first = first or outcome
    assert first is not None, "evidence gives a place or a reason"
    return Rejection(proposal=proposal, rule=first.rule, reason=first.reason)


def _judged(proposal: Proposal, grounds: Grounds, evidence: Evidence) -> Accepted | Refusal:
    case = Case.of(proposal, grounds, evidence)
    for check in EVIDENCE:
        refusal = check(case)
        if refusal:
            return refusal
    entry = _entry(proposal, grounds)
    return Accepted(
        operation=proposal.operation,
        notebook=proposal.notebook,
        entry=entry,
        text=case.text or None,
        quote=evidence.quote,
        turn_index=evidence.turn.index,
    )


# The proposal by itself ---------------------------------------------------------------

FormCheck = Callable[[Proposal, Grounds], Refusal | None]


def whole(proposal: Proposal, grounds: Grounds) -> Refusal | None:
    """Add has a text, remove an entry, update both, and the entry is there."""
    if proposal.operation != "remove" and not (proposal.text or "").strip():
        return Refusal("L1.2", "The change has no new text.")
    if proposal.operation == "add":
        return None
    if not (proposal.entry or "").strip():
        return Refusal("L1.4", "The change does not name the entry it is about.")
    if _entry(proposal, grounds) is None:
        return Refusal("L1.4", "There is no such entry: it was edited, or is gone.")
    if proposal.operation == "update" and _same(proposal.entry or "", proposal.text or ""):
        return Refusal("L6.1", "The new text is the old one.")
    return None


def one_short_line(proposal: Proposal, _grounds: Grounds) -> Refusal | None:
    text = proposal.text or ""
    if any(letter in text for letter in "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"):
        return Refusal("L5.4", "The text is more than one line.")
    if len(text.strip()) > ENTRY_CHARS or len(canonical.plain(text)) > ENTRY_CHARS:
        return Refusal("L5.4", f"The text is longer than {ENTRY_CHARS} characters.")
    if len(spoken_sentences(text, None)) > ENTRY_SENTENCES:
        return Refusal("L1.2", "The text is more than one short sentence.")
    return None


def nothing_hidden(proposal: Proposal, _grounds: Grounds) -> Refusal | None:
    for text in (proposal.text or "", proposal.quote):
        mark = canonical.hidden(text)
        if mark:
            return Refusal("L5.4", f"It holds a character that nobody sees ({mark}).")
    return None


def one_script(proposal: Proposal, _grounds: Grounds) -> Refusal | None:
    word = canonical.disguised(proposal.text or "")
    return (
        Refusal("L5.4", f"“{word}” is written in letters that look like others.") if word else None
    )


def no_markup(proposal: Proposal, _grounds: Grounds) -> Refusal | None:
    mark = canonical.breaks_out(proposal.text or "")
    return Refusal("L5.4", f"The text holds markup ({mark}).") if mark else None


def no_secret(proposal: Proposal, _grounds: Grounds) -> Refusal | None:
    kind = secret_in(proposal.text or "")
    return Refusal("L5.4", f"The text holds {kind}.") if kind else None


def no_order(proposal: Proposal, _grounds: Grounds) -> Refusal | None:
    if proposal.text and any(
        acts.does("order", proposal.text, language) for language in acts.languages()
    ):
        return Refusal("L5.4", "The text reads like an order, or lowers a guard.")
    return None


def says_something(proposal: Proposal, _grounds: Grounds) -> Refusal | None:
    if proposal.operation == "remove":
        return None
    reading = read(canonical.plain(proposal.text or ""), entry=True)
    if not any(word.key for word in reading.words) or reading.does("empty"):
        return Refusal("L1.1", "The text says nothing.")
    return None


def not_there_yet(proposal: Proposal, grounds: Grounds) -> Refusal | None:
    if proposal.operation == "remove":
        return None
    for entries in grounds.notebooks.values():
        for entry in entries:
            if proposal.operation == "update" and _same(entry, proposal.entry or ""):
                continue
            if _same(entry, proposal.text or ""):
                return Refusal("L6.1", "It is in the notebooks already.")
    return None


def _same(one: str, other: str) -> bool:
    return canonical.bare(one) == canonical.bare(other)


def _entry(proposal: Proposal, grounds: Grounds) -> str | None:
    """The entry as it stands in the notebook."""
    if proposal.operation == "add" or proposal.entry is None:
        return None
    wanted = canonical.plain(proposal.entry)
    for entry in grounds.notebooks.get(proposal.notebook, ()):
        if canonical.plain(entry) == wanted:
            return entry
    return None


FORM: tuple[FormCheck, ...] = (
    whole,
    one_short_line,
    nothing_hidden,
    one_script,
    no_markup,
    no_secret,
    no_order,
    says_something,
    not_there_yet,
)


# With its evidence --------------------------------------------------------------------


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
    `directive` is whether the quote asks for a lasting manner.
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
        temporal = new is not None and _names_time(new)
        for one in _said(evidence, old if proposal.operation == "update" else None):
            if not one.word.key:
                continue
            weakness = (
                None
                if one.source == "old"
                else _weakness(
                    one.clause,
                    one.reading,
                    directive=directive,
                    conditional=conditional,
                    temporal=temporal,
                )
            )
            if one.source != "old" and one.at in one.reading.retracted:
                weakness = Refusal("L5.2", "The user put it right at once.")
            if weakness is None:
                said.setdefault(one.word.key, []).append(one)
            else:
                unproved.setdefault(one.word.key, weakness)
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
        )

    @property
    def acts(self) -> Acts:
        return acts_of(self.evidence.reading.language)

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
            if (THIRD in clause.subject and (clause.source or not named))
            or (clause.source and at and not clause.subject_words)
            else clause
            for at, clause in enumerate(new.clauses)
        ),
    )


def _said(evidence: Evidence, old: Reading | None) -> Iterator[Said]:
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
        if clause.inherits and head is not None:
            yield Said(
                head.word, head.at, replace(clause, subject_words=frozenset()), reading, "quote"
            )
        else:
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
    return any(
        acts.acts_of(reading.language).search("name_me", _text(reading, clause))
        or (
            acts_of(reading.language).search("manner", _text(reading, clause))
            and reading.does("lasting")
        )
        for clause in evidence.touched
    )


def _text(reading: Reading, clause: Clause) -> str:
    return acts.joined(reading.words[clause.first : clause.last])[0]


Check = Callable[[Case], Refusal | None]


def clean_words(case: Case) -> Refusal | None:
    for text in (case.evidence.quote, case.evidence.sentence):
        mark = canonical.hidden(text)
        if mark:
            return Refusal("L5.4", f"What was said holds a character that nobody sees ({mark}).")
    return None


def _weakness(
    clause: Clause, reading: Reading, *, directive: bool, conditional: bool, temporal: bool
) -> Refusal | None:
    """Why this clause proves nothing: asked, supposed, requested, or of the moment.

    `directive`: a lasting manner is asked for. `conditional`: the entry names a condition.
    """
    if reading.does("tag") or clause.question or _asked(reading):
        return Refusal("L5.1", "The user asks; a question proves nothing.")
    if clause.embedded and not clause.source:
        return Refusal("L5.1", "It is thought, doubted or claimed, and not stated.")
    if clause.temporal and not temporal:
        return Refusal("L5.1", "It holds at times only, and the entry does not say when.")
    if clause.unreal:
        return Refusal("L5.1", "The user wishes or supposes it; that proves nothing.")
    if clause.conditional and not conditional:
        return Refusal("L5.1", "It holds on a condition only; that proves nothing.")
    if clause.request and not directive:
        return Refusal("L2.2", "It is a request, not something lasting.")
    if clause.moment:
        return Refusal("L2.2", "It holds for the moment only.")
    return None


def worth_keeping(case: Case) -> Refusal | None:
    """Words about nobody that state nothing ("garage door open"), and wants of the moment: the
    free filter tells them from what is lasting."""
    if case.directive or case.proposal.operation != "add":
        return None
    if any(_states(case, clause) for clause in case.evidence.touched):
        return None
    if marked(case.evidence.sentence) or marked(case.evidence.quote):
        return None
    return Refusal("L2.2", "It names nothing lasting about the user or people close to them.")


def _states(case: Case, clause: Clause) -> bool:
    lists = case.acts
    words = case.evidence.reading.words[clause.first : clause.last]
    text = _text(case.evidence.reading, clause)
    if lists.search("goal", text) or lists.search("manner", text) or clause.ended:
        return True
    if "wanting" in clause.kept or lists.search("needing", text):
        return False
    clause = next(
        (
            one.clause
            for each in case.said.values()
            for one in each
            if one.source == "quote" and one.clause.first == clause.first
        ),
        clause,
    )  # with "she" resolved
    if clause.subject - {USER, JARVIS}:
        return True
    named = {case.evidence.reading.words[at].text for at in clause.subject_words}
    if USER in clause.subject and not named & lists.listed("user_mine"):
        return True
    finite = lists.listed("verbs") | lists.listed("copula")
    return any(word.text in finite for word in words)


def _names_time(reading: Reading) -> bool:
    return any(clause.temporal for clause in reading.clauses)


def _asked(reading: Reading) -> bool:
    """A question mark that no clause of its own explains makes all of it a question."""
    if not any(word.text == "?" for word in reading.words):
        return False
    return not any(clause.question or clause.request for clause in reading.clauses)


def states_it(case: Case) -> Refusal | None:
    """A question, a wish, a condition, a request, a moment's state: none is a lasting fact."""
    takes_back = case.proposal.operation != "add" and case.evidence.reading.does("forget")
    conditional = case.new is not None and case.new.does("condition")
    first: Refusal | None = None
    for clause in case.evidence.touched:
        weakness = _weakness(
            clause,
            case.evidence.reading,
            directive=case.directive,
            conditional=conditional,
            temporal=case.new is not None and _names_time(case.new),
        )
        if weakness is None or (takes_back and weakness.rule == "L2.2"):
            return None
        first = first or weakness
    return first


def not_read_aloud(case: Case) -> Refusal | None:
    """What follows "it says" is somebody else's, to the end of the turn; so is what a joke,
    a role or a text for others holds."""
    turn = case.evidence.turn_reading
    first, last = case.evidence.first_word, case.evidence.last_word
    for act, what in (
        ("reading", "The user reads or quotes it"),
        ("fiction", "The user makes it up"),
    ):
        for start, end in turn.found[act]:
            if start >= last:
                continue
            behind = end >= len(turn.words) - 1 or all(
                word.kind == "mark" for word in turn.words[end:]
            )
            touched_to = first + max(clause.last for clause in case.evidence.touched)
            if start < touched_to or behind:
                return Refusal("L5.1", f"{what}; that proves nothing.")
    if turn.does("joke"):
        return Refusal("L5.1", "The user jokes or tests; that proves nothing.")
    if _taken_back(case):
        return Refusal("L5.1", "The user took it back as a joke.")
    reading = case.evidence.reading
    if any(
        start < clause.last and end <= clause.last
        for clause in case.evidence.touched
        for start, end in reading.found["claimed"]
    ):
        return Refusal("L5.1", "The user repeats what Jarvis said; that proves nothing.")
    if _in_quotes(case):
        return Refusal("L5.1", "It stands in quotation marks.")
    return None


def _taken_back(case: Case) -> bool:
    turns = [turn for turn in case.grounds.turns if turn.speaker == "user"]
    following = next(
        (turn for turn in turns if turn.index > case.evidence.turn.index and fit(turn)), None
    )
    if following is None:
        return False
    opening = following.text[:60]
    return acts.does("joke", opening, case.evidence.reading.language)


def _in_quotes(case: Case) -> bool:
    text = canonical.canonical(case.evidence.turn.text).text
    parts = text.split('"')
    inside = parts[1::2] if len(parts) > 2 else []
    wanted = canonical.bare(case.evidence.quote)
    return any(
        len(part.split()) >= 3 and (wanted in part.lower() or part.lower().strip() in wanted)
        for part in inside
    )


def same_language(case: Case) -> Refusal | None:
    """An entry is in the language it was said in."""
    text = canonical.plain(case.proposal.text or "")  # without the dates that code writes
    if text and other_language(text, case.evidence.sentence, case.evidence.reading.language):
        return Refusal("L5.2", "The entry is not in the language it was said in.")
    return None


def dates_follow(case: Case) -> Refusal | None:
    if not case.text:
        return None
    known = [case.evidence.sentence]
    known += [
        case.evidence.turn.text[start:end]
        for start, end in spoken_sentences(case.evidence.turn.text, case.evidence.turn.language)
    ]
    if case.proposal.operation == "update":
        known.append(canonical.plain(case.proposal.entry or ""))
    wrong = follows(case.text, ". ".join(known), case.evidence.turn.began_at)
    if wrong is not None:
        return Refusal("L5.3", f"The date “{wrong}” was not said and does not follow.")
    return None


def all_of_it_said(case: Case) -> Refusal | None:
    """Each word that carries meaning was said: of the same person, with the same negation and
    the same ending."""
    if case.new is None:
        return None
    shared = False
    for clause in case.new.clauses:
        for at, word in _told(case, clause):
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
    apart = _statements(case.evidence.reading)
    held: set[int] | None = None
    for at, word in _told(case, clause):
        candidates = _candidates(case, word)
        named = at in clause.subject_words or word.capital or word.kind != "word"
        if named or any(one.source != "quote" for one in candidates):
            continue
        here = {
            apart[one.clause.first]
            for one in candidates
            if _disagrees(case, word, at, clause, one) is None and one.clause.first in apart
        }
        if not here:
            continue
        held = here if held is None else held & here
        if not held:
            return Refusal("L5.2", "The entry mixes words of two statements.")
    return None


def _statements(reading: Reading) -> dict[int, int]:
    """For each clause, by its first word, the statement it belongs to: "and I …" begins one."""
    lists = acts_of(reading.language)
    found: dict[int, int] = {}
    number = 0
    for clause in reading.clauses:
        opening = reading.words[clause.first].text if reading.words else ""
        begins = (
            opening in lists.listed("and") and bool(clause.subject_words) and not clause.inherits
        )
        number += begins
        found[clause.first] = number
    return found


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
    return bool(spoken_dates(case.text, at)) and bool(spoken_dates(quoted, at))


def _told(case: Case, clause: Clause) -> Iterator[tuple[int, Word]]:
    """The words of the new text's clause that must have been said."""
    assert case.new is not None
    lexicon = case.acts.lexicon
    text = canonical.plain(case.proposal.text or "")
    dated = [
        (each.start, each.real.end if each.real else each.end)
        for each in spoken_dates(text, case.evidence.turn.began_at)
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
    if _weighs(word):
        return _own(case, word)
    candidates = _candidates(case, word)
    if not candidates:
        return case.unproved.get(word.key) or Refusal(
            "L5.2", f"“{_shown(case, word)}” was not said."
        )
    refusal: Refusal | None = None
    for one in candidates:
        why = _disagrees(case, word, at, clause, one)
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


def _weighs(word: Word) -> bool:
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
        for _, word in _told(case, clause):
            if not _weighs(word) or _own(case, word):
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
    for clause in case.new.clauses:
        for _, word in _told(case, clause):
            if word.kind == "number" and not _weighs(word) and not _candidates(case, word):
                return Refusal("L5.3", f"The number “{_shown(case, word)}” was not said.")
    return None


def _candidates(case: Case, word: Word) -> tuple[Said, ...]:
    direct = case.said.get(word.key, ())
    if direct or word.kind != "word":
        if word.key == "#1":
            return direct or tuple(case.said.get("", ()))
        return direct
    return _put_together(case, word)


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


def _disagrees(case: Case, word: Word, at: int, clause: Clause, one: Said) -> Refusal | None:
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
    if not is_person and not asked:
        why = _other_person(case, clause, one)
        if why:
            return why
    names_subject = at in clause.subject_words or one.at in one.clause.subject_words
    if not names_subject:
        if not _same_ending(clause, one.clause):
            return Refusal(
                "L5.2", "It is over, and the entry does not say so; or the other way round."
            )
        if one.clause.said_no != clause.said_no and not _both_over(clause, one.clause):
            return Refusal("L5.2", "The entry turns the quote around: a negation is lost or won.")
        if one.clause.compared != clause.compared:
            return Refusal("L5.2", "The entry turns a comparison around.")
    return None


def _owned(case: Case, clause: Clause, one: Said) -> bool:
    """ "Has a dog", of "my dog": who belongs to the user may stand behind a "has"."""
    reading = case.judged_text
    lists = case.acts
    mine = any(
        one.reading.words[at].text in lists.listed("user_mine") for at in one.clause.subject_words
    )
    having = any(
        reading.words[at].text in lists.listed("owning") for at in range(clause.first, clause.last)
    )
    return mine and having and one.at in one.clause.subject_words and not one.clause.owners


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


def _both_over(new: Clause, said: Clause) -> bool:
    return said.ended == "stopped" and new.said_no == 1 and said.said_no == 0


def _other_person(case: Case, clause: Clause, one: Said) -> Refusal | None:
    said, new = one.clause.subject, clause.subject
    wrong = Refusal("L5.2", "The quote speaks of another person.")
    if THIRD in said and not said - {THIRD}:
        return wrong
    if new - {USER, THIRD}:
        keys = _keys(case, clause)
        if not (said & (new - {USER, THIRD})):
            return wrong if said - {THIRD} else (None if not said and new <= keys else wrong)
        if _mixes(new - {USER, THIRD}, said, one.reading):
            return wrong
        if not one.clause.owners <= (new | clause.owners | keys):
            return wrong
        return None
    if USER in new:
        return None if USER in said or (not said and _fragment(case, one.clause)) else wrong
    if not said:
        return None if _keeps_opening(case, one) else wrong
    if USER in said:
        return None
    opening = _opening(case, clause)
    return None if opening in said else wrong


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
    return opening is not None and opening.text in case.acts.listed("own_verbs")


def keeps_its_meaning(case: Case) -> Refusal | None:
    """A wish is not a fact, a guess not a certainty; who said it is said; "only" stays."""
    if case.new is None:
        return None
    used = _used(case)
    new_kept = frozenset().union(*(clause.kept for clause in case.new.clauses))
    dated = bool(spoken_dates(case.text, case.evidence.turn.began_at))
    for clause in used:
        if clause.source and not (
            case.new.does("reported") and any(one.source for one in case.new.clauses)
        ):
            return Refusal("L5.2", "Somebody else says so, and the entry does not name them.")
        if case.directive:
            continue
        if (
            "wanting" in clause.kept
            and "wanting" not in new_kept
            and not (case.new.does("intent") or dated)
        ):
            return Refusal("L5.2", "It is wanted, not done, and the entry does not say so.")
        if "hedge" in clause.kept and not new_kept & {"hedge", "hedge_light"}:
            return Refusal("L5.2", "The user is not sure, and the entry is.")
        if ("restriction" in clause.kept or _restricted(case, clause)) and (
            "restriction" not in new_kept
        ):
            return Refusal("L5.2", "It holds with a restriction that the entry leaves out.")
    return None


def _restricted(case: Case, clause: Clause) -> bool:
    """ "… except mushrooms", "no coffee without milk": what follows narrows it down."""
    reading = case.evidence.reading
    following = next((each for each in reading.clauses if each.first == clause.last), None)
    if following is None:
        return False
    text = reading.words[following.first].text
    return text in case.acts.listed("excepting") or (
        clause.said_no > 0 and text in case.acts.listed("lacking")
    )


def _used(case: Case) -> tuple[Clause, ...]:
    """The touched clauses that ground a word of the new text."""
    assert case.new is not None
    keys = {word.key for word in case.new.words if word.key}
    words = case.evidence.reading.words
    return tuple(
        clause
        for clause in case.evidence.touched
        if any(word.key in keys for word in words[clause.first : clause.last] if word.key)
    )


def about_the_old(case: Case) -> Refusal | None:
    """An update and a removal rest on words about the old entry."""
    if case.old is None or case.proposal.operation == "add":
        return None
    spoken = {
        word.key
        for clause in case.evidence.touched
        for word in case.evidence.reading.words[clause.first : clause.last]
        if word.key
    }
    old = {word.key for word in case.old.words if word.key}
    broad = case.acts.lexicon.broad
    narrow = old - broad if case.proposal.operation == "remove" and old - broad else old
    if not spoken & narrow:
        return Refusal("L5.2", "The quote is not about the entry: they share no word.")
    return None


def takes_back(case: Case) -> Refusal | None:
    """A removal needs words that deny, end or correct the entry."""
    if case.proposal.operation != "remove" or case.old is None:
        return None
    if case.evidence.reading.does("forget"):
        return None
    for clause in case.old.clauses:
        for at in range(clause.first, clause.last):
            word = case.old.words[at]
            for one in case.said.get(word.key, ()) if word.key else ():
                if one.source != "quote":
                    continue
                turned = one.clause.said_no != clause.said_no or one.clause.ended != clause.ended
                if turned and _other_person(case, clause, one) is None:
                    return None
    return Refusal("L5.2", "The quote does not take the entry back.")


def not_taken_out(case: Case) -> Refusal | None:
    """What the user removed is not learned again from what was said before."""
    if not case.text:
        return None
    for removed in case.grounds.removed:
        if case.evidence.turn.began_at > removed.at:
            continue
        if _same(removed.text, case.text) or _same_meaning(case, removed.text):
            return Refusal("L5.5", "The user took this out after it was said.")
    return None


def _same_meaning(case: Case, removed: str) -> bool:
    assert case.new is not None
    other = read(canonical.plain(removed), case.evidence.reading.language, entry=True)
    mine = {word.key for word in case.new.words if word.key}
    theirs = {word.key for word in other.words if word.key}
    return bool(mine) and (mine <= theirs or theirs <= mine)


EVIDENCE: tuple[Check, ...] = (
    clean_words,
    states_it,
    not_read_aloud,
    same_language,
    dates_follow,
    links_said,
    numbers_said,
    all_of_it_said,
    keeps_its_meaning,
    worth_keeping,
    about_the_old,
    takes_back,
    not_taken_out,
)
