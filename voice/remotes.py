"""The engines that hear, think and speak elsewhere, made from the settings."""

from __future__ import annotations

import os

from voice.config import Config
from voice.engines import choose
from voice.engines.gemini_live import GEMINI_LIVE
from voice.engines.lasting import RemoteEngine
from voice.engines.openai_realtime import OPENAI_REALTIME
from voice.engines.realtime_engine import RealtimeEngine

GEMINI_KEYS = ("GEMINI_API_KEY", "GOOGLE_API_KEY")


def remote_engine(config: Config, choice: choose.Choice) -> RemoteEngine:
    """The engine of a choice that `is_remote`."""
    if choice.kind == "openai":
        return RealtimeEngine(
            OPENAI_REALTIME,
            key=openai_key(config),
            url=config.openai_url,
            model=config.openai_model,
            voice=config.openai_voice,
        )
    return RealtimeEngine(
        GEMINI_LIVE,
        key=gemini_key(config),
        url=config.gemini_url,
        model=config.gemini_model,
        voice=config.gemini_voice,
    )


def openai_key(config: Config) -> str:
    """Jarvis' own key; the environment's only where it belongs, never to another server."""
    if config.openai_key or not choose.is_openai(config.openai_url):
        return config.openai_key
    return os.environ.get("OPENAI_API_KEY", "")


def gemini_key(config: Config) -> str:
    """As above. The key for background work is Jarvis' own too, once the engine was chosen."""
    if config.gemini_key or not choose.is_google(config.gemini_url):
        return config.gemini_key
    return config.google_key or bare_gemini_key()


def bare_gemini_key() -> str:
    """A key that lies in the environment."""
    return next((found for name in GEMINI_KEYS if (found := os.environ.get(name))), "")
