"""What holds for a piece of a text, also because of the one in front of it."""

from __future__ import annotations

from dataclasses import replace

from memory.languages.acts.line import STOPS, Line
from memory.languages.acts.order import asks_by_order, compares, is_of_a_third, kept_from
from memory.languages.acts.people import subject_of
from memory.languages.acts.records import JARVIS, LIKING, THIRD, USER, Clause, Ending
from memory.languages.acts.subjects import Whom, whom_from

_NEAR_WORDS = 4
_MEDIUM_REACH = 7


def clause_from(
    line: Line,
    first: int,
    last: int,
    before: Clause | None,
    people: list[tuple[frozenset[str], int]],
) -> Clause:
    after_stop = before is None or line.words[first - 1].text in STOPS
    whom = whom_from(line, first, last, before, people, after_stop=after_stop)
    contrast = line.is_(first, "contrast")
    own = bool(whom.subject) or _has_verb(line, first, last) or contrast or whom.relative
    own = own or _names_anew(line, first, last, before)
    goes_on = before is not None and not after_stop and not _opens_with_an_aside(line, first)
    inherits = goes_on and not own
    question = _is_question(line, first, last, after_stop)
    defines = bool(line.found["defining"]) or _likes(line, before)
    dictated = not after_stop and _is_dictated(line, first, before, whom.subject)
    request = _is_request(
        line, first, last, before, whom.subject, dictated=dictated, inherits=inherits
    )
    clause = Clause(
        first=first,
        last=last,
        subject=whom.subject,
        owners=whom.owners,
        subject_words=whom.places,
        said_no=min(_count_no(line, first, last), 2),
        ended=_ended(line, first, last),
        source=_source(line, first, last, before, after_stop),
        kept=_kept(line, first, last),
        compared=line.words[first].text in line.acts.listed("compared")
        or first in line.rivals
        or compares(line, first),
        question=question,
        conditional=(
            line.touches("condition", first, last)
            and not defines
            and not line.touches("filler", first, last)
        ),
        unreal=_is_unreal(line, first, last),
        request=request,
        embedded=first in line.quoted,
        temporal=line.is_(first, "temporal") and not defines and not question,
        dictates=dictated or (request and line.touches("text_for", first, last)),
        moment=line.touches("moment", first, last) or bool(inherits and before and before.moment),
        inherits=inherits,
    )
    if before is None or not goes_on:
        return clause
    clause = _going_on(line, clause, before, whom, people, own=own)
    return _inherited(line, clause, before, contrast=contrast) if inherits else clause


def _going_on(
    line: Line,
    clause: Clause,
    before: Clause,
    whom: Whom,
    people: list[tuple[frozenset[str], int]],
    *,
    own: bool,
) -> Clause:
    """What holds for the clause before holds for the sentence."""
    first, last = clause.first, clause.last
    subject, owners = clause.subject, clause.owners
    if not subject and not whom.relative:
        subject, owners = before.subject, before.owners
        if subject == {USER} and is_of_a_third(line, first):
            subject = (people[-1][0] if people else frozenset()) | {THIRD}
        if before.subject and THIRD not in before.subject and line.is_(first, "relative"):
            subject = people[-1][0] if people else subject
    asked_on = before.question and (
        line.touches("wonders", before.first, before.last) or not _answers(line, first, last)
    )
    return replace(
        clause,
        subject=subject,
        owners=owners,
        embedded=clause.embedded or _embedded(line, first, before, whom.own, clause.inherits),
        question=clause.question or asked_on,
        kept=clause.kept | kept_from(line, clause, before),
        conditional=clause.conditional or before.conditional,
        unreal=clause.unreal or before.unreal,
        compared=clause.compared or (before.compared and not own),
    )


def _inherited(line: Line, clause: Clause, before: Clause, *, contrast: bool) -> Clause:
    """Without a verb of its own it has that of the clause before, and what is said of that."""
    keeps_no = clause.said_no or contrast or _denies_a_noun(line, before, clause.first)
    return replace(
        clause,
        said_no=clause.said_no if keeps_no else before.said_no,
        ended=clause.ended or before.ended,
        temporal=clause.temporal or before.temporal,
        kept=clause.kept | before.kept,
    )


def _names_anew(line: Line, first: int, last: int, before: Clause | None) -> bool:
    """ "Don't call me sir, call me Ben": the "not" is of the name in front."""
    if before is None or line.words[first - 1].text != "," or line.is_(first, "joiners"):
        return False
    verb = next((line.words[at].key for at in range(first, last) if line.words[at].key), "")
    said = {line.words[at].key for at in range(before.first, before.last)} - {""}
    again = any(verb.startswith(key) for key in said)  # "llames", "llámame"
    return again and line.within("name_me", first, last)


def _likes(line: Line, before: Clause | None) -> bool:
    """ "I like it when …": what is liked is what follows."""
    if before is None:
        return False
    keys = [
        line.words[at].key
        for at in range(before.first, before.last)
        if line.words[at].key and at not in before.subject_words and not line.is_(at, "adverbs")
    ]
    return LIKING in keys and len(keys) == 1


def _is_dictated(line: Line, first: int, before: Clause | None, subject: frozenset[str]) -> bool:
    return before is not None and bool(
        before.dictates
        or _is_on_a_medium(line, first, before, subject)
        or _is_announced(line, first, before, subject)
    )


def _is_question(line: Line, first: int, last: int, after_stop: bool) -> bool:
    opens = after_stop or _follows_an_aside(line, first)
    return (
        _asks(line, first, last)
        or (opens and asks_by_order(line, first, last))
        or (
            (
                (opens and line.within("question_first", first, first + 12))
                or any(start <= first < end for start, end in line.found["question_first"])
            )
            and not line.within("exclaims", first, first + 6)
            and not line.touches("cleft", first, last)
        )
    )


def _is_unreal(line: Line, first: int, last: int) -> bool:
    """ "I would live there", but not "I would like"."""
    return any(
        start < last
        and end > first
        and not any(begin < end and stop > start for begin, stop in line.found["polite"])
        for start, end in line.found["unreal"]
    )


def _is_request(
    line: Line,
    first: int,
    last: int,
    before: Clause | None,
    subject: frozenset[str],
    *,
    dictated: bool,
    inherits: bool,
) -> bool:
    wished = (
        line.within("request", first, last)
        and not line.touches("purpose", first, last)
        and not (USER in subject and line.touches("horizon", first, last))
    )
    if dictated:
        return True
    asked = wished or _orders(line, first) or bool(inherits and before and before.request)
    return asked and not _goes_on_about_somebody(line, first, before)


def _opens_with_an_aside(line: Line, first: int) -> bool:
    """ "And by the way, …": what comes is another matter. Behind its words ("… anyway") an aside
    changes nothing of what they hang on."""
    at = first
    while line.is_(at, "and") or line.is_(at, "hesitations") or line.is_(at, "particle"):
        at += 1
    return any(start in (first, at) for start, _ in line.found["aside"])


def _follows_an_aside(line: Line, first: int) -> bool:
    """ "Ah you know, …": what follows opens the sentence; behind "anyway" it does wherever that
    stands."""
    aside, filler = (
        {at for span in line.found[act] for at in range(*span)} for act in ("aside", "filler")
    )
    for at in range(first - 1, -1, -1):
        if line.words[at].text in STOPS or at in aside:
            return True
        if line.words[at].kind == "mark" or at in filler:
            continue
        if not line.is_(at, "hesitations") and not line.is_(at, "particle"):
            return False
    return True


def _goes_on_about_somebody(line: Line, first: int, before: Clause | None) -> bool:
    """ "Mi gata tiene quince años y toma …": what might be an order tells of who was named."""
    return (
        before is not None
        and bool(line.acts.listed("leaves_out"))
        and line.is_(first, "and")
        and bool(before.subject - {USER, JARVIS, THIRD})
        and not before.request
        and not before.question
        and first + 1 < len(line.words)
        and line.words[first + 1].text.endswith(("a", "e"))
        and not line.words[first + 1].text.endswith(("me", "la", "le"))
    )


def _orders(line: Line, first: int) -> bool:
    """ "Erzähl mir …": a verb that opens the clause, is in no third person, and is to be done
    for the speaker."""
    opening = line.words[first]
    return (
        bool(opening.key)
        and not line.entry
        and line.is_(first + 1, "order_for")
        and not opening.text.endswith(line.acts.not_order_ends)
        and not line.is_(first, "joiners")
        and not line.is_(first, "adverbs")
    )


def _embedded(
    line: Line, first: int, before: Clause, subject: frozenset[str], inherits: bool
) -> bool:
    """What is thought, doubted or claimed by the clause before, unless the speaker vouches
    for it: "I know that", and not "I don't think that"."""
    begun = max(0, first - _NEAR_WORDS) if before.inherits else before.first
    span = (min(begun, before.first), before.last)
    relative = line.is_(first, "relative") and not subject
    near = (max(span[0], first - _NEAR_WORDS), first)
    if relative and not line.touches("attitude", *span) and not before.said_no:
        return before.embedded
    if inherits and not line.is_(first, "that"):
        return before.embedded
    likes = any(line.words[at].key == LIKING for at in range(*span))
    vouches = (
        any(
            start >= before.first and end >= first
            for start, end in line.found["thinking"]
            if start < first
        )
        or line.touches("vouching", *span)
        or likes
    )
    doubtful = (
        (before.said_no > 0 and not likes)
        or before.unreal
        or line.touches("attitude", *span)
        or line.touches("hedge", *span)
    )
    mark = line.words[first - 1].kind == "mark"
    if before.compared and line.is_(first, "that"):
        return before.embedded
    if line.is_(first, "that"):
        bare_noun = (
            line.is_(first, "relative_too")
            and (
                (not has_any_verb(line, *span) and not _does_something(line, before))
                or _follows_a_person(line, first, before)
            )
            and not line.touches("attitude", *span)
        )
        if bare_noun and not before.said_no:
            return before.embedded
        return not vouches or doubtful or before.embedded
    if line.is_(first, "joiners"):
        return before.embedded and line.is_(first, "and") and not subject
    if mark and not line.touches("attitude", *span):
        return False
    return line.touches("attitude", *near) and (not vouches or before.said_no > 0)


def _follows_a_person(line: Line, first: int, before: Clause) -> bool:
    """ "Me preocupa mi hijo, que no sale": a "que" behind who is named tells of them."""
    at = first - 1
    if line.words[at].kind == "mark":
        at -= 1
    return (
        at > before.first
        and line.is_(at, "kin")
        and (line.is_(at - 1, "user_mine") or line.is_(at - 1, "articles"))
        and not line.touches("reported", before.first, before.last)
    )


def _denies_a_noun(line: Line, before: Clause, first: int) -> bool:
    """ "No sugar, a drop of milk": a "no" before a noun ends where another has its own article."""
    at = first + (1 if line.is_(first, "joiners") and not line.is_(first, "or_alone") else 0)
    denied = [each for each in range(before.first, before.last) if each in line.no_words]
    return (
        line.is_(at, "indefinite")
        and bool(denied)
        and all(line.is_(each, "no_of_noun") for each in denied)
    )


def has_any_verb(line: Line, first: int, last: int) -> bool:
    return any(
        line.is_(at, "verbs") or line.is_(at, "user") for at in range(first, last)
    ) or line.touches("reported", first, last)


def _is_on_a_medium(line: Line, first: int, before: Clause, subject: frozenset[str]) -> bool:
    """ "A note to the landlord I keep two dogs": a text is named, and its words follow."""
    return (
        USER in subject
        and USER not in before.subject
        and not line.is_(first, "joiners")
        and _names_a_medium(line, first)
    )


def _is_announced(line: Line, first: int, before: Clause, subject: frozenset[str]) -> bool:
    """ "Auf der Schürze ich liebe Grillen": where a verb would come second, words without one,
    which the speaker's own sentence does not take up, announce somebody else's."""
    if (
        not line.acts.verb_second
        or USER not in subject
        or line.is_(first, "joiners")
        or line.words[first - 1].kind == "mark"
    ):
        return False
    span = range(before.first, before.last)
    if (
        line.entry
        or before.first
        or before.inherits
        or has_any_verb(line, before.first, before.last)
    ):
        return False
    keyed = [at for at in span if line.words[at].key]
    bare = any(
        line.words[at].key == LIKING
        or line.is_(at, "kin")
        or line.is_(at, "adverbs")
        or line.is_(at, "no")
        or line.is_(at, "particle")
        for at in span
    )
    told_of = {line.words[at].key for at in range(before.last, len(line.words))}
    said_otherwise = any(
        line.touches(act, before.first, before.last)
        for act in ("filler", "thinking", "aside", "horizon", "used", "exclaims", "request")
    )
    return (
        len(keyed) > 0
        and not bare
        and not said_otherwise
        and not told_of & {line.words[at].key for at in keyed}
    )


def _names_a_medium(line: Line, first: int) -> bool:
    for at in range(first - 1, max(-1, first - _MEDIUM_REACH), -1):
        if line.words[at].kind == "mark" or line.is_(at, "user") or line.is_(at, "joiners"):
            return False
        if line.is_(at, "medium"):
            return True
    return False


def _does_something(line: Line, clause: Clause) -> bool:
    """ "Mi hermana va diciendo que": behind somebody a word that is not their name."""
    if not clause.subject - {USER, JARVIS}:
        return False
    named = max(clause.subject_words, default=clause.first)
    return any(
        line.words[at].key and not line.words[at].capital for at in range(named + 1, clause.last)
    )


def _answers(line: Line, first: int, last: int) -> bool:
    """Behind a question, a reason or a new statement behind a comma is none."""
    opening = line.words[first].text
    if line.is_(first, "that") and line.words[first - 1].kind != "mark":
        return False  # "have I told you that …"
    mark = first > 0 and line.words[first - 1].kind == "mark"
    states = bool({USER} & subject_of(line, first, last, [], [])[0])
    bare = not line.is_(first, "joiners")
    return (
        (opening in line.acts.listed("reason") or mark or bare)
        and states
        and not (line.within("question", first, last))
    )


def _has_verb(line: Line, first: int, last: int) -> bool:
    opening = first + (1 if line.is_(first, "joiners") else 0)
    return any(line.is_(at, "verbs") for at in range(opening, min(opening + 3, last)))


def _count_no(line: Line, first: int, last: int) -> int:
    no = sum(first <= at < last for at in line.no_words)
    if line.acts.lexicon.language == "es" and no > 1:
        no = 1  # no como nada: said twice, meant once
    denied = sum(first <= start < last for start, _ in line.found["denies"])
    return no + denied + sum(first <= at < last for at in line.against)


def _ended(line: Line, first: int, last: int) -> Ending:
    if line.touches("stopped", first, last):
        return "stopped"
    if line.touches("not_used", first, last):
        return ""
    return "used" if line.touches("used", first, last) else ""


def _kept(line: Line, first: int, last: int) -> frozenset[str]:
    return frozenset(
        act
        for act in ("wanting", "hedge", "hedge_light", "restriction")
        if any(
            start < last
            and end > first
            and not any(begin <= start < stop for begin, stop in line.found["repair"])
            for start, end in line.found[act]
        )
    )


def _asks(line: Line, first: int, last: int) -> bool:
    opened = any(
        line.words[at].text == "¿" for at in range(max(0, first - 1), min(first + 1, last))
    )
    return opened or line.within("question", first, last)


def _source(
    line: Line, first: int, last: int, before: Clause | None, after_stop: bool
) -> frozenset[str]:
    for start, _ in line.found["reported"]:
        if first <= start < last:
            said_by = _mentions(line, first, start)
            if USER not in said_by or said_by - {USER}:
                return frozenset(said_by - {USER}) or frozenset({THIRD})
    if before is not None and not after_stop:
        return before.source
    return frozenset()


def _mentions(line: Line, first: int, last: int) -> frozenset[str]:
    found: set[str] = set()
    for at in range(first, last):
        if line.is_(at, "user"):
            found.add(USER)
        elif line.is_(at, "kin"):
            found.add(line.words[at].key or line.words[at].text)
        elif line.is_(at, "third"):
            found.add(THIRD)
        elif line.words[at].capital and line.words[at].key:
            found.add(line.words[at].key)
    return frozenset(found)
