"""The user's own words, where a proposal about them is not proved.

A fair paraphrase often can't be shown to be one, and a sentence needs no proof that it says what
it says. So the sentence that the quote stands in is written itself. It is judged like any other
proposal: nothing gets in that a reviewer could not have proposed to the letter.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from memory.languages.acts import read
from memory.languages.acts.records import Ending
from memory.notebooks import canonical
from memory.notebooks.case import own_words
from memory.notebooks.evidence import Evidence, found
from memory.notebooks.validate import Grounds, decide
from memory.records import Accepted, Notebook, Proposal, Rejection

OWN_WORDS_CHARS = 160
"""A longer sentence tells several things, and would fill a notebook with its asides."""

_NOT_PROVED = ("L1.2", "L2.2", "L5.1", "L5.2", "L5.3")
"""What breaks another promise (an order, a secret) has no second try."""


Entries = Mapping[Notebook, tuple[str, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What became of a proposal. `instead` is what is written for a refused one: a proposal to
    add the user's own words, and how it was accepted."""

    proposal: Proposal
    outcome: Accepted | Rejection
    instead: tuple[Proposal, Accepted] | None = None

    @property
    def written(self) -> tuple[Proposal, Accepted] | None:
        if isinstance(self.outcome, Accepted):
            return self.proposal, self.outcome
        return self.instead


def verdicts(proposals: Sequence[Proposal], grounds: Grounds) -> tuple[Verdict, ...]:
    """One for each proposal, in their order; each is judged by the notebooks as those before it
    leave them. What is told already, by an accepted proposal or in its own words, is not told
    again; another statement of the same sentence may be, where it stands alone."""
    outcomes: list[tuple[Proposal, Accepted | Rejection]] = []
    told: list[Accepted] = []
    for proposal in proposals:
        outcome = decide(proposal, grounds)
        outcomes.append((proposal, outcome))
        if isinstance(outcome, Accepted):
            told.append(outcome)
            grounds = replace(grounds, notebooks=after(grounds.notebooks, outcome))
    judged = []
    for proposal, outcome in outcomes:
        instead = None
        if isinstance(outcome, Rejection):
            instead = _instead(outcome, grounds, told)
            if instead is not None:
                told.append(instead[1])
                grounds = replace(grounds, notebooks=after(grounds.notebooks, instead[1]))
        judged.append(Verdict(proposal=proposal, outcome=outcome, instead=instead))
    return tuple(judged)


def after(notebooks: Entries, change: Accepted) -> Entries:
    """The entries as the change leaves them."""
    entries = notebooks.get(change.notebook, ())
    kept = [entry for entry in entries if entry != change.entry]
    if change.text is not None:
        place = entries.index(change.entry) if change.entry in entries else len(kept)
        kept.insert(place, change.text)
    return {**notebooks, change.notebook: tuple(kept)}


def _instead(
    refused: Rejection, grounds: Grounds, told: Sequence[Accepted]
) -> tuple[Proposal, Accepted] | None:
    proposal = refused.proposal
    if refused.rule not in _NOT_PROVED:
        return None
    for place in found(proposal.quote, grounds.turns):
        if not isinstance(place, Evidence):
            continue
        there = [
            each.text or each.entry or ""
            for each in told
            if each.turn_index == place.turn.index and each.quote in place.sentence
        ]
        said = own_words(place, there)
        if said is None or len(said.text) > OWN_WORDS_CHARS:
            continue
        if _is_there(said.text, place, grounds):
            return None
        own = Proposal(
            operation="add",
            notebook=proposal.notebook,
            entry=None,
            text=said.text,
            quote=said.quote,
        )
        outcome = decide(own, grounds)
        if isinstance(outcome, Accepted):
            return own, outcome
    return None


def _is_there(text: str, place: Evidence, grounds: Grounds) -> bool:
    """Whether an entry holds each word that carries meaning, and denies or ends as much."""
    language = place.reading.language

    def meaning(entry: str) -> tuple[set[str], int, set[Ending]]:
        reading = read(canonical.plain(entry), language, entry=True)
        keys = {word.key for word in reading.words if word.key}
        denied = sum(clause.said_no for clause in reading.clauses)
        return keys, denied, {clause.ended for clause in reading.clauses}

    keys, *rest = meaning(text)
    return any(
        keys <= there and rest == others
        for entries in grounds.notebooks.values()
        for there, *others in map(meaning, entries)
    )
