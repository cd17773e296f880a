"""The page's routes. What they ask for is done by the House, which is one Protocol.

    GET  /               the page
    GET  /static/*       its parts
    GET  /api/status     what answers, whether it is ready, whether a call runs
    POST /api/offer      {"sdp", "type": "offer", "take_over"?} → {"sdp", "type"}
    POST /api/chat       {"text", "pasted"?} → events, one JSON value a line
    POST /api/hang-up    {} → {"ended": true}

What goes wrong is {"error": kind, "message": a sentence} with a status of 4xx or 5xx.
"""

from __future__ import annotations

import contextlib
import json
import logging
from collections.abc import AsyncGenerator, AsyncIterator
from pathlib import Path
from typing import Any, Literal, Protocol, TypeVar

from fastapi import FastAPI, Request
from fastapi.responses import FileResponse, JSONResponse, Response, StreamingResponse
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from voice.errors import CallInProgress, EngineUnavailable, OfferInvalid, VoiceFault
from voice.records import Notice, event_json
from voice.web.guard import Guard, Policy

log = logging.getLogger(__name__)

STATIC = Path(__file__).parent / "static"
_BODY_BYTES = 256 * 1024
_TEXT_CHARS = 8_000
_FRESH = {"cache-control": "no-cache"}  # asked again each time; an unchanged part costs a 304
_NEVER_KEPT = {"cache-control": "no-store"}


class House(Protocol):
    """What stands behind the page."""

    def status(self) -> dict[str, Any]:
        """As JSON: "engine" (an EngineDescription's fields, None until one is chosen), "languages" (["en", …]),
        "language", "vault" (the user's folder, as text), "notebooks" ({"USER.md":
        {"entries": n, "chars": n}, …}), "ready", "loading" (what is being loaded, in words),
        "call" (None or {"began_at": ISO time}), "notices" ([{"kind", "text"}]) and
        "hints" (sentences)."""
        ...

    async def offer(self, sdp: str, type: str, take_over: bool) -> dict[str, str]:
        """Begin a call and give the answer, {"sdp", "type"}.

        Raises CallInProgress when one runs and `take_over` is False, OfferInvalid, or
        another VoiceFault when nothing can answer.
        """
        ...

    def chat(self, text: str, pasted: bool) -> AsyncIterator[dict[str, Any]]:
        """One typed turn without a call: the events that it causes, as `event_json` gives them."""
        ...

    async def hang_up(self) -> None:
        """End the call, if one runs."""
        ...


class _Offer(BaseModel):
    model_config = ConfigDict(strict=True)

    sdp: str = Field(min_length=1)
    type: Literal["offer"]
    take_over: bool = False


class _Text(BaseModel):
    model_config = ConfigDict(strict=True, str_strip_whitespace=True)

    text: str = Field(min_length=1, max_length=_TEXT_CHARS)
    pasted: bool = False


class _Empty(BaseModel):
    pass


class _Unreadable(Exception):
    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


_Body = TypeVar("_Body", bound=BaseModel)


async def _read(request: Request, form: type[_Body]) -> _Body:
    raw = bytearray()
    async for piece in request.stream():
        raw += piece
        if len(raw) > _BODY_BYTES:
            raise _Unreadable(413, "That is too much for one request (256 KiB at most).")
    try:
        return form.model_validate_json(bytes(raw))
    except ValidationError as fault:
        first = fault.errors(include_input=False, include_url=False)[0]
        if first["type"] == "json_invalid":
            raise _Unreadable(400, "The request is no JSON that can be read.") from fault
        if first["type"] == "string_too_long":
            raise _Unreadable(
                422, f"That text is too long: {_TEXT_CHARS:,} characters at most."
            ) from fault
        place = ".".join(str(part) for part in first["loc"]) or "the request"
        raise _Unreadable(422, f"{place}: {first['msg']}.") from fault


def _error(status: int, kind: str, message: str) -> JSONResponse:
    return JSONResponse({"error": kind, "message": message}, status, headers=_NEVER_KEPT)


def _fault(fault: VoiceFault) -> JSONResponse:
    match fault:
        case CallInProgress():
            return _error(409, "call in progress", str(fault) or "A call runs in another window.")
        case OfferInvalid():
            return _error(422, "offer invalid", str(fault))
        case EngineUnavailable():
            return _error(503, "engine failed", str(fault))
    return _error(503, "failed", str(fault))


class _Parts(StaticFiles):
    async def get_response(self, path: str, scope: Scope) -> Response:
        response = await super().get_response(path, scope)
        response.headers.update(_FRESH)
        return response


async def _lines(
    first: dict[str, Any], rest: AsyncIterator[dict[str, Any]]
) -> AsyncIterator[bytes]:
    """Events as lines. A fault in mid-answer is told as an event: the status is sent already."""
    try:
        yield _line(first)
        async for event in rest:
            yield _line(event)
    except VoiceFault as fault:
        yield _line(event_json(Notice(kind="stop", text=str(fault))))
    finally:
        if isinstance(rest, AsyncGenerator):
            await rest.aclose()


def _line(event: dict[str, Any]) -> bytes:
    return json.dumps(event, ensure_ascii=False).encode() + b"\n"


def create_app(house: House, *, port: int, token: str | None = None) -> FastAPI:
    """The app for one house. `port` is where it will listen: only that address is answered."""
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
    app.add_middleware(Guard, policy=Policy(port=port, token=token))
    app.mount("/static", _Parts(directory=STATIC))

    @app.exception_handler(_Unreadable)
    async def unreadable(_: Request, fault: _Unreadable) -> JSONResponse:
        return _error(fault.status, "unreadable", str(fault))

    @app.exception_handler(VoiceFault)
    async def failed(_: Request, fault: VoiceFault) -> JSONResponse:
        log.warning("a request failed: %s", type(fault).__name__)
        return _fault(fault)

    @app.get("/")
    async def page() -> FileResponse:
        return FileResponse(STATIC / "index.html", headers=_FRESH)

    @app.get("/api/status")
    async def status() -> JSONResponse:
        return JSONResponse(house.status(), headers=_NEVER_KEPT)

    @app.post("/api/offer")
    async def offer(request: Request) -> JSONResponse:
        body = await _read(request, _Offer)
        answer = await house.offer(body.sdp, body.type, body.take_over)
        return JSONResponse(answer, headers=_NEVER_KEPT)

    @app.post("/api/chat")
    async def chat(request: Request) -> Response:
        body = await _read(request, _Text)
        events = house.chat(body.text, body.pasted)
        # The first event is awaited here, so that a fault before it still has its status.
        with contextlib.suppress(StopAsyncIteration):
            first = await anext(events)
            return StreamingResponse(
                _lines(first, events), media_type="application/x-ndjson", headers=_NEVER_KEPT
            )
        return Response(media_type="application/x-ndjson", headers=_NEVER_KEPT)

    @app.post("/api/hang-up")
    async def hang_up(request: Request) -> JSONResponse:
        await _read(request, _Empty)
        await house.hang_up()
        return JSONResponse({"ended": True}, headers=_NEVER_KEPT)

    return app
