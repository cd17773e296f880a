"""Searching, as a user types it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

import voice.cli  # noqa: F401 - its commands register themselves
from voice.cli_shared import app

DAY = """# 2026-02-05

## 09:10 ★★★★ Boiler

Meier serviced the Heizkessel.

## 18:42 ★★ Tea

Bought tea.
"""


class Terminal:
    def __init__(self, folder: Path) -> None:
        self.vault = folder / "vault"
        self.write("house.md", "# Boiler\n\nIt is from 2009.\n\nIt hums.\n")
        self.write("garden/roses.md", "Roses want a boiler too.\n")
        self.write("society/jarvis/daily/2026-02-05.md", DAY)

    def write(self, name: str, text: str) -> None:
        path = self.vault / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def __call__(self, *arguments: str, given: str | bytes | None = None) -> Result:
        return CliRunner().invoke(app, list(arguments), input=given)

    def json(self, *arguments: str) -> Any:
        told = self(*arguments, "--json")
        assert told.exit_code == 0, told.stderr
        return json.loads(told.stdout)


@pytest.fixture
def jarvis(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Terminal:
    terminal = Terminal(tmp_path)
    monkeypatch.setenv("JARVIS_CONFIG", str(tmp_path / "config.toml"))
    monkeypatch.setenv("JARVIS_STATE", str(tmp_path / "state"))
    monkeypatch.setenv("JARVIS_VAULT", str(terminal.vault))
    monkeypatch.setenv("HOME", str(tmp_path))
    return terminal


def test_notes_tell_file_lines_and_text(jarvis: Terminal) -> None:
    """A hit says where it stands: file, lines, heading, the text itself, and how well it fits."""
    hit, *more = jarvis.json("notes", "how old is the boiler")
    assert hit.pop("score") > 0
    assert hit == {
        "file": "house.md",
        "lines": [3, 5],
        "heading": "Boiler",
        "text": "It is from 2009.\n\nIt hums.",
        "kind": "notes",
        "relevant": True,
    }
    assert [each["file"] for each in more] == ["garden/roses.md"]


def test_relevant_ones_only(jarvis: Terminal) -> None:
    """What Jarvis would be sent with the question; a word in common is not enough."""
    asked = "do you want a coffee"
    assert [hit["file"] for hit in jarvis.json("notes", asked)] == ["garden/roses.md"]
    assert jarvis.json("notes", asked)[0]["relevant"] is False
    assert jarvis.json("notes", asked, "--relevant") == []
    assert jarvis("notes", asked).stdout.startswith("Nothing fits. The nearest")
    fits = jarvis.json("notes", "do the roses want a boiler", "--relevant")
    assert (fits[0]["file"], fits[0]["relevant"]) == ("garden/roses.md", True)


def test_a_part_of_the_vault_and_another_folder(jarvis: Terminal, tmp_path: Path) -> None:
    """--folder is a part of the vault, or a folder elsewhere, whose files are named from there."""
    other = tmp_path / "other"
    other.mkdir()
    (other / "b.txt").write_text("A boiler elsewhere.", encoding="utf-8")

    def found(folder: object) -> list[str]:
        return [hit["file"] for hit in jarvis.json("notes", "boiler", "--folder", str(folder))]

    assert found("garden") == found(jarvis.vault / "garden") == ["garden/roses.md"]
    assert found(other) == ["b.txt"]
    missing = jarvis("notes", "boiler", "--folder", str(tmp_path / "nowhere"))
    assert (missing.exit_code, missing.stdout) == (1, "")
    assert "nowhere is not a folder" in missing.stderr


def test_recall_finds_and_lists(jarvis: Terminal) -> None:
    """recall finds entries by words and their beginnings; without words it lists the latest."""
    [hit] = jarvis.json("recall", "servic")
    assert (hit["file"], hit["lines"], hit["heading"], hit["day"], hit["time"], hit["stars"]) == (
        "society/jarvis/daily/2026-02-05.md", [5, 5], "Boiler", "2026-02-05", "09:10", 4,
    )  # fmt: skip
    assert [hit["heading"] for hit in jarvis.json("recall")] == ["Tea", "Boiler"]
    assert [hit["heading"] for hit in jarvis.json("recall", "--limit", "1")] == ["Tea"]


def test_a_batch_answers_line_by_line(jarvis: Terminal) -> None:
    """Each line is a query whatever it holds, an empty and a broken one too, and gives a line."""
    told = jarvis("notes", "--batch", given=b'boiler\n\n"AND (\xff\r\nRoses')
    lines = [json.loads(line) for line in told.stdout.splitlines()]
    assert [line["query"] for line in lines] == ["boiler", "", '"AND (\ufffd', "Roses"]
    assert [len(line["hits"]) for line in lines] == [2, 0, 0, 1]


def test_for_people(jarvis: Terminal) -> None:
    """In a terminal a hit is its place and its text; nothing found is said."""
    assert jarvis("notes", "2009").stdout == (
        "house.md:3-5  Boiler\n    It is from 2009.\n\n    It hums.\n\n"
    )
    assert "2026-02-05.md:9  18:42  ★★  Tea\n    Bought tea.\n" in jarvis("recall", "tea").stdout
    assert jarvis("notes", "zeppelin").stdout == "Nothing found.\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [(("notes",), "Say what to find"), (("recall", "tea", "--batch"), "leave the words out")],
)
def test_wrong_use(jarvis: Terminal, arguments: tuple[str, ...], said: str) -> None:
    """A command that can't be meant so says what to type, and exits 2."""
    told = jarvis(*arguments)
    assert (told.exit_code, told.stdout) == (2, "")
    assert said in told.stderr
