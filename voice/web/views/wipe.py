"""Everything that Jarvis knows, listed, asked for, and gone (S4).

GET  /api/wipe    what would go, and what stays
POST /api/wipe    {"word": "wipe"} → what went; nothing while a call runs
"""

from __future__ import annotations

from typing import Literal

from fastapi import APIRouter, Request
from fastapi.responses import Response

from voice.web.aside import Aside
from voice.web.house import House
from voice.web.requests import Body, read


class _Wipe(Body):
    word: Literal["wipe"]


def routes(house: House, aside: Aside) -> APIRouter:
    router = APIRouter()

    @router.get("/api/wipe")
    async def plan() -> Response:
        return await aside.json(lambda: house.memory.wipe_plan().as_json())

    @router.post("/api/wipe")
    async def wipe(request: Request) -> Response:
        await read(request, _Wipe)

        report = await house.wipe()
        return await aside.json(report.as_json)

    return router
