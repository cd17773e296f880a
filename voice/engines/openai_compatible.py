"""A language model behind an OpenAI-compatible address: Ollama, llama.cpp, or any other."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing
from typing import Any
from urllib.parse import urlsplit

import httpx
from pydantic import BaseModel, Field, ValidationError

from voice.engines.choose import OLLAMA, OllamaModel, thinks_first
from voice.engines.event_stream import StreamMalformed, read_events
from voice.engines.language_model import ContextExceeded, Message, Usage
from voice.errors import EngineUnavailable, VoiceFault
from voice.virtual_time import at_work

log = logging.getLogger(__name__)

OLLAMA_CONTEXT_TOKENS = 4096
"""What Ollama gives a model unless told otherwise; behind it the beginning is cut off silently."""
CONTEXT_TOKENS = 8192

_CONNECT_S = 3.0
_FIRST_TOKEN_S = 60.0
_LOOK_FOR_OLLAMA_S = 0.3
_KEEP_ALIVE_S = 4.0
_TEMPERATURE = 0.4


# Ollama -------------------------------------------------------------------------------


class _Details(BaseModel):
    family: str = ""
    parameter_size: str = ""


class _Tag(BaseModel):
    name: str
    size: int = 0
    details: _Details = Field(default_factory=_Details)
    remote_host: str | None = None
    remote_model: str | None = None


class _Tags(BaseModel):
    models: list[_Tag]


async def find_ollama(
    address: str = OLLAMA, *, timeout_s: float = _LOOK_FOR_OLLAMA_S
) -> tuple[OllamaModel, ...] | None:
    """The models that Ollama has; None when none answers there in time."""
    try:
        async with httpx.AsyncClient(timeout=timeout_s, trust_env=False) as client:
            with at_work():
                response = await client.get(f"{address}/api/tags")
        tags = _Tags.model_validate_json(response.raise_for_status().content)
    except (httpx.HTTPError, ValidationError):
        return None
    return tuple(
        OllamaModel(
            name=tag.name,
            bytes=tag.size,
            parameters=tag.details.parameter_size,
            family=tag.details.family,
            remote=bool(tag.remote_host or tag.remote_model or tag.name.endswith("cloud")),
        )
        for tag in tags.models
    )


# A stream's events --------------------------------------------------------------------


class _Delta(BaseModel):
    content: str | None = None


class _ChunkChoice(BaseModel):
    delta: _Delta | None = None
    finish_reason: str | None = None


class _CachedTokens(BaseModel):
    cached_tokens: int | None = None


class _UsageTold(BaseModel):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    prompt_tokens_details: _CachedTokens | None = None

    def usage(self, *, stopped: bool) -> Usage:
        details = self.prompt_tokens_details
        return Usage(
            prompt_tokens=self.prompt_tokens,
            cached_tokens=details.cached_tokens if details else None,
            output_tokens=self.completion_tokens,
            stopped=stopped,
        )


class _Chunk(BaseModel):
    choices: list[_ChunkChoice] | None = None
    usage: _UsageTold | None = None
    error: Any = None


# The model ----------------------------------------------------------------------------


def base_of(address: str) -> str:
    """The address up to and with its version: a bare host gets "/v1"."""
    address = address.strip().rstrip("/").removesuffix("/chat/completions")
    if urlsplit(address).scheme not in ("http", "https") or not urlsplit(address).hostname:
        raise EngineUnavailable(
            f"{address!r} is no address of a language model. It looks like http://127.0.0.1:8080/v1."
        )
    return address if urlsplit(address).path else f"{address}/v1"


def as_sent(messages: Sequence[Message]) -> list[dict[str, str]]:
    """One system message, then user and assistant in turn: many chat formats take nothing else.

    What is told between turns goes in front of the user's next words.
    """
    sent: list[dict[str, str]] = []
    for index, message in enumerate(messages):
        role = "user" if index and message.role == "system" else message.role
        if sent and sent[-1]["role"] == role:
            sent[-1]["content"] += f"\n\n{message.content}"
        else:
            sent.append({"role": role, "content": message.content})
    return sent


class OpenAICompatibleModel:
    """A LanguageModel over `POST …/chat/completions`. `name` is the server's name for it.

    Where `prefills`, the beginning of an answer is asked for and thrown away while the user
    still speaks, so that the server has read the conversation by then: for servers on this
    machine only, since others bill it.
    """

    def __init__(
        self,
        address: str,
        name: str,
        *,
        key: str = "",
        ollama: bool = False,
        prefills: bool = False,
        context_tokens: int | None = None,
        first_token_s: float = _FIRST_TOKEN_S,
    ) -> None:
        self._base = base_of(address)
        self._name = name
        self._ollama = ollama
        self._prefills = prefills
        self._context_tokens = context_tokens or (
            OLLAMA_CONTEXT_TOKENS if ollama else CONTEXT_TOKENS
        )
        self._first_token_s = first_token_s
        self._client = httpx.AsyncClient(
            base_url=self._base,
            headers={"Authorization": f"Bearer {key}"} if key else {},
            timeout=httpx.Timeout(first_token_s, connect=_CONNECT_S),
            limits=httpx.Limits(keepalive_expiry=_KEEP_ALIVE_S),
            trust_env=not (urlsplit(self._base).hostname or "").startswith("127."),
        )
        self._prefilling: asyncio.Task[None] | None = None

    @property
    def name(self) -> str:
        return self._name

    @property
    def small(self) -> bool:
        return False

    @property
    def context_tokens(self) -> int:
        return self._context_tokens

    async def prepare(self, prefix: str) -> None:
        with self._translated():
            with at_work():
                response = await self._client.get("/models")
            if response.status_code not in (404, 405, 501):  # some servers have no such list
                response.raise_for_status()
        await self._read_beginning([Message("system", prefix)], "")

    async def prefill(
        self, messages: Sequence[Message], partial: str, *, aside: bool = False
    ) -> None:
        await self._drop_prefill()
        if aside:
            return  # its one cache holds the conversation
        self._prefilling = asyncio.create_task(self._try_beginning(messages, partial))
        await asyncio.wait({self._prefilling})

    async def answer(
        self,
        messages: Sequence[Message],
        *,
        max_tokens: int,
        aside: bool = False,  # noqa: ARG002 - what a server keeps is its own affair
    ) -> AsyncGenerator[str | Usage, None]:
        await self._drop_prefill()
        told, stopped, ended = _UsageTold(), True, False
        with self._translated():
            async with aclosing(self._chunks(messages, max_tokens)) as chunks:
                async for chunk in chunks:
                    told = chunk.usage or told
                    for choice in chunk.choices or ():
                        if choice.delta is not None and choice.delta.content:
                            yield choice.delta.content
                        ended = ended or choice.finish_reason is not None
                        stopped = stopped and choice.finish_reason != "length"
        if not ended:
            raise EngineUnavailable(f"The answer of {self._name} broke off. Ask again.")
        yield told.usage(stopped=stopped)

    async def close(self) -> None:
        await self._drop_prefill()
        await self._client.aclose()

    async def _chunks(
        self, messages: Sequence[Message], max_tokens: int
    ) -> AsyncGenerator[_Chunk, None]:
        body: dict[str, Any] = {
            "model": self._name,
            "messages": as_sent(messages),
            "max_tokens": max_tokens,
            "temperature": _TEMPERATURE,
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        if self._ollama and thinks_first(self._name):
            body["reasoning_effort"] = "none"
        async with aclosing(read_events(self._client, "/chat/completions", body)) as events:
            async for event in events:
                chunk = _Chunk.model_validate(event)
                if chunk.error:
                    self._raise(0, chunk.error)
                yield chunk

    async def _try_beginning(self, messages: Sequence[Message], partial: str) -> None:
        try:
            await self._read_beginning(messages, partial)
        except VoiceFault as fault:
            log.info("prefill failed, the answer will tell why: %s", type(fault).__name__)

    async def _read_beginning(self, messages: Sequence[Message], partial: str) -> None:
        if not self._prefills:
            return
        asked = [*messages, Message("user", partial)]
        with self._translated():
            async with aclosing(self._chunks(asked, max_tokens=1)) as chunks:
                async for _ in chunks:
                    pass

    async def _drop_prefill(self) -> None:
        task, self._prefilling = self._prefilling, None
        if task is not None and not task.done():
            task.cancel()
            await asyncio.wait({task})

    # What goes wrong -----------------------------------------------------------------

    @contextlib.contextmanager
    def _translated(self) -> Iterator[None]:
        """What httpx raises, in our words."""
        try:
            yield
        except httpx.HTTPStatusError as fault:
            try:
                body = fault.response.json()
                error = body.get("error", body) if isinstance(body, dict) else body
            except ValueError:
                error = fault.response.text[:200]
            self._raise(fault.response.status_code, error)
        except httpx.ConnectError as fault:
            start = " Start it with `ollama serve`." if self._ollama else " Is the server running?"
            raise EngineUnavailable(
                f"Nothing answers at {self._base}.{start} To do without it, set JARVIS_MODEL=small."
            ) from fault
        except httpx.TimeoutException as fault:
            raise EngineUnavailable(
                f"{self._name} at {self._base} gave no answer for {self._first_token_s:.0f} s. It may "
                "be too large for that machine, or busy: try a smaller one with JARVIS_LLM_MODEL."
            ) from fault
        except httpx.TransportError as fault:
            raise EngineUnavailable(
                f"The connection to {self._base} broke off in the middle of an answer. Ask again."
            ) from fault
        except (StreamMalformed, ValidationError) as fault:
            raise EngineUnavailable(
                f"What answers at {self._base} is no OpenAI-compatible server: it sent something "
                "that is no answer. Check JARVIS_LLM_URL."
            ) from fault

    def _raise(self, status: int, error: Any) -> None:
        detail = error if isinstance(error, dict) else {"message": str(error)}
        said = str(detail.get("message", "")).strip() or "it gave no reason"
        kind = f"{detail.get('code', '')} {detail.get('type', '')}"
        if "context_length" in kind or "exceed_context" in kind or "context length" in said:
            raise ContextExceeded("The conversation is longer than the language model can hold.")
        if status in (401, 403):
            raise EngineUnavailable(
                f"{self._base} does not accept the key: set JARVIS_LLM_KEY to a valid one."
            )
        if status == 404 or "model_not_found" in kind:
            bring = (
                f"Run `ollama pull {self._name}`."
                if self._ollama
                else "Check JARVIS_LLM_MODEL and JARVIS_LLM_URL."
            )
            raise EngineUnavailable(f"{self._base} has no model {self._name}: {said}. {bring}")
        if status == 429:
            raise EngineUnavailable(
                f"{self._base} takes no more questions now: {said}. Wait, or look at your account."
            )
        raise EngineUnavailable(f"{self._base} can't answer now: {said}. Try again.")
