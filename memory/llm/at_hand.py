"""What is at hand for the background, and the model that was chosen from it.

Settings and the environment come from the caller; what is asked here is the PATH's programs
and Ollama's list of models.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import httpx
from pydantic import BaseModel, Field, ValidationError

from memory.errors import ModelUnavailable
from memory.llm.anthropic import Anthropic
from memory.llm.choose import (
    ADDRESS,
    AUTO,
    EMBEDDED,
    OFF,
    OLLAMA,
    Choice,
    Engine,
    Found,
    LocalModel,
    Wishes,
    billions_in,
)
from memory.llm.command_line import CommandLine, connected, found
from memory.llm.gemini import Gemini
from memory.llm.openai_compatible import OpenAICompatible
from memory.llm.programs import PROGRAMS
from memory.llm.protocol import Llm
from memory.llm.providers import providers

_log = logging.getLogger(__name__)

OLLAMA_URL = "http://127.0.0.1:11434"
_OLLAMA_TIMEOUT_S = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What the caller gives.

    `environment` is the user's, for the programs' sake; its PATH is where they are looked
    for. `keys` are those stored under Jarvis' own name, by provider, with "background" and
    "engine" for the addresses; empty ones are none. `ollama_url` is without a version.
    """

    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    home: Path
    keys: Mapping[str, str] = field(default_factory=dict, repr=False)
    engine: Engine | None = None
    embedded: LocalModel | None = None
    ollama_url: str = OLLAMA_URL


async def find(wishes: Wishes, around: Surroundings) -> Found:
    """Asks no more than the choice needs: programs only where one may be used, or where a
    login would keep a key from being billed."""
    keys = frozenset(name for name, key in around.keys.items() if key)
    search_path = around.environment.get("PATH", "")
    paths = {
        name: path
        for name, program in PROGRAMS.items()
        if wishes.wished != OFF and (path := found(program, search_path)) is not None
    }
    talks_to = around.engine.company if around.engine else ""
    asks = wishes.wished in PROGRAMS or bool(keys) or bool(talks_to)
    logins, ollama = await asyncio.gather(
        _logins(paths if asks else {}, around),
        _ollama(around.ollama_url) if wishes.wished in (AUTO, OLLAMA) else _nothing(),
    )
    return Found(
        programs=frozenset(paths),
        logins=logins,
        keys=keys,
        engine=around.engine,
        ollama=ollama,
        embedded=around.embedded,
    )


async def _nothing() -> None:
    return None


async def _logins(paths: Mapping[str, Path], around: Surroundings) -> frozenset[str]:
    answers = await asyncio.gather(
        *(
            connected(PROGRAMS[name], path, environment=around.environment, home=around.home)
            for name, path in paths.items()
        )
    )
    return frozenset(name for name, there in zip(paths, answers, strict=True) if there)


class _Details(BaseModel):
    parameter_size: str = ""


class _Tag(BaseModel):
    name: str
    details: _Details = Field(default_factory=_Details)
    remote_host: str | None = None


class _Tags(BaseModel):
    models: list[_Tag]


async def _ollama(url: str) -> tuple[LocalModel, ...] | None:
    """Ollama's models that run here; None where it does not answer."""
    try:
        async with httpx.AsyncClient(timeout=_OLLAMA_TIMEOUT_S, trust_env=False) as client:
            answer = await client.get(f"{url}/api/tags")
        tags = _Tags.model_validate_json(answer.raise_for_status().content)
    except (httpx.HTTPError, httpx.InvalidURL, ValidationError) as fault:
        _log.debug("no Ollama at %s: %s", url, type(fault).__name__)
        return None
    return tuple(
        LocalModel(
            name=tag.name,
            billions=billions_in(tag.details.parameter_size) or billions_in(tag.name),
        )
        for tag in tags.models
        if not tag.remote_host and not tag.name.endswith("cloud")
    )


def opened(choice: Choice, around: Surroundings) -> Llm:
    """The model that was chosen, but for the built-in one, which its owner has open.

    Raises ModelUnavailable for what went away since it was found.
    """
    if choice.provider in PROGRAMS:
        return _program(choice, around)
    assert choice.provider != EMBEDDED
    key = around.keys.get(choice.key, "")
    if choice.provider == "anthropic":
        return Anthropic(choice.model, key=key, url=choice.url, title=choice.title)
    if choice.provider == "google":
        return Gemini(choice.model, key=key, url=choice.url, title=choice.title)
    assert choice.provider in (ADDRESS, OLLAMA) or choice.provider in providers()
    url = f"{around.ollama_url}/v1" if choice.provider == OLLAMA else choice.url
    return OpenAICompatible(
        url,
        choice.model,
        key=key,
        title=choice.title,
        billing=choice.billing,
        small=choice.small,
        missing_model=f"Run `ollama pull {choice.model}`."
        if choice.provider == OLLAMA
        else "Choose another with background_model.",
    )


def _program(choice: Choice, around: Surroundings) -> Llm:
    program = PROGRAMS[choice.provider]
    path = found(program, around.environment.get("PATH", ""))
    if path is None:
        raise ModelUnavailable(
            f"`{program.command}` is not on the PATH any more. Install it again, or choose another "
            "provider with background."
        )
    return CommandLine(program, path, choice.model, environment=around.environment)
