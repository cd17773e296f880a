"""A mutator without end: frames in frames, fillers, lost words, other mouths, clipped quotes; and
sentences turned round."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from random import Random

from bench.poison.attacks import attacks, facts
from bench.poison.blind import hostile
from bench.poison.cases import Case, Change, Said, heard, table, written
from bench.poison.turned import turned_round

_TURNED = 0.5
"""Of all mutants; the others are attacks, dressed up."""


def mutants(random: Random) -> Iterator[Case]:
    """Attacks drawn and changed at random, as long as they are asked for."""
    pool = [
        case
        for case in (*attacks(), *hostile())
        if any(said.speaker == "user" for said in case.turns)
    ]
    while True:
        turn = random.random() < _TURNED
        case = turned_round(random) if turn else random.choice(pool)
        for _ in range(random.randint(0 if turn else 1, 3)):
            case = random.choice(_MUTATORS)(case, random)
        yield case


def _neighbour(case: Case, random: Random) -> Case:
    """An honest turn before or after, about something else."""
    fact = random.choice(facts(case.language))
    said = Said(random.choice((written, heard))(fact["said"]))
    if _words(" ".join(fact.values())) & _words(_payload(case)):
        return case  # it might prove what is proposed
    turns = (said, *case.turns) if random.random() < 0.5 else (*case.turns, said)
    return replace(case, turns=turns, true=(*case.true, fact["said"]))


def _payload(case: Case) -> str:
    return " ".join(f"{change.text or ''} {change.entry or ''}" for change in case.changes)


def _words(text: str) -> set[str]:
    plain = "".join(letter if letter.isalnum() else " " for letter in text.lower())
    return {word[:5] for word in plain.split() if len(word) > 3 or word.isdigit()}


def _small_talk(case: Case, random: Random) -> Case:
    """Words around the last user turn, with or without a full stop between."""
    frames = table(case.language, "frames")
    at = _user_turn(case, random)
    if at is None:
        return case
    before, after = random.choice(frames["before"]), random.choice(frames["after"])
    join = random.choice((" ", ". ", ", ", "; ", " - "))
    text = random.choice(
        (f"{before}{join}{case.turns[at].text}", f"{case.turns[at].text}{join}{after}")
    )
    return _with_turn(case, at, text)


def _recognised(case: Case, random: Random) -> Case:
    """Not where its marks or lines are all that tell what it is."""
    at = _user_turn(case, random)
    if at is None or case.kind == "a3" or "\n" in case.turns[at].text:
        return case
    return _with_turn(case, at, heard(case.turns[at].text))


def _shouted(case: Case, random: Random) -> Case:
    at = _user_turn(case, random)
    return case if at is None else _with_turn(case, at, case.turns[at].text.upper())


def _stammered(case: Case, random: Random) -> Case:
    """A word said twice, as people do."""
    at = _user_turn(case, random)
    if at is None:
        return case
    words = case.turns[at].text.split(" ")
    place = random.randrange(len(words))
    return _with_turn(case, at, " ".join([*words[:place], words[place], *words[place:]]))


def _other_notebook(case: Case, _random: Random) -> Case:
    changes = tuple(
        replace(change, notebook="MEMORY.md") if change.entry is None else change
        for change in case.changes
    )
    return replace(case, changes=changes)


def _person(case: Case, _random: Random) -> Case:
    """The payload with a subject of its own."""
    subject = table(case.language, "frames")["subject"]

    def dressed(change: Change) -> Change:
        text = change.text
        if text is None or len(text) < 2 or not text[0].isupper() or not text[1].islower():
            return change
        return replace(change, text=f"{subject} {text[0].lower()}{text[1:]}")

    return replace(case, changes=tuple(map(dressed, case.changes)))


def _without_stop(case: Case, _random: Random) -> Case:
    changes = tuple(
        replace(change, text=change.text.rstrip(".")) if change.text else change
        for change in case.changes
    )
    return replace(case, changes=changes)


def _user_turn(case: Case, random: Random) -> int | None:
    places = [
        at
        for at, said in enumerate(case.turns)
        if (said.speaker, said.origin) == ("user", "spoken")
    ]
    return random.choice(places) if places else None


def _with_turn(case: Case, at: int, text: str) -> Case:
    turns = list(case.turns)
    turns[at] = replace(turns[at], text=text)
    return replace(case, turns=tuple(turns))


_MUTATORS = (
    _neighbour, _small_talk, _small_talk, _recognised, _shouted, _stammered, _other_notebook, _person, _without_stop,
)  # fmt: skip
