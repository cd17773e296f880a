from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from voice.errors import SettingInvalid
from voice.settings import change, with_settings

OWN = """# My own notes about this file
engine = "local"   # Ollama is quicker here

# never more than these
languages = ["en", "de"]
"""


@pytest.fixture(autouse=True)
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "jarvis" / "config.toml"
    monkeypatch.setenv("JARVIS_CONFIG", str(path))
    return path


@pytest.mark.parametrize(
    ("values", "after"),
    [
        ({}, OWN),
        ({"engine": "local"}, OWN),
        ({"engine": "auto"}, OWN.replace('"local"', '"auto"')),
        ({"languages": ["en"]}, OWN.replace('["en", "de"]', '["en"]')),
        ({"engine": None}, "# My own notes about this file\n\n# never more than these\nlanguages = [\"en\", \"de\"]\n"),
        ({"learning": False}, OWN + "learning = false\n"),
    ],
)  # fmt: skip
def test_the_users_own_words_stay(values: dict[str, Any], after: str) -> None:
    """Only the setting that changes changes; comments, order and spaces are the user's."""
    assert with_settings(OWN, values) == after


def test_a_new_file(file: Path) -> None:
    """Without a file one is made, which only the user may read."""
    written = change({"learning": False})
    assert written.learning is False
    assert "learning = false" in file.read_text()
    assert file.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    "values", [{"engine": "steam"}, {"languages": []}, {"language": "fr"}, {"colour": "blue"}]
)
def test_what_can_not_be_used_is_not_written(file: Path, values: dict[str, Any]) -> None:
    """A setting that Jarvis could not start with changes nothing."""
    file.parent.mkdir()
    file.write_text(OWN)
    with pytest.raises(SettingInvalid):
        change(values)
    assert file.read_text() == OWN
    assert [each.name for each in file.parent.iterdir()] == ["config.toml"]


def test_a_broken_file(file: Path) -> None:
    """A file that is no TOML is left for the user to mend."""
    file.parent.mkdir()
    file.write_text("engine = local\n")
    with pytest.raises(SettingInvalid, match="Mend"):
        change({"engine": "auto"})
    assert file.read_text() == "engine = local\n"
