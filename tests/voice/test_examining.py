"""The doctor in a process of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from voice.config import Config, load
from voice.examining import findings_of


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Config:
    monkeypatch.setenv("JARVIS_CONFIG", str(tmp_path / "config.toml"))
    (tmp_path / "vault").mkdir()
    return load({name: tmp_path / name for name in ("vault", "state", "weights")})


async def test_what_it_finds(config: Config) -> None:
    """It looks at the folders that the house runs with, and loads no model."""
    found = {each["subject"]: each for each in await findings_of(config)}
    assert found["Vault"]["text"] == str(config.vault)
    assert found["Weights"]["level"] == "broken"
    assert found.keys().isdisjoint({"Hearing", "Thinking", "Page"})


async def test_settings_that_were_broken_since(config: Config, tmp_path: Path) -> None:
    """A file that can't be read any more is a finding, with its name."""
    (tmp_path / "config.toml").write_text("learning = maybe\n", encoding="utf-8")
    [found] = await findings_of(config)
    assert (found["subject"], found["level"]) == ("Settings", "broken")
    assert "config.toml" in found["text"]
