"""Remote engines as the settings want them, and which key goes where."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from voice.config import load
from voice.engines.choose import Choice
from voice.remotes import GEMINI_KEYS, gemini_key, openai_key, remote_engine


@pytest.fixture(autouse=True)
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JARVIS_CONFIG", str(tmp_path / "config.toml"))
    for name in ("JARVIS_OPENAI_KEY", "JARVIS_GEMINI_KEY", "OPENAI_API_KEY", *GEMINI_KEYS):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    ("flags", "environment", "key"),
    [
        ({"openai_key": "mine"}, "lying", "mine"),
        ({}, "lying", "lying"),
        ({}, "", ""),
        ({"openai_url": "wss://voice.example/v1/realtime"}, "lying", ""),
        ({"openai_url": "ws://127.0.0.1:9000/v1/realtime"}, "lying", ""),
        ({"openai_url": "wss://voice.example/v1", "openai_key": "mine"}, "lying", "mine"),
    ],
)
def test_a_key_from_the_environment_goes_only_where_it_belongs(
    flags: dict[str, Any], environment: str, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another server gets the key that was given for it, never the one that lay about."""
    monkeypatch.setenv("OPENAI_API_KEY", environment)
    assert openai_key(load(flags)) == key


@pytest.mark.parametrize("name", GEMINI_KEYS)
@pytest.mark.parametrize(
    ("flags", "environment", "key"),
    [
        ({"gemini_key": "mine"}, "lying", "mine"),
        ({"google_key": "background"}, "lying", "background"),
        ({}, "lying", "lying"),
        ({}, "", ""),
        ({"gemini_url": "ws://127.0.0.1:9000/x", "google_key": "background"}, "lying", ""),
        ({"gemini_url": "wss://voice.example/x", "gemini_key": "mine"}, "lying", "mine"),
    ],
)
def test_google_s_keys_go_to_google_only(
    flags: dict[str, Any], environment: str, key: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As with the other service."""
    monkeypatch.setenv(name, environment)
    assert gemini_key(load(flags)) == key


@pytest.mark.parametrize(
    ("kind", "name"), [("openai", "OpenAI Realtime"), ("gemini", "Gemini Live")]
)
def test_a_choice_becomes_its_engine(kind: Any, name: str) -> None:
    """With the settings' model and voice."""
    flags = {"openai_model": "m", "openai_voice": "v", "gemini_model": "m", "gemini_voice": "v"}
    engine = remote_engine(load(flags), Choice(kind=kind, model="m", why=""))
    assert engine.description.name == name
    assert engine.description.speaks == "m, voice v"
