"""“Remember that …”, from the words to the disk (L3): no model, and before any answer."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from memory.languages import acts
from memory.notebooks import remember
from memory.notebooks.ledger import Ledger
from memory.notebooks.remember import Asked
from memory.notebooks.secrets import secret_in
from memory.notebooks.validate import Grounds, no_markup, nothing_hidden, one_script
from memory.records import Accepted, Change, Language, Origin, Proposal, Remembered

OWN_WORDS: frozenset[Origin] = frozenset({"spoken", "typed"})

_UNREADABLE = (nothing_hidden, one_script, no_markup)
_NOTHING_TO_POINT_AT = "there was no statement to remember. Say it in one sentence."
_READ_ALOUD = "it sounded as if it was read aloud. Say it in your own words."
_A_QUESTION = "a question says nothing about you. Say it as a statement."
_AN_ORDER = (
    "it reads like an order, and the notebooks hold facts, never orders. Say what is true of you."
)


def asks_to_remember(text: str, before: str | None = None) -> bool:
    return bool(remember.asked(text, before))


def as_asked(text: str, language: Language | None) -> tuple[Asked, ...]:
    """Words that are to be remembered as they are, with or without “remember that” in front."""
    found = remember.asked(text)
    if found:
        return found
    fact = " ".join(text.split())
    return (Asked(fact, fact, language or "en"),)


def remember_turn(
    ledger: Ledger,
    asked: Iterable[Asked],
    at: datetime,
    *,
    conversation: str | None,
    dry_run: bool = False,
) -> tuple[Remembered, ...]:
    """Write what was asked for; one result each. Raises what the ledger raises.

    `at` is when it was said: relative dates count from there.
    """
    return tuple(_one(ledger, each, at, conversation, dry_run=dry_run) for each in asked)


def _one(
    ledger: Ledger, asked: Asked, at: datetime, conversation: str | None, *, dry_run: bool
) -> Remembered:
    reason = _reason_against(asked)
    if reason:
        return Remembered(saved=False, reason=reason)
    text = remember.entry(asked, at)
    accepted = Accepted(
        operation="add",
        notebook=remember.notebook_for(text),
        entry=None,
        text=text,
        quote=asked.quote,
        turn_index=0,
    )
    if dry_run:
        return Remembered(saved=True, notebook=accepted.notebook, entry=text)
    [written] = ledger.write(
        [accepted], source="remember", at=at, conversation=conversation, said_at={0: at}
    )
    if isinstance(written, Change):
        return Remembered(
            saved=True, notebook=written.notebook, entry=written.new, change=written.id
        )
    return Remembered(
        saved=written.rule == "L6.1",  # it stands there: nothing was lost
        notebook=accepted.notebook,
        entry=text,
        reason=written.reason,
        waits=written.waits,
    )


def _reason_against(asked: Asked) -> str | None:
    if not asked.fact:
        return _NOTHING_TO_POINT_AT
    if asked.read_aloud:
        return _READ_ALOUD
    kind = secret_in(asked.quote) or secret_in(asked.fact)
    if kind:
        return f"it holds {kind}, and Jarvis keeps no secrets."
    proposal = Proposal(
        operation="add", notebook="USER.md", entry=None, text=asked.fact, quote=asked.quote
    )
    for check in _UNREADABLE:
        refusal = check(proposal, Grounds(turns=(), notebooks={}))
        if refusal:
            return refusal.reason
    if remember.only_looks_like_it(asked.fact) or acts.does("question", asked.fact):
        return _A_QUESTION
    if acts.does("order", asked.fact) and not acts.does("manner", asked.fact):
        return _AN_ORDER
    return None
