from __future__ import annotations

import asyncio

import pytest

from memory.errors import ModelUnavailable
from memory.llm.protocol import Llm, Question, Reply
from memory.llm.scripted import ScriptedLlm

QUESTION = Question(instructions="i", text="t", max_tokens=1)


async def test_answers_in_their_order() -> None:
    """Texts and replies are given, faults are raised, and then there is nothing left."""
    reply = Reply(text="b", tokens_in=1, tokens_out=2)
    llm = ScriptedLlm(["a", reply, ModelUnavailable("gone", retry_after_s=7.0)])
    assert await llm.ask(QUESTION) == Reply(text="a")
    assert await llm.ask(QUESTION) == reply
    with pytest.raises(ModelUnavailable, match="gone"):
        await llm.ask(QUESTION)
    with pytest.raises(ModelUnavailable, match="no answer left"):
        await llm.ask(QUESTION)
    llm.will_answer("c")
    assert (await llm.ask(QUESTION)).text == "c"
    assert llm.questions == [QUESTION] * 5


async def test_it_waits_to_be_released() -> None:
    """A held model answers when it is released, and a question that is taken back is counted."""
    llm = ScriptedLlm(["a", "b"])
    llm.hold()
    first = asyncio.create_task(llm.ask(QUESTION))
    await llm.asked.wait()
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    assert llm.cancelled == 1
    second = asyncio.create_task(llm.ask(QUESTION))
    llm.release()
    assert (await second).text == "a"


async def test_it_is_a_background_model() -> None:
    """It says of itself what it was told to say."""
    llm: Llm = ScriptedLlm(name="x", billing="metered", uses_this_cpu=True, small=True)
    assert (llm.name, llm.billing, llm.uses_this_cpu, llm.small) == ("x", "metered", True, True)
    await llm.close()
