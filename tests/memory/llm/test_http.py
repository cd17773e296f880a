from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime

import pytest
import pytest_asyncio

from memory.errors import ModelUnavailable
from memory.llm.anthropic import Anthropic
from memory.llm.gemini import Gemini
from memory.llm.http import ANSWER_BYTES, HttpEdge, Refused, Ways, retry_after_s
from memory.llm.openai_compatible import OpenAICompatible
from memory.llm.protocol import Llm, Question
from tests.fakes.llm_server import Fault, LlmServer

KEY = "sk-very-secret-12345"
SAID = "ich bin seit Januar Vegetarier"
QUESTION = Question(
    instructions="Answer.", text=SAID, schema={"type": "object"}, max_tokens=800, timeout_s=5.0
)

CLIENTS: dict[str, Callable[[str], Llm]] = {
    "openai": lambda url: OpenAICompatible(
        url, "tiny", key=KEY, title="The server", billing="metered"
    ),
    "anthropic": lambda url: Anthropic("tiny", key=KEY, url=url, title="The server"),
    "gemini": lambda url: Gemini("tiny", key=KEY, url=url, title="The server"),
}


@pytest_asyncio.fixture
async def server() -> AsyncIterator[LlmServer]:
    async with LlmServer() as running:
        yield running


async def refusal(client: Llm, question: Question = QUESTION) -> ModelUnavailable:
    try:
        with pytest.raises(ModelUnavailable) as caught:
            await client.ask(question)
    finally:
        await client.close()
    return caught.value


FAULTS = [
    (Fault(status=401, body=f'{{"error": "wrong key {KEY}"}}'), "does not accept the key (401)", None),
    (Fault(status=402), "no credit left", None),
    (Fault(status=403), "does not allow this key the model “tiny”", None),
    (Fault(status=404, body="no such model"), "knows no model “tiny”", None),
    (Fault(status=429, headers={"retry-after": "7"}), "asks for a pause", 7.0),
    (Fault(status=429), "asks for a pause", None),
    (Fault(status=429, body='{"error": {"code": "insufficient_quota"}}'), "no credit left", None),
    (Fault(status=500), "a fault of its own (500)", None),
    (Fault(status=503, headers={"retry-after": "20"}), "a fault of its own (503)", 20.0),
    (Fault(status=302, headers={"location": "http://127.0.0.1:1/"}), "sends elsewhere (302)", None),
    (Fault(status=418), "status 418", None),
    (Fault(status=400, body="something else"), "refused the question (400)", None),
    (Fault(status=400, body="API key not valid."), "does not accept the key (400)", None),
    (Fault(status=400, body="The model does not exist"), "knows no model “tiny”", None),
    (Fault(body="<html>hello</html>"), "does not answer as The server does", None),
    (Fault(body="[" * 100_000), "does not answer as The server does", None),
    (Fault(body="[1]"), "does not answer as The server does", None),
    (Fault(body='{"choices": []}'), "does not answer as The server does", None),
    (Fault(breaks_off=True), "broke (RemoteProtocolError)", None),
    (Fault(body=b" " * (ANSWER_BYTES + 1)), "sent more than 4 MiB", None),
]  # fmt: skip


@pytest.mark.parametrize("dialect", CLIENTS)
@pytest.mark.parametrize(("fault", "sentence", "retry_after"), FAULTS)
async def test_a_fault_becomes_a_sentence(
    server: LlmServer,
    dialect: str,
    fault: Fault,
    sentence: str,
    retry_after: float | None,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Each failure says what to do; neither the key nor what was said is in it, or in the log."""
    caplog.set_level(logging.DEBUG, logger="memory")
    server.will_answer(fault)
    raised = await refusal(CLIENTS[dialect](server.url))
    assert sentence in str(raised)
    assert raised.retry_after_s == retry_after
    assert KEY not in str(raised) + caplog.text
    assert SAID not in str(raised) + caplog.text


@pytest.mark.parametrize("dialect", CLIENTS)
async def test_nobody_there(dialect: str) -> None:
    """A port where nothing listens is named."""
    raised = await refusal(CLIENTS[dialect]("http://127.0.0.1:1"))
    assert "Nothing answers at 127.0.0.1:1" in str(raised)


async def test_a_redirect_takes_no_key_along(server: LlmServer) -> None:
    """A key goes to its own host: the one that a redirect names is not even asked."""
    async with LlmServer() as other:
        server.will_answer(Fault(status=307, headers={"location": f"{other.url}/v1/messages"}))
        await refusal(CLIENTS["anthropic"](server.url))
        assert other.requests == []


async def test_the_whole_exchange_has_one_timeout(server: LlmServer) -> None:
    """A server that is silent is given up after the question's time."""
    server.will_answer(Fault(hangs=True))
    question = Question(instructions="", text="", max_tokens=1, timeout_s=0.05)
    raised = await refusal(CLIENTS["openai"](server.url), question)
    assert "did not answer within 0.05 seconds" in str(raised)


async def test_cancelling_ends_the_exchange(server: LlmServer) -> None:
    """Whoever takes a question back leaves the server at once."""
    server.will_answer(Fault(hangs=True))
    client = CLIENTS["openai"](server.url)
    asking = asyncio.create_task(client.ask(QUESTION))
    await server.asked.wait()
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    await server.left.wait()
    await client.close()


@pytest.mark.parametrize("url", ["", "ftp://x", "localhost:11434", "http://", "http://[::1"])
def test_an_address_that_is_none(url: str) -> None:
    """An address that can't be asked is refused before anything is sent."""
    with pytest.raises(ModelUnavailable, match="no address of a background model"):
        HttpEdge(url, title="x", model="m", headers={})


async def test_a_password_in_an_address_is_not_shown() -> None:
    """A sentence names host and port only."""
    raised = await refusal(CLIENTS["openai"]("http://me:hunter2@127.0.0.1:1"))
    assert "hunter2" not in str(raised)


async def test_half_a_surrogate_pair_can_be_sent(server: LlmServer) -> None:
    """What was typed or pasted is sent, whatever it holds."""
    client = CLIENTS["openai"](server.url)
    await client.ask(Question(instructions="", text="x \ud800 y", max_tokens=1))
    await client.close()
    assert server.requests[0].body["messages"][1]["content"] == "x \ud800 y"


NOW = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        (None, None),
        ("", None),
        ("7", 7.0),
        ("soon", None),
        ("-3", None),
        ("Sun, 29 Nov 2026 12:00:30 GMT", 30.0),
        ("Sun, 29 Nov 2026 11:00:00 GMT", 0.0),
    ],
)
def test_retry_after(value: str | None, seconds: float | None) -> None:
    """Retry-After is a number of seconds or a date; a past date means now."""
    assert retry_after_s(value, NOW) == seconds


def test_a_late_refusal_takes_one_step_only() -> None:
    """Two requests that are refused over the same feature give up one way of it, not two."""
    ways = Ways({"format": (3, ("format",))})
    asked = ways.now
    refused = Refused(400, "unknown format")
    assert ways.step(refused, asked)
    assert ways.step(refused, asked)
    assert ways["format"] == 1


def test_the_last_way_is_the_last() -> None:
    """When a feature was given up there is nothing left to step to, and others are not touched."""
    ways = Ways({"format": (2, ("format",)), "effort": (2, ("effort",))})
    refused = Refused(400, "unknown format")
    assert ways.step(refused, ways.now)
    assert not ways.step(refused, ways.now)
    assert ways.now == {"format": 1, "effort": 0}
