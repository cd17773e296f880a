"""A month of calls under two policies."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

import voice.cli  # noqa: F401 - its commands register themselves
from voice.cli_shared import app
from voice.errors import RecordingInvalid
from voice.month import compared

MONTH = Path(__file__).parents[2] / "fixtures" / "month"


def test_the_report_has_both_policies(tmp_path: Path) -> None:
    """Reviews and tokens side by side, as text and as one JSON value."""
    for name in ("call-01.jsonl", "call-02.jsonl"):
        shutil.copy(MONTH / name, tmp_path / name)
    report = compared(tmp_path)
    assert report.as_json()
    told = CliRunner().invoke(app, ["replay", "--month", str(tmp_path), "--json"])
    assert told.exit_code == 0
    assert json.loads(told.stdout) == report.as_json()
    assert CliRunner().invoke(app, ["replay", "--month", str(tmp_path)]).stdout.strip()


@pytest.mark.parametrize("name", ["nowhere", "a file", "no transcripts"])
def test_what_is_no_month_is_named(tmp_path: Path, name: str) -> None:
    """The error names the folder and says what belongs there."""
    (tmp_path / "a file").write_text("")
    (tmp_path / "no transcripts").mkdir()
    if name == "no transcripts":
        (tmp_path / name / "call.jsonl").write_text("prose\n")
    with pytest.raises(RecordingInvalid, match=name):
        compared(tmp_path / name)
    assert CliRunner().invoke(app, ["replay", "--month", str(tmp_path / name)]).exit_code == 1
