"""The background model of the moment: chosen anew before each question."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from memory.errors import ModelUnavailable
from memory.llm.at_hand import Surroundings
from memory.llm.background import Background
from memory.llm.choose import Choice, LocalModel, NoModel, Wishes
from memory.llm.protocol import Llm, Question
from memory.llm.scripted import ScriptedLlm
from tests.fakes.llm_server import LlmServer

NOBODY = "http://127.0.0.1:9"
QUESTION = Question(instructions="Review.", text="I'm vegan.", max_tokens=100)
BUILT_IN = LocalModel(name="built-in", billions=0.5)


def around(home: Path, *, ollama: str = NOBODY, embedded: LocalModel | None = None) -> Surroundings:
    return Surroundings(home=home, ollama_url=ollama, embedded=embedded)


async def test_nothing_at_hand_says_what_to_do(tmp_path: Path) -> None:
    """The reason is the error's text."""
    background = Background(Wishes(), around(tmp_path))
    choice = await background.choice()
    assert isinstance(choice, NoModel)
    with pytest.raises(ModelUnavailable) as fault:
        await background.model()
    assert str(fault.value) == choice.why
    await background.close()


async def test_off_is_off(tmp_path: Path) -> None:
    """Also where a model would be there."""
    embedded = around(tmp_path, embedded=BUILT_IN)
    background = Background(Wishes(background="off"), embedded, ScriptedLlm)
    with pytest.raises(ModelUnavailable):
        await background.model()


async def test_the_built_in_model_is_its_owners(tmp_path: Path) -> None:
    """It is handed on as it is, and not closed with the rest."""
    built_in = ScriptedLlm(["fine"])
    background = Background(Wishes(), around(tmp_path, embedded=BUILT_IN), lambda: built_in)
    assert await background.model() is built_in
    await background.close()
    assert not built_in.closed


async def test_a_built_in_model_that_is_not_loaded(tmp_path: Path) -> None:
    """The error names the command that brings it."""
    background = Background(Wishes(), around(tmp_path, embedded=BUILT_IN))
    with pytest.raises(ModelUnavailable, match="jarvis models --bring"):
        await background.model()


async def test_a_model_stays_open_while_the_choice_is_the_same(tmp_path: Path) -> None:
    """Two who ask at once share it; what comes to be at hand replaces it; what closed reopens."""
    async with LlmServer() as server:
        server.models = [{"name": "small:3b", "details": {"parameter_size": "3B"}}]
        background = Background(Wishes(), around(tmp_path, ollama=server.url))
        choice = await background.choice()
        assert isinstance(choice, Choice) and choice.model == "small:3b"
        first, second = await asyncio.gather(background.model(), background.model())
        assert first is second
        server.models.append({"name": "larger:8b", "details": {"parameter_size": "8B"}})
        third: Llm = await background.model()
        assert third is not first
        assert "larger:8b" in third.name
        await background.close()
        fourth = await background.model()
        assert fourth is not third
        server.will_answer("yes")
        assert (await fourth.ask(QUESTION)).text == "yes"
        await background.close()
        await background.close()
