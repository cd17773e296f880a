"""What is loaded once, as far as it needs no weights."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from memory import Memory
from voice.config import Config, load
from voice.engines.lasting import LastingEngine
from voice.engines.openai_compatible import OpenAICompatibleModel
from voice.errors import EngineUnavailable
from voice.models import Models
from voice.own_memory import open_memory

SERVICE = {"engine": "openai", "openai_key": "a key"}
SERVER = {"engine": "local", "llm_url": "http://127.0.0.1:9/v1", "llm_model": "tiny"}


@pytest.fixture(autouse=True)
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JARVIS_CONFIG", str(tmp_path / "config.toml"))
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("JARVIS_OPENAI_KEY", "OPENAI_API_KEY", "JARVIS_LANGUAGE", "JARVIS_MODEL"):
        monkeypatch.delenv(name, raising=False)


def config_of(tmp_path: Path, **flags: Any) -> Config:
    return load({"state": tmp_path / "state", "weights": tmp_path / "weights", **flags})


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with closing(open_memory(config_of(tmp_path))) as opened:
        yield opened


async def test_a_service_only_talks(tmp_path: Path, memory: Memory) -> None:
    """With one nobody types: what to choose instead is told. A call with it may outlast it."""
    models = Models(config_of(tmp_path, **SERVICE), memory)
    with pytest.raises(EngineUnavailable, match="only talks"):
        await models.load_for_chat()
    assert models.description().words_go_to == "api.openai.com"
    assert isinstance(models.engine(), LastingEngine)
    await models.close()


async def test_a_chat_loads_the_language_model_alone(tmp_path: Path, memory: Memory) -> None:
    """Once; nothing hears or speaks, and what answers is known all the same."""
    models = Models(config_of(tmp_path, **SERVER), memory)
    model = await models.load_for_chat()
    assert isinstance(model, OpenAICompatibleModel)
    assert await models.load_for_chat() is model
    assert models.hearing is None
    assert "tiny" in models.description().thinks
    await models.close()


async def test_the_spare_must_be_here(tmp_path: Path, memory: Memory) -> None:
    """Nothing is brought in mid-call: where the built-in model is missing, how to bring it is told."""
    models = Models(config_of(tmp_path, **SERVICE), memory)
    with pytest.raises(EngineUnavailable, match="jarvis models --bring"):
        await models._spare_engine()
    await models.close()
