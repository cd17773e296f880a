"""The journal by day, what was thought, and what is being watched.

GET  /api/journal?before=DAY     the days before, newest first, with how many entries each
GET  /api/journal/DAY            its entries, their text rendered
GET  /api/watching               folders, what was last seen; thinking and its caps; insights
POST /api/think                  {} → think now, {"said": sentence}
"""

from __future__ import annotations

from datetime import date
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response

from memory import Memory
from memory.records import JournalRead
from voice.config import Config
from voice.own_memory import now
from voice.web.aside import Aside
from voice.web.house import House
from voice.web.markdown import html
from voice.web.requests import Empty, Unreadable, read

DAYS = 14
ENTRIES = 200
INSIGHTS = 10


def _day(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise Unreadable(422, "day: a date like 2026-12-02 is wanted.") from None


def _shown(entry: JournalRead) -> dict[str, Any]:
    return {**entry.as_json(), "html": html(entry.text)}


def _days(memory: Memory, before: date | None) -> dict[str, Any]:
    known = [each for each in memory.journal_days() if before is None or each < before]
    shown = known[:DAYS]
    return {
        "days": [
            {"day": each.isoformat(), "entries": len(memory.journal_day(each).entries)}
            for each in shown
        ],
        "more": len(known) > len(shown),
    }


def _entries(memory: Memory, day: date) -> dict[str, Any]:
    found = memory.journal_day(day)
    return {
        "day": found.day.isoformat(),
        "file": found.file,
        "warning": found.warning,
        "count": len(found.entries),
        "entries": [_shown(each) for each in found.entries[:ENTRIES]],
    }


def _watching(memory: Memory, config: Config) -> dict[str, Any]:
    status = memory.watch_status()
    lately = memory.thoughts(now())
    return {
        "watch": status.as_json() if status else None,
        "wanted": [str(each) for each in config.watch],
        "thinking": {
            "on": config.think,
            "every_s": config.think_every_s,
            "calls": lately.spent.calls,
            "calls_a_day": config.think_calls_a_day,
            "tokens": lately.spent.tokens,
            "tokens_a_day": config.think_tokens_a_day,
            "at": lately.at.isoformat() if lately.at else None,
            "outcome": lately.outcome,
        },
        "insights": [_shown(each) for each in memory.insights(INSIGHTS)],
    }


def routes(house: House, aside: Aside) -> APIRouter:
    router = APIRouter()
    memory = house.memory

    @router.get("/api/journal")
    async def days(request: Request) -> Response:
        before = request.query_params.get("before")
        last = _day(before) if before else None
        return await aside.json(lambda: _days(memory, last))

    @router.get("/api/journal/{named}")
    async def day(named: str) -> Response:
        asked = _day(named)
        return await aside.json(lambda: _entries(memory, asked))

    @router.get("/api/watching")
    async def watching() -> Response:
        return await aside.json(lambda: _watching(memory, house.config))

    @router.post("/api/think")
    async def think(request: Request) -> Response:
        await read(request, Empty)
        said = await house.think()
        return await aside.json(lambda: {"said": said})

    return router
