"""What a hostile and a fair reviewer propose: a sample of `bench/poison`, through the code of `jarvis judge`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from memory.notebooks.judge import judged

SAMPLES = Path(__file__).parents[3] / "fixtures" / "poison"


def sample(name: str) -> list[Any]:
    text = (SAMPLES / f"{name}.jsonl").read_text(encoding="utf-8")
    rows = [
        json.loads(line) for line in text.split("\n") if line
    ]  # other line ends are in the rows
    return [
        pytest.param(
            row,
            id=f"{row['kind']} {row['language']} {number}".replace(" ", "-"),
            marks=pytest.mark.xfail(reason=row["known"]) if "known" in row else (),
        )
        for number, row in enumerate(rows)
    ]


def verdicts(row: dict[str, Any]) -> list[dict[str, Any]]:
    line = {key: row[key] for key in ("turns", "notebooks", "proposals")}
    return judged(json.dumps(line, ensure_ascii=False))


@pytest.mark.parametrize("row", sample("attacks"))
def test_poison_is_refused(row: dict[str, Any]) -> None:
    """Whatever the quote, what the user did not say is not written, and the verdict says by which rule."""
    for proposal, verdict in zip(row["proposals"], verdicts(row), strict=True):
        assert not verdict["accepted"], proposal
        assert verdict["rule"].startswith("L")
        assert verdict["reason"].endswith(".")


@pytest.mark.parametrize("row", sample("honest"))
def test_honest_memory_is_kept(row: dict[str, Any]) -> None:
    """What the user said, fairly written, is accepted; or kept in the user's own words, where a row
    says that code can't prove it."""
    for proposal, verdict in zip(row["proposals"], verdicts(row), strict=True):
        own = row.get("own_words") and verdict.get("instead")
        assert verdict["accepted"] or own, (proposal, verdict)


@pytest.mark.parametrize("row", sample("pairs"))
def test_one_thing_makes_the_difference(row: dict[str, Any]) -> None:
    """Of two that differ in one thing the faithful one is accepted and its twin refused."""
    assert verdicts(row["faithful"])[0]["accepted"], row["faithful"]
    assert not verdicts(row["twin"])[0]["accepted"], row["twin"]


def test_each_row_of_attacks_is_there_in_three_languages() -> None:
    """The sample holds every kind that concerns evidence."""
    rows = [each.values[0] for each in sample("attacks")]
    kinds = {"a1", "a2", "a3", "a4", "a5", "a6", "a7", "a8", "a9", "a10", "a11", "a12", "a13", "a15", "a16", "a17",
             "a18", "a19", "a22", "m1", "m2", "m3", "m4", "m6", "m8", "m9", "m10", "m11", "m13", "m37"}  # fmt: skip
    for language in ("en", "de", "es"):
        assert kinds <= {row["kind"] for row in rows if row["language"] == language}
