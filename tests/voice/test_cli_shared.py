"""How the commands tell faults, and what they print as JSON."""

from __future__ import annotations

import json

import pytest
import typer

from memory.errors import NotebookUnwritable
from voice.cli_shared import print_json, told
from voice.errors import RecordingInvalid, SettingInvalid


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        (SettingInvalid("port: too large."), 2),
        (RecordingInvalid("call.wav is empty."), 1),
        (NotebookUnwritable("USER.md is read-only."), 1),
    ],
)
def test_faults_are_a_sentence_and_a_code(
    fault: Exception, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """On standard error, without a traceback."""
    with pytest.raises(typer.Exit) as ended, told():
        raise fault
    assert ended.value.exit_code == code
    shown = capsys.readouterr()
    assert (shown.out, shown.err) == ("", f"{fault}\n")


def test_a_bug_is_not_told_as_if_the_world_had_failed() -> None:
    """It crashes."""
    with pytest.raises(KeyError), told():
        raise KeyError("a mistake of ours")


def test_json_is_one_value_in_readable_letters(capsys: pytest.CaptureFixture[str]) -> None:
    """On a line of its own."""
    print_json({"entry": "Müller, ¡sí!"})
    shown = capsys.readouterr().out
    assert shown.endswith("\n") and shown.count("\n") == 1
    assert "Müller, ¡sí!" in shown
    assert json.loads(shown) == {"entry": "Müller, ¡sí!"}
