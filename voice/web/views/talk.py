"""The call and the typed conversation.

GET  /api/status     what answers, whether it is ready, whether a call runs
POST /api/offer      {"sdp", "type": "offer", "take_over"?, "goes_on"?} → {"sdp", "type"}
POST /api/chat       {"text", "pasted"?} → events, one JSON value a line
POST /api/hang-up    {} → {"ended": true}
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator, AsyncIterator
from typing import Any, Literal

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response, StreamingResponse
from pydantic import AwareDatetime, ConfigDict, Field

from memory.errors import MemoryFault
from voice.errors import VoiceFault
from voice.records import Notice, event_json
from voice.web.aside import NEVER_KEPT, Aside, as_json
from voice.web.house import House
from voice.web.requests import Body, Empty, read

TEXT_CHARS = 8_000


class _Offer(Body):
    sdp: str = Field(min_length=1)
    type: Literal["offer"]
    take_over: bool = False
    goes_on: AwareDatetime | None = None


class _Text(Body):
    model_config = ConfigDict(str_strip_whitespace=True)

    text: str = Field(min_length=1, max_length=TEXT_CHARS)
    pasted: bool = False


async def _lines(
    first: dict[str, Any], rest: AsyncIterator[dict[str, Any]]
) -> AsyncIterator[bytes]:
    """Events as lines. A fault in mid-answer is told as an event: the status is sent already."""
    try:
        yield as_json(first) + b"\n"
        async for event in rest:
            yield as_json(event) + b"\n"
    except (VoiceFault, MemoryFault) as fault:
        yield as_json(event_json(Notice(kind="stop", text=str(fault)))) + b"\n"
    finally:
        if isinstance(rest, AsyncGenerator):
            await rest.aclose()


def routes(house: House, aside: Aside) -> APIRouter:
    router = APIRouter()

    @router.get("/api/status")
    async def status() -> Response:
        return await aside.json(house.status)

    @router.post("/api/offer")
    async def offer(request: Request) -> JSONResponse:
        body = await read(request, _Offer)
        answer = await house.offer(body.sdp, body.type, body.take_over, body.goes_on)
        return JSONResponse(answer, headers=NEVER_KEPT)

    @router.post("/api/chat")
    async def chat(request: Request) -> Response:
        body = await read(request, _Text)
        events = house.chat(body.text, body.pasted)
        # The first event is awaited here, so that a fault before it still has its status.
        with contextlib.suppress(StopAsyncIteration):
            first = await anext(events)
            return StreamingResponse(
                _lines(first, events), media_type="application/x-ndjson", headers=NEVER_KEPT
            )
        return Response(media_type="application/x-ndjson", headers=NEVER_KEPT)

    @router.post("/api/hang-up")
    async def hang_up(request: Request) -> JSONResponse:
        await read(request, Empty)
        await house.hang_up()
        return JSONResponse({"ended": True}, headers=NEVER_KEPT)

    return router
