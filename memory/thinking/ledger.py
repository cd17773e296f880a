"""What thinking has cost and seen so far, out of the event log: it holds across restarts.

A `thought` event with the outcome "asking" stands before each call, with the most it may cost;
the next one says what came of it. Where that is missing, a process died over the call.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from memory.event_records import Event
from memory.thinking.repeats import Trace, from_data

Outcome = Literal[
    "asking", "noted", "nothing", "repeat", "refused", "nonsense", "unavailable", "gave way"
]
UNSEEN: tuple[Outcome, ...] = ("unavailable", "gave way")
"""The entries that were asked about are still new then."""

DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    calls: int = 0
    tokens: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Past:
    """`seen` are keys of entries that were thought about, `texts` keys of what was written,
    `failures` counts calls without an answer since the last one with, and `next_at` is when
    to try again after them."""

    seen: frozenset[str] = frozenset()
    texts: frozenset[str] = frozenset()
    traces: tuple[Trace, ...] = ()
    failures: int = 0
    next_at: datetime | None = None


def spent(events: Iterable[Event], since: datetime) -> Spent:
    """Calls and tokens since then; of a call whose end is not known, the most it may cost."""
    calls = tokens = 0
    reserved = 0
    for event in events:
        if event.at < since:
            continue
        if event.data["outcome"] == "asking":
            calls += 1
            tokens += reserved
            reserved = _tokens(event)
        else:
            tokens += _tokens(event)
            reserved = 0
    return Spent(calls=calls, tokens=tokens + reserved)


def _tokens(event: Event) -> int:
    return (event.data.get("tokens_in") or 0) + (event.data.get("tokens_out") or 0)


def past(events: Iterable[Event]) -> Past:
    seen: set[str] = set()
    texts: set[str] = set()
    traces: list[Trace] = []
    asked: set[str] = set()
    failures, next_at = 0, None
    for event in events:
        outcome = event.data["outcome"]
        if outcome == "asking":
            seen |= asked
            asked = set(event.data.get("entries") or {})
            continue
        if outcome not in UNSEEN:
            seen |= asked
        asked = set()
        if outcome == "unavailable":
            failures += 1
            next_at = datetime.fromisoformat(event.data["next_at"])
        elif outcome != "gave way":
            failures, next_at = 0, None
        if outcome == "noted":
            texts.add(event.data["text"])
            traces.append(
                from_data(event.data["language"], event.data["words"], denies=event.data["denies"])
            )
    return Past(
        seen=frozenset(seen | asked),
        texts=frozenset(texts),
        traces=tuple(traces),
        failures=failures,
        next_at=next_at,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Thoughts:
    """`spent` in the last 24 hours; the last call's `outcome`, when it was, and who was asked.

    `failures` counts calls without an answer since the last one with.
    """

    spent: Spent
    at: datetime | None = None
    outcome: Outcome | None = None
    model: str | None = None
    failures: int = 0
    next_at: datetime | None = None


def thoughts(events: Sequence[Event], now: datetime) -> Thoughts:
    lately = spent(events, now - DAY)
    if not events:
        return Thoughts(spent=lately)
    before, last = past(events), events[-1]
    return Thoughts(
        spent=lately,
        at=last.at.astimezone(now.tzinfo),
        outcome=last.data["outcome"],
        model=last.data["model"],
        failures=before.failures,
        next_at=before.next_at,
    )
