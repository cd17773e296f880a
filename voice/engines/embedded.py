"""The language model that Jarvis runs itself: llama.cpp in a worker process.

The prompt is rendered here, not by the server, so that the beginning of the user's words
can be worked through while they still speak. The state after the prefix is kept on disk:
restoring it takes milliseconds, working through it again some ten seconds.

The server holds two sequences over one memory: the conversation, and what is asked aside
(a question asked again alone, background work), which would else take the conversation's place.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import time
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

import httpx

from voice.engines.event_stream import StreamMalformed, read_events
from voice.engines.history import CHARS_PER_TOKEN
from voice.engines.language_model import ContextExceeded, Message, Usage
from voice.engines.model_states import is_whole, keep_speed, model_identity, prune, seal, state_name
from voice.engines.small_model import leanings
from voice.errors import EngineUnavailable, VoiceFault, WorkerFailed
from voice.virtual_time import at_work
from voice.workers import Worker

log = logging.getLogger(__name__)

CONTEXT_TOKENS = 8192
"""Two notebooks as long as they may be, and a conversation of some sixty turns."""
_FIRST_EVENT_TIMEOUT_S = 120.0
_TOKENS_FOR_A_SPEED = 8
_END_POLLS, _END_POLL_S = 20, 0.05
_CONVERSATION, _ASIDE = 0, 1  # the server's slots


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampling:
    """How a token is chosen; the defaults are what `bench/answers.py` found best."""

    temperature: float = 0.1
    top_p: float = 0.9
    repeat_penalty: float = 1.0
    logit_bias: tuple[tuple[str, float], ...] = field(default_factory=leanings)


# ChatML -------------------------------------------------------------------------------


def neutral(text: str) -> str:
    """Text that can't end its own message: no control token of ChatML is left in it."""
    return text.replace("<|", "< |").encode("utf-8", "replace").decode()


def rendered(messages: Sequence[Message]) -> str:
    """The messages in ChatML. More messages give a longer text with the same beginning."""
    return "".join(
        f"<|im_start|>{message.role}\n{neutral(message.content)}<|im_end|>\n"
        for message in messages
    )


def rendered_question(messages: Sequence[Message]) -> str:
    return rendered(messages) + "<|im_start|>assistant\n"


def rendered_beginning(messages: Sequence[Message], partial: str) -> str:
    """The messages, then a user's message that is still being spoken, or is going to be."""
    return f"{rendered(messages)}<|im_start|>user\n{neutral(partial)}"


# The model ----------------------------------------------------------------------------


class EmbeddedModel:
    """A LanguageModel over a GGUF file whose chat format is ChatML (Qwen, SmolLM2).

    `states` is a folder for saved states; they tell what stands in the notebooks, so it
    is made for the user alone.
    """

    def __init__(
        self,
        path: Path,
        *,
        name: str,
        states: Path,
        sampling: Sampling | None = None,
        context_tokens: int = CONTEXT_TOKENS,
        threads: int | None = None,
    ) -> None:
        self._path = path
        self._name = name
        self._states = states
        self._sampling = sampling or Sampling()
        self._context_tokens = context_tokens
        self._worker = Worker(
            "voice.engines.llama_worker",
            str(path),
            str(states),
            str(context_tokens),
            str(threads or min(os.cpu_count() or 1, 4)),
            title="The language model",
        )
        self._client: httpx.AsyncClient | None = None
        self._address = ""
        self._prefix: str | None = None
        self._loaded: str | None = None
        self._loaded_aside: str | None = None
        self._beginning, self._state = "", states
        self._conversation_tokens = 0
        self._getting_ready = asyncio.Lock()
        self._prefilling: asyncio.Task[None] | None = None
        self._speed: float | None = None

    @property
    def name(self) -> str:
        return self._name

    @property
    def small(self) -> bool:
        return True

    @property
    def context_tokens(self) -> int:
        return self._context_tokens

    @property
    def address(self) -> str:
        """Of the server that runs now, or ran last; empty before the first start."""
        return self._address

    @property
    def pid(self) -> int | None:
        return self._worker.pid

    async def prepare(self, prefix: str) -> None:
        self._prefix = prefix
        await self._ready()

    async def prefill(
        self, messages: Sequence[Message], partial: str, *, aside: bool = False
    ) -> None:
        await self._drop_prefill()
        if aside and self._conversation_tokens > self._context_tokens // 2:
            return  # it would not stay
        self._prefilling = asyncio.create_task(
            self._work_through(rendered_beginning(messages, partial), aside=aside)
        )
        await asyncio.wait({self._prefilling})

    async def answer(
        self, messages: Sequence[Message], *, max_tokens: int, aside: bool = False
    ) -> AsyncGenerator[str | Usage, None]:
        await self._drop_prefill()
        body = {
            **_question_body(messages, max_tokens),
            "return_progress": True,
            **asdict(self._sampling),
        }
        counted = False
        async with aclosing(self._events(body, aside=aside)) as events:
            async for event in events:
                progress = event.get("prompt_progress")
                if progress is not None and not counted:
                    counted = True
                    yield Usage(prompt_tokens=progress["total"], cached_tokens=progress["cache"])
                if event.get("content"):
                    yield event["content"]
                if event.get("stop"):
                    yield self._usage(event)
                    return
        raise WorkerFailed("The language model's answer broke off. Ask again.")

    async def complete(
        self, messages: Sequence[Message], *, schema: Mapping[str, Any] | None, max_tokens: int
    ) -> tuple[str, Usage]:
        """A whole answer that holds to a JSON schema, for background work.

        Where memory doesn't hold it beside the conversation it takes its place; the next answer
        restores the prefix and reads the conversation again. Cancelling it frees the model.
        """
        await self._drop_prefill()
        body = {**_question_body(messages, max_tokens), "temperature": 0.0}
        if schema is not None:
            body["json_schema"] = schema
        given = ""
        async with aclosing(self._events(body, aside=True)) as events:
            async for event in events:
                given += event.get("content", "")
                if event.get("stop"):
                    return given, self._usage(event)
        raise WorkerFailed("The language model's answer broke off. Ask again.")

    async def close(self) -> None:
        await self._drop_prefill()
        if self._client is not None:
            await self._client.aclose()
        await self._worker.close()
        if self._speed is not None:
            with contextlib.suppress(OSError):  # it is only a hint for the next start
                keep_speed(self._states, self._name, self._speed)

    def _usage(self, event: dict[str, Any]) -> Usage:
        timings = event["timings"]
        if timings["predicted_n"] >= _TOKENS_FOR_A_SPEED:
            self._speed = timings["predicted_per_second"]
        return Usage(
            prompt_tokens=timings["cache_n"] + timings["prompt_n"],
            cached_tokens=timings["cache_n"],
            output_tokens=timings["predicted_n"],
            stopped=event.get("stop_type") != "limit",
        )

    async def _ready(self) -> httpx.AsyncClient:
        """A client for the running server, with the prefix worked through in it."""
        async with self._getting_ready:
            if not self._states.is_dir():
                await asyncio.to_thread(self._states.mkdir, 0o700, parents=True, exist_ok=True)
            started = await self._worker.start()
            if self._client is None or started["address"] != self._address:
                if self._client is not None:
                    await self._client.aclose()
                self._client = _client_of(started)
                self._loaded = self._loaded_aside = None
                with _translated():
                    await self._check_format(self._client)
                self._address = started["address"]
            if self._prefix is not None and self._loaded != self._prefix:
                with _translated():
                    await self._load_prefix(self._client, self._prefix)
                self._loaded = self._prefix
            return self._client

    async def _check_format(self, client: httpx.AsyncClient) -> None:
        with at_work():
            props = await client.get("/props")
            tokens = await client.post(
                "/tokenize", json={"content": "<|im_start|><|im_end|>", "parse_special": True}
            )
        template = props.raise_for_status().json().get("chat_template", "")
        if "<|im_start|>" not in template or len(tokens.raise_for_status().json()["tokens"]) > 4:
            raise EngineUnavailable(
                f"{self._path.name} does not use the chat format ChatML, the only one that the "
                "embedded engine speaks. Serve it with Ollama or llama.cpp and set JARVIS_LLM_URL."
            )

    async def _load_prefix(self, client: httpx.AsyncClient, prefix: str) -> None:
        prompt = rendered([Message("system", prefix)])
        began_s = time.monotonic()
        state = self._states / await asyncio.to_thread(self._state_name, prompt)
        self._beginning, self._state = prompt, state
        self._conversation_tokens = int(len(prompt) / CHARS_PER_TOKEN)
        if await self._restore(client, state, _CONVERSATION):
            log.info("prefix restored in %.0f ms", (time.monotonic() - began_s) * 1000)
            return
        body = _streaming(_prefill_body(prompt))
        async with aclosing(read_events(client, "/completion", body)) as events:
            async for event in events:
                _raise_error(event)
        log.info("prefix worked through in %.1f s", time.monotonic() - began_s)
        with at_work():
            saved = await client.post(
                f"/slots/{_CONVERSATION}?action=save", json={"filename": state.name}
            )
        if saved.is_error:
            log.warning("the state after the prefix can't be saved in %s", self._states)
            return
        try:
            await asyncio.to_thread(seal, state)
            await asyncio.to_thread(prune, self._states)
        except OSError as fault:
            log.warning("the state after the prefix can't be kept: %s", fault)

    def _state_name(self, prompt: str) -> str:
        settings = f"xllamacpp {version('xllamacpp')} context {self._context_tokens} x2"
        return state_name(model_identity(self._path), prompt, settings)

    async def _restore(self, client: httpx.AsyncClient, state: Path, slot: int) -> bool:
        if not await asyncio.to_thread(is_whole, state):
            return False
        with at_work():
            response = await client.post(
                f"/slots/{slot}?action=restore", json={"filename": state.name}
            )
        if response.is_error:
            return False
        with contextlib.suppress(OSError):  # the time of last use, for pruning only
            await asyncio.to_thread(os.utime, state)
        return True

    async def _slot(
        self, client: httpx.AsyncClient, body: Mapping[str, Any], *, aside: bool
    ) -> int:
        """Where this is to be asked: what is aside beside the conversation, if memory holds both,
        and if the prefix that it begins with needn't be worked through for that."""
        prompt: str = body["prompt"]
        begins = prompt.startswith(self._beginning)
        needs = len(prompt) / CHARS_PER_TOKEN + body["n_predict"]
        if aside and self._conversation_tokens + needs <= self._context_tokens:
            if not begins:
                self._loaded_aside = None
                return _ASIDE
            if self._loaded_aside != self._prefix:
                restored = await self._restore(client, self._state, _ASIDE)
                self._loaded_aside = self._prefix if restored else None
            if self._loaded_aside is not None:
                return _ASIDE
        if not begins:
            self._loaded = None
        return _CONVERSATION

    async def _events(
        self, body: dict[str, Any], *, aside: bool = False
    ) -> AsyncGenerator[dict[str, Any], None]:
        """The answer's events. A server that died before the first one is started again, once."""
        for attempt in ("first", "last"):
            client = await self._ready()
            given = False
            try:
                with _translated():
                    slot = await self._slot(client, body, aside=aside)
                    async with aclosing(
                        read_events(client, "/completion", _streaming(body, slot))
                    ) as all_:
                        async for event in all_:
                            _raise_error(event)
                            if slot == _CONVERSATION:
                                self._count(event, body["n_predict"])
                            given = True
                            yield event
                return
            except WorkerFailed:
                if given or attempt == "last":
                    raise
                log.warning("the language model died; it is started again")
                await self._wait_for_end()

    def _count(self, event: Mapping[str, Any], most_tokens: int) -> None:
        """How much of memory the conversation takes, at most, when this is answered."""
        if "prompt_progress" not in event:
            return
        self._conversation_tokens = event["prompt_progress"]["total"] + most_tokens
        if self._conversation_tokens > self._context_tokens // 2:
            self._loaded_aside = None  # the server takes the room that it needs from there

    async def _wait_for_end(self) -> None:
        """A dying process closes its sockets a moment before its end is known."""
        pid, self._address = self._worker.pid, ""
        for _ in range(_END_POLLS):
            await self._worker.start()
            if self._worker.pid != pid:
                return
            await asyncio.to_thread(time.sleep, _END_POLL_S)

    async def _work_through(self, prompt: str, *, aside: bool) -> None:
        body = _prefill_body(prompt)
        try:
            client = await self._ready()
            slot = await self._slot(client, body, aside=aside)
            if aside and slot != _ASIDE:
                return
            async with aclosing(
                read_events(client, "/completion", _streaming(body, slot))
            ) as events:
                async for _ in events:
                    pass
        except (VoiceFault, httpx.HTTPError, StreamMalformed) as fault:
            log.info("prefill failed, the answer will tell why: %s", type(fault).__name__)

    async def _drop_prefill(self) -> None:
        task, self._prefilling = self._prefilling, None
        if task is not None and not task.done():
            task.cancel()
            await asyncio.wait({task})


def _client_of(started: dict[str, Any]) -> httpx.AsyncClient:
    return httpx.AsyncClient(
        base_url=started["address"],
        headers={"Authorization": f"Bearer {started['key']}"},
        timeout=httpx.Timeout(_FIRST_EVENT_TIMEOUT_S, connect=5.0),
        # The server closes idle connections without a word; a new one costs nothing here.
        limits=httpx.Limits(max_keepalive_connections=0),
        trust_env=False,  # a proxy has no part in loopback
    )


def _question_body(messages: Sequence[Message], max_tokens: int) -> dict[str, Any]:
    return {
        "prompt": rendered_question(messages),
        "n_predict": max_tokens,
        "stop": ["<|im_end|>", "<|im_start|>", "<|endoftext|>"],
    }


def _prefill_body(prompt: str) -> dict[str, Any]:
    return {"prompt": prompt, "n_predict": 0}


def _streaming(body: dict[str, Any], slot: int = _CONVERSATION) -> dict[str, Any]:
    return {**body, "stream": True, "cache_prompt": True, "id_slot": slot}


def _raise_error(event: dict[str, Any]) -> None:
    error = event.get("error")
    if error is not None:
        _raise(error)


def _raise(error: dict[str, Any]) -> None:
    if error.get("type") == "exceed_context_size_error":
        raise ContextExceeded("The conversation is longer than the language model can hold.")
    raise EngineUnavailable(
        f"The language model refused the question: {error.get('message', 'no reason given')}"
    )


@contextlib.contextmanager
def _translated() -> Iterator[None]:
    """What httpx raises, in our words."""
    try:
        yield
    except httpx.HTTPStatusError as fault:
        try:
            error = fault.response.json()["error"]
        except (ValueError, KeyError, TypeError):
            error = {"message": f"status {fault.response.status_code}"}
        _raise(error)
    except httpx.TimeoutException as fault:
        raise WorkerFailed("The language model gave no sign of life for two minutes.") from fault
    except (httpx.TransportError, StreamMalformed) as fault:
        raise WorkerFailed(
            "The language model's process ended. It starts again with the next question; if "
            "that goes on, memory may be short: `jarvis doctor` shows it."
        ) from fault
