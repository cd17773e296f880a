"""“Remember that …”: what of a turn the user asks to have written down, with no model (L3)."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache

from memory.languages import acts
from memory.languages.dates import with_dates
from memory.languages.folding import fold, folded
from memory.languages.sentences import opens_request, sentences
from memory.notebooks.main_clause import PERSONS, main_clause
from memory.notebooks.remember_rules import Rules, all_rules, rules_of
from memory.records import Language, Notebook

_EDGES = " \t\r\n,;:-–—…"
_OPENING_MARKS = "¿¡ \t"
_WORD = re.compile(r"[^\W_]+")
_MARK = re.compile(r"[,;:.!?-]")
_LEAST_WORDS = 2
_MOST_OPENERS = 6
_MOST_STARTS = 8
_MOST_FACTS = 8
_NAMING_WORDS = 4
_REACH_CHARS = 240
_MOST_CHARS = 1_500
"""What is longer was not said at once; its beginning is read."""


@dataclass(frozen=True, slots=True)
class Asked:
    """`fact` stands to the letter in `quote`, a sentence of the user's; both are empty where the
    request points back and there is nothing to point at. `subordinate`: it stood behind "that".
    `earlier`: it was said in the turn before. `read_aloud`: words in front of it in the turn
    introduce something that is read.
    """

    fact: str
    quote: str
    language: Language
    subordinate: bool = False
    earlier: bool = False
    read_aloud: bool = False


# What is asked for --------------------------------------------------------------------


def only_looks_like_it(text: str) -> bool:
    """“Do you remember …?”, “I can't remember that”, “remind me to …” (L3.2)."""
    return any(_is_other(sentence.text) for sentence in sentences(text))


@lru_cache(maxsize=16)
def asked(text: str, before: str | None = None) -> tuple[Asked, ...]:
    """What a turn asks to remember. `before` is the user's previous turn: “remember that” alone
    points back to its last sentence.

    A turn is asked about several times: at its first silence, when it is over, and when it is
    written down.
    """
    text = text[:_MOST_CHARS]
    places = [
        (begin + start, piece, "" if start or _is_joined(piece) else text[within:begin])
        for within, begin, sentence in _whole_requests(text)
        for start, piece in _requests(sentence)
    ]
    parts = [piece for _, piece, _ in places]
    found: dict[Asked, None] = {}
    for number, (start, _, in_front) in enumerate(places):
        one = _asked_in(parts, number, before)
        if one is not None and not (in_front and acts.does("text_for", in_front)):  # dictated
            found[replace(one, read_aloud=_is_read_aloud(one, text[:start]))] = None
        if len(found) == _MOST_FACTS:
            break
    return tuple(found)


def _whole_requests(text: str) -> Iterator[tuple[int, int, str]]:
    """The sentences of a turn: where the punctuated one begins, where it begins, its text.

    What is to be remembered is not cut by its own words, only before another request.
    """
    waiting: tuple[int, int, int] | None = None
    for sentence in sentences(text):
        goes_on = (
            waiting
            and waiting[0] == sentence.within[0]
            and (_states(sentence.text) or _is_unfinished(text[waiting[1] : waiting[2]]))
        )
        if waiting and not goes_on:
            yield waiting[0], waiting[1], text[waiting[1] : waiting[2]]
            waiting = None
        if waiting:
            waiting = (*waiting[:2], sentence.end)
        elif _begun(fold(sentence.text)):
            waiting = (sentence.within[0], sentence.start, sentence.end)
        else:
            yield sentence.within[0], sentence.start, sentence.text
    if waiting:
        yield waiting[0], waiting[1], text[waiting[1] : waiting[2]]


def _is_unfinished(request: str) -> bool:
    said = fold(request)
    begun = _begun(said)
    return begun is not None and _only_names(said[begun.end :])


def _only_names(fact: str) -> bool:
    """ "Sunday evenings | get me down": a few words that name something, and no verb. What follows
    is said of it, whatever it looks like."""
    words = _WORD.findall(fold(fact))
    return 0 < len(words) <= _NAMING_WORDS and not any(
        word in acts.acts_of(language).listed(name)
        for word in words
        for language in acts.languages()
        for name in ("verbs", "own_verbs", "user")
    )


def _is_read_aloud(one: Asked, in_front: str) -> bool:
    """Nobody calls themselves “the user”."""
    said = fold(one.fact)
    return any(rules.not_own.match(said) for rules in all_rules()) or (
        not one.earlier and acts.does("reading", in_front)
    )


def _requests(sentence: str) -> list[tuple[int, str]]:
    """The sentence, cut where it asks again: “… and remember that …”."""
    said = folded(sentence)
    cuts = {0}
    for rules in () if _is_other(sentence) else all_rules():
        for joint in rules.joint.finditer(said.text):
            before = said.text[max(0, joint.start() - _REACH_CHARS) : joint.start()]
            rest = said.text[joint.end() : joint.end() + _REACH_CHARS]
            if _asks_again(before, rest, joint.group()):
                cuts.add(said.raw_span(joint.start(), joint.start())[0])
    edges = [*sorted(cuts), len(sentence)]
    return [(start, sentence[start:end]) for start, end in itertools.pairwise(edges)]


def _is_joined(piece: str) -> bool:
    said = f" {fold(piece)}"
    return any(rules.joint.match(said) for rules in all_rules())


def _asks_again(before: str, rest: str, joint: str) -> bool:
    begun = _begun(rest)
    if begun is None or not before or not joint.strip(" ,"):
        return False
    if begun.end >= len(rest) and not begun.rules.back.match(rest):
        return False
    false_start = _begun(before)
    if false_start is not None and false_start.end >= len(before):
        return False
    return not (
        begun.rules.unfinished.search(before)
        or acts.does("reading", before)
        or acts.does("reported", before)
    )


@dataclass(frozen=True, slots=True)
class _Begun:
    """A request to remember: its fact begins at `end` of the sentence, folded."""

    rules: Rules
    end: int
    conjunction: tuple[int, int] | None
    subordinate: bool
    ahead: bool


def _begun(said: str) -> _Begun | None:
    """The request that the sentence begins with; of one that was begun again, the last."""
    last: _Begun | None = None
    for _ in range(_MOST_STARTS):
        at = last.end if last else 0
        again = _begins(said[at:])
        if again is None or (last and again.end + at >= len(said)):
            return last
        if last and last.subordinate and not again.subordinate:
            return last
        span = again.conjunction
        last = replace(
            again,
            end=at + again.end,
            conjunction=(at + span[0], at + span[1]) if span else None,
        )
    return last


def _begins(said: str) -> _Begun | None:
    for rules, place in _places(said):
        for loose, start in ((False, rules.ask), (True, rules.note)):
            match = start.match(said[place:])
            if match is None:
                continue
            conjunction = next((name for name, word in match.groupdict().items() if word), None)
            end, span = place + match.end(), None
            if conjunction:
                group = start.groupindex[conjunction]
                span = place + match.start(group), place + match.end(group)
            if span and rules.predicate.match(said[end:]):
                conjunction, end = None, span[0]  # "that is my house"
            ahead = None if conjunction else rules.ahead.match(said[end:])
            if ahead and _stands_for_it(ahead.group(), said[end + ahead.end() :], rules):
                end += ahead.end()
            else:
                ahead = None
            rest = said[end:]
            if rules.not_after.match(rest):
                continue
            if not conjunction and rules.not_after_bare.match(rest):
                continue
            if loose and not conjunction and not rules.statement.match(said[end:]):
                continue
            own = rules if conjunction in (None, rules.language) else rules_of(conjunction)
            misheard = ahead is not None and ahead.group().strip() in rules.misheard
            subordinate = bool(conjunction) or (misheard and _ends_in_verb(said[end:], rules))
            return _Begun(own, end, span, subordinate, bool(ahead))
    return None


def _stands_for_it(word: str, rest: str, rules: Rules) -> bool:
    """ "this" in "remember this: …", not in "remember this is …" or "remember this house is …"."""
    if rules.predicate.match(rest):
        return False
    return bool(_MARK.search(word)) or not rest or rules.statement.match(rest) is not None


def _ends_in_verb(said: str, rules: Rules) -> bool:
    """A transcript's "das" for "dass": the verb, one that is known, stands at the end."""
    words = _WORD.findall(said)
    return bool(words) and any(words[-1] in rules.verb_final.get(person, ()) for person in PERSONS)


def _asked_in(parts: Sequence[str], number: int, before: str | None) -> Asked | None:
    sentence = parts[number]
    if _is_other(sentence):
        return None
    said = folded(sentence)
    following = parts[number + 1] if number + 1 < len(parts) else ""
    begun = _begun(said.text)
    forward = bool(following) and _states(following)
    for rules, place in _places(said.text):
        if rules.back.match(said.text[place:]):
            if forward and (sentence.endswith(":") or (begun and begun.ahead and number == 0)):
                return _fact(following, following, rules)
            return _pointed_at(parts[:number], before, rules)
    if begun is not None:
        if begun.conjunction:
            word = sentence[slice(*said.raw_span(*begun.conjunction))]
            if word.lower() in begun.rules.not_clause:
                return None  # “recuerda qué comí” is asked, “recuerda que comí” is told
        if _WORD.search(said.text[begun.end :]):
            raw = sentence[said.raw_span(begun.end, len(said.text))[0] :]
            return _fact(raw, sentence, begun.rules, subordinate=begun.subordinate)
        if forward:
            return _fact(following, following, begun.rules)
        if following and _begun(fold(following)):
            return None  # begun again
        return _pointed_at(parts[:number], before, begun.rules)
    for rules in all_rules():
        match = rules.trailing.search(said.text)
        if match is None or match.start() == 0:
            continue
        fact = sentence[: said.raw_span(0, match.start())[1]]
        if rules.unfinished.search(said.text[: match.start()].rstrip()) or not _states(fact):
            continue
        return _fact(_without_openers(fact), sentence, rules)
    return None


def _states(sentence: str) -> bool:
    """A sentence that could be a fact: no question, no request, and no wish to remember."""
    return not (
        _asks(sentence)
        or _is_other(sentence)
        or opens_request(sentence)
        or _begun(fold(sentence.lstrip(_OPENING_MARKS))) is not None
        or any(r.back.match(fold(sentence)[at:]) for r, at in _places(fold(sentence)))
    )


def _is_other(sentence: str) -> bool:
    said = fold(sentence).lstrip(_OPENING_MARKS)
    return any(rules.never.match(said[place:]) for rules, place in _places(said))


def _places(said: str) -> list[tuple[Rules, int]]:
    """Where a request may begin, for the rules of each language: at the start, and behind each
    opener of any language."""
    places = [len(said) - len(said.lstrip(_OPENING_MARKS + ",;.!?…"))]
    while len(places) <= _MOST_OPENERS:
        at = places[-1]
        ends = [match.end() for rules in all_rules() if (match := rules.opener.match(said[at:]))]
        if not ends or not max(ends):
            break
        behind = at + max(ends)
        places.append(behind + len(said[behind:]) - len(said[behind:].lstrip(_OPENING_MARKS)))
    return [(rules, place) for place in places for rules in all_rules()]


def _without_openers(sentence: str) -> str:
    """“No, I live in Bonn, remember that” is to remember that I live in Bonn."""
    said = folded(sentence)
    marked = max(
        (at for _, at in _places(said.text) if said.text[:at].rstrip().endswith(",")), default=0
    )
    return sentence[said.raw_span(marked, marked)[0] :] if marked else sentence


def _pointed_at(earlier: Sequence[str], before: str | None, rules: Rules) -> Asked:
    """The last statement in front of a request that points back."""
    sources = earlier or [sentence.text for sentence in sentences(before or "")]
    for source in reversed(sources):
        if _states(source):
            fact = _fact(_without_openers(source), source, rules)
            if fact is not None:
                return replace(fact, earlier=not earlier)
    return Asked("", "", rules.language)


def _without_request(fact: str, rules: Rules) -> str:
    """“I'm vegan and find me a restaurant” asks for two things; the first is to be remembered."""
    said = folded(fact)
    for joint in rules.joint.finditer(said.text):
        rest = said.text[joint.end() :]
        is_for_jarvis = rules.directed.search(rest) or (
            rules.asking.match(rest) and joint.group().strip(" ,")
        )
        if joint.start() > 0 and is_for_jarvis and opens_request(rest):
            return fact[: said.raw_span(0, joint.start())[1]].rstrip(_EDGES)
    for piece in sentences(fact)[1:]:
        asks = opens_request(piece.text) or piece.text.endswith("?")
        if asks and not _only_names(fact[: piece.start]):
            fact = fact[: piece.start].rstrip(_EDGES)
            break
    thanks = rules.polite.search(fold(fact))
    return fact[: folded(fact).raw_span(0, thanks.start())[1]] if thanks else fact


def _asks(sentence: str) -> bool:
    return sentence.rstrip().endswith("?") or acts.does("question", sentence)


def _fact(raw: str, quote: str, rules: Rules, *, subordinate: bool = False) -> Asked | None:
    fact = _without_request(raw.strip(_EDGES + "¿¡"), rules)
    if len(_WORD.findall(fact)) < _LEAST_WORDS:
        return None
    return Asked(fact, quote.strip(_EDGES), rules.language, subordinate)


# What is written ----------------------------------------------------------------------


def entry(asked: Asked, at: datetime) -> str:
    """The user's words as an entry: one line, a sentence of its own, real dates beside relative
    ones as of `at`, when they were said."""
    fact = " ".join(asked.fact.split()).rstrip("?").rstrip()
    turned = main_clause(fact, rules_of(asked.language).verb_final) if asked.subordinate else fact
    return with_dates(turned[:1].upper() + turned[1:], at)


def parts(fact: str) -> tuple[str, ...]:
    """A fact, and each of the parts that "and" joins."""
    said = folded(fact)
    cuts = {joint.end() for rules in all_rules() for joint in rules.joint.finditer(said.text)}
    edges = [0, *sorted(said.raw_span(cut, cut)[0] for cut in cuts), len(fact)]
    return tuple(fact[start:end] for start, end in itertools.pairwise(edges) if end > start)


def is_duty(text: str) -> bool:
    """What Jarvis is to do ("you have to wake me"): no fact."""
    said = fold(text)
    return any(rules.duty.match(said) for rules in all_rules())


def notebook_for(text: str) -> Notebook:
    """Set-up and agreements go into Jarvis' working notes, everything else is about the user."""
    said = fold(text)
    return "MEMORY.md" if any(r.working_notes.search(said) for r in all_rules()) else "USER.md"
