from __future__ import annotations

from collections.abc import AsyncIterator

import pytest_asyncio

from memory.llm.gemini import Gemini
from memory.llm.protocol import Question, Reply
from tests.fakes.llm_server import Fault, LlmServer, Refusing

SCHEMA = {"type": "object", "properties": {"changes": {"type": "array", "maxItems": 3}}}
QUESTION = Question(instructions="Answer.", text="i am vegan", schema=SCHEMA, max_tokens=800)


@pytest_asyncio.fixture
async def server() -> AsyncIterator[LlmServer]:
    async with LlmServer() as running:
        yield running


async def test_a_question_and_its_answer(server: LlmServer) -> None:
    """The key in its header, never in the address; thoughts count, and are no answer."""
    server.will_answer('{"changes": []}')
    client = Gemini("gemini-x", key="k", url=server.url)
    assert await client.ask(QUESTION) == Reply(
        text='{"changes": []}', tokens_in=1000, tokens_out=50
    )
    await client.close()
    (request,) = server.requests
    assert request.path == "/v1beta/models/gemini-x:generateContent"
    assert request.headers["x-goog-api-key"] == "k"
    assert request.body == {
        "systemInstruction": {"parts": [{"text": "Answer."}]},
        "contents": [{"role": "user", "parts": [{"text": "i am vegan"}]}],
        "generationConfig": {
            "maxOutputTokens": 800,
            "responseMimeType": "application/json",
            "responseJsonSchema": SCHEMA,
            "thinkingConfig": {"thinkingLevel": "minimal"},
        },
    }


async def test_a_model_that_does_without(server: LlmServer) -> None:
    """A schema that is refused stands in the instructions; a level that is refused is a budget."""
    server.will_answer(Refusing("generationConfig.responseJsonSchema"))
    client = Gemini("gemini-x", key="k", url=server.url)
    await client.ask(QUESTION)
    config = server.requests[-1].body["generationConfig"]
    assert config["responseMimeType"] == "application/json"
    assert "maxItems" in server.requests[-1].body["systemInstruction"]["parts"][0]["text"]
    server.will_answer(Refusing("generationConfig.thinkingConfig.thinkingLevel"))
    await client.ask(QUESTION)
    config = server.requests[-1].body["generationConfig"]
    assert config["thinkingConfig"] == {"thinkingBudget": 0}
    server.will_answer(Refusing("generationConfig.thinkingConfig"))
    await client.ask(QUESTION)
    await client.close()
    assert "thinkingConfig" not in server.requests[-1].body["generationConfig"]


async def test_a_blocked_question_is_an_empty_answer(server: LlmServer) -> None:
    """What Google's filters stop has no text."""
    server.will_answer(Fault(body='{"promptFeedback": {"blockReason": "OTHER"}}'))
    client = Gemini("gemini-x", key="k", url=server.url)
    assert await client.ask(QUESTION) == Reply(text="")
    server.will_answer(Fault(body='{"candidates": [{"finishReason": "SAFETY"}]}'))
    assert await client.ask(QUESTION) == Reply(text="")
    await client.close()


async def test_a_model_name_stays_in_its_place(server: LlmServer) -> None:
    """A name with slashes leads to no other path."""
    client = Gemini("../../x?key=1", key="k", url=server.url)
    await client.ask(QUESTION)
    await client.close()
    assert server.requests[0].path == "/v1beta/models/..%2F..%2Fx%3Fkey%3D1:generateContent"
