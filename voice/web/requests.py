"""What the page sends, parsed; and what goes wrong, as an answer.

A failure is {"error": kind, "message": a sentence} with a status of 4xx or 5xx.
"""

from __future__ import annotations

from typing import Any, TypeVar

from fastapi import Request
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, ValidationError

from memory.errors import (
    AmbiguousEntry,
    MemoryFault,
    ModelUnavailable,
    NoSuchChange,
    NotebookChanged,
    WipeRefused,
)
from voice.errors import (
    CallInProgress,
    EngineUnavailable,
    OfferInvalid,
    SettingInvalid,
    VoiceFault,
)
from voice.web.aside import NEVER_KEPT

BODY_BYTES = 256 * 1024

Form = TypeVar("Form", bound=BaseModel)


class Body(BaseModel):
    """A request's body: only what is asked for, and nothing turned into another type."""

    model_config = ConfigDict(strict=True, extra="forbid")


class Empty(Body):
    pass


class Unreadable(Exception):
    """`status` is the answer's, the message its sentence."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


async def read(request: Request, form: type[Form], *, most_bytes: int = BODY_BYTES) -> Form:
    """Raises Unreadable."""
    raw = bytearray()
    async for piece in request.stream():
        raw += piece
        if len(raw) > most_bytes:
            raise Unreadable(
                413, f"That is too much for one request ({most_bytes // 1024} KiB at most)."
            )
    try:
        return form.model_validate_json(bytes(raw))
    except ValidationError as fault:
        first = fault.errors(include_input=False, include_url=False)[0]
        if first["type"] == "json_invalid":
            raise Unreadable(400, "The request is no JSON that can be read.") from fault
        if first["type"] == "string_too_long":
            raise Unreadable(
                422, f"That text is too long: {first['ctx']['max_length']:,} characters at most."
            ) from fault
        place = ".".join(str(part) for part in first["loc"]) or "the request"
        raise Unreadable(422, f"{place}: {first['msg']}.") from fault


def whole_number(text: str | None, *, name: str, default: int, most: int) -> int:
    """A number of the address's query, 0 to `most`. Raises Unreadable."""
    if text is None:
        return default
    if not text.isascii() or not text.isdigit() or len(text) > 9:
        raise Unreadable(422, f"{name}: a whole number is wanted.")
    return min(int(text), most)


def error(status: int, kind: str, message: str, **more: Any) -> JSONResponse:
    return JSONResponse({"error": kind, "message": message, **more}, status, headers=NEVER_KEPT)


def voice_fault(fault: VoiceFault) -> JSONResponse:
    match fault:
        case CallInProgress():
            return error(409, "call in progress", str(fault) or "A call runs in another window.")
        case OfferInvalid():
            return error(422, "offer invalid", str(fault))
        case SettingInvalid():
            return error(422, "setting invalid", str(fault))
        case EngineUnavailable():
            return error(503, "engine failed", str(fault))
    return error(503, "failed", str(fault))


def memory_fault(fault: MemoryFault) -> JSONResponse:
    match fault:
        case NotebookChanged():
            return error(409, "changed", str(fault), text=fault.text, digest=fault.digest)
        case AmbiguousEntry():
            return error(409, "ambiguous", str(fault))
        case WipeRefused():
            return error(409, "busy", str(fault))
        case NoSuchChange():
            return error(409, "gone", str(fault))
        case ModelUnavailable():
            return error(503, "no model", str(fault))
    return error(503, "failed", str(fault))
