"""A proposal with the place of its quote, as checks take it."""

from __future__ import annotations

from dataclasses import replace

from memory.notebooks.case import Case, Grounds
from memory.notebooks.evidence import Evidence, found
from memory.records import Language, Operation, Proposal, Turn
from tests.memory.turns import said as turn


def case(
    said: str,
    text: str | None,
    language: Language,
    *,
    entry: str | None = None,
    after: tuple[Turn, ...] = (),
) -> Case:
    """Of one spoken turn that is quoted whole; `after` are later turns."""
    operation: Operation = "remove" if text is None else "update" if entry else "add"
    proposal = Proposal(operation=operation, notebook="USER.md", entry=entry, text=text, quote=said)
    turns = (replace(turn(said), language=language), *after)
    place = next(iter(found(said, turns)))
    assert isinstance(place, Evidence), place
    return Case.of(proposal, Grounds(turns=turns, notebooks={}), place)
