"""What a house learns with: the background model that the settings and the engine allow."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from memory import Background, BackgroundWishes, Llm, LocalModel, Surroundings, TalksTo
from voice import weights
from voice.config import Config
from voice.engines import choose

_BILLIONS = {choose.SMALL: 0.5, choose.BETTER: 1.5}


def background_of(
    config: Config, choice: choose.Choice | None, embedded: Callable[[], Llm | None]
) -> Background:
    """`choice` is what conversations are answered by, as far as that is known."""
    return Background(
        BackgroundWishes(
            background=config.background,
            background_url=config.background_url,
            background_model=config.background_model,
        ),
        Surroundings(
            environment=dict(os.environ),
            home=Path.home(),
            keys=_keys(config, choice),
            engine=_talks_to(config, choice),
            embedded=_embedded(config, choice),
        ),
        embedded,
    )


def _keys(config: Config, choice: choose.Choice | None) -> dict[str, str]:
    """Each key goes to its own provider only: one for another realtime server is not OpenAI's."""
    return {
        "background": config.background_key,
        "anthropic": config.anthropic_key,
        "openai": config.openai_key if choose.is_openai(config.openai_url) else "",
        "google": config.google_key
        or (config.gemini_key if choose.is_google(config.gemini_url) else ""),
        "openrouter": config.openrouter_key,
        "engine": config.llm_key if choice is not None and choice.kind == "address" else "",
    }


def _talks_to(config: Config, choice: choose.Choice | None) -> TalksTo | None:
    if choice is None or choice.kind == "embedded":
        return None
    if choice.kind == "openai":
        return TalksTo(company="OpenAI") if choose.is_openai(config.openai_url) else None
    if choice.kind == "gemini":
        return TalksTo(company="Google") if choose.is_google(config.gemini_url) else None
    # Also with Ollama: another of its models would have to be loaded beside the one that talks.
    return TalksTo(url=choice.address, model=choice.model)


def _embedded(config: Config, choice: choose.Choice | None) -> LocalModel | None:
    name = embedded_name(config, choice)
    return LocalModel(name=name, billions=_BILLIONS[name]) if name else None


def embedded_name(config: Config, choice: choose.Choice | None) -> str | None:
    """The built-in model that answers, else the best whose weights are here."""
    if choice is not None and choice.kind == "embedded":
        return choice.model
    for name in (choose.BETTER, choose.SMALL):
        if weights.state_of(name, config.weights).state == "present":
            return name
    return None
