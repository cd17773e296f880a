"""The user's memory and clock, for commands that only look."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from memory.errors import VaultMissing
from voice.config import DEFAULT_VAULT, load
from voice.own_memory import now, open_memory


def test_the_clock_knows_its_zone() -> None:
    """Days are counted where the user is."""
    assert now().utcoffset() is not None


def test_only_the_default_vault_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A new user finds two notebooks; a mistyped path is told, not filled."""
    monkeypatch.setenv("JARVIS_CONFIG", str(tmp_path / "config.toml"))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("JARVIS_VAULT", raising=False)
    default = load({"state": tmp_path / "state"})
    assert default.vault == DEFAULT_VAULT.expanduser()
    open_memory(default).close()
    assert (tmp_path / "Jarvis/society/jarvis/MEMORY.md").is_file()
    with pytest.raises(VaultMissing, match="mistyped"):
        open_memory(load({"state": tmp_path / "state", "vault": tmp_path / "mistyped"}))


def test_looking_does_not_load_the_voice() -> None:
    """A command that prints a file doesn't wait for pipecat and the models."""
    loaded = "import sys, voice.own_memory; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", loaded], capture_output=True, text=True, check=True
    )
    assert {"pipecat", "faster_whisper", "xllamacpp"}.isdisjoint(done.stdout.split())
