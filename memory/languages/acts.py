"""What a sentence does: who is spoken of, what is denied, ended, asked, supposed or read aloud.

`read` gives each word of a text the clause it stands in, and each clause what is true of it.
The words and patterns of a language stand in `memory/languages/<language>/acts.toml`; patterns
run over words that stand apart, one space between them.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import pairwise
from typing import Any, Literal

import re2

from memory.languages import packaged
from memory.languages.folding import fold, pattern
from memory.languages.words import Lexicon, Word, language_of, lexicons

Ending = Literal["", "used", "stopped"]

USER = "user"
THIRD = "third"
JARVIS = "jarvis"
LIKING = "=like"

_OWNERS = ("s", "es")
_BREAKS = frozenset(",;:()[]–—-/\"'¿¡")
_STOPS = frozenset(".!?…")
_KIN_REACH = 4
_NEAR_WORDS = 4
_SHORT_PHRASE = 4
_MEDIUM_REACH = 7


@dataclass(frozen=True, slots=True, kw_only=True)
class Clause:
    """The words from `first` to `last` (excluded), and what holds for them.

    `subject` are whom it speaks of: USER, THIRD (he, she, who was named before), and the keys
    of words for people ("sister", "tom"). Empty: a thing, or nobody named. `owners` are those
    through whom the subject is named, as the friend in "my friend's sister". `subject_words`
    are the places that name the subject. `said_no` counts negations, two at most. `source` are
    those who say it, where it is reported. `kept` are the meanings that an entry may not drop.
    """

    first: int
    last: int
    subject: frozenset[str] = frozenset()
    owners: frozenset[str] = frozenset()
    subject_words: frozenset[int] = frozenset()
    said_no: int = 0
    ended: Ending = ""
    source: frozenset[str] = frozenset()
    kept: frozenset[str] = frozenset()
    compared: bool = False
    question: bool = False
    conditional: bool = False
    unreal: bool = False
    request: bool = False
    embedded: bool = False
    temporal: bool = False
    dictates: bool = False
    moment: bool = False
    inherits: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A text that was read. `retracted` are words that the speaker put right at once ("two, I
    mean three"). `found` holds, for each act of the text, where its words stand."""

    language: str
    words: tuple[Word, ...]
    clauses: tuple[Clause, ...]
    people: tuple[tuple[frozenset[str], int], ...]
    retracted: frozenset[int]
    found: Mapping[str, tuple[tuple[int, int], ...]] = field(repr=False)

    def does(self, act: str) -> bool:
        return bool(self.found[act])

    def clause_of(self, word: int) -> Clause:
        at = bisect_right([clause.first for clause in self.clauses], word) - 1
        return self.clauses[max(0, at)]


class Acts:
    """The acts of one language."""

    def __init__(self, lexicon: Lexicon) -> None:
        table = packaged.load(lexicon.language, "acts")
        self.lexicon = lexicon
        self._lists = {
            name: lexicon.forms(listed)
            for name, listed in table.items()
            if isinstance(listed, list)
        }
        if self._lists["owner_before"]:  # "die Frau meines Chefs": the owner has an ending
            self._lists["kin"] |= {f"{each}{end}" for each in self._lists["kin"] for end in _OWNERS}
        for name in ("own_ends", "not_own_ends"):  # as written, accents and all
            self._lists[name] = frozenset(table[name])
        self.endings = tuple(table["own_verb_endings"])
        self.verb_second = bool(table["verb_second"])
        self.contracted = {
            lexicon.plain(fold(short)): lexicon.plain(fold(long))
            for short, long in table["contracted"].items()
        }
        self.kin_keys = {lexicon.key(word)[0] or word for word in self._lists["kin"]}
        self._patterns = {
            name: self._compiled(written) for name, written in table["patterns"].items()
        }
        self.third_ends = tuple(table["third_ends"])
        self.finite_ends = tuple(table["finite_ends"])
        self.last_verb_ends = tuple(table["last_verb_ends"])
        self.modifier_ends = tuple(table["modifier_ends"])
        self.acts = frozenset(self._patterns)
        self._senses = {
            sense: self._compiled(written) for sense, written in table["senses"].items()
        }

    def _compiled(self, written: list[str]) -> Any:
        options = re2.Options()
        options.max_mem = 64 << 20
        options.log_errors = False
        return re2.compile(
            "|".join(f"(?:{self._plain(pattern(each))})" for each in written), options
        )

    def _plain(self, written: str) -> str:
        if self.lexicon.language != "de":
            return written
        return re.sub(r"([aou])e(?!\?)", r"\1", written)

    def listed(self, name: str) -> frozenset[str]:
        return self._lists[name]

    def uncontracted(self, preposition: str) -> str:
        """ "zum" is "zu"; and those that say the same of a place are one."""
        return self.contracted.get(preposition, preposition)

    def spans(self, act: str, text: str) -> Iterator[tuple[int, int]]:
        for match in self._patterns[act].finditer(text):
            if match.end() > match.start():
                yield match.start(), match.end()

    def senses(self, text: str) -> Iterator[tuple[str, int, int]]:
        """Words that mean something only where they stand: what by, and from where to where."""
        for sense, written in self._senses.items():
            for match in written.finditer(text):
                yield sense, match.start(), match.end()

    def search(self, act: str, text: str) -> bool:
        return self._patterns[act].search(text) is not None


@lru_cache(maxsize=1)
def _acts() -> Mapping[str, Acts]:
    return {
        language: Acts(lexicon)
        for language, lexicon in lexicons().items()
        if packaged.has(language, "acts")
    }


def acts_of(language: str) -> Acts:
    known = _acts()
    return known.get(language) or next(iter(known.values()))


def languages() -> tuple[str, ...]:
    return tuple(_acts())


def does(act: str, text: str, language: str | None = None) -> bool:
    """Whether the text does this, in any language, or in `language`.

    Acts are the names of the patterns in acts.toml, the same in each language.
    """
    asked = [acts_of(language)] if language else list(_acts().values())
    return any(acts.search(act, joined(acts.lexicon.words(text))[0]) for acts in asked)


def joined(words: tuple[Word, ...]) -> tuple[str, list[int]]:
    """Words with one space between, and where each begins."""
    starts = []
    at = 0
    for word in words:
        starts.append(at)
        at += len(word.text) + 1
    return " ".join(word.text for word in words), starts


@lru_cache(maxsize=512)
def read(
    text: str,
    language: str | None = None,
    *,
    entry: bool = False,
    cuts: tuple[int, ...] = (),
) -> Reading:
    """Linear in the text.

    `language` is a hint for what was said, where its words don't tell; for an `entry` it is
    known. `cuts` are places in the text where something new begins, for all that is known.
    """
    acts = acts_of(language if entry and language else language_of(text, language))
    words = acts.lexicon.words(text)
    if not entry:
        words = _without_stammers(words, acts)
    return _Reader(acts, words, raw=text, entry=entry, cuts=cuts).reading()


def _without_stammers(words: tuple[Word, ...], acts: Acts) -> tuple[Word, ...]:
    """ "Ich ich esse": a word said twice is said once, but for a "no"."""
    return tuple(
        word
        for before, word in zip((None, *words), words, strict=False)
        if before is None
        or before.text != word.text
        or word.kind != "word"
        or word.text in acts.listed("particle")
    )


class _Reader:
    def __init__(
        self,
        acts: Acts,
        words: tuple[Word, ...],
        *,
        raw: str,
        entry: bool,
        cuts: tuple[int, ...],
    ) -> None:
        self._acts = acts
        self._raw = raw
        self._entry = entry
        self._cues = frozenset(
            next((at for at, word in enumerate(words) if word.start >= cut), 0) for cut in cuts
        )
        self._text, self._starts = joined(words)
        self._found = {
            act: tuple(self._word_span(*span) for span in acts.spans(act, self._text))
            for act in acts.acts
        }
        spared = self._found["not_repair"]
        self._found["repair"] = tuple(
            (start, end)
            for start, end in self._found["repair"]
            if not any(begin < end and stop > start for begin, stop in spared)
        )
        self._found["thinking"] = tuple(
            (start, end)
            for start, end in self._found["thinking"]
            if not any(start < stop and end > begin for begin, stop in self._found["filler"])
        )
        self._words = self._with_senses(words)
        self._quoted = frozenset(
            at
            for at in range(2, len(self._words))
            if self._is(at, "user") and self._is(at - 1, "copula") and not entry
        )
        self._rivals = frozenset(end - 1 for _, end in self._found["rival"])
        self._no_words = self._negations()
        self._against = self._turned()

    def reading(self) -> Reading:
        clauses: list[Clause] = []
        people: list[tuple[frozenset[str], int]] = []
        for first, last in self._pieces():
            clause = self._clause(first, last, clauses[-1] if clauses else None, people)
            clauses.append(clause)
        self._deny_what_stands_before(clauses)
        self._doubt_answers_to_oneself(clauses)
        return Reading(
            language=self._acts.lexicon.language,
            words=self._words,
            clauses=tuple(clauses) or (Clause(first=0, last=0),),
            people=tuple(people),
            retracted=frozenset()
            if self._found["defining"]
            else frozenset(
                at for start, _ in self._found["repair"] for at in self._put_right(start)
            ),
            found=self._found,
        )

    def _deny_what_stands_before(self, clauses: list[Clause]) -> None:
        """ "Religious, that I am not": a clause of a verb and a "not" alone denies the words in
        front of it that have no verb."""
        for at, clause in enumerate(clauses):
            bare = clause.said_no and not any(
                self._words[place].key and not self._is(place, "no")
                for place in range(clause.first, clause.last)
            )
            named = any(self._is(place, "verbs") or self._is(place, "user")
                        for place in range(clause.first, clause.last))  # fmt: skip
            alone = all(
                self._words[place].kind == "mark" or self._is(place, "no")
                for place in range(clause.first, clause.last)
            )
            if not bare or not (named or alone):
                continue
            for earlier in range(at - 1, -1, -1):
                if self._words[clauses[earlier].last - 1].text in _STOPS:
                    break
                place = clauses[earlier]
                if place.said_no or self._has_any_verb(place.first, place.last):
                    continue
                clauses[earlier] = replace(clauses[earlier], said_no=1)

    def _doubt_answers_to_oneself(self, clauses: list[Clause]) -> None:
        """ "How many children do I have, I have three children": the question goes on."""
        asked: set[str] = set()
        for at, clause in enumerate(clauses):
            keys = {word.key for word in self._words[clause.first : clause.last] if word.key}
            if clause.first and self._words[clause.first - 1].text in _STOPS:
                asked = set()
            if clause.question:
                asked |= keys
            elif asked & keys:
                clauses[at] = replace(clause, question=True)

    def _put_right(self, before: int) -> Iterator[int]:
        """The last word that carries meaning, as often as it was stammered."""
        last = max((at for at in range(before) if self._words[at].key), default=-1)
        at = last
        while at >= 0 and self._words[at].key == self._words[last].key:
            yield at
            at -= 1

    # Places

    def _with_senses(self, words: tuple[Word, ...]) -> tuple[Word, ...]:
        """ "like" where it is a verb, and "can't stand", carry what liking is compared by."""
        changed = list(words)
        for sense, begin, stop in self._acts.senses(self._text):
            _, end = self._word_span(begin, stop)
            changed[end - 1] = replace(words[end - 1], key=sense, turned=0)
        for start, end in self._found["against"]:
            for at in range(start, end):
                if end - start <= _SHORT_PHRASE:  # a longer one holds what is disliked
                    changed[at] = replace(words[at], key="", turned=0)
            changed[end - 1] = replace(words[end - 1], key=LIKING, turned=0)
        return tuple(changed)

    def _word_span(self, start: int, end: int) -> tuple[int, int]:
        first = bisect_right(self._starts, start) - 1
        return max(0, first), max(first + 1, bisect_right(self._starts, max(start, end - 1)))

    def _is(self, at: int, name: str) -> bool:
        return 0 <= at < len(self._words) and self._words[at].text in self._acts.listed(name)

    def _touches(self, act: str, first: int, last: int) -> bool:
        return any(start < last and end > first for start, end in self._found[act])

    def _within(self, act: str, first: int, last: int) -> bool:
        text, _ = joined(self._words[first:last])
        return self._acts.search(act, text)

    # Negation

    def _negations(self) -> frozenset[int]:
        covered = {
            at
            for act in ("not_no", "stopped", "tag", "repair")
            for start, end in self._found[act]
            for at in range(start, end)
            if act != "repair" or start
        }
        for start, end in self._found["against"]:
            covered.update(range(start, end))
        found = {
            at
            for at, word in enumerate(self._words)
            if word.text in self._acts.listed("no")
            and at not in covered
            and not self._is_particle(at)
        }
        after = {
            at
            for at in range(min(found, default=0), len(self._words))
            if self._is(at, "no_after_no")
        }
        return frozenset(found | after if self._touches("neither", 0, len(self._words)) else found)

    def _is_particle(self, at: int) -> bool:
        """A "no" that answers, and denies nothing in its own sentence."""
        if not self._is(at, "particle"):
            return False
        opens = (
            at == 0
            or self._words[at - 1].text in _STOPS
            or (self._words[at - 1].kind == "mark" or self._is(at - 1, "particle"))
        )
        if not opens:
            return False
        if at + 1 >= len(self._words):
            return True
        following = self._words[at + 1]
        return (
            following.kind == "mark"
            or following.text in self._acts.listed("particle_before")
            or following.text in self._acts.listed("particle")
        )

    def _turned(self) -> Mapping[int, int]:
        """Words whose group is denied by themselves or by the phrase they stand in."""
        turned = {at: 1 for at, word in enumerate(self._words) if word.turned}
        for start, _ in self._found["against"]:
            turned[start] = 1
        return turned

    # Pieces

    def _pieces(self) -> list[tuple[int, int]]:
        cuts = {0}
        thinking = {end for _, end in self._found["thinking"] if not self._is(end - 1, "joiners")}
        whole = {at for start, end in self._found["denies"] for at in range(start + 1, end)}
        thinking |= {start for start, _ in self._found["cut"]}
        thinking |= {
            end for _, end in self._found["reported"] if not self._is(end - 1, "prepositions")
        }
        thinking |= self._rivals
        for at, word in enumerate(self._words):
            if word.kind == "mark" and (word.text in _BREAKS or word.text in _STOPS):
                cuts.add(at + 1)
            elif word.kind == "mark":
                continue
            elif (
                (at and self._is(at, "joiners") and not self._in_a_phrase(at))
                or at in thinking
                or self._denies_the_rest(at)
                or self._follows_a_last_verb(at)
                or self._is_cue(at)
                or self._opens_statement(at)
            ):
                cuts.add(at)
        cuts |= self._quoted
        edges = sorted(cut for cut in cuts - whole if cut < len(self._words))
        edges.append(len(self._words))
        pieces: list[tuple[int, int]] = []
        for first, last in pairwise(edges):
            if pieces and self._belongs(pieces[-1], first, last):
                pieces[-1] = (pieces[-1][0], last)
            else:
                pieces.append((first, last))
        return pieces

    def _follows_a_last_verb(self, at: int) -> bool:
        """ "Weil ich Zöliakie habe | esse ich kein Brot": two finite verbs side by side."""
        return (
            self._acts.verb_second
            and self._is(at + 1, "user")
            and self._is(at - 1, "verbs")
            and (self._is(at, "verbs") or self._is(at, "opens_before"))
        )

    def _denies_the_rest(self, at: int) -> bool:
        """ "Called Barrett not Bennett": a "not" behind what was stated is about what follows."""
        return (
            self._is(at, "no_of_rest")
            and at > 1
            and bool(self._words[at - 1].key)
            and at + 1 < len(self._words)
            and bool(self._words[at + 1].key)
            and any(
                self._is(other, "verbs") or self._is(other, "own_verbs") for other in range(at - 1)
            )
        )

    def _in_a_phrase(self, at: int) -> bool:
        """ "El año que viene": a word within a phrase joins nothing."""
        return any(start < at < end for start, end in self._found["horizon"])

    def _belongs(self, before: tuple[int, int], first: int, last: int) -> bool:
        """Marks alone make no piece, and "my wife | and I live here" is one."""
        if all(word.kind == "mark" for word in self._words[first:last]):
            return True
        if all(word.kind == "mark" for word in self._words[before[0] : before[1]]):
            return True
        if any(start <= first and last <= end + 1 for start, end in self._found["repair"]):
            return True
        if self._bare_no(first, last):
            return True
        if not self._is(first, "and") or first + 1 >= last:
            return False
        names = [at for at in range(*before) if self._words[at].key]
        return (
            (
                self._is(first + 1, "user")
                or self._is(first + 1, "user_mine")
                or self._is(first + 1, "kin")
            )
            and 0 < len(names) <= 3
            and not any(
                self._is(at, "verbs") or self._is(at, "no") or self._words[at].kind == "mark"
                for at in range(*before)
            )
            and (
                any(self._is(at, "kin") for at in names)
                or (len(names) == 1 and self._words[names[0]].capital)
            )
        )

    def _is_cue(self, at: int) -> bool:
        """A cue before "kann ich" may stand within a sentence that begins with its object."""
        return at in self._cues and not (
            self._acts.verb_second and self._is(at + 1, "user") and self._is(at, "verbs")
        )

    def _bare_no(self, first: int, last: int) -> bool:
        """ "… but coriander, certainly not": the no belongs to what stands before."""
        return any(self._is(at, "no") for at in range(first, last)) and not any(
            self._words[at].key
            or self._is(at, "user")
            or self._is(at, "third")
            or self._is(at, "verbs")
            or self._is(at, "user_mine")
            or (self._is(at, "particle") and self._is_particle_alone(at, first))
            for at in range(first, last)
        )

    def _is_particle_alone(self, at: int, first: int) -> bool:
        return at == first and self._words[at].text in self._acts.listed("particle")

    def _opens_statement(self, at: int) -> bool:
        """ "I" in the middle of words without punctuation: somebody goes on."""
        if at < 2 or self._words[at - 1].kind == "mark":
            return False
        if any(
            start < at <= end
            for act in ("hedge", "condition", "restriction")
            for start, end in self._found[act]
        ):
            return False
        if self._is(at, "user_too") and not self._starts_anew(at):
            return False
        if self._is(at, "opens") and self._acts.verb_second:
            return self._is(at + 1, "opens_before") and not self._is(at - 1, "joiners")
        if not self._words[at - 1].key and not self._is(at - 1, "adverbs"):
            return False
        if self._is(at, "dative") and self._is(at + 1, "user_mine"):
            kin = self._kin_from(at + 2, len(self._words))
            return kin is not None and self._is(kin[3], "third")
        if self._is(at, "opens"):
            return not self._acts.listed("opens_before") or self._is(at + 1, "opens_before")
        if self._is(at, "user_mine") and not self._is(at, "of"):
            kin = self._kin_from(at + 1, len(self._words))
            return (
                kin is not None
                and (
                    self._is(kin[3], "verbs")
                    or self._is(kin[3] + 1, "verbs")
                    or self._goes_on_as_subject(at, kin[3])
                )
                and not self._is(at - 1, "verbs")
            )
        return False

    def _starts_anew(self, at: int) -> bool:
        """ "… me gusta el jazz", and not "las multitudes me agotan"."""
        following = self._words[at + 1] if at + 1 < len(self._words) else None
        return (
            following is not None
            and not self._is(at - 1, "kin")
            and (
                following.key == LIKING
                or self._is(at + 1, "verbs")
                or following.text.endswith(self._acts.endings)
            )
        )

    def _goes_on_as_subject(self, at: int, behind: int) -> bool:
        """Where objects that are people have an "a" before them, one without is a subject."""
        return (
            bool(self._acts.listed("dative"))
            and not any(
                self._is(at - 1, name) for name in ("dative", "prepositions", "copula", "joiners")
            )
            and behind < len(self._words)
            and bool(self._words[behind].key)
            and not self._words[behind].capital
        )

    # Clauses

    def _clause(
        self,
        first: int,
        last: int,
        before: Clause | None,
        people: list[tuple[frozenset[str], int]],
    ) -> Clause:
        named_before = list(people)
        subject, owners, places = self._subject(first, last, named_before, people)
        opening = self._words[first].text
        no = self._count_no(first, last)
        after_stop = before is None or self._words[first - 1].text in _STOPS
        contrast = self._is(first, "contrast")
        if before is not None and not after_stop and self._only_names(first, last, subject):
            subject, owners, places = frozenset(), frozenset(), frozenset()
        if self._entry and before is not None and not after_stop and not places:
            subject = frozenset()  # an entry's verb in the first person tells nothing new
        own_subject = subject
        relative = self._is(first, "relative") and people and before is not None
        if relative and not any(not self._is(at, "user_mine") for at in places):
            subject, owners, places = people[-1][0], frozenset(), frozenset()
        own = bool(subject) or self._has_verb(first, last) or contrast or bool(relative)
        inherits = before is not None and not after_stop and not own
        ended = self._ended(first, last)
        kept = self._kept(first, last)
        source = self._source(first, last, before, after_stop)
        question = self._asks(first, last) or (
            after_stop
            and self._within("question_first", first, first + 12)
            and not self._within("exclaims", first, first + 6)
        )
        embedded = first in self._quoted
        liked = before is not None and any(
            self._words[at].key == LIKING for at in range(before.first, before.last)
        )
        defines = bool(self._found["defining"]) or liked
        temporal = self._is(first, "temporal") and not defines
        conditional = (
            self._touches("condition", first, last)
            and not defines
            and not self._touches("filler", first, last)
        )
        unreal = any(
            start < last
            and end > first
            and not any(begin < end and stop > start for begin, stop in self._found["polite"])
            for start, end in self._found["unreal"]
        )
        compared = opening in self._acts.listed("compared") or first in self._rivals
        dictated = bool(
            before
            and not after_stop
            and (before.dictates or self._is_on_a_medium(first, before, subject))
        )
        request = (
            (
                self._within("request", first, last)
                and not self._touches("purpose", first, last)
                and not (USER in subject and self._touches("horizon", first, last))
            )
            or dictated
            or bool(inherits and before and before.request)
        )
        if before is not None and not after_stop and not self._touches("aside", first, last):
            if not subject and not relative:
                subject, owners = before.subject, before.owners
                if before.subject and THIRD not in before.subject and self._is(first, "relative"):
                    subject = people[-1][0] if people else subject
            embedded = embedded or self._embedded(first, before, own_subject, inherits)
            question = question or (
                before.question
                and (
                    self._touches("wonders", before.first, before.last)
                    or not self._answers(first, last)
                )
            )
            conditional = conditional or before.conditional
            unreal = unreal or before.unreal
            compared = compared or (before.compared and not own)
            if inherits:
                if not no and not contrast:
                    no = before.said_no
                ended = ended or before.ended
                temporal = temporal or before.temporal
                kept = kept | before.kept
        return Clause(
            first=first,
            last=last,
            subject=subject,
            owners=owners,
            subject_words=places,
            said_no=min(no, 2),
            ended=ended,
            source=source,
            kept=kept,
            compared=compared,
            question=question,
            conditional=conditional,
            unreal=unreal,
            request=request,
            embedded=embedded,
            temporal=temporal,
            dictates=dictated or (request and self._touches("text_for", first, last)),
            moment=self._touches("moment", first, last)
            or bool(inherits and before and before.moment),
            inherits=inherits,
        )

    def _embedded(
        self, first: int, before: Clause, subject: frozenset[str], inherits: bool
    ) -> bool:
        """What is thought, doubted or claimed by the clause before, unless the speaker vouches
        for it: "I know that", and not "I don't think that"."""
        span = (before.first, before.last)
        relative = self._is(first, "relative") and not subject
        near = (max(before.first, first - _NEAR_WORDS), first)
        if relative and not self._touches("attitude", *span) and not before.said_no:
            return before.embedded
        if inherits and not self._is(first, "that"):
            return before.embedded
        likes = any(self._words[at].key == LIKING for at in range(*span))
        vouches = (
            any(
                start >= before.first and end >= first
                for start, end in self._found["thinking"]
                if start < first
            )
            or self._touches("vouching", *span)
            or likes
        )
        doubtful = (
            (before.said_no > 0 and not likes)
            or before.unreal
            or self._touches("attitude", *span)
            or self._touches("hedge", *span)
        )
        mark = self._words[first - 1].kind == "mark"
        if before.compared and self._is(first, "that"):
            return before.embedded
        if self._is(first, "that"):
            bare_noun = (
                self._is(first, "relative_too")
                and not self._has_any_verb(*span)
                and not self._does_something(before)
                and not self._touches("attitude", *span)
            )
            if bare_noun and not before.said_no:
                return before.embedded
            return not vouches or doubtful or before.embedded
        if self._is(first, "joiners"):
            return before.embedded and self._is(first, "and") and not subject
        if mark and not self._touches("attitude", *span):
            return False
        return self._touches("attitude", *near) and (not vouches or before.said_no > 0)

    def _has_any_verb(self, first: int, last: int) -> bool:
        return any(
            self._is(at, "verbs") or self._is(at, "user") for at in range(first, last)
        ) or self._touches("reported", first, last)

    def _is_on_a_medium(self, first: int, before: Clause, subject: frozenset[str]) -> bool:
        """ "A note to the landlord I keep two dogs": a text is named, and its words follow."""
        return (
            USER in subject
            and USER not in before.subject
            and not self._is(first, "joiners")
            and self._names_a_medium(first)
        )

    def _names_a_medium(self, first: int) -> bool:
        for at in range(first - 1, max(-1, first - _MEDIUM_REACH), -1):
            if self._words[at].kind == "mark" or self._is(at, "user") or self._is(at, "joiners"):
                return False
            if self._is(at, "medium"):
                return True
        return False

    def _does_something(self, clause: Clause) -> bool:
        """ "Mi hermana va diciendo que": behind somebody a word that is not their name."""
        if not clause.subject - {USER, JARVIS}:
            return False
        named = max(clause.subject_words, default=clause.first)
        return any(
            self._words[at].key and not self._words[at].capital
            for at in range(named + 1, clause.last)
        )

    def _only_names(self, first: int, last: int, subject: frozenset[str]) -> bool:
        """ "and two dogs": one more in a list, not somebody who does something."""
        if not subject or subject & {USER, THIRD, JARVIS}:
            return False
        named = max((at for at in range(first, last) if self._is(at, "kin")), default=last)
        return not any(self._is(at, "verbs") for at in range(first, last)) and not any(
            self._words[at].key and not self._words[at].capital for at in range(named + 1, last)
        )

    def _answers(self, first: int, last: int) -> bool:
        """Behind a question, a reason or a new statement behind a comma is none."""
        opening = self._words[first].text
        if self._is(first, "that") and self._words[first - 1].kind != "mark":
            return False  # "have I told you that …"
        mark = first > 0 and self._words[first - 1].kind == "mark"
        states = bool({USER} & self._subject(first, last, [], [])[0])
        bare = not self._is(first, "joiners")
        return (
            (opening in self._acts.listed("reason") or mark or bare)
            and states
            and not (self._within("question", first, last))
        )

    def _has_verb(self, first: int, last: int) -> bool:
        opening = first + (1 if self._is(first, "joiners") else 0)
        return any(self._is(at, "verbs") for at in range(opening, min(opening + 3, last)))

    def _count_no(self, first: int, last: int) -> int:
        no = sum(first <= at < last for at in self._no_words)
        if self._acts.lexicon.language == "es" and no > 1:
            no = 1  # no como nada: said twice, meant once
        denied = sum(first <= start < last for start, _ in self._found["denies"])
        return no + denied + sum(first <= at < last for at in self._against)

    def _ended(self, first: int, last: int) -> Ending:
        if self._touches("stopped", first, last):
            return "stopped"
        if self._touches("not_used", first, last):
            return ""
        return "used" if self._touches("used", first, last) else ""

    def _kept(self, first: int, last: int) -> frozenset[str]:
        return frozenset(
            act
            for act in ("wanting", "hedge", "hedge_light", "restriction")
            if any(
                start < last
                and end > first
                and not any(begin <= start < stop for begin, stop in self._found["repair"])
                for start, end in self._found[act]
            )
        )

    def _asks(self, first: int, last: int) -> bool:
        opened = first > 0 and self._words[first - 1].text == "¿"
        return opened or self._within("question", first, last)

    def _source(
        self, first: int, last: int, before: Clause | None, after_stop: bool
    ) -> frozenset[str]:
        for start, _ in self._found["reported"]:
            if first <= start < last:
                said_by = self._mentions(first, start)
                if USER not in said_by or said_by - {USER}:
                    return frozenset(said_by - {USER}) or frozenset({THIRD})
        if before is not None and not after_stop:
            return before.source
        return frozenset()

    def _mentions(self, first: int, last: int) -> frozenset[str]:
        found: set[str] = set()
        for at in range(first, last):
            if self._is(at, "user"):
                found.add(USER)
            elif self._is(at, "kin"):
                found.add(self._words[at].key or self._words[at].text)
            elif self._is(at, "third"):
                found.add(THIRD)
            elif self._words[at].capital and self._words[at].key:
                found.add(self._words[at].key)
        return frozenset(found)

    # Who is spoken of

    def _subject(
        self,
        first: int,
        last: int,
        before: list[tuple[frozenset[str], int]],
        people: list[tuple[frozenset[str], int]],
    ) -> tuple[frozenset[str], frozenset[str], frozenset[int]]:
        named: list[tuple[int, frozenset[str], frozenset[str], frozenset[int], bool]] = []
        at = first
        while at < last:
            if self._is(at, "user_named"):
                if self._entry and self._is_told_of(first, at) and not self._owns(at, last):
                    named.insert(0, self._topic(first))
                elif self._entry and not self._owns(at, last) and not self._is_with(at, named):
                    named.append((at, frozenset({USER}), frozenset(), frozenset({at}), True))
            elif self._is(at, "user"):
                named.append((at, frozenset({USER}), frozenset(), frozenset({at}), True))
            elif self._is(at, "user_too") and self._is(at - 1, "prepositions"):
                pass  # "a diferencia de mí"
            elif self._is(at, "user_too"):
                named.append((at, frozenset({USER}), frozenset(), frozenset({at}), False))
            elif self._is(at, "user_mine") or self._is(at, "third_mine"):
                kin = self._kin_from(at + 1, last)
                if kin is None:
                    of_user = self._is(at, "user_mine") or (self._entry and not people)
                    whose = USER if of_user else THIRD
                    named.append((at, frozenset({whose}), frozenset(), frozenset({at}), False))
                else:
                    start = at
                    keys, owners, places, at = kin
                    if self._is(start, "third_mine") and not self._entry:
                        owners |= people[-1][0] if people else {THIRD}
                    named_first = self._named_as(first, start)
                    keys, places = keys | named_first[0], places | named_first[1]
                    people.append((keys, at))
                    if named_first[0] or not self._is_object(start, first):
                        named.append((min(places), keys, owners, places, False))
                    continue
            elif self._is(at, "kin"):
                kin = self._kin_from(at, last)
                assert kin is not None
                start = at
                keys, owners, places, at = kin
                if self._is_owner(start - 1, first):
                    owners |= {self._words[start - 1].key}
                named_first = self._named_as(first, start)
                keys, places = keys | named_first[0], places | named_first[1]
                people.append((keys, at))
                if named_first[0] or not self._is_object(start, first):
                    named.append((min(places), keys, owners, places, False))
                continue
            elif self._is(at, "third") and self._entry and self._is_told_of(first, at):
                named.insert(0, self._topic(first))
            elif self._is(at, "third"):
                named.append((at, frozenset({THIRD}), frozenset(), frozenset({at}), False))
            elif self._is(at, "jarvis") and not self._words[at].key:
                named.append((at, frozenset({JARVIS}), frozenset(), frozenset({at}), False))
            elif not named and self._others_verb(at, first):
                named.append((at, frozenset({THIRD}), frozenset(), frozenset(), True))
            elif self._own_verb(at, first) and not named and self._may_own(first):
                named.append((at, frozenset({USER}), frozenset(), frozenset(), True))
            at += 1
        if not named:
            return frozenset(), frozenset(), frozenset()
        ours = next((each for each in named if each[4]), None)
        chosen = ours or named[0]
        whom, through, where = set(chosen[1]), set(chosen[2]), set(chosen[3])
        for each in named:
            joined_on = any(
                self._is(between, "and")
                for between in range(min(each[0], chosen[0]), max(each[0], chosen[0]))
            )
            if each is not chosen and joined_on and abs(each[0] - chosen[0]) <= _KIN_REACH:
                whom |= each[1]
                through |= each[2]
                where |= each[3]
        if THIRD in whom and before:
            whom |= before[-1][0]
        return frozenset(whom), frozenset(through), frozenset(where)

    def _named_as(self, first: int, at: int) -> tuple[frozenset[str], frozenset[int]]:
        """ "Anna is my sister": the name before, where nothing but "is" stands between."""
        keyed = [other for other in range(first, at) if self._words[other].key]
        if (
            len(keyed) == 1
            and self._words[keyed[0]].capital
            and any(self._is(other, "copula") for other in range(keyed[0], at))
            and not any(self._is(other, "prepositions") for other in range(keyed[0], at))
        ):
            return frozenset({self._words[keyed[0]].key}), frozenset(keyed)
        return frozenset(), frozenset()

    def _is_object(self, at: int, first: int) -> bool:
        """ "Has a dog", "lives with her sister": who is named behind a verb that opens the
        clause, or a preposition, is not who it speaks of."""
        opening = first
        while opening < at and (
            self._is(opening, "joiners") or self._words[opening].kind == "mark"
        ):
            opening += 1
        if opening == at:
            return False
        if self._is(opening, "verbs") and not self._is(opening, "user"):
            return True
        if (
            self._entry
            and opening == at - 1
            and bool(self._words[opening].key)
            and self._acts.third_ends
            and self._words[opening].text.endswith(self._acts.third_ends)
            and not self._is(opening, "kin")
            and self._is(at, "kin")
        ):
            return True  # "Visits grandmother"
        determined = at
        while determined > opening and (
            self._is(determined, "third_mine") or self._is(determined - 1, "third_mine")
        ):
            determined -= 1
        if determined - 1 > opening and self._is(determined - 1, "dative"):
            return True  # "visita a su abuela"
        if self._is(at, "object_articles") or self._is(at - 1, "object_articles"):
            return True
        one_of_many = self._is(at, "indefinite") or self._is(at - 1, "indefinite")
        if (one_of_many or not self._acts.verb_second) and any(
            self._is(other, "verbs") for other in range(opening, at)
        ):
            return True
        if any(self._is(other, "of") for other in range(opening, at)):
            return False
        if self._entry and any(
            self._words[other].key and not self._is(other, "adverbs") and not self._is(other, "kin")
            for other in range(opening, at - 1)
        ):
            return True
        behind = at - 1
        while (
            behind > opening
            and self._words[behind].kind == "word"
            and (
                self._is(behind, "user_mine")
                or self._is(behind, "third")
                or self._is(behind, "articles")
            )
        ):
            behind -= 1
        if self._is(behind, "prepositions"):
            return True
        return bool(
            self._words[opening].key
            and behind == opening
            and behind < at - 1
            and not self._is(opening, "kin")
            and not any(self._is(other, "of") for other in range(opening, at))
        )

    def _owns(self, at: int, last: int) -> bool:
        """ "the user's sister", "Schwester des Nutzers": the user is not who it is about."""
        if self._is(at + 1, "genitive") or (
            self._words[at].text.endswith("s") and self._is(at + 1, "kin")
        ):
            return any(
                self._is(other, "kin") for other in range(at + 1, min(at + 2 + _KIN_REACH, last))
            )
        behind = range(max(0, at - 3), at)
        return any(self._is(other, "of") for other in behind) and any(
            self._is(other, "kin") for other in range(max(0, at - 5), at)
        )

    def _is_owner(self, at: int, first: int) -> bool:
        """ "Pauls Schwester", where an owner has an "s" and no apostrophe."""
        return (
            at >= first
            and bool(self._acts.listed("owner_before"))
            and self._words[at].capital
            and bool(self._words[at].key)
            and self._words[at].text.endswith("s")
            and not self._is(at, "kin")
        )

    def _is_with(self, at: int, named: list[Any]) -> bool:
        """ "Mother lives with the user": the entry speaks of her."""
        behind = at - 1
        while behind > 0 and self._is(behind, "articles"):
            behind -= 1
        return bool(named) and self._is(behind, "prepositions")

    def _topic(
        self, first: int
    ) -> tuple[int, frozenset[str], frozenset[str], frozenset[int], bool]:
        """The clause's first word as its subject."""
        return first, frozenset({self._words[first].key}), frozenset(), frozenset({first}), True

    def _is_told_of(self, first: int, at: int) -> bool:
        """ "Ben taught the user": the entry speaks of Ben."""
        opening = self._words[first]
        return (
            bool(opening.key)
            and opening.capital
            and opening.kind == "word"
            and (at > first + 1 or self._is(at, "dative_third"))
            and not self._is(first, "kin")
            and not any(self._words[other].key == LIKING for other in range(first, at))
            and not any(
                self._is(other, "of")
                or self._words[other].kind == "mark"
                or (self._is(other, "verbs") and other == first)
                for other in range(first, at)
            )
            and not self._own_word(first)
        )

    def _own_word(self, at: int) -> bool:
        return self._is(at, "own_verbs") or self._is(at, "verbs")

    def _may_own(self, first: int) -> bool:
        """Behind an "and" a verb is of the person named before, unless its form tells."""
        return bool(self._acts.endings) or not self._is(first, "joiners")

    def _others_verb(self, at: int, first: int) -> bool:
        """ "Ayer empezó …": the ending of a verb that opens the clause is of somebody else."""
        word = self._words[at]
        return (
            bool(word.key)
            and word.kind == "word"
            and self._raw[word.end - 1 : word.end].lower() in self._acts.listed("not_own_ends")
            and not any(
                self._words[other].key and not self._is(other, "adverbs")
                for other in range(first, at)
            )
        )

    def _own_verb(self, at: int, first: int) -> bool:
        """A verb in the first person where no "I" is needed, at the beginning."""
        text = self._words[at].text
        last_letter = self._raw[self._words[at].end - 1 : self._words[at].end].lower()
        if last_letter in self._acts.listed("not_own_ends"):
            return False  # "mordió" is not "muerdo"
        behind = self._words[at - 1].text if at else ""
        if (
            self._is(at - 1, "articles")
            or self._is(at - 1, "prepositions")
            or behind in self._acts.contracted
        ):
            return False
        if (
            self._words[at].kind == "word"
            and (
                last_letter in self._acts.listed("own_ends")
                or (text.endswith(self._acts.endings) and self._is(at - 1, "before_verbs"))
            )
            and self._words[at].key
            and not self._words[at].capital
        ):
            return bool(self._acts.endings)
        if self._words[at].kind != "word" or any(
            self._words[other].key
            and not self._is(other, "adverbs")
            and not self._touches("horizon", other, other + 1)
            for other in range(first, at)
            if self._words[other].kind == "word"
        ):
            return False
        return text in self._acts.listed("own_verbs") or (
            bool(self._acts.endings)
            and not self._is(at, "joiners")
            and not self._is(first, "and")
            and (not self._words[at].capital or at == 0)
            and len(text) > 3
            and text.endswith(self._acts.endings)
            and bool(self._words[at].key)
        )

    def _kin_from(
        self, at: int, last: int
    ) -> tuple[frozenset[str], frozenset[str], frozenset[int], int] | None:
        """The people named from here on: their keys, their owners, the places, what comes next."""
        start = next(
            (other for other in range(at, min(at + _KIN_REACH, last)) if self._is(other, "kin")),
            None,
        )
        if start is None or any(self._words[other].kind == "mark" for other in range(at, start)):
            return None
        if any(
            not (
                self._words[other].key
                or self._is(other, "user_mine")
                or self._is(other, "articles")
            )
            or self._is(other, "verbs")
            or self._is(other, "thing")
            for other in range(at, start)
        ):
            return None
        keys = {self._words[start].key or self._words[start].text}
        owners: set[str] = set()
        places = set(range(at, start + 1))
        follow = start + 1
        while follow < last:
            word = self._words[follow]
            if self._is(follow, "genitive"):
                following = self._kin_from(follow + 1, last)
                if following is None:
                    follow += 1
                    break
                return (
                    following[0],
                    frozenset(owners | keys | set(following[1])),
                    frozenset(places | set(following[2])),
                    following[3],
                )
            if self._is(follow, "of"):
                following = self._kin_from(follow + 1, min(last, follow + 4))
                if following is None:
                    break
                owners |= set(following[0]) | set(following[1])
                places |= set(following[2])
                follow = following[3]
                break
            if word.kind == "word" and word.capital and word.key and not self._is(follow, "verbs"):
                keys.add(word.key)
                places.add(follow)
                follow += 1
                continue
            break
        return frozenset(keys), frozenset(owners), frozenset(places), follow


def people_before(reading: Reading) -> frozenset[str]:
    """Whom a "she" in the next sentence speaks of: the last who were named."""
    if reading.people:
        return reading.people[-1][0]
    last = reading.clauses[-1].subject - {USER, THIRD}
    return frozenset(last)


def resolved(clause: Clause, people: frozenset[str]) -> Clause:
    """The clause with those named before in the place of "he" and "she"."""
    if THIRD not in clause.subject or clause.subject - {THIRD, USER}:
        return clause
    return replace(clause, subject=(clause.subject - {THIRD}) | people | {THIRD})
