"""Any server that speaks `POST …/chat/completions`: OpenAI, OpenRouter, Ollama, llama.cpp,
LM Studio."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ValidationError

from memory.llm.addresses import host_of, is_loopback, with_version
from memory.llm.http import HttpEdge, Ways
from memory.llm.protocol import Billing, Question, Reply
from memory.llm.schemas import told

OPENAI_HOST = "api.openai.com"

_EFFORTS = ("none", "minimal")
_FEATURES = {
    # by schema, as some JSON, not at all
    "response_format": (
        3,
        ("response_format", "json_schema", "json_object", "schema", "grammar", "structured"),
    ),
    # thinking would be billed, and would leave no room for the answer
    "reasoning_effort": (3, ("reasoning", "effort", "thinking")),
    "max_tokens": (2, ("max_tokens", "max_completion_tokens")),
    "temperature": (2, ("temperature",)),
}


class _Part(BaseModel):
    text: str | None = None


class _Message(BaseModel):
    content: str | list[_Part] | None = None

    @property
    def text(self) -> str:
        if isinstance(self.content, list):
            return "".join(part.text or "" for part in self.content)
        return self.content or ""


class _Choice(BaseModel):
    message: _Message


class _Usage(BaseModel):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


class _Answer(BaseModel):
    choices: list[_Choice]
    usage: _Usage | None = None


class OpenAICompatible:
    """A background model behind such an address; `url` goes up to and with its version."""

    def __init__(
        self,
        url: str,
        model: str,
        *,
        key: str = "",
        title: str,
        billing: Billing,
        small: bool = False,
        missing_model: str = "Choose another with background_model.",
    ) -> None:
        base = with_version(url)
        self.name = f"{title} {model}"
        self.billing: Billing = billing
        self.uses_this_cpu = is_loopback(base)
        self.small = small
        self._model = model
        self._at_openai = host_of(base) == OPENAI_HOST
        self._ways = Ways(_FEATURES)
        self._edge = HttpEdge(
            base,
            title=title,
            model=model,
            headers={"Authorization": f"Bearer {key}"} if key else {},
            missing_model=missing_model,
        )

    async def ask(self, question: Question) -> Reply:
        raw = await self._edge.ask(
            "/chat/completions", lambda: self._body(question), self._ways, question.timeout_s
        )
        try:
            answer = _Answer.model_validate(raw)
        except ValidationError:
            raise self._edge.no_answer() from None
        if not answer.choices:
            raise self._edge.no_answer()
        usage = answer.usage or _Usage()
        return Reply(
            text=answer.choices[0].message.text,
            tokens_in=usage.prompt_tokens,
            tokens_out=usage.completion_tokens,
        )

    async def close(self) -> None:
        await self._edge.close()

    def _body(self, question: Question) -> dict[str, Any]:
        way = self._ways["response_format"]
        in_prompt = question.schema is not None and way > 0
        body: dict[str, Any] = {
            "model": self._model,
            "messages": [
                {
                    "role": "system",
                    "content": told(question) if in_prompt else question.instructions,
                },
                {"role": "user", "content": question.text},
            ],
        }
        if question.schema is not None and way == 0:
            body["response_format"] = {
                "type": "json_schema",
                "json_schema": {"name": "answer", "strict": True, "schema": question.schema},
            }
        elif question.schema is not None and way == 1:
            body["response_format"] = {"type": "json_object"}
        # OpenAI's models take the new name only, most other servers the old one only.
        newer = self._at_openai == (self._ways["max_tokens"] == 0)
        body["max_completion_tokens" if newer else "max_tokens"] = question.max_tokens
        effort = self._ways["reasoning_effort"]
        if effort < len(_EFFORTS):
            body["reasoning_effort"] = _EFFORTS[effort]
        if not self._at_openai and self._ways["temperature"] == 0:
            body["temperature"] = 0
        return body
