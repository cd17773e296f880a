"""What the house decides before anything is loaded."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from memory.errors import VaultMissing
from voice.config import DEFAULT_VAULT, load
from voice.house import new_id
from voice.own_memory import open_memory

AT = datetime(2026, 12, 2, 10, 0, tzinfo=UTC)


@pytest.fixture(autouse=True)
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JARVIS_CONFIG", str(tmp_path / "config.toml"))
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("JARVIS_OPENAI_KEY", "OPENAI_API_KEY", "JARVIS_LANGUAGE", "JARVIS_MODEL"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    ("taken", "name"),
    [
        ((), "call-20261202-100000"),
        (("call-20261202-100000",), "call-20261202-100000-2"),
        (("call-20261202-100000", "call-20261202-100000-2"), "call-20261202-100000-3"),
    ],
)
def test_names_sort_by_time_and_are_never_taken_twice(taken: tuple[str, ...], name: str) -> None:
    """Two calls in one second are two conversations."""
    assert new_id("call", AT, lambda each: each in taken) == name


def test_the_default_vault_is_made_and_a_named_one_is_not(tmp_path: Path) -> None:
    """A new user finds two notebooks; a mistyped path is told, not filled."""
    default = load({"state": tmp_path / "state"})
    assert default.vault == DEFAULT_VAULT.expanduser()
    open_memory(default).close()
    assert (tmp_path / "Jarvis/society/jarvis/USER.md").is_file()
    with pytest.raises(VaultMissing, match="mistyped"):
        open_memory(load({"state": tmp_path / "state", "vault": tmp_path / "mistyped"}))
