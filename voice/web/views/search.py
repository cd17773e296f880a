"""Search over the notes and the journal, and a hit in its file.

GET /api/search?words=…&where=all|notes|journal    hits, best first
GET /api/note?file=…&line=N                        the lines around it, as they are
"""

from __future__ import annotations

import time
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response

from memory import Hit
from voice.web.aside import Aside
from voice.web.house import House
from voice.web.requests import Unreadable, whole_number

WORDS_CHARS = 500
HITS = 20
AROUND = 12
LINE_CHARS = 400


def _shown(hit: Hit, along: set[tuple[str, int]]) -> dict[str, Any]:
    goes = any((hit.file, line) in along for line in range(hit.first_line, hit.last_line + 1))
    return {
        **hit.as_json(),
        "share": round(hit.share, 3),
        "matched": list(hit.matched),
        "along": goes,
    }


def _found(house: House, words: str, where: str) -> dict[str, Any]:
    began_s = time.monotonic()
    memory = house.memory
    hits: list[Hit] = []
    if where != "journal":
        hits += memory.notes(words, HITS)
    if where != "notes":
        hits += memory.recall(words, HITS)
    hits.sort(key=lambda hit: -hit.share)
    along = {
        (extract.file, line)
        for extract in memory.extracts(words, fresh=False)
        for line in range(extract.first_line, extract.last_line + 1)
    }
    return {
        "hits": [_shown(hit, along) for hit in hits[:HITS]],
        "took_ms": round((time.monotonic() - began_s) * 1000),
    }


def routes(house: House, aside: Aside) -> APIRouter:
    router = APIRouter()

    @router.get("/api/search")
    async def search(request: Request) -> Response:
        words = request.query_params.get("words", "").strip()
        where = request.query_params.get("where", "all")
        if where not in ("all", "notes", "journal"):
            raise Unreadable(422, "where: it is one of all, notes, journal.")
        if len(words) > WORDS_CHARS:
            raise Unreadable(422, f"words: {WORDS_CHARS} characters at most.")
        return await aside.json(
            lambda: _found(house, words, where) if words else {"hits": [], "took_ms": 0}
        )

    @router.get("/api/note")
    async def note(request: Request) -> Response:
        file = request.query_params.get("file", "")
        line = whole_number(
            request.query_params.get("line"), name="line", default=1, most=10_000_000
        )

        def look() -> dict[str, Any]:
            text = house.memory.note_text(file)
            if text is None:
                raise Unreadable(404, "There is no such note any more.")
            lines = text.splitlines()
            first = max(0, min(line, len(lines)) - AROUND)
            return {
                "file": file,
                "first": first + 1,
                "lines": [each[:LINE_CHARS] for each in lines[first : first + 2 * AROUND + 1]],
            }

        return await aside.json(look)

    return router
