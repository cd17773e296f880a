"""Of whom a clause speaks, also because of the one in front of it."""

from __future__ import annotations

from dataclasses import dataclass

from memory.languages.acts.line import Line
from memory.languages.acts.people import subject_of
from memory.languages.acts.records import JARVIS, LIKING, THIRD, USER, Clause


@dataclass(frozen=True, slots=True)
class Whom:
    """Of whom a clause speaks. `own` is what its own words say of that, `relative` whether it hangs
    on somebody named in front of it."""

    subject: frozenset[str]
    owners: frozenset[str]
    places: frozenset[int]
    own: frozenset[str]
    relative: bool


def whom_from(
    line: Line,
    first: int,
    last: int,
    before: Clause | None,
    people: list[tuple[frozenset[str], int]],
    *,
    after_stop: bool,
) -> Whom:
    """Whoever is named is added to `people`."""
    subject, owners, places = subject_of(line, first, last, list(people), people)
    if before is not None and not after_stop and _only_names(line, first, last, subject):
        subject, owners, places = frozenset(), frozenset(), frozenset()
    if line.entry and before is not None and not after_stop and not places:
        subject = frozenset()  # an entry's verb in the first person tells nothing new
    own = subject
    relative = line.is_(first, "relative") and bool(people) and before is not None
    if relative and (
        not any(not line.is_(at, "user_mine") for at in places)
        or _does_it_for(line, first, last, places, people[-1][1])
    ):
        same = before is not None and people[-1][0] == before.subject
        owners = before.owners if before is not None and same else frozenset()
        subject, places = people[-1][0], frozenset()
    named = _name_before(line, first, before)
    if named:
        kin = people[-1][0] & line.acts.kin_keys if people else frozenset()
        subject, owners, places = frozenset({named}) | kin, frozenset(), frozenset()
        people.append((subject, first))
        relative = True
    if _tells_of_somebody(line, first, before) and not places:
        subject = frozenset({THIRD})
    return Whom(subject, owners, places, own, relative)


def _only_names(line: Line, first: int, last: int, subject: frozenset[str]) -> bool:
    """ "and two dogs": one more in a list, not somebody who does something."""
    if not subject or subject & {USER, THIRD, JARVIS}:
        return False
    named = max((at for at in range(first, last) if line.is_(at, "kin")), default=last)
    return not any(line.is_(at, "verbs") for at in range(first, last)) and not any(
        line.words[at].key and not line.words[at].capital for at in range(named + 1, last)
    )


def _does_it_for(line: Line, first: int, last: int, places: frozenset[int], behind: int) -> bool:
    """ "La vecina que me hace los recados": the user is no more than for whom it is done."""
    return (
        bool(line.acts.listed("leaves_out"))
        and behind in (first, first - 1)
        and all(line.is_(at, "user_too") or line.is_(at, "user_mine") for at in places)
        and not any(line.words[at].key == LIKING for at in range(first, last))
        and not any(line.is_(at, "own_verbs") for at in range(first, last))
    )


def _name_before(line: Line, first: int, before: Clause | None) -> str:
    """ "Bea, who's a potter": a name in front that is not yet whom the clause before names."""
    if before is None or line.entry or line.acts.verb_second or line.acts.listed("leaves_out"):
        return ""
    if not line.is_(first, "relative") or line.is_(first, "naming") or line.is_(first, "whose"):
        return ""
    at = first - 1
    while at > 0 and line.words[at].kind == "mark":
        at -= 1
    word = line.words[at]
    if at < 1 or not word.capital or not word.key or word.key in before.subject:
        return ""
    return "" if line.is_(at - 1, "kin") else word.key


def _tells_of_somebody(line: Line, first: int, before: Clause | None) -> bool:
    """ "Ich kenne eine, die …": behind somebody not named a relative clause is of them."""
    return (
        line.acts.verb_second
        and not line.entry
        and before is not None
        and USER in before.subject
        and line.is_(first, "relative")
        and line.words[first - 1].text == ","
        and line.is_(first - 2, "indefinite")
    )
