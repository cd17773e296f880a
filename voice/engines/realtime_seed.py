"""What a session is told beside the prefix: the conversation so far, and the time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from memory.records import Speaker, Turn

SEED_CHARS = 24_000


@dataclass(frozen=True, slots=True)
class Said:
    speaker: Speaker
    text: str


@dataclass(slots=True, kw_only=True)
class ToolUse:
    """A tool that the model asked for. `after` so many turns of the conversation, in the call's
    n-th `session`; `output` is None while it works."""

    call_id: str
    name: str
    arguments: str
    after: int
    session: int
    output: str | None = None


def seed(
    turns: Sequence[Turn], waiting: Sequence[str], uses: Sequence[ToolUse] = ()
) -> list[Said | ToolUse]:
    """The conversation so far, the latest `SEED_CHARS` of it, with the tools' results in place.

    `waiting` are the user's words without an answer, which the turns may hold or not yet.
    Turns of notes are left out: what they showed was for one answer.
    """
    said: list[Said | ToolUse] = []
    done = [use for use in uses if use.output is not None]
    for number, turn in enumerate(turns):
        said += [use for use in done if use.after == number]
        if turn.origin != "note":
            said.append(Said(turn.speaker, turn.text))
    tail: list[str] = []
    for turn in reversed(turns):
        if turn.speaker != "user":
            break
        tail.insert(0, turn.text.strip())
    for text in waiting:
        if text.strip() in tail:
            tail.remove(text.strip())
        else:
            said.append(Said("user", text))
    said += [use for use in done if use.after >= len(turns)]
    chars = 0
    kept: list[Said | ToolUse] = []
    for each in reversed(said):
        chars += len(each.text) if isinstance(each, Said) else len(each.output or "")
        if kept and chars > SEED_CHARS:
            break
        kept.insert(0, each)
    return kept


_TIME_HOLDS = timedelta(minutes=30)


def time_is_due(told: datetime, now: datetime) -> bool:
    """Rarely: each item is paid for again with every answer."""
    return now - told >= _TIME_HOLDS or now.date() != told.date()
