"""What `jarvis doctor` finds in the memory, and about reviews."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from memory import Memory
from memory.records import Turn
from tests.fakes.gemini_server import GeminiServer
from tests.fakes.realtime_server import RealtimeServer
from voice.config import Config, load
from voice.doctor import Finding, _memory, _reviews, _thinking

AT = datetime(2026, 12, 2, 10, 0, tzinfo=UTC)


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("JARVIS_CONFIG", str(tmp_path / "config.toml"))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path / "no programs"))
    (tmp_path / "vault").mkdir()

    def make(**flags: Any) -> Config:
        folders = {name: tmp_path / name for name in ("vault", "state", "weights")}
        return load({**folders, "llm_url": "http://127.0.0.1:9", "llm_model": "x", **flags})

    return make


def of(findings: list[Finding], subject: str) -> list[tuple[str, str, str]]:
    return [(each.level, each.text, each.remedy) for each in findings if each.subject == subject]


async def test_a_memory_that_works(settings: Any) -> None:
    """Its notebooks, how full they are, and what waits."""
    findings = await _memory(settings())
    assert {each.level for each in findings} == {"works"}
    [(_, text, remedy)] = of(findings, "Transcripts")
    assert text.startswith("0 hand-overs wait") and remedy == ""
    assert of(findings, "Notebooks") == [("works", "0% full", "")]


async def test_what_waits_has_its_remedy(settings: Any) -> None:
    """Reviews, entries without room, copies of a sync program, pages in another encoding."""
    config = settings()
    memory = Memory.open(config.vault, config.state, lambda: AT)
    conversation = memory.begin("c1", "call", AT)
    conversation.observe(
        Turn(
            conversation="c1", index=0, speaker="user", text="I'm vegan by the way", language="en",
            began_at=AT, ended_at=AT, origin="spoken",
        )
    )  # fmt: skip
    conversation.hand_over("hang-up", AT)
    conversation.close()
    memory.remember_text("I like " + "tea and " * 60 + "coffee", AT)
    memory.close()
    folder = config.vault / "society" / "jarvis"
    (folder / "USER (conflicted copy 2026-12-01).md").write_text("- x\n")
    (folder / "MEMORY.md").write_bytes("- Köln\n".encode("cp1252"))
    findings = await _memory(config)
    [(_, text, remedy)] = of(findings, "Transcripts")
    assert text.startswith("1 hand-overs wait for their review, 1 sentences marked")
    assert "jarvis review" in remedy
    full, *others = of(findings, "Notebooks")
    assert full[0] == "careful" and "1 entries wait" in full[1] and "jarvis forget" in full[2]
    assert any("conflicted copy" in text for _, text, _ in others)
    assert any("MEMORY.md" in text for _, text, _ in others)


async def test_a_vault_that_is_missing(settings: Any, tmp_path: Path) -> None:
    """Broken, with its name."""
    (tmp_path / "vault").rmdir()
    [(level, text, _)] = of(await _memory(settings()), "Vault")
    assert level == "broken" and str(tmp_path / "vault") in text


REVIEWS = [
    ({"learning": False}, "Learning", "works", "switched off"),
    ({"background": "off"}, "Reviews", "works", ""),
    ({"background": "anthropic"}, "Reviews", "careful", ""),
    ({"anthropic_key": "k", "background": "anthropic"}, "Reviews", "works", "Billing: metered."),
    ({"background_url": "http://127.0.0.1:8080", "background_model": "m"}, "Reviews", "works",
     "Billing: local."),
]  # fmt: skip


@pytest.mark.parametrize(
    ("flags", "subject", "level", "said"), REVIEWS, ids=[str(row[0]) for row in REVIEWS]
)
async def test_who_reviews_and_who_pays(
    settings: Any, flags: dict[str, Any], subject: str, level: str, said: str
) -> None:
    """Named before anything is asked; a key is never shown."""
    [finding] = await _reviews(settings(**flags))
    assert (finding.subject, finding.level) == (subject, level)
    assert said in finding.text and finding.text
    assert finding.level == "works" or finding.remedy
    assert finding.line().startswith(("ok", "! "))


async def test_a_service_is_tried_by_opening_a_session(settings: Any) -> None:
    """It opens, or what is wrong is told with the setting to look at; and who is billed."""
    async with RealtimeServer() as openai, GeminiServer(key="right") as gemini:
        for flags, level, said in (
            ({"engine": "openai", "openai_url": openai.url}, "works", "opens a session"),
            (
                {"engine": "gemini", "gemini_url": gemini.url, "gemini_key": "right"},
                "works",
                "opens",
            ),
            (
                {"engine": "gemini", "gemini_url": gemini.url, "gemini_key": "x"},
                "broken",
                "gemini_key",
            ),
            ({"engine": "openai", "openai_url": "ws://127.0.0.1:9/v1"}, "broken", "openai_url"),
        ):
            *_, last = await _thinking(settings(**flags))
            assert (last.subject, last.level) == ("Thinking", level)
            assert said in last.text
        assert not openai.received("response.create")
