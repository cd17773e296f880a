"""What is read beforehand, so that no turn waits for it."""

from __future__ import annotations

import ast
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

_ROOT = Path(__file__).parents[2]
_NOT_IN_A_CALL = {"memory.embedding", "memory.watching.watching"}


def _imported_when_needed(module: str) -> set[str]:
    tree = ast.parse((_ROOT / f"{module.replace('.', '/')}.py").read_text("utf-8"))
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    return {
        f"{node.module}.{alias.name}" if node.module in packages else str(node.module)
        for function in functions
        for node in ast.walk(function)
        if isinstance(node, ast.ImportFrom)
        for packages in [("memory", "memory.notebooks", "memory.watching")]
        for alias in node.names
    }


def _said(code: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=_ROOT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.split()


def test_once_warm_every_room_of_the_door_is_loaded() -> None:
    """A running call imports nothing of memory for the first time."""
    rooms = _imported_when_needed("memory.door") | _imported_when_needed("memory.notebooks.ledger")
    assert len(rooms) > 10
    code = "from memory import warm; warm(); import sys; print(*sys.modules)"
    assert rooms - set(_said(code)) == _NOT_IN_A_CALL


def test_once_warm_a_turn_and_a_review_read_no_file() -> None:
    """Rules, words and the token table of all three languages are there before somebody speaks."""
    assert _said(_AFTER) == []
