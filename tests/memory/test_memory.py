"""The door imports what it names, when it is asked for."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import memory


@pytest.mark.parametrize("name", memory.__all__)
def test_every_name_is_there(name: str) -> None:
    """What the door names can be imported from it."""
    assert getattr(memory, name) is getattr(memory, name)


def test_types_and_values_agree() -> None:
    """Type checkers see the same names, from the same modules, as programs do."""
    tree = ast.parse(Path(memory.__file__).read_text())
    seen = {
        alias.asname: (node.module, alias.name)
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("memory.")
        for alias in node.names
    }
    assert seen == memory._WHERE
    assert set(seen) == set(memory.__all__)


def test_an_unknown_name_is_told() -> None:
    """A misspelt name is an AttributeError, as of any module."""
    with pytest.raises(AttributeError, match="Memroy"):
        memory.Memroy  # noqa: B018 - asking is the point


def test_records_cost_no_rules() -> None:
    """Settings and records can be read without the rules of three languages."""
    code = "import sys, memory.records; print('re2' in sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert found.stdout == "False\n"
