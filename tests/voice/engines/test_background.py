"""The embedded model as the background model. The model itself: test_embedded.py."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from memory import Question
from memory.errors import ModelUnavailable
from voice.config import load
from voice.engines import choose
from voice.engines.background import EmbeddedLlm
from voice.engines.embedded import EmbeddedModel
from voice.engines.language_model import Message, Usage
from voice.errors import VoiceFault, WeightsMissing, WorkerFailed
from voice.weights import path_of

SCHEMA = {
    "type": "object",
    "properties": {"vegan": {"type": "boolean"}},
    "required": ["vegan"],
    "additionalProperties": False,
}


class Completing(EmbeddedModel):
    """An embedded model whose completions are told, without a process."""

    def __init__(self, given: str | VoiceFault, folder: Path, *, takes_s: float = 0) -> None:
        super().__init__(folder / "none.gguf", name="built-in", states=folder)
        self._given, self._takes_s = given, takes_s
        self.asked: list[tuple[list[Message], Mapping[str, Any] | None, int]] = []

    async def complete(
        self, messages: Sequence[Message], *, schema: Mapping[str, Any] | None, max_tokens: int
    ) -> tuple[str, Usage]:
        self.asked.append((list(messages), schema, max_tokens))
        await asyncio.sleep(self._takes_s)
        if isinstance(self._given, VoiceFault):
            raise self._given
        return self._given, Usage(prompt_tokens=7, cached_tokens=2, output_tokens=3)


def question(timeout_s: float = 60.0) -> Question:
    return Question(
        instructions="Say what is so, as JSON.",
        text="I'm vegan.",
        schema=SCHEMA,
        max_tokens=40,
        timeout_s=timeout_s,
    )


async def test_a_question_and_its_answer(tmp_path: Path) -> None:
    """Instructions and text are two messages; schema and bound go along, counts come back."""
    model = Completing('{"vegan": true}', tmp_path)
    llm = EmbeddedLlm(model)
    reply = await llm.ask(question())
    assert (reply.text, reply.tokens_in, reply.tokens_out) == ('{"vegan": true}', 7, 3)
    [(messages, schema, bound)] = model.asked
    assert [(each.role, each.content) for each in messages] == [
        ("system", "Say what is so, as JSON."), ("user", "I'm vegan."),
    ]  # fmt: skip
    assert (schema, bound) == (SCHEMA, 40)
    assert (llm.name, llm.billing, llm.uses_this_cpu, llm.small) == (
        "built-in", "local", True, True,
    )  # fmt: skip
    await llm.close()


@pytest.mark.parametrize(
    ("fault", "takes_s", "said"),
    [(WorkerFailed("The language model ended."), 0, "ended"), ("late", 5, "within 0 s")],
    ids=["a fault", "too late"],
)
async def test_no_answer_is_a_model_that_is_away(
    tmp_path: Path, fault: str | VoiceFault, takes_s: float, said: str
) -> None:
    """The review waits, with the reason."""
    llm = EmbeddedLlm(Completing(fault, tmp_path, takes_s=takes_s))
    with pytest.raises(ModelUnavailable, match=said):
        await llm.ask(question(timeout_s=0.01))


@pytest.mark.weights
async def test_the_built_in_model_holds_to_a_schema_and_still_talks(tmp_path: Path) -> None:
    """Its answer is the JSON that was asked for; the conversation's prefix is restored after."""
    try:
        path = path_of(choose.SMALL, load().weights)
    except WeightsMissing as fault:
        pytest.skip(f"{fault}")
    model = EmbeddedModel(path, name=choose.SMALL, states=tmp_path, context_tokens=1024)
    try:
        await model.prepare("You are Jarvis, and answer in one word.")
        reply = await EmbeddedLlm(model).ask(question())
        assert set(json.loads(reply.text)) == {"vegan"}
        assert reply.tokens_in and reply.tokens_out
        messages = [
            Message("system", "You are Jarvis, and answer in one word."), Message("user", "Hi!"),
        ]  # fmt: skip
        pieces = [piece async for piece in model.answer(messages, max_tokens=4)]
        assert any(isinstance(piece, str) for piece in pieces)
    finally:
        await model.close()
