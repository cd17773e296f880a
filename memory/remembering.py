"""“Remember that …”, from the words to the disk (L3): no model, and before any answer."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime

from memory.events import EventLog
from memory.languages import acts
from memory.languages.sentences import opens_request, sentences
from memory.notebooks import remember
from memory.notebooks.evidence import is_said
from memory.notebooks.ledger import Ledger
from memory.notebooks.remember import Asked
from memory.notebooks.secrets import secret_in
from memory.notebooks.validate import Grounds, no_markup, nothing_hidden, one_script
from memory.records import (
    Accepted,
    Change,
    Language,
    NotRemembered,
    Origin,
    Proposal,
    Remembered,
)

OWN_WORDS: frozenset[Origin] = frozenset({"spoken", "typed"})

_A_STATEMENT = "I like green tea."
_JOINT_WORDS = 4

_ASKS_FOR_NONE = "this asks for no memory: it is a question, or a reminder."
_UNREADABLE = (nothing_hidden, one_script, no_markup)
_NOTHING_TO_POINT_AT = "there was no statement to remember. Say it in one sentence."
_READ_ALOUD = "it sounded as if it was read aloud. Say it in your own words."
_A_QUESTION = "a question says nothing about you. Say it as a statement."
_AN_ORDER = (
    "it reads like an order, and the notebooks hold facts, never orders. Say what is true of you."
)


def asks_to_remember(text: str, before: str | None = None) -> bool:
    return bool(remember.asked(text, before))


def only_remembering(text: str, before: str | None = None) -> bool:
    """Whether the turn asks for nothing besides, so that a word of confirmation answers it."""
    found = remember.asked(text, before)
    parts = [sentence.text for sentence in sentences(text)]
    own = [part for part in parts if not any(part in a.quote or a.quote in part for a in found)]
    if any(not remember.asked(part, _A_STATEMENT) for part in own):
        return False
    return not any(_goes_on(each) for each in found)


def _goes_on(asked: Asked) -> bool:
    """“… and find me a restaurant”, behind the fact."""
    place = asked.quote.find(asked.fact)
    rest = asked.quote[place + len(asked.fact) :].split() if place >= 0 else []
    return any(opens_request(" ".join(rest[at:])) for at in range(min(len(rest), _JOINT_WORDS)))


def asked_in_turn(text: str, before: str | None, *, spoken: bool) -> tuple[Asked, ...]:
    """What a turn in the user's own words asks for. A long text, or one of several lines, was
    brought from elsewhere: what it asks for is not the user's wish, and nothing points back to
    it."""
    found = remember.asked(text, before if before and is_said(before, spoken=spoken) else None)
    if is_said(text, spoken=spoken):
        return found
    return tuple(replace(each, read_aloud=True) for each in found)


def remember_turn(
    ledger: Ledger,
    events: EventLog,
    asked: Iterable[Asked],
    at: datetime,
    *,
    before_at: datetime | None = None,
    conversation: str | None = None,
) -> tuple[Remembered, ...]:
    """Write what was asked for, and log it; one result each. Raises what the ledger raises.

    `at` is when it was asked, `before_at` when the turn before was said: relative dates count
    from when they were said.
    """
    outcomes = tuple(_one(ledger, each, at, before_at, conversation) for each in asked)
    for outcome in outcomes:
        events.append(
            "remembered",
            at,
            conversation=conversation,
            data={
                "saved": outcome.saved,
                "notebook": outcome.notebook,
                "reason": outcome.reason,
            },
        )
    return outcomes


def remember_text(
    ledger: Ledger,
    events: EventLog,
    text: str,
    at: datetime,
    *,
    language: Language | None = None,
    dry_run: bool = False,
) -> Remembered:
    """Words that are to be remembered as they are, with or without “remember that” in front."""
    if remember.only_looks_like_it(text):
        return Remembered(saved=False, reason=_ASKS_FOR_NONE)
    found = _as_asked(text, language)
    if dry_run:
        return _one(ledger, found[0], at, None, None, dry_run=True)
    [first, *_] = remember_turn(ledger, events, found, at)
    return first


def _as_asked(text: str, language: Language | None) -> tuple[Asked, ...]:
    found = remember.asked(text)
    if found:
        return found
    fact = " ".join(text.split())
    return (Asked(fact, fact, language or "en"),)


def _one(
    ledger: Ledger,
    asked: Asked,
    at: datetime,
    before_at: datetime | None,
    conversation: str | None,
    *,
    dry_run: bool = False,
) -> Remembered:
    against = _against(asked)
    if against is not None:
        why, reason = against
        return Remembered(saved=False, why=why, reason=reason)
    said_at = before_at if asked.earlier and before_at else at
    text = remember.entry(asked, said_at)
    accepted = Accepted(
        operation="add",
        notebook=remember.notebook_for(text),
        entry=None,
        text=text,
        quote=asked.quote,
        turn_index=None,
    )
    if dry_run:
        return Remembered(saved=True, notebook=accepted.notebook, entry=text)
    [written] = ledger.write(
        [accepted], source="remember", at=at, conversation=conversation, said_at={None: said_at}
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
        why=None if written.rule == "L6.1" else "no room" if written.waits else "fault",
        waits=written.waits,
    )


def _against(asked: Asked) -> tuple[NotRemembered, str] | None:
    if not any(letter.isalnum() for letter in asked.fact):
        return "nothing", _NOTHING_TO_POINT_AT
    if asked.read_aloud:
        return "read aloud", _READ_ALOUD
    kind = secret_in(asked.quote) or secret_in(asked.fact)
    if kind:
        return "secret", f"it holds {kind}, and Jarvis keeps no secrets."
    proposal = Proposal(
        operation="add", notebook="USER.md", entry=None, text=asked.fact, quote=asked.quote
    )
    for check in _UNREADABLE:
        refusal = check(proposal, Grounds(turns=(), notebooks={}))
        if refusal:
            return "unreadable", refusal.reason
    if not asked.subordinate and acts.does("question", asked.fact):
        return "question", _A_QUESTION
    return ("order", _AN_ORDER) if _is_order(asked.fact) else None


def _is_order(fact: str) -> bool:
    """What is to be done. How Jarvis is to answer is none, unless an order hides behind it."""
    return _orders(fact) and any(
        _orders(part) and not acts.does("manner", part) for part in remember.parts(fact)
    )


def _orders(text: str) -> bool:
    return acts.orders(text) or remember.is_duty(text)
