"""A month in figures: what was said, what was kept of it, what it cost, how fast it was.

    GET /api/month?month=2026-11    the month's figures, and which months there are

What the first version would have cost follows from its policy (spec L6.4): a review every six
turns of the user and at each hang-up, about 6,000 tokens in and up to eight changes out.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Final

from fastapi import APIRouter, Request
from fastapi.responses import Response

from memory import Event, LatencySpread, providers
from voice.own_memory import now
from voice.web.aside import Aside
from voice.web.house import House
from voice.web.requests import Unreadable

FIRST_USER_TURNS: Final = 6
FIRST_TOKENS_IN: Final = 6_000
FIRST_TOKENS_OUT: Final = 480
"""Eight changes of sixty tokens."""

STEP_MS: Final = 150
STEPS: Final = 24
"""So many steps of the latencies' picture; the last holds everything slower."""

STAGES: Final = ("pause", "transcript", "notes", "first_word", "first_sound")
_MONTH = re.compile(r"(?P<year>\d{4})-(?P<month>0[1-9]|1[0-2])")
_REVIEWING: Final = ("reviewed", "review_failed")
_OTHERWISE: Final = ("merged", "thought", "reflected")
_SPENDING: Final = (*_REVIEWING, *_OTHERWISE)
KINDS: Final = ("began", "ended", "rejected", "remembered", *_SPENDING)


def first_reviews(user_turns: int) -> int:
    """How often the first version would have reviewed a conversation of so many user turns."""
    return -(-user_turns // FIRST_USER_TURNS)


def _sum(events: Iterable[Event], field: str) -> int:
    return sum(event.data.get(field) or 0 for event in events)


def _dollars(tokens_in: int, tokens_out: int, prices: tuple[float, float]) -> float:
    return round((tokens_in * prices[0] + tokens_out * prices[1]) / 1e6, 4)


def _shown(spread: LatencySpread | None) -> dict[str, Any] | None:
    if spread is None:
        return None
    stages = spread.stages_ms
    return {
        "count": spread.count,
        "half_ms": spread.half_ms,
        "most_ms": spread.most_ms,
        "step_ms": spread.step_ms,
        "steps": list(spread.steps),
        "stages": [{"name": name, "half_ms": stages[name]} for name in STAGES if name in stages],
    }


@dataclass(slots=True)
class _ByDay:
    """Figures of each day of a month, from its first on."""

    calls: list[int]
    marked: list[int]
    reviews: list[int]
    first_reviews: list[int]
    tokens: list[int]

    @classmethod
    def of(cls, events: Sequence[tuple[datetime, Event]], days: int) -> _ByDay:
        found = cls(*([0] * days for _ in range(5)))
        marked = {
            each.conversation
            for _, each in events
            if each.kind == "reviewed" and each.data.get("marked")
        }
        for at, each in events:
            day = at.day - 1
            match each.kind:
                case "began":
                    found.calls[day] += 1
                    found.marked[day] += each.conversation in marked
                case "ended":
                    found.first_reviews[day] += first_reviews(each.data.get("user_turns") or 0)
                case "reviewed":
                    found.reviews[day] += each.data.get("outcome") == "asked"
            if each.kind in _SPENDING:
                found.tokens[day] += each.data.get("tokens_in") or 0
                found.tokens[day] += each.data.get("tokens_out") or 0
        return found


def _tokens(by: Mapping[str, list[Event]], kinds: Iterable[str]) -> tuple[int, int]:
    """Those that went in, and that came out."""
    found = [each for kind in kinds for each in by[kind]]
    return _sum(found, "tokens_in"), _sum(found, "tokens_out")


def month_of(
    events: Sequence[Event],
    spread: LatencySpread | None,
    year: int,
    month: int,
    prices: tuple[float, float],
) -> dict[str, Any]:
    """The figures of one month; `prices` are dollars a million tokens in and out. Times are
    turned into the user's own before days are counted."""
    local = [(event.at.astimezone(), event) for event in events]
    ours = [(at, each) for at, each in local if (at.year, at.month) == (year, month)]
    by: dict[str, list[Event]] = defaultdict(list)
    for _, each in ours:
        by[each.kind].append(each)
    by_day = _ByDay.of(ours, monthrange(year, month)[1])
    first = by_day.first_reviews
    spent = _tokens(by, _REVIEWING)
    other = _tokens(by, _OTHERWISE)
    first_in, first_out = sum(first) * FIRST_TOKENS_IN, sum(first) * FIRST_TOKENS_OUT
    saved = sum(bool(each.data.get("saved")) for each in by["remembered"])
    billings = {each.data.get("billing") for kind in _SPENDING for each in by[kind]} - {None, ""}
    return {
        "month": f"{year:04}-{month:02}",
        "calls": sum(by_day.calls),
        "quiet_calls": sum(by_day.calls) - sum(by_day.marked),
        "user_turns": _sum(by["ended"], "user_turns"),
        "minutes": round(sum(each.data.get("duration_s") or 0 for each in by["ended"]) / 60),
        "marked": _sum(by["reviewed"], "marked"),
        "proposed": _sum(by["reviewed"], "proposed"),
        "accepted": _sum(by["reviewed"], "accepted"),
        "refused": len(by["rejected"]),
        "remembered": saved,
        "by_day": {
            **asdict(by_day),
            "first_tokens": [n * (FIRST_TOKENS_IN + FIRST_TOKENS_OUT) for n in first],
        },
        "now": {
            "reviews": sum(by_day.reviews),
            "tokens_in": spent[0],
            "tokens_out": spent[1],
            "dollars": _dollars(*spent, prices),
            "other_tokens": sum(other),
            "other_dollars": _dollars(*other, prices),
        },
        "first": {
            "reviews": sum(first),
            "tokens_in": first_in,
            "tokens_out": first_out,
            "dollars": _dollars(first_in, first_out, prices),
        },
        "billings": sorted(billings),
        "latency": _shown(spread),
    }


def _asked(text: str | None, today: datetime) -> tuple[int, int]:
    if text is None:
        return today.year, today.month
    found = _MONTH.fullmatch(text)
    if found is None:
        raise Unreadable(422, "month: a month like 2026-11 is wanted.")
    return int(found["year"]), int(found["month"])


def routes(house: House, aside: Aside) -> APIRouter:
    router = APIRouter()

    @router.get("/api/month")
    async def month(request: Request) -> Response:
        today = now()
        year, number = _asked(request.query_params.get("month"), today)

        def look() -> dict[str, Any]:
            log = house.memory.events
            begin = datetime(year, number, 1).astimezone()
            end = datetime(year + number // 12, number % 12 + 1, 1).astimezone()
            events = [each for kind in KINDS for each in log.events(kind, since=begin, until=end)]
            spread = log.latency_spread(begin, end, step_ms=STEP_MS, steps=STEPS)
            cheap = providers()["openai"]
            prices = (cheap.price_in or 0.0, cheap.price_out or 0.0)
            oldest = log.first_at()
            return {
                **month_of(events, spread, year, number, prices),
                "price_of": cheap.model,
                "oldest": f"{oldest.astimezone():%Y-%m}" if oldest else None,
                "newest": f"{today:%Y-%m}",
            }

        return await aside.json(look)

    return router
