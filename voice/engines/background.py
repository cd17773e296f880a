"""The embedded language model for background work: it costs nothing, and is small and slow."""

from __future__ import annotations

import asyncio

from memory import Billing, Question, Reply
from memory.errors import ModelUnavailable
from voice.engines.embedded import EmbeddedModel
from voice.engines.language_model import Message
from voice.errors import VoiceFault


class EmbeddedLlm:
    """An Llm over the model that also answers; whoever made the model closes it."""

    billing: Billing = "local"
    uses_this_cpu = True
    small = True

    def __init__(self, model: EmbeddedModel) -> None:
        self._model = model

    @property
    def name(self) -> str:
        return self._model.name

    async def ask(self, question: Question) -> Reply:
        messages = [Message("system", question.instructions), Message("user", question.text)]
        try:
            async with asyncio.timeout(question.timeout_s):
                text, usage = await self._model.complete(
                    messages, schema=question.schema, max_tokens=question.max_tokens
                )
        except TimeoutError as fault:
            raise ModelUnavailable(
                f"{self.name} gave no answer within {question.timeout_s:.0f} s."
            ) from fault
        except VoiceFault as fault:
            raise ModelUnavailable(str(fault)) from fault
        return Reply(text=text, tokens_in=usage.prompt_tokens, tokens_out=usage.output_tokens)

    async def close(self) -> None:
        pass
