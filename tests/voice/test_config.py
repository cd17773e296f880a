"""Settings: flags before environment before the file, and every mistake named."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from voice.config import load
from voice.errors import SettingInvalid


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "config.toml"
    monkeypatch.setenv("JARVIS_CONFIG", str(path))
    for name in ("JARVIS_PORT", "JARVIS_VAULT", "JARVIS_LANGUAGES", "JARVIS_LANGUAGE"):
        monkeypatch.delenv(name, raising=False)
    return path


def test_flags_come_before_the_environment_before_the_file(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The nearest word counts, and a flag that was not given counts nothing."""
    file.write_text("port = 1001\nvad = 'webrtcvad'\nvault = '/from/file'\n")
    monkeypatch.setenv("JARVIS_PORT", "1002")
    monkeypatch.setenv("JARVIS_VAULT", "/from/environment")
    config = load({"port": 1003, "vault": None})
    assert (config.port, str(config.vault), config.vad) == (1003, "/from/environment", "webrtcvad")


def test_without_a_file_there_are_defaults(file: Path) -> None:
    """A new user has no settings, and needs none."""
    config = load()
    assert config.vault == Path.home() / "Jarvis"
    assert (config.engine, config.languages) == ("auto", ("en", "de", "es"))


def test_languages_are_a_list_with_commas(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the environment languages are written as people write them."""
    monkeypatch.setenv("JARVIS_LANGUAGES", "de, en")
    assert load().languages == ("de", "en")


def test_watched_folders_are_a_list(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the environment with the system's separator; a home is found, in the file too."""
    assert load().watch == ()
    monkeypatch.setenv("JARVIS_WATCH", f"~/code{os.pathsep}/srv/docs")
    assert load().watch == (Path.home() / "code", Path("/srv/docs"))
    monkeypatch.delenv("JARVIS_WATCH")
    file.write_text('watch = ["~/code"]', encoding="utf-8")
    assert load().watch == (Path.home() / "code",)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("port = 'many'", "port"),
        ("port = 0", "port"),
        ("portt = 7000", "portt"),
        ("languages = []", "languages"),
        ("languages = ['fr']", "languages"),
        ("languages = ['de']\nlanguage = 'en'", "language"),
        ("engine = 'magic'", "engine"),
        ("port = ", "config.toml"),
    ],
)
def test_a_wrong_setting_is_named(file: Path, text: str, named: str) -> None:
    """The sentence says which setting is wrong and where settings come from."""
    file.write_text(text)
    with pytest.raises(SettingInvalid, match=named):
        load()


def test_a_file_in_another_encoding_is_told(file: Path) -> None:
    """A settings file that is no UTF-8 is named, not guessed at."""
    file.write_bytes(b"vault = '/M\xfcller'")
    with pytest.raises(SettingInvalid, match=r"config\.toml"):
        load()


def test_keys_are_never_shown(file: Path) -> None:
    """Printed settings say that a key is there, not what it is."""
    file.write_text("openai_key = 'sk-secret'")
    shown = load().shown()
    assert (shown["openai_key"], shown["llm_key"]) == ("set", "")
    assert "sk-secret" not in str(shown)
