"""What is read beforehand, so that no turn waits for it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

_AFTER = """
import sys
from datetime import UTC, datetime
from memory import warm

warm()
opened = []
sys.addaudithook(lambda event, given: event == "open" and opened.append(given[0]))

from memory.lessons.reading import told
from memory.notebooks import remember
from memory.notebooks.filter_line import filtered
from memory.notebooks.tokens import tokens
from memory.notebooks.validate import Grounds, decide
from memory.notes.looking import warm as look
from memory.records import NOTEBOOKS, Proposal, Turn
from memory.requests import picked, requested

at = datetime.now(UTC)
for language, said, entry in (
    ("en", "My sister lives in a small town near Leeds.", "Sister lives near Leeds."),
    ("de", "Meine Schwester wohnt in der Nähe von Kiel.", "Die Schwester wohnt bei Kiel."),
    ("es", "Mi hermana vive cerca de Gijón.", "Su hermana vive cerca de Gijón."),
):
    remember.asked(said), filtered('{"text": "' + said + '"}'), requested(said), picked(said)
    tokens(said), told(entry)
    turn = Turn(
        conversation="c", index=0, speaker="user", text=said, language=language, began_at=at,
        ended_at=at, origin="spoken",
    )
    proposal = Proposal(operation="add", notebook="USER.md", entry=None, text=entry, quote=said)
    decide(proposal, Grounds(turns=(turn,), notebooks={name: () for name in NOTEBOOKS}))
look()
print(*opened, sep="\\n")
"""


def test_once_warm_a_turn_and_a_review_read_no_file() -> None:
    """Rules, words and the token table of all three languages are there before somebody speaks."""
    done = subprocess.run(
        [sys.executable, "-c", _AFTER],
        cwd=Path(__file__).parents[2],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == []
