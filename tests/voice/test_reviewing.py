"""What `jarvis review` says of a review. The command itself: test_cli_memory.py."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from memory import Reviewed, ReviewReport
from memory.records import Change, HandOver, Proposal, Rejection
from voice.config import load
from voice.reviewing import Reviews, review_now

AT = datetime(2026, 12, 2, 10, 0, tzinfo=UTC)
MARK = HandOver(conversation="c1", first_index=0, last_index=3, trigger="hang-up", at=AT)
PROPOSAL = Proposal(
    operation="add", notebook="USER.md", entry=None, text="Is king.", quote="I'm vegan, really"
)


def change(old: str | None, new: str | None) -> Change:
    return Change(id="1", at=AT, source="review", notebook="USER.md", old=old, new=new)


def reviewed(**fields: Any) -> Reviews:
    values: dict[str, Any] = {"hand_over": MARK, "outcome": "asked", "marked": ()}
    return Reviews(ReviewReport(reviewed=(Reviewed(**values | fields),)))


def test_what_was_written_and_refused_is_shown() -> None:
    """Old lines, new lines, and the rule that refused."""
    done = reviewed(
        changes=(change(None, "Is vegan."), change("Lives in Bonn.", None)),
        rejections=(Rejection(proposal=PROPOSAL, rule="L5.2", reason="“king” was not said."),),
    )
    assert done.text().splitlines() == [
        "c1: asked, 0 marked, 2 written, 1 refused",
        "  USER.md  + Is vegan.",
        "  USER.md  - Lives in Bonn.",
        "  refused by L5.2: “king” was not said.",
    ]
    [row] = done.as_json()["reviewed"]
    assert [each["new"] for each in row["changes"]] == ["Is vegan.", None]
    assert row["rejections"] == [{"rule": "L5.2", "reason": "“king” was not said."}]
    assert done.reviewed and not done.faults


def test_nothing_was_reviewed() -> None:
    """A sentence, and an empty report; what waits says why."""
    nothing = Reviews(ReviewReport(faults=("The model is away.",)))
    assert nothing.text() == "Nothing was reviewed."
    assert nothing.as_json() == {"reviewed": [], "waiting": ["The model is away."]}
    assert not nothing.reviewed


async def test_a_house_is_opened_and_closed_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a conversation, and without loading what talks."""
    monkeypatch.setenv("JARVIS_CONFIG", str(tmp_path / "config.toml"))
    (tmp_path / "vault").mkdir()
    config = load({"vault": tmp_path / "vault", "state": tmp_path / "state", "background": "off"})
    assert (await review_now(config, None)).text() == "Nothing was reviewed."
