"""Google's Gemini API: generateContent."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from pydantic import BaseModel, Field, ValidationError

from memory.llm.http import HttpEdge, Ways
from memory.llm.protocol import Billing, Question, Reply
from memory.llm.schemas import told

URL = "https://generativelanguage.googleapis.com"

_THINKING = ({"thinkingLevel": "minimal"}, {"thinkingBudget": 0})
_FEATURES = {
    # by schema, as some JSON, not at all
    "schema": (3, ("responsejsonschema", "response_json_schema", "schema", "mime")),
    # newer models know levels, older ones budgets
    "thinking": (3, ("thinking",)),
}


class _Part(BaseModel):
    text: str = ""
    thought: bool = False


class _Content(BaseModel):
    parts: list[_Part] = Field(default_factory=list)


class _Candidate(BaseModel):
    content: _Content = Field(default_factory=_Content)


class _Usage(BaseModel):
    prompt_token_count: int | None = Field(None, alias="promptTokenCount")
    candidates_token_count: int | None = Field(None, alias="candidatesTokenCount")
    thoughts_token_count: int | None = Field(None, alias="thoughtsTokenCount")


class _Answer(BaseModel):
    candidates: list[_Candidate] = Field(default_factory=list)
    blocked: dict[str, Any] | None = Field(None, alias="promptFeedback")
    usage: _Usage | None = Field(None, alias="usageMetadata")


class Gemini:
    """A Gemini model by key."""

    billing: Billing = "metered"
    uses_this_cpu = False
    small = False

    def __init__(self, model: str, *, key: str, url: str = URL, title: str = "Gemini") -> None:
        self.name = f"{title} {model}"
        self._path = f"/v1beta/models/{quote(model, safe='')}:generateContent"
        self._ways = Ways(_FEATURES)
        self._edge = HttpEdge(url, title=title, model=model, headers={"x-goog-api-key": key})

    async def ask(self, question: Question) -> Reply:
        raw = await self._edge.ask(
            self._path, lambda: self._body(question), self._ways, question.timeout_s
        )
        try:
            answer = _Answer.model_validate(raw)
        except ValidationError:
            raise self._edge.no_answer() from None
        if not answer.candidates and answer.blocked is None:
            raise self._edge.no_answer()
        parts = answer.candidates[0].content.parts if answer.candidates else []
        usage = answer.usage or _Usage.model_validate({})
        written = [usage.candidates_token_count, usage.thoughts_token_count]
        return Reply(
            text="".join(part.text for part in parts if not part.thought),
            tokens_in=usage.prompt_token_count,
            tokens_out=sum(filter(None, written)) if any(written) else None,
        )

    async def close(self) -> None:
        await self._edge.close()

    def _body(self, question: Question) -> dict[str, Any]:
        way = self._ways["schema"] if question.schema is not None else 2
        config: dict[str, Any] = {"maxOutputTokens": question.max_tokens}
        if way < 2:
            config["responseMimeType"] = "application/json"
        if way == 0:
            config["responseJsonSchema"] = question.schema
        thinking = self._ways["thinking"]
        if thinking < len(_THINKING):
            config["thinkingConfig"] = _THINKING[thinking]
        instructions = question.instructions if way == 0 else told(question)
        return {
            "systemInstruction": {"parts": [{"text": instructions}]},
            "contents": [{"role": "user", "parts": [{"text": question.text}]}],
            "generationConfig": config,
        }
