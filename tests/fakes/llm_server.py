"""A provider of language models on a loopback port, in three dialects, with faults on demand.

    async with LlmServer() as server:
        server.will_answer("…", Fault(status=429, headers={"retry-after": "7"}))
        … server.url … server.requests

It answers with what it was told, in order, in the dialect of the path that was asked for;
the last answer is given again and again.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """An answer that is none: `body` as it is, with this status.

    `hangs` never answers; `breaks_off` closes the connection in the middle.
    """

    status: int = 200
    body: str | bytes = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    hangs: bool = False
    breaks_off: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    method: str
    path: str
    headers: Mapping[str, str]
    body: Any


@dataclass(frozen=True, slots=True)
class Refusing:
    """A server that answers 400 to a body with this field (a dotted path), and `text` else."""

    field: str
    text: str = "{}"
    said: str = ""


Answer = str | Fault | Refusing


class LlmServer:
    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.asked = asyncio.Event()
        self.left = asyncio.Event()
        """Set when a client goes away while it waits."""
        self.models: list[dict[str, Any]] = []
        """Ollama's list."""
        self._answers: list[Answer] = ["{}"]

    def will_answer(self, *answers: Answer) -> None:
        self._answers = list(answers)

    async def __aenter__(self) -> LlmServer:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.close()
        await self._server.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while (request := await _request(reader)) is not None:
                self.requests.append(request)
                self.asked.set()
                if not await self._answer(request, reader, writer):
                    break
        finally:
            writer.close()

    async def _answer(
        self, request: Request, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bool:
        if request.path == "/api/tags":
            return await _send(writer, 200, json.dumps({"models": self.models}))
        answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        if isinstance(answer, Refusing):
            if _at(request.body, answer.field) is not None:
                said = answer.said or f"Unknown name {answer.field}"
                return await _send(writer, 400, json.dumps({"error": {"message": said}}))
            answer = answer.text
        if isinstance(answer, str):
            return await _send(writer, 200, json.dumps(_in_dialect(request.path, answer)))
        if answer.hangs:
            await reader.read()
            self.left.set()
            return False
        if answer.breaks_off:
            writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n{")
            await writer.drain()
            return False
        return await _send(writer, answer.status, answer.body, answer.headers)


async def _request(reader: asyncio.StreamReader) -> Request | None:
    head = await reader.readline()
    if not head:
        return None
    method, path, _ = head.decode().split(" ", 2)
    headers = {}
    while (line := (await reader.readline()).strip()) != b"":
        name, _, value = line.decode().partition(":")
        headers[name.lower()] = value.strip()
    content = await reader.readexactly(int(headers.get("content-length", "0")))
    return Request(
        method=method, path=path, headers=headers, body=json.loads(content) if content else None
    )


async def _send(
    writer: asyncio.StreamWriter,
    status: int,
    body: str | bytes,
    headers: Mapping[str, str] | None = None,
) -> bool:
    content = body.encode() if isinstance(body, str) else body
    lines = [f"HTTP/1.1 {status} Told", f"content-length: {len(content)}"]
    lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
    try:
        writer.write("\r\n".join([*lines, "", ""]).encode() + content)
        await writer.drain()
    except ConnectionError:  # the client has heard enough
        return False
    return True


def _in_dialect(path: str, text: str) -> dict[str, Any]:
    if path.endswith("/messages"):
        return {
            "content": [{"type": "thinking", "thinking": "…"}, {"type": "text", "text": text}],
            "stop_reason": "end_turn",
            "usage": {"input_tokens": 900, "cache_read_input_tokens": 100, "output_tokens": 50},
        }
    if path.endswith(":generateContent"):
        parts = [{"text": "…", "thought": True}, {"text": text}]
        return {
            "candidates": [{"content": {"parts": parts, "role": "model"}, "finishReason": "STOP"}],
            "usageMetadata": {
                "promptTokenCount": 1000,
                "candidatesTokenCount": 40,
                "thoughtsTokenCount": 10,
            },
        }
    return {
        "choices": [{"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 1000, "completion_tokens": 50},
    }


def _at(body: Any, dotted: str) -> Any:
    for name in dotted.split("."):
        body = body.get(name) if isinstance(body, dict) else None
    return body
