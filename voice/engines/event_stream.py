"""Server-sent events over HTTP, read so that a virtual clock waits for the server."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any, cast

import httpx

from voice.virtual_time import at_work


class StreamMalformed(Exception):
    """The server sent something that is no event stream; the message quotes its beginning."""


async def read_events(
    client: httpx.AsyncClient, path: str, body: dict[str, Any]
) -> AsyncGenerator[dict[str, Any], None]:
    """POST `body` and give the events' JSON as it comes; closing it hangs up.

    Raises httpx.HTTPStatusError (its response is read), httpx.TransportError and
    StreamMalformed.
    """
    request = client.build_request("POST", path, json=body)
    with at_work():
        response = await client.send(request, stream=True)
    try:
        if response.is_error:
            with at_work():
                await response.aread()
            response.raise_for_status()
        lines_of_body = cast("AsyncGenerator[str, None]", response.aiter_lines())
        async with aclosing(lines_of_body) as lines:
            while True:
                with at_work():
                    line = await anext(lines, None)
                if line is None or line == "data: [DONE]":
                    return
                event = _event(line)
                if event is not None:
                    yield event
    finally:
        await response.aclose()


def _event(line: str) -> dict[str, Any] | None:
    """The event of one line; None for blank lines, comments and fields other than data."""
    name, _, value = line.partition(":")
    if name in ("", "event", "id", "retry"):
        return None
    if name not in ("data", "error"):
        raise StreamMalformed(line[:80])
    try:
        event = json.loads(value)
    except ValueError as fault:
        raise StreamMalformed(line[:80]) from fault
    if not isinstance(event, dict):
        raise StreamMalformed(line[:80])
    return {"error": event} if name == "error" else event
