"""What the order of words and their forms tell: who asks, who is compared, of whom a verb is."""

from __future__ import annotations

from memory.languages.acts.line import STOPS, Line
from memory.languages.acts.records import JARVIS, Clause

_LAST = 3
"""Words in front of a "than" that may compare."""


def compares(line: Line, first: int) -> bool:
    """ "Soy mayor que Tom": a "que" behind what compares."""
    return line.is_(first, "that") and any(
        line.is_(at, "compares") for at in range(max(0, first - _LAST), first)
    )


def is_of_a_third(line: Line, first: int) -> bool:
    """ "Der Mann, mit dem ich arbeite, spielt Klavier": a form that no "ich" has."""
    return (
        line.acts.verb_second
        and not line.entry
        and not line.is_(first, "user")
        and (line.is_(first, "verbs") or line.is_(first, "copula"))
        and line.words[first].text.endswith(line.acts.third_ends)
        and not line.is_(first, "own_verbs")
    )


def kept_from(line: Line, clause: Clause, before: Clause) -> frozenset[str]:
    """ "Ich bin kurz davor, Rom zu verlassen", "quiero que mi hijo aprenda piano": what is only
    wanted in front is only wanted behind."""
    first, last = clause.first, clause.last
    infinitive = line.acts.verb_second and any(
        line.words[at].text == "zu" and line.words[at + 1].text.endswith(line.acts.last_verb_ends)
        for at in range(first, last - 1)
    )
    finite = any(line.is_(at, "auxiliaries") or line.is_(at, "user") for at in range(first, last))
    wished = (
        line.is_(first, "that")
        and not line.is_(before.first, "that")
        and not line.touches("thinking", before.first, before.last)
        and JARVIS not in before.subject | clause.subject
        and (line.acts.verb_second or bool(line.acts.listed("leaves_out")))
    )
    if (infinitive and not finite) or wished:
        return before.kept & {"wanting", "hedge"}
    return frozenset()


_NO_VERBS = ("joiners", "adverbs", "prepositions", "articles", "no", "user", "temporal")


def asks_by_order(line: Line, first: int, last: int) -> bool:
    """ "Wohnt Tom noch in Berlin", "tiene mi hermana alergia": a verb, and behind it who it is of."""
    lists = line.acts
    while first < last and (line.is_(first, "and") or line.is_(first, "hesitations")):
        first += 1
    if line.entry or first + 1 >= last or any(line.is_(first, name) for name in _NO_VERBS):
        return False
    verb, at = line.words[first], first + 1
    if lists.verb_second:
        known = any(line.is_(first, name) for name in ("verbs", "copula", "auxiliaries", "modals"))
        formed = verb.text.endswith(lists.asking_ends) and bool(verb.key)
    elif lists.listed("leaves_out"):
        if line.is_(first, "before_verbs") or line.is_(first, "dative_third"):
            first, at = at, at + 1
            verb = line.words[first]
        known = line.is_(first, "verbs") and not line.is_(first, "own_verbs")
        formed = verb.text.endswith(lists.asking_ends) and bool(verb.key)
        if line.is_(first, "presenting") or line.words[-1].text in STOPS:
            return False
    else:
        return False
    if at + 1 < last and (line.is_(at, "adverbs") or line.is_(at, "yet")):
        at += 1
    if not (known or formed) or at >= last or verb.text.endswith(lists.endings or ("e",)):
        return False
    heard = lists.verb_second and not any(word.capital for word in line.words)
    named = bool(line.words[at].key) and (line.words[at].capital or heard)
    if line.is_(at, "user_mine") or line.is_(at, "articles"):
        at += 1
        return line.is_(at, "kin")
    if not lists.verb_second:
        return line.is_(at, "kin") or named or (known and _is_of_the_word(line, at))
    free = line.is_(at, "adverbs") or line.is_(at, "no") or line.words[at].kind != "word"
    alone = at + 1 >= len(line.words) or line.words[at + 1].kind == "mark"
    third = known and (verb.text.endswith(lists.third_ends) or line.is_(first, "copula"))
    return line.is_(at, "kin") or (named and third and not alone and not free)


def _is_of_the_word(line: Line, at: int) -> bool:
    """ "vive tom en berlin", "tiene tom tres perros", as a recogniser writes it: a noun and behind
    it what can't belong to it."""
    return (
        at + 1 < len(line.words)
        and not any(word.capital for word in line.words)
        and bool(line.words[at].key)
        and line.words[at].kind == "word"
        and not line.is_(at, "adverbs")
        and (line.words[at + 1].kind == "number" or line.words[at + 1].text == "en")
    )
