"""Lessons with their curves, the forgotten ones, and the passes over them.

GET  /api/lessons            everything that the view draws
GET  /api/lessons/grounds    ?lesson= → what happened that it rests on
POST /api/lessons/tidy       {"dry_run"} → what goes, or would go
POST /api/lessons/restore    {"lesson"}
POST /api/lessons/drop       {"lesson"}
POST /api/lessons/reflect    {} → what the pass did
"""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response
from pydantic import Field

from voice.own_memory import now
from voice.web.aside import Aside
from voice.web.house import House
from voice.web.requests import Body, Empty, read


class _Tidy(Body):
    dry_run: bool


class _Lesson(Body):
    lesson: str = Field(min_length=1, max_length=100)


def routes(house: House, aside: Aside) -> APIRouter:
    router = APIRouter()

    @router.get("/api/lessons")
    async def lessons() -> Response:
        def look() -> dict[str, Any]:
            found = house.memory.lessons.as_json(now())
            return {**found, "learning": house.config.learning}

        return await aside.json(look)

    @router.get("/api/lessons/grounds")
    async def grounds(lesson: str) -> Response:
        return await aside.json(lambda: {"lines": house.memory.lessons.grounds(lesson[:100])})

    @router.post("/api/lessons/tidy")
    async def tidy(request: Request) -> Response:
        body = await read(request, _Tidy)
        return await aside.json(
            lambda: house.memory.lessons.tidy(now(), dry_run=body.dry_run).as_json()
        )

    @router.post("/api/lessons/restore")
    async def restore(request: Request) -> Response:
        body = await read(request, _Lesson)
        return await aside.json(lambda: {"id": house.memory.lessons.restore(body.lesson, now()).id})

    @router.post("/api/lessons/drop")
    async def drop(request: Request) -> Response:
        body = await read(request, _Lesson)
        return await aside.json(lambda: {"id": house.memory.lessons.drop(body.lesson, now()).id})

    @router.post("/api/lessons/reflect")
    async def reflect(request: Request) -> Response:
        await read(request, Empty)
        report = await house.reflect()
        return await aside.json(report.as_json)

    return router
