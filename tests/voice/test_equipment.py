"""What a machine needs for its settings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from voice.config import load
from voice.equipment import first_language, needed_weights


@pytest.fixture(autouse=True)
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JARVIS_CONFIG", str(tmp_path / "config.toml"))
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("JARVIS_OPENAI_KEY", "OPENAI_API_KEY", "JARVIS_LANGUAGE", "JARVIS_MODEL"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    ("flags", "needed"),
    [
        ({}, ["whisper-base", "qwen-0.5b"]),
        ({"model": "better"}, ["whisper-base", "qwen-1.5b"]),
        ({"engine": "openai"}, ["whisper-base"]),
        ({"engine": "gemini"}, ["whisper-base"]),
        ({"llm_url": "http://127.0.0.1:8080", "llm_model": "x"}, ["whisper-base"]),
        ({"voice_es": "kokoro"}, ["whisper-base", "qwen-0.5b", "kokoro", "kokoro-voices"]),
    ],
)
def test_only_what_the_settings_need_is_brought(flags: dict[str, Any], needed: list[str]) -> None:
    """Nobody waits for weights that nothing would load."""
    assert needed_weights(load(flags)) == needed


@pytest.mark.parametrize(
    ("flags", "machine", "language"),
    [
        ({"language": "de"}, "es_ES.UTF-8", "de"),
        ({}, "es_ES.UTF-8", "es"),
        ({}, "fr_FR.UTF-8", "en"),
        ({"languages": ("es", "de")}, "en_US.UTF-8", "es"),
    ],
)
def test_the_first_language(
    flags: dict[str, Any], machine: str, language: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The setting, else the machine's own where it is enabled, else the first enabled one."""
    monkeypatch.setattr("locale.getlocale", lambda: (machine.partition(".")[0], "UTF-8"))
    assert first_language(load(flags)) == language
