"""An OpenAI-compatible address, against a real server on loopback."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

from voice.engines.choose import OllamaModel
from voice.engines.language_model import ContextExceeded, Message, Usage
from voice.engines.openai_compatible import (
    OpenAICompatibleModel,
    as_sent,
    base_of,
    find_ollama,
)
from voice.errors import EngineUnavailable

MESSAGES = [Message("system", "You are Jarvis."), Message("user", "Hello")]


@dataclass
class Server:
    """Answers each request with `respond`, a coroutine that writes what it likes."""

    respond: Callable[[Server, str, Any, asyncio.StreamWriter], Awaitable[None]]
    address: str = ""
    asked: list[tuple[str, Any]] = field(default_factory=list)
    headers: list[str] = field(default_factory=list)
    gone: asyncio.Event = field(default_factory=asyncio.Event)

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            length = next(
                (
                    int(line.split(":")[1])
                    for line in head.split("\r\n")
                    if line.lower().startswith("content-length")
                ),
                0,
            )
            body = json.loads(await reader.readexactly(length)) if length else None
            path = head.split(" ")[1]
            self.asked.append((path, body))
            self.headers.append(head)
            await self.respond(self, path, body, writer)
            await writer.drain()
        except ConnectionError:
            self.gone.set()
        finally:
            writer.close()


@asynccontextmanager
async def serving(
    respond: Callable[[Server, str, Any, asyncio.StreamWriter], Awaitable[None]],
) -> AsyncIterator[Server]:
    server = Server(respond)
    listening = await asyncio.start_server(server.handle, "127.0.0.1", 0)
    port = listening.sockets[0].getsockname()[1]
    server.address = f"http://127.0.0.1:{port}"
    try:
        yield server
    finally:
        listening.close()


def plain(writer: asyncio.StreamWriter, status: int, content: str, kind: str = "json") -> None:
    body = content.encode()
    writer.write(
        f"HTTP/1.1 {status} X\r\nContent-Type: application/{kind}\r\n"
        f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode()
        + body
    )


def begin_stream(writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n")


def event(value: Any) -> bytes:
    return f"data: {json.dumps(value)}\n\n".encode()


def delta(text: str | None, finish: str | None = None) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": finish}]}


def streams(*events: Any, raw: bytes = b"data: [DONE]\n\n") -> Any:
    async def respond(server: Server, path: str, body: Any, writer: asyncio.StreamWriter) -> None:
        if path == "/v1/models":
            plain(writer, 200, '{"data": []}')
            return
        begin_stream(writer)
        for value in events:
            writer.write(event(value))
        writer.write(raw)

    return respond


def fails(status: int, content: str) -> Any:
    async def respond(server: Server, path: str, body: Any, writer: asyncio.StreamWriter) -> None:
        plain(writer, status, content)

    return respond


async def answer(model: OpenAICompatibleModel) -> list[str | Usage]:
    async with aclosing(model.answer(MESSAGES, max_tokens=50)) as pieces:
        return [piece async for piece in pieces]


@asynccontextmanager
async def model_at(server: Server, **kwargs: Any) -> AsyncGenerator[OpenAICompatibleModel, None]:
    model = OpenAICompatibleModel(server.address, "m", **kwargs)
    try:
        yield model
    finally:
        await model.close()


# What goes well -----------------------------------------------------------------------


async def test_pieces_come_and_the_usage_last() -> None:
    """Text piece by piece, comments and empty deltas left out, then what the server counted."""
    usage = {
        "prompt_tokens": 900,
        "completion_tokens": 2,
        "prompt_tokens_details": {"cached_tokens": 860},
    }
    respond = streams(
        delta(None), delta("On"), delta(" March 12."), delta(None, "stop"),
        {"choices": [], "usage": usage},
        raw=b": keep-alive\n\ndata: [DONE]\n\n",
    )  # fmt: skip
    async with serving(respond) as server, model_at(server, key="sesame") as model:
        await model.prepare("You are Jarvis.")
        assert await answer(model) == [
            "On",
            " March 12.",
            Usage(prompt_tokens=900, cached_tokens=860, output_tokens=2),
        ]
    path, body = server.asked[-1]
    assert path == "/v1/chat/completions"
    assert (body["model"], body["max_tokens"], body["stream"]) == ("m", 50, True)
    assert body["stream_options"] == {"include_usage": True}
    assert "reasoning_effort" not in body
    assert all("authorization: bearer sesame" in head.lower() for head in server.headers)


async def test_a_server_that_counts_nothing() -> None:
    """Without a usage the counts are unknown, not zero; an answer that ran out says so."""
    async with (
        serving(streams(delta("Long"), delta(None, "length"))) as server,
        model_at(server) as m,
    ):
        assert await answer(m) == ["Long", Usage(stopped=False)]
    assert "authorization" not in server.headers[0].lower()


async def test_closing_hangs_up() -> None:
    """Who stops listening closes the connection, which stops the server."""

    async def respond(server: Server, path: str, body: Any, writer: asyncio.StreamWriter) -> None:
        begin_stream(writer)
        while True:
            writer.write(event(delta("word ")))
            await writer.drain()
            await asyncio.sleep(0)

    async with serving(respond) as server, model_at(server) as model:
        async with aclosing(model.answer(MESSAGES, max_tokens=50)) as pieces:
            assert await anext(pieces) == "word "
        async with asyncio.timeout(5):
            await server.gone.wait()


async def test_only_a_server_on_this_machine_is_prefilled() -> None:
    """Elsewhere a prefill would be billed: nothing is asked before the answer."""
    respond = streams(delta("x"), delta(None, "stop"))
    async with serving(respond) as server:
        async with model_at(server) as model:
            await model.prepare("You are Jarvis.")
            await model.prefill(MESSAGES[:1], "When is")
        assert [path for path, _ in server.asked] == ["/v1/models"]
        async with model_at(server, prefills=True) as model:
            await model.prepare("You are Jarvis.")
            await model.prefill(MESSAGES[:1], "When is")
        asked = [body for path, body in server.asked if path == "/v1/chat/completions"]
        assert [body["max_tokens"] for body in asked] == [1, 1]
        assert asked[1]["messages"][-1] == {"role": "user", "content": "When is"}


async def test_a_model_of_ollamas_that_thinks_is_told_not_to() -> None:
    """In a call nobody waits for thoughts."""
    async with serving(streams(delta("x", "stop"))) as server:
        model = OpenAICompatibleModel(server.address, "qwen3:4b", ollama=True)
        await answer(model)
        await model.close()
    assert server.asked[0][1]["reasoning_effort"] == "none"
    assert model.context_tokens == 4096


def test_what_is_told_between_turns_goes_to_the_users_words() -> None:
    """One system message in front, then user and assistant in turn."""
    messages = [
        Message("system", "prefix"),
        Message("system", "time"),
        Message("user", "a"),
        Message("assistant", "b"),
        Message("user", "unheard"),
        Message("system", "news"),
        Message("user", "c"),
    ]
    assert as_sent(messages) == [
        {"role": "system", "content": "prefix"},
        {"role": "user", "content": "time\n\na"},
        {"role": "assistant", "content": "b"},
        {"role": "user", "content": "unheard\n\nnews\n\nc"},
    ]


@pytest.mark.parametrize(
    ("address", "base"),
    [
        ("http://127.0.0.1:11434", "http://127.0.0.1:11434/v1"),
        ("http://127.0.0.1:11434/", "http://127.0.0.1:11434/v1"),
        ("http://127.0.0.1:8080/v1/", "http://127.0.0.1:8080/v1"),
        ("https://llm.example/api/v3", "https://llm.example/api/v3"),
        ("https://llm.example/v1/chat/completions", "https://llm.example/v1"),
    ],
)
def test_address(address: str, base: str) -> None:
    """A bare host gets its version; what the user copied from a manual works too."""
    assert base_of(address) == base


@pytest.mark.parametrize("address", ["", "127.0.0.1:8080", "ftp://x/v1", "http://"])
def test_an_address_that_is_none(address: str) -> None:
    """It says what one looks like."""
    with pytest.raises(EngineUnavailable, match="looks like http://"):
        base_of(address)


# What goes wrong ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("respond", "ollama", "says"),
    [
        (fails(401, '{"error": {"message": "no"}}'), False, "does not accept the key"),
        (fails(403, "forbidden"), False, "JARVIS_LLM_KEY"),
        (fails(404, '{"error": {"message": "model not found"}}'), True, "`ollama pull m`"),
        (fails(404, '{"error": "model \'m\' not found"}'), False, "Check JARVIS_LLM_MODEL"),
        (
            fails(429, '{"error": {"message": "quota"}}'),
            False,
            "takes no more questions now: quota",
        ),
        (fails(500, "<html>oops</html>"), False, "can't answer now: <html>oops"),
        (fails(503, ""), False, "it gave no reason"),
        (streams(delta("On"), raw=b""), False, "broke off"),
        (streams(raw=b"<html>hello</html>\n"), False, "no OpenAI-compatible server"),
        (streams(raw=b"data: {broken\n\n"), False, "no OpenAI-compatible server"),
        (streams({"choices": "many"}), False, "no OpenAI-compatible server"),
        (streams({"error": {"message": "out of memory"}}), False, "out of memory"),
    ],
)
async def test_faults_say_what_to_do(respond: Any, ollama: bool, says: str) -> None:
    """Each way a server can fail is one sentence with a remedy."""
    async with serving(respond) as server, model_at(server, ollama=ollama) as model:
        with pytest.raises(EngineUnavailable, match=says):
            await answer(model)


@pytest.mark.parametrize(
    "content",
    [
        '{"error": {"message": "too long", "code": "context_length_exceeded"}}',
        '{"error": {"message": "too long", "type": "exceed_context_size_error"}}',
    ],
)
async def test_too_long_a_conversation_is_a_fault_of_its_own(content: str) -> None:
    """So that it can be shortened and asked again."""
    async with serving(fails(400, content)) as server, model_at(server) as model:
        with pytest.raises(ContextExceeded):
            await answer(model)


async def test_nobody_there() -> None:
    """A port where nothing listens: how to start it."""
    async with serving(fails(500, "")) as server:
        pass
    async with model_at(server, ollama=True) as model:
        with pytest.raises(EngineUnavailable, match=r"Nothing answers at .*ollama serve"):
            await model.prepare("You are Jarvis.")


async def test_a_server_that_never_answers() -> None:
    """The first token has its time; then the user hears that the model may be too large."""

    async def respond(server: Server, path: str, body: Any, writer: asyncio.StreamWriter) -> None:
        begin_stream(writer)
        await writer.drain()
        await server.gone.wait()

    async with serving(respond) as server, model_at(server, first_token_s=0.05) as model:
        with pytest.raises(EngineUnavailable, match="gave no answer"):
            await answer(model)
        server.gone.set()


async def test_a_failing_prefill_is_no_fault() -> None:
    """Whatever is wrong, the answer will tell."""
    async with serving(fails(500, "")) as server, model_at(server, prefills=True) as model:
        await model.prefill(MESSAGES[:1], "When")


# Ollama -------------------------------------------------------------------------------

TAGS = {
    "models": [
        {
            "name": "llama3.2:3b",
            "size": 2019393189,
            "details": {"family": "llama", "parameter_size": "3.2B"},
        },
        {"name": "gpt-oss:120b-cloud", "size": 384, "remote_host": "https://elsewhere.example"},
    ]
}


async def test_ollama_is_found_with_its_models() -> None:
    """Names, sizes, and which of them run on another machine."""
    async with serving(fails(200, json.dumps(TAGS))) as server:
        assert await find_ollama(server.address) == (
            OllamaModel(name="llama3.2:3b", bytes=2019393189, parameters="3.2B", family="llama"),
            OllamaModel(name="gpt-oss:120b-cloud", bytes=384, remote=True),
        )
    assert server.asked == [("/api/tags", None)]


@pytest.mark.parametrize("respond", [fails(200, "<html>"), fails(404, "{}"), fails(200, "[]")])
async def test_something_else_on_ollamas_port(respond: Any) -> None:
    """What isn't Ollama is not taken for it."""
    async with serving(respond) as server:
        assert await find_ollama(server.address) is None


async def test_no_ollama() -> None:
    """Nothing listens, and nobody waits for it."""
    async with serving(fails(200, "")) as server:
        pass
    assert await find_ollama(server.address) is None
