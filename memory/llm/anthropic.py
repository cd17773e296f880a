"""Anthropic's Messages API, version 2023-06-01."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ValidationError

from memory.llm.http import HttpEdge, Ways
from memory.llm.protocol import Billing, Question, Reply
from memory.llm.schemas import told, without_limits

URL = "https://api.anthropic.com"
_VERSION = "2023-06-01"

_FEATURES = {
    "output_config": (2, ("output_config", "output_format", "schema", "structured")),
    # thinking would be billed, and would leave no room for the answer
    "thinking": (2, ("thinking",)),
}


class _Block(BaseModel):
    type: str
    text: str = ""


class _Usage(BaseModel):
    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    cache_creation_input_tokens: int | None = None


class _Answer(BaseModel):
    content: list[_Block]
    usage: _Usage | None = None


class Anthropic:
    """A Claude model by key. Sampling settings are never sent: current models refuse them."""

    billing: Billing = "metered"
    uses_this_cpu = False
    small = False

    def __init__(self, model: str, *, key: str, url: str = URL, title: str = "Anthropic") -> None:
        self.name = f"{title} {model}"
        self._model = model
        self._ways = Ways(_FEATURES)
        self._edge = HttpEdge(
            url,
            title=title,
            model=model,
            headers={"x-api-key": key, "anthropic-version": _VERSION},
        )

    async def ask(self, question: Question) -> Reply:
        raw = await self._edge.ask(
            "/v1/messages", lambda: self._body(question), self._ways, question.timeout_s
        )
        try:
            answer = _Answer.model_validate(raw)
        except ValidationError:
            raise self._edge.no_answer() from None
        usage = answer.usage or _Usage()
        read = (
            usage.input_tokens,
            usage.cache_read_input_tokens,
            usage.cache_creation_input_tokens,
        )
        return Reply(
            # Blocks of thinking may stand before the text; a refusal leaves none.
            text="".join(block.text for block in answer.content if block.type == "text"),
            tokens_in=None if usage.input_tokens is None else sum(filter(None, read)),
            tokens_out=usage.output_tokens,
        )

    async def close(self) -> None:
        await self._edge.close()

    def _body(self, question: Question) -> dict[str, Any]:
        by_schema = question.schema is not None and self._ways["output_config"] == 0
        body: dict[str, Any] = {
            "model": self._model,
            "max_tokens": question.max_tokens,
            "system": question.instructions if by_schema else told(question),
            "messages": [{"role": "user", "content": question.text}],
        }
        if by_schema:
            schema = without_limits(question.schema)
            body["output_config"] = {"format": {"type": "json_schema", "schema": schema}}
        if self._ways["thinking"] == 0:
            body["thinking"] = {"type": "disabled"}
        return body
