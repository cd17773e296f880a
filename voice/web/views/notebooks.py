"""The two notebooks as they are on disk, and where their entries come from.

GET  /api/notebooks                  both in figures, what waits; the first entries of each
GET  /api/notebooks/NAME?from=N      more entries
GET  /api/notebooks/NAME/text        the file, and the digest that saving asks for
POST /api/notebooks/NAME             {"text", "seen"} → {"digest"}; 409 where it was changed
POST /api/undo                       {"change"} → the change that reverses it
POST /api/forget                     {"entry"} → the changes that took it out
"""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response
from pydantic import Field

from memory import Memory, NotebookPage
from memory.records import NOTEBOOKS, Change, Notebook
from voice.own_memory import now
from voice.web.aside import Aside
from voice.web.house import House
from voice.web.requests import Body, Unreadable, read, whole_number

ENTRIES = 50
ENTRY_CHARS = 2_000
"""Of an entry that is longer the page shows the beginning; the file itself is there to read."""
TEXT_CHARS = 256 * 1024
_BODY_BYTES = 4 * TEXT_CHARS


class _Text(Body):
    text: str = Field(max_length=TEXT_CHARS)
    seen: str = Field(min_length=1, max_length=100)


class _Undo(Body):
    change: str = Field(min_length=1, max_length=100)


class _Forget(Body):
    entry: str = Field(min_length=1, max_length=ENTRY_CHARS)


def _named(name: str) -> Notebook:
    for known in NOTEBOOKS:
        if known == name:
            return known
    raise Unreadable(404, f"There is no notebook {name[:40]}. They are {' and '.join(NOTEBOOKS)}.")


def _origin(change: Change | None) -> dict[str, Any] | None:
    if change is None:
        return None
    return {
        "id": change.id,
        "at": change.at.isoformat(),
        "said_at": change.said_at.isoformat() if change.said_at else None,
        "source": change.source,
        "quote": change.quote,
        "conversation": change.conversation,
    }


def shown(page: NotebookPage, first: int) -> dict[str, Any]:
    """A notebook's entries from `first` on, a page of them."""
    entries = [
        {
            "line": each.entry.line,
            "text": each.entry.text[:ENTRY_CHARS],
            "written": _origin(each.written),
            "quoted": _origin(each.quoted),
        }
        for each in page.entries[first : first + ENTRIES]
    ]
    following = first + len(entries)
    return {
        "name": page.name,
        "path": str(page.path),
        "count": len(page.entries),
        "chars": page.chars,
        "warnings": list(page.warnings),
        "unwritable": page.unwritable,
        "entries": entries,
        "next": following if following < len(page.entries) else None,
    }


def _both(memory: Memory) -> dict[str, Any]:
    limit, merge_at = memory.room
    return {
        "books": [shown(memory.notebook(name), 0) for name in NOTEBOOKS],
        "limit": limit,
        "merge_at": merge_at,
        "copies": list(memory.conflict_copies()),
        "room": list(memory.waiting_for_room()),
        "reviews": [
            {
                "quote": each.quote,
                "conversation": each.conversation,
                "at": each.at.isoformat(),
                "next_at": each.next_at.isoformat() if each.next_at else None,
                "failed": each.failed,
            }
            for each in memory.marked_waiting()[:ENTRIES]
        ],
    }


def _text(page: NotebookPage) -> dict[str, Any]:
    return {
        "name": page.name,
        "text": page.text,
        "digest": page.digest,
        "unwritable": page.unwritable,
    }


def routes(house: House, aside: Aside) -> APIRouter:
    router = APIRouter()
    memory = house.memory

    @router.get("/api/notebooks")
    async def notebooks() -> Response:
        return await aside.json(lambda: _both(memory))

    @router.get("/api/notebooks/{name}")
    async def more(name: str, request: Request) -> Response:
        notebook = _named(name)
        first = whole_number(
            request.query_params.get("from"), name="from", default=0, most=1_000_000
        )
        return await aside.json(lambda: shown(memory.notebook(notebook), first))

    @router.get("/api/notebooks/{name}/text")
    async def text(name: str) -> Response:
        notebook = _named(name)
        return await aside.json(lambda: _text(memory.notebook(notebook)))

    @router.post("/api/notebooks/{name}")
    async def save(name: str, request: Request) -> Response:
        notebook = _named(name)
        body = await read(request, _Text, most_bytes=_BODY_BYTES)

        def write() -> dict[str, str]:
            memory.save_notebook(notebook, body.text, seen=body.seen, at=now())
            return {"digest": memory.notebook(notebook).digest}

        return await aside.json(write)

    @router.post("/api/undo")
    async def undo(request: Request) -> Response:
        body = await read(request, _Undo)
        return await aside.json(lambda: memory.undo(body.change, now()).as_json())

    @router.post("/api/forget")
    async def forget(request: Request) -> Response:
        body = await read(request, _Forget)
        return await aside.json(
            lambda: [each.as_json() for each in memory.forget(body.entry, now())]
        )

    return router
