"""A month of calls under this policy (spec L6.4): how often a model would be asked, with what,
and what would be written. Nothing on disk is touched."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from memory.asking import asks_of, counted, read_of
from memory.llm.protocol import Llm
from memory.notebooks.candidates import candidates
from memory.notebooks.own_words import Entries, after, verdicts
from memory.notebooks.validate import Grounds
from memory.records import NOTEBOOKS, Accepted, Notebook, Rejection, Turn

USER_TURNS: Final = 30
SILENCE: Final = timedelta(minutes=5)
"""When turns are handed over within a conversation; a live one counts in voice/triggers.py."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MonthReport:
    """`turns` are the user's. `marked` counts sentences. `reviews` are those that asked a
    model; `changes` is what they would have written."""

    calls: int
    turns: int
    marked: int
    reviews: int
    tokens_in: int
    tokens_out: int
    calls_without_model: int
    changes: tuple[Accepted, ...]
    rejections: int


async def review_month(
    calls: Iterable[tuple[Turn, ...]],
    llm: Llm,
    notebooks: Mapping[Notebook, tuple[str, ...]] | None = None,
) -> MonthReport:
    """Review each call as the memory task would. `turns` of a call are in order.

    Raises ModelUnavailable. `notebooks` are the entries at the beginning, none by default;
    each review sees what those before it have written.
    """
    totals = {"calls": 0, "turns": 0, "marked": 0, "reviews": 0, "tokens_in": 0, "tokens_out": 0}
    quiet_calls = rejections = 0
    pages: Entries = {name: (notebooks or {}).get(name, ()) for name in NOTEBOOKS}
    changes: list[Accepted] = []
    for turns in calls:
        totals["calls"] += 1
        totals["turns"] += sum(turn.speaker == "user" for turn in turns)
        reviews_before = totals["reviews"]
        for first, last in hand_overs(turns):
            so_far = turns[: last + 1]
            marked = candidates(so_far, turns[first].index)
            totals["marked"] += len(marked)
            asks = asks_of(marked, pages, so_far[-1].began_at, small=llm.small)
            if not marked or not asks:
                continue
            totals["reviews"] += 1
            replies = [counted(ask.question, await llm.ask(ask.question)) for ask in asks]
            totals["tokens_in"] += sum(reply.tokens_in or 0 for reply in replies)
            totals["tokens_out"] += sum(reply.tokens_out or 0 for reply in replies)
            proposed = read_of(asks, replies, pages).proposals
            for verdict in verdicts(proposed, Grounds(turns=so_far, notebooks=pages)):
                rejections += isinstance(verdict.outcome, Rejection)
                written = verdict.written
                if written is not None:
                    changes.append(written[1])
                    pages = after(pages, written[1])
        quiet_calls += totals["reviews"] == reviews_before
    return MonthReport(
        **totals, calls_without_model=quiet_calls, changes=tuple(changes), rejections=rejections
    )


def hand_overs(turns: tuple[Turn, ...]) -> Iterator[tuple[int, int]]:
    """Where in `turns` each hand-over begins and ends, both included: after thirty turns of the
    user, before five quiet minutes, and at the end."""
    first = said = 0
    for place, turn in enumerate(turns):
        if turn.speaker == "user":
            quiet_for = turn.began_at - turns[place - 1].ended_at if place else timedelta()
            if place > first and quiet_for >= SILENCE:
                yield first, place - 1
                first, said = place, 0
            said += 1
            if said == USER_TURNS:
                yield first, place
                first, said = place + 1, 0
    if first < len(turns):
        yield first, len(turns) - 1


def summary(report: MonthReport) -> Mapping[str, int]:
    """The figures, as they are printed."""
    return {
        "calls": report.calls,
        "turns": report.turns,
        "marked": report.marked,
        "reviews": report.reviews,
        "tokens_in": report.tokens_in,
        "tokens_out": report.tokens_out,
        "calls_without_model": report.calls_without_model,
        "changes": len(report.changes),
        "rejections": report.rejections,
    }
