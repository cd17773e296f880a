from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from memory.errors import ModelUnavailable
from memory.llm.openai_compatible import OpenAICompatible
from memory.llm.protocol import Question, Reply
from tests.fakes.llm_server import Fault, LlmServer, Refusing

SCHEMA = {"type": "object", "properties": {"changes": {"type": "array", "maxItems": 3}}}
QUESTION = Question(instructions="Answer.", text="i am vegan", schema=SCHEMA, max_tokens=800)


@pytest_asyncio.fixture
async def server() -> AsyncIterator[LlmServer]:
    async with LlmServer() as running:
        yield running


def client_of(server: LlmServer, *, key: str = "") -> OpenAICompatible:
    return OpenAICompatible(server.url, "tiny:3b", key=key, title="Ollama", billing="local")


async def test_a_question_and_its_answer(server: LlmServer) -> None:
    """Instructions and text in their places, the schema as response_format, tokens counted."""
    server.will_answer('{"changes": []}')
    client = client_of(server, key="sk-1")
    assert await client.ask(QUESTION) == Reply(
        text='{"changes": []}', tokens_in=1000, tokens_out=50
    )
    await client.close()
    (request,) = server.requests
    assert (request.method, request.path) == ("POST", "/v1/chat/completions")
    assert request.headers["authorization"] == "Bearer sk-1"
    assert request.body == {
        "model": "tiny:3b",
        "messages": [
            {"role": "system", "content": "Answer."},
            {"role": "user", "content": "i am vegan"},
        ],
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "answer", "strict": True, "schema": SCHEMA},
        },
        "max_tokens": 800,
        "reasoning_effort": "none",
        "temperature": 0,
    }


async def test_without_key_and_schema(server: LlmServer) -> None:
    """No key, no header; no schema, no form."""
    client = client_of(server)
    await client.ask(Question(instructions="", text="x", max_tokens=10))
    await client.close()
    (request,) = server.requests
    assert "authorization" not in request.headers
    assert "response_format" not in request.body


async def test_a_refused_schema_is_remembered(server: LlmServer) -> None:
    """A server without schemas is asked for JSON, one without that for nothing; the next
    question knows it, and the schema then stands in the instructions."""
    server.will_answer(Refusing("response_format", text="{}"))
    client = client_of(server)
    await client.ask(QUESTION)
    forms = [request.body.get("response_format", {}).get("type") for request in server.requests]
    assert forms == ["json_schema", "json_object", None]
    await client.ask(QUESTION)
    await client.close()
    assert len(server.requests) == 4
    told = server.requests[-1].body["messages"][0]["content"]
    assert told.startswith("Answer.") and '"maxItems":3' in told


@pytest.mark.parametrize(
    ("said", "form"),
    [
        ("Failed to parse grammar", "json_object"),
        ("'response_format.type' must be 'json_object' or 'text'", "json_object"),
        ("Invalid schema for response_format 'answer'", "json_object"),
    ],
)
async def test_refusals_in_other_words(server: LlmServer, said: str, form: str) -> None:
    """Servers say differently that they can't do it."""
    server.will_answer(
        Fault(status=400, body=f'{{"error": {{"message": "{said}"}}}}'), '{"changes": []}'
    )
    client = client_of(server)
    await client.ask(QUESTION)
    await client.close()
    assert server.requests[1].body["response_format"]["type"] == form


@pytest.mark.parametrize(
    ("field", "then"),
    [
        ("temperature", {}),
        ("max_tokens", {"max_completion_tokens": 800}),
        ("reasoning_effort", {}),
    ],
)
async def test_what_a_server_does_not_know_is_left_out(
    server: LlmServer, field: str, then: dict[str, Any]
) -> None:
    """A field that is refused is named in another way, or left out."""
    server.will_answer(Refusing(field))
    client = client_of(server)
    await client.ask(QUESTION)
    await client.close()
    body = server.requests[-1].body
    assert field not in body
    assert then.items() <= body.items()
    assert body["response_format"]["type"] == "json_schema"


async def test_an_effort_that_can_not_be_none(server: LlmServer) -> None:
    """Models that always think are asked to think as little as they can."""
    server.will_answer(Fault(status=400, body="reasoning_effort: unsupported value"), "{}")
    client = client_of(server)
    await client.ask(QUESTION)
    await client.close()
    assert [request.body["reasoning_effort"] for request in server.requests] == ["none", "minimal"]


async def test_a_server_that_refuses_everything(server: LlmServer) -> None:
    """After the last way the refusal is the user's to know, and not asked over and over."""
    server.will_answer(Fault(status=400, body="no schema, no json_object, nothing"))
    client = client_of(server)
    with pytest.raises(ModelUnavailable, match="refused the question"):
        await client.ask(QUESTION)
    await client.close()
    assert len(server.requests) == 3


async def test_a_missing_model(server: LlmServer) -> None:
    """Ollama without the model: what to run stands in the sentence."""
    server.will_answer(Fault(status=404, body='{"error": "model not found"}'))
    client = OpenAICompatible(
        server.url, "x", title="Ollama", billing="local", missing_model="Run `ollama pull x`."
    )
    with pytest.raises(
        ModelUnavailable, match=r"Ollama knows no model “x”\. Run `ollama pull x`\."
    ):
        await client.ask(QUESTION)
    await client.close()


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ({"content": [{"type": "text", "text": "{"}, {"type": "text", "text": "}"}]}, "{}"),
        ({"content": None, "reasoning_content": "hm"}, ""),
        ({"content": None, "refusal": "I can't"}, ""),
        ({}, ""),
    ],
)
async def test_other_shapes_of_content(
    server: LlmServer, message: dict[str, Any], text: str
) -> None:
    """Parts are joined; an answer without text is an empty one."""
    server.will_answer(Fault(body=json.dumps({"choices": [{"message": message}]})))
    client = client_of(server)
    assert await client.ask(QUESTION) == Reply(text=text)
    await client.close()


@pytest.mark.parametrize(
    ("url", "here"),
    [
        ("http://127.0.0.1:11434/v1", True),
        ("http://localhost:1234", True),
        ("http://192.168.1.7:8080/v1", False),
        ("https://api.openai.com/v1", False),
    ],
)
async def test_whose_cpu(url: str, here: bool) -> None:
    """A model behind a loopback address runs on this machine, and waits for quiet."""
    client = OpenAICompatible(url, "m", title="x", billing="local")
    assert client.uses_this_cpu is here
    await client.close()


async def test_openai_takes_the_newer_name() -> None:
    """OpenAI's models know max_completion_tokens, and no temperature beside it."""
    client = OpenAICompatible("https://api.openai.com/v1", "m", title="OpenAI", billing="metered")
    body = client._body(QUESTION)
    await client.close()
    assert body["max_completion_tokens"] == 800
    assert "max_tokens" not in body and "temperature" not in body
