"""What is read and compiled once, before a turn has to wait for it."""

from __future__ import annotations

import importlib
from datetime import UTC, datetime

from memory import requests
from memory.lessons.reading import tables
from memory.notebooks import remember
from memory.notebooks.filter_line import filtered
from memory.notebooks.tokens import tokens
from memory.notebooks.validate import Grounds, decide
from memory.notes.looking import warm as warm_notes
from memory.records import LANGUAGES, NOTEBOOKS, Proposal, Turn

_ROOMS = (
    "memory.conversations",
    "memory.index",
    "memory.lessons.door",
    "memory.notebooks.planning",
    "memory.remembering",
    "memory.task",
    "memory.thinking.elsewhere",
    "memory.thinking.thinking",
    "memory.watching.status",
)
"""What memory/door.py and memory/notebooks/ledger.py import when it is first needed."""

_SAID = "I like tea with milk."
_ENTRY = "Likes tea with milk."


def warm() -> None:
    """Read the rules of all languages, a second's work. For a thread: a piece of it holds the
    interpreter, and a call's loop with it, for 30 to 120 ms."""
    for room in _ROOMS:
        importlib.import_module(room)
    filtered(f'{{"text": "{_SAID}"}}')
    remember.asked(_SAID)
    for ask in (
        requests.requested,
        requests.speaks_of_forgetting,
        requests.speaks_of_parting,
        requests.picked,
    ):
        ask(_SAID)
    tokens(_SAID)
    at = datetime.now(UTC)
    turn = Turn(
        conversation="", index=0, speaker="user", text=_SAID, language="en", began_at=at,
        ended_at=at, origin="spoken",
    )  # fmt: skip
    proposal = Proposal(operation="add", notebook="USER.md", entry=None, text=_ENTRY, quote=_SAID)
    decide(proposal, Grounds(turns=(turn,), notebooks=dict.fromkeys(NOTEBOOKS, ())))
    for language in LANGUAGES:
        tables(language)
    warm_notes()
