from __future__ import annotations

from collections.abc import AsyncIterator

import pytest_asyncio

from memory.llm.anthropic import Anthropic
from memory.llm.protocol import Question, Reply
from tests.fakes.llm_server import Fault, LlmServer, Refusing

SCHEMA = {"type": "object", "properties": {"changes": {"type": "array", "maxItems": 3}}}
QUESTION = Question(instructions="Answer.", text="i am vegan", schema=SCHEMA, max_tokens=800)


@pytest_asyncio.fixture
async def server() -> AsyncIterator[LlmServer]:
    async with LlmServer() as running:
        yield running


async def test_a_question_and_its_answer(server: LlmServer) -> None:
    """The schema goes as output_config, without limits; thinking is off; cached tokens count."""
    server.will_answer('{"changes": []}')
    client = Anthropic("claude-x", key="k", url=server.url)
    assert await client.ask(QUESTION) == Reply(
        text='{"changes": []}', tokens_in=1000, tokens_out=50
    )
    await client.close()
    (request,) = server.requests
    assert request.path == "/v1/messages"
    assert request.headers["x-api-key"] == "k"
    assert request.headers["anthropic-version"] == "2023-06-01"
    assert "authorization" not in request.headers
    assert request.body == {
        "model": "claude-x",
        "max_tokens": 800,
        "system": "Answer.",
        "messages": [{"role": "user", "content": "i am vegan"}],
        "output_config": {
            "format": {
                "type": "json_schema",
                "schema": {"type": "object", "properties": {"changes": {"type": "array"}}},
            }
        },
        "thinking": {"type": "disabled"},
    }
    assert (client.billing, client.uses_this_cpu, client.small) == ("metered", False, False)


async def test_older_and_other_models(server: LlmServer) -> None:
    """Where output_config or thinking is refused, it is left out from then on."""
    server.will_answer(Refusing("output_config"))
    client = Anthropic("claude-x", key="k", url=server.url)
    await client.ask(QUESTION)
    server.will_answer(Fault(status=400, body="thinking: this model always thinks"), "{}")
    await client.ask(QUESTION)
    await client.close()
    last = server.requests[-1].body
    assert "output_config" not in last and "thinking" not in last
    assert '"maxItems":3' in last["system"]


async def test_a_refusal_is_an_empty_answer(server: LlmServer) -> None:
    """A model that declines leaves no text."""
    server.will_answer(Fault(body='{"content": [], "stop_reason": "refusal"}'))
    client = Anthropic("claude-x", key="k", url=server.url)
    assert await client.ask(QUESTION) == Reply(text="")
    await client.close()
