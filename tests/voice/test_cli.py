"""The command line: what it takes, what it prints, and how it fails."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from voice import cli as commands

ROOT = Path(__file__).parents[2]
app = commands.app  # type: ignore[attr-defined]  # shared by the modules of the command line

COMMANDS = sorted(get_command(app).commands)  # type: ignore[attr-defined]


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CliRunner:
    monkeypatch.setenv("JARVIS_CONFIG", str(tmp_path / "config.toml"))
    monkeypatch.setenv("JARVIS_STATE", str(tmp_path / "state"))
    monkeypatch.setenv("JARVIS_VAULT", str(tmp_path / "vault"))
    return CliRunner()


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_is_in_the_readme_and_has_an_example(cli: CliRunner, command: str) -> None:
    """A command that nobody can find is not there."""
    assert re.search(rf"^jarvis .*\b{command}\b", (ROOT / "README.md").read_text(), re.MULTILINE)
    told = cli.invoke(app, [command, "--help"])
    assert told.exit_code == 0
    assert "Example:" in told.output


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["nonsense"], 2, "No such command"),
        (["hear"], 2, "Missing argument"),
        (["prefix", "--nonsense"], 2, "No such option"),
        (["chat", "--language", "fr"], 2, "language"),
        (["serve", "--engine", "magic"], 2, "engine"),
        (["prefix"], 1, "vault"),
        (["replay", "nowhere"], 1, "nowhere"),
    ],
)
def test_wrong_use_is_2_and_a_failing_world_is_1(
    cli: CliRunner, arguments: list[str], code: int, said: str
) -> None:
    """Errors go to standard error and say what to do; standard output stays empty."""
    told = cli.invoke(app, arguments)
    assert told.exit_code == code
    assert said in told.stderr
    assert told.stdout == ""


def test_prefix_prints_the_very_bytes(cli: CliRunner, tmp_path: Path) -> None:
    """The notebooks stand in it as they are on disk."""
    notebook = tmp_path / "vault/society/jarvis/USER.md"
    notebook.parent.mkdir(parents=True)
    notebook.write_text("- My sister's name is Zoë.\n", encoding="utf-8")
    first, second = (cli.invoke(app, ["prefix"]) for _ in range(2))
    assert "- My sister's name is Zoë." in first.stdout
    assert first.stdout_bytes == second.stdout_bytes


def test_a_notebook_in_another_encoding_is_read_and_told(cli: CliRunner, tmp_path: Path) -> None:
    """A notebook that isn't UTF-8 is read as what it is, with a warning on standard error."""
    notebook = tmp_path / "vault/society/jarvis/USER.md"
    notebook.parent.mkdir(parents=True)
    notebook.write_bytes("- Ich wohne in Köln.\n".encode("cp1252"))
    told = cli.invoke(app, ["prefix"])
    assert told.exit_code == 0
    assert "Köln" in told.stdout
    assert "USER.md" in told.stderr


def test_stats_of_nothing(cli: CliRunner, tmp_path: Path) -> None:
    """Before the first call there is a sentence, or an empty report."""
    (tmp_path / "vault").mkdir()
    assert "Nothing yet" in cli.invoke(app, ["stats"]).stdout
    report = json.loads(cli.invoke(app, ["stats", "--json"]).stdout)
    assert report == {"latency": [], "tokens": [], "counts": {}, "microphones": []}


def test_models_in_an_empty_folder(
    cli: CliRunner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is missing is listed as missing, with its size."""
    monkeypatch.setenv("JARVIS_WEIGHTS", str(tmp_path / "weights"))
    rows = json.loads(cli.invoke(app, ["models", "--json"]).stdout)
    assert {"whisper-base", "qwen-0.5b"} <= {row["name"] for row in rows}
    assert {row["state"] for row in rows} == {"missing"}
    assert "whisper-base   missing" in cli.invoke(app, ["models"]).stdout


_RUN = """
import sys
from voice import cli
try:
    cli.app(sys.argv[1:])
except SystemExit as end:
    assert end.code in (0, None), end.code
print(*sys.modules, sep="\\n")
"""


_HEAVY = {"av", "fastapi", "httpx", "numpy", "onnxruntime", "pipecat", "watchfiles"}
_GRAMMAR = {"memory.index", "memory.languages.acts", "memory.languages.dates", "memory.task"}


@pytest.mark.parametrize(
    ("arguments", "without"),
    [
        (["--help"], _HEAVY | _GRAMMAR | {"memory.door", "pydantic"}),
        (["changes"], _HEAVY | _GRAMMAR | {"memory.lessons.door"}),
        (["pending"], _HEAVY | {"memory.index", "memory.task"}),
        (["prefix"], _HEAVY | _GRAMMAR),
        (["lessons"], _HEAVY | _GRAMMAR),
        (["journal"], _HEAVY | _GRAMMAR | {"memory.lessons.door"}),
        (["insights"], _HEAVY | _GRAMMAR | {"memory.lessons.door"}),
    ],
    ids=str,
)
def test_what_only_looks_into_files_loads_no_heavy_room(
    cli: CliRunner, tmp_path: Path, arguments: list[str], without: set[str]
) -> None:
    """Sound, page, models, numbers and grammar are loaded by the commands that need them."""
    (tmp_path / "vault").mkdir()
    done = subprocess.run(  # our own interpreter and code
        [sys.executable, "-c", _RUN, *arguments], capture_output=True, text=True, check=True
    )
    assert without & set(done.stdout.splitlines()) == set()
