from __future__ import annotations

import json
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from typer.testing import CliRunner

from memory import Memory
from memory.lessons.records import Lesson
from voice import cli as commands

app = commands.app  # type: ignore[attr-defined]  # shared by the modules of the command line


def now() -> datetime:
    return datetime.now().astimezone()


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CliRunner:
    for name, value in {
        "CONFIG": tmp_path / "config.toml",
        "STATE": tmp_path / "state",
        "VAULT": tmp_path / "vault",
        "BACKGROUND": "off",
    }.items():
        monkeypatch.setenv(f"JARVIS_{name}", str(value))
    (tmp_path / "vault").mkdir()
    return CliRunner()


def keep(folder: Path, *rows: tuple[str, str, int]) -> None:
    memory = Memory.open(folder / "vault", folder / "state", now)
    memory.lessons.shelf.add(
        [
            Lesson(
                id=name,
                kind="general",
                text=text,
                made_at=now() - timedelta(days=days),
                made_by=name,
                events=(number,),
            )
            for number, (name, text, days) in enumerate(rows)
        ],
        now(),
    )
    memory.close()


def run(cli: CliRunner, *arguments: str) -> str:
    told = cli.invoke(app, list(arguments))
    assert told.exit_code == 0, told.output
    return told.stdout


def test_tidy_tells_exactly_what_went_and_restore_brings_it_back(
    cli: CliRunner, tmp_path: Path
) -> None:
    """Dry first, then done; forgotten with its reason; back, and it stays (F7)."""
    keep(
        tmp_path,
        ("aa1", "Short answers work", 20),
        ("bb2", "Short answers work", 9),
        ("cc3", "Old", 300),
    )
    dry = json.loads(run(cli, "tidy", "--dry-run", "--json"))
    done = json.loads(run(cli, "tidy", "--json"))
    assert (
        [row["id"] for row in dry["gone"]] == [row["id"] for row in done["gone"]] == ["bb2", "cc3"]
    )
    assert (dry["live"], done["live"], dry["dry_run"], done["dry_run"]) == (1, 1, True, False)
    gone = json.loads(run(cli, "lessons", "--forgotten", "--json"))
    assert {row["id"]: row["forgotten"]["why"] for row in gone} == {"bb2": "merged", "cc3": "faded"}
    assert json.loads(run(cli, "restore", "cc", "--json"))["id"] == "cc3"
    assert "0 lessons went, 2 stay." in run(cli, "tidy")
    assert "Old" in run(cli, "lessons")


def test_one_can_be_dropped_by_hand(cli: CliRunner, tmp_path: Path) -> None:
    """A bad lesson need not be waited out."""
    keep(tmp_path, ("aa1", "Long answers work", 2))
    assert "dropped: You took it out." in run(cli, "lessons", "--drop", "aa1")
    assert "No lessons yet" in run(cli, "lessons")


def test_an_id_that_is_none_is_told(cli: CliRunner) -> None:
    """On standard error, with where the ids are."""
    told = cli.invoke(app, ["restore", "zz"])
    assert (told.exit_code, told.stdout) == (1, "")
    assert "jarvis lessons --forgotten" in told.stderr


def test_with_nothing_new_there_is_nothing_to_do(cli: CliRunner) -> None:
    """No event, no lesson, no fault."""
    report = json.loads(run(cli, "reflect", "--json"))
    assert (report["outcome"], report["asked"], report["made"]) == ("nothing new", 0, [])


def test_a_wipe_asks_first(cli: CliRunner, tmp_path: Path) -> None:
    """Not in a pipe; with --dry-run and --yes it is told what would go and what went; notes stay
    (S4)."""
    keep(tmp_path, ("aa1", "Long answers work", 2))
    (tmp_path / "vault" / "note.md").write_text("mine")
    told = cli.invoke(app, ["wipe"])
    assert (told.exit_code, told.stdout) == (2, "")
    assert "--yes" in told.stderr
    dry = json.loads(run(cli, "wipe", "--dry-run", "--json"))
    assert [row["what"] for row in dry["items"]] == ["event log and lessons"]
    done = json.loads(run(cli, "wipe", "--yes", "--json"))
    assert (done["cleared"], done["failed"]) == (dry["items"], [])
    assert "Nothing to clear" in run(cli, "wipe", "--yes")
    assert (tmp_path / "vault" / "note.md").read_text() == "mine"
