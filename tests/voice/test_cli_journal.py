"""The commands about the journal, watching and thinking, as a user types them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

import voice.cli  # noqa: F401 - its commands register themselves
from memory import Memory
from memory.records import JournalEntry
from tests.fakes.llm_server import Fault, LlmServer
from tests.voice.test_cli_memory import Terminal, provider
from voice.own_memory import now

INSIGHT = {
    "entries": [1], "title": "Refunds and dentist", "importance": 4,
    "text": "The refund code of the shop was changed on the day of the dentist.",
}  # fmt: skip


@pytest.fixture
def jarvis(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Terminal:
    terminal = Terminal(tmp_path)
    terminal.vault.mkdir()
    for name, value in {
        "CONFIG": tmp_path / "config.toml",
        "STATE": terminal.state,
        "VAULT": terminal.vault,
        "BACKGROUND": "off",
        "WEIGHTS": tmp_path / "weights",
    }.items():
        monkeypatch.setenv(f"JARVIS_{name}", str(value))
    monkeypatch.setenv("HOME", str(tmp_path))
    return terminal


@pytest.fixture
def asking(monkeypatch: pytest.MonkeyPatch) -> Iterator[LlmServer]:
    with provider(json.dumps({"insights": [INSIGHT]})) as server:
        monkeypatch.setenv("JARVIS_BACKGROUND", "auto")
        monkeypatch.setenv("JARVIS_BACKGROUND_URL", server.url)
        monkeypatch.setenv("JARVIS_BACKGROUND_MODEL", "cheap")
        yield server


def noted(jarvis: Terminal, *entries: JournalEntry) -> None:
    memory = Memory.open(jarvis.vault, jarvis.state, now)
    for entry in entries:
        memory.journal(entry)
    memory.close()


def project(jarvis: Terminal) -> Path:
    folder = jarvis.vault.parent / "code" / "shop"
    folder.mkdir(parents=True)
    (folder / "go.mod").write_text("module shop\n", encoding="utf-8")
    (folder / "pay.go").write_text("package pay\n", encoding="utf-8")
    return folder


def watch(jarvis: Terminal, *folders: Path) -> subprocess.Popen[str]:
    """`jarvis watch`, once it watches."""
    running = subprocess.Popen(
        (sys.executable, "-m", "voice", "watch", *map(str, folders)),
        stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True, env=os.environ,
    )  # fmt: skip
    assert running.stdout is not None
    assert running.stdout.readline().startswith("Watching ")
    return running


# The journal ------------------------------------------------------------------------------


def test_a_day_is_read(jarvis: Terminal) -> None:
    """With times and stars; an empty one says which was the last."""
    at = datetime(2026, 2, 5, 18, 42, tzinfo=UTC)
    noted(jarvis, JournalEntry(at=at, title="Tea", text="Green.\nNot black.", stars=4))
    shown = jarvis("journal", "2026-02-05").stdout
    assert "18:42  ★★★★   Tea" in shown
    assert "Not black." in shown
    assert "last one with entries is 2026-02-05" in jarvis("journal", "2026-02-06").stdout
    found = jarvis.json("journal", "2026-02-05")
    assert [entry["title"] for entry in found["entries"]] == ["Tea"]
    assert jarvis("journal", "some day").exit_code == 2


def test_without_insights_there_is_a_way_to_one(jarvis: Terminal) -> None:
    """An empty list, and in words what to do."""
    assert jarvis.json("insights") == []
    assert "jarvis think" in jarvis("insights").stdout


# Projects ---------------------------------------------------------------------------------


def test_projects_are_discovered(jarvis: Terminal) -> None:
    """In a folder that is there."""
    folder = project(jarvis)
    [found] = jarvis.json("scan", str(folder.parent))
    assert found == {"name": "shop", "path": str(folder), "marks": ["go.mod"], "files": 2}
    assert "shop" in jarvis("scan", str(folder.parent)).stdout
    assert "No project" in jarvis("scan", str(jarvis.vault)).stdout
    assert jarvis("scan", str(folder / "none")).exit_code == 2


# Thinking ---------------------------------------------------------------------------------


def test_a_thought_now(jarvis: Terminal, asking: LlmServer) -> None:
    """Noted, listed, and not asked for again without something new."""
    nothing = jarvis.json("think")
    assert (nothing["outcome"], nothing["insight"]) == ("nothing new", None)
    noted(
        jarvis,
        JournalEntry(at=now(), title="shop: pay.go changed", text="refund code", kind="discovery"),
        JournalEntry(at=now(), title="Dentist", text="The dentist is at ten on that day."),
    )
    told = jarvis.json("think")
    assert (told["outcome"], told["insight"]["stars"]) == ("noted", 4)
    assert [each["text"] for each in jarvis.json("insights")] == [INSIGHT["text"]]
    assert "Refunds and dentist" in jarvis("insights").stdout
    assert jarvis.json("think")["outcome"] == "nothing new"
    assert len([each for each in asking.requests if each.method == "POST"]) == 1
    assert "dentist" in jarvis("recall", "refund").stdout
    status = jarvis.json("watch", "--status")
    assert not status["running"]
    assert status["thinking"]["last_outcome"] == "noted"
    assert status["thinking"]["last_insight"]["text"] == INSIGHT["text"]
    assert "1 calls, 1,050 tokens" in jarvis("watch", "--status").stdout


@pytest.mark.parametrize("answer", [Fault(status=500, body="{}"), "I would rest!"])
def test_a_provider_that_fails_is_told(
    jarvis: Terminal, asking: LlmServer, answer: Fault | str
) -> None:
    """With code 1; nothing is written."""
    asking.will_answer(answer)
    noted(jarvis, JournalEntry(at=now(), title="Dentist", text="The dentist is at ten."))
    told = jarvis("think")
    assert told.exit_code == 1
    assert told.stdout.strip()
    assert jarvis.json("insights") == []


def test_without_a_model_it_says_what_to_do(jarvis: Terminal) -> None:
    """The background model is switched off."""
    noted(jarvis, JournalEntry(at=now(), title="Dentist", text="The dentist is at ten."))
    told = jarvis("think")
    assert told.exit_code == 1
    assert "background" in told.stdout


# Watching ---------------------------------------------------------------------------------


def test_a_file_change_reaches_recall(jarvis: Terminal) -> None:
    """Watched, told to other processes, journaled, found; SIGTERM ends it, and only one watches
    (J6)."""
    folder = project(jarvis)
    running = watch(jarvis, folder.parent)
    assert running.stdout is not None
    try:
        second = jarvis("watch", str(folder.parent))
        assert second.exit_code == 1
        assert "--stop" in second.stderr
        (folder / "pay.go").write_text("package pay\n\nfunc refund all orders\n", "utf-8")
        line = running.stdout.readline()
        assert line.endswith(f"changed  {folder / 'pay.go'}\n")
        status = jarvis.json("watch", "--status")
        assert status["running"]
        assert status["folders"][0]["projects"] == ["shop"]
        running.send_signal(signal.SIGTERM)
        assert running.wait(20) == 0
    finally:
        running.kill()
        running.wait()
        running.stdout.close()
    assert "func refund all orders" in jarvis("recall", "refund").stdout
    shown = jarvis("watch", "--status").stdout
    assert "does not run" in shown
    assert "shop: pay.go changed" in shown


def test_another_command_ends_the_watch(jarvis: Terminal) -> None:
    """And waits until it has ended."""
    running = watch(jarvis, project(jarvis))
    assert running.stdout is not None
    try:
        assert jarvis.json("watch", "--stop") == {"stopped": True}
        assert running.wait(20) == 0
    finally:
        running.kill()
        running.wait()
        running.stdout.close()
    assert jarvis.json("watch", "--stop") == {"stopped": False}


@pytest.mark.parametrize(
    "arguments", [("watch",), ("watch", "none"), ("watch", "--status", "--stop"), ("watch", ".", "--stop")]
)  # fmt: skip
def test_wrong_use_is_told(jarvis: Terminal, arguments: tuple[str, ...]) -> None:
    """With code 2, on standard error."""
    told = jarvis(*arguments)
    assert told.exit_code == 2
    assert told.stderr.strip()


def test_nobody_has_watched_yet(jarvis: Terminal) -> None:
    """The status says so."""
    assert "jarvis watch DIR" in jarvis("watch", "--status").stdout
