from __future__ import annotations

from pathlib import Path

import pytest

from tests.voice.web.asking import asking
from voice.config import load


def text(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.exists() else ""


@pytest.fixture(autouse=True)
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "config.toml"
    monkeypatch.setenv("JARVIS_CONFIG", str(path))
    return path


async def test_settings(file: Path) -> None:
    """What is changed is in the file, and the page says what waits for the next start."""
    async with asking() as page:
        first = await page.json("/api/settings")
        assert first["values"]["learning"] is True
        assert "auto" in first["choices"]["engine"]
        saved = await page.post(
            "/api/settings", {"learning": False, "reflect": False, "record": True}
        )
        assert saved.status_code == 200, saved.text
        assert saved.json()["values"]["learning"] is False
        assert saved.json()["waits"] == []
        assert page.house.config.learning is page.house.config.reflect is False
        assert page.house.config.record is not None
        assert "learning = false" in text(file)
        assert "reflect = false" in text(file)
        off = await page.post("/api/settings", {"record": False, "languages": ["de", "en"]})
        assert off.json()["values"]["record"] is False
        assert page.house.config.languages == ("de", "en")


WAITS: dict[str, object] = {
    "engine": "local",
    "model": "small",
    "voice_de": "espeak",
    "llm_url": "http://127.0.0.1:8080/v1",
    "openai_voice": "cedar",
    "gemini_voice": "Puck",
}


async def test_each_setting_counts(file: Path, tmp_path: Path) -> None:
    """What counts at the next start is what the next start reads, and the page says so until then."""
    (tmp_path / "Other").mkdir()
    async with asking() as page:
        wanted = {**WAITS, "vault": str(tmp_path / "Other")}
        for name, value in wanted.items():
            saved = await page.post("/api/settings", {name: value})
            assert saved.status_code == 200, saved.text
            assert name in saved.json()["waits"]
            assert saved.json()["values"][name] == value
        started = load()
        assert {name: getattr(started, name) for name in WAITS} == WAITS
        assert started.vault == tmp_path / "Other"
        back = await page.post("/api/settings", {"engine": "auto"})
        assert "engine" not in back.json()["waits"]


async def test_keys_are_written_and_never_shown(file: Path) -> None:
    """A key goes into the file; the page learns only that there is one."""
    async with asking() as page:
        saved = await page.post("/api/settings", {"openai_key": "sk-of-mine"})
        assert saved.json()["values"]["openai_key"] == "set"
        assert "sk-of-mine" not in saved.text
        assert "sk-of-mine" in text(file)


@pytest.mark.parametrize(
    "body",
    [
        {"engine": "steam"},
        {"vault": "/nowhere/at/all"},
        {"vault": "relative"},
        {"languages": []},
        {"port": 80},
        {"learning": "no"},
    ],
)
async def test_what_can_not_be_used(file: Path, body: object) -> None:
    """A setting that makes no sense is refused in a sentence, and nothing is written."""
    async with asking() as page:
        answer = await page.post("/api/settings", body)
        assert answer.status_code == 422
        assert answer.json()["message"]
        assert text(file) == ""


async def test_the_environment_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the environment says is told as fixed."""
    monkeypatch.setenv("JARVIS_LEARNING", "false")
    async with asking() as page:
        assert "learning" in (await page.json("/api/settings"))["fixed"]


async def test_doctor() -> None:
    """Findings come with their remedy, and no model is loaded for them."""
    async with asking() as page:
        found = (await page.post("/api/doctor", {})).json()
        assert {"Vault", "Weights"} <= {each["subject"] for each in found}
        assert {each["subject"] for each in found}.isdisjoint({"Hearing", "Thinking"})
        assert (await page.get("/api/doctor")).status_code == 405
