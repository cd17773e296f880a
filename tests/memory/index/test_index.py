from __future__ import annotations

from pathlib import Path

import pytest

from memory.index import Index
from memory.vault import Vault


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    folder = tmp_path / "vault"
    folder.mkdir()
    return folder


@pytest.fixture
def index(tmp_path: Path, vault: Path) -> Index:
    return Index(tmp_path / "state", Vault(vault))


def write(vault: Path, name: str, text: str) -> None:
    path = vault / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def files(index: Index, query: str) -> list[str]:
    return [hit.file for hit in index.search(query)]


def test_an_edit_is_current_at_the_next_search(vault: Path, index: Index) -> None:
    """What stands in a note is found, what stood there is not, and a deleted note is gone."""
    write(vault, "house.md", "# Boiler\n\nServiced by Meier.\n")
    [hit] = index.search("meier")
    assert (hit.file, hit.first_line, hit.heading, hit.kind) == ("house.md", 3, "Boiler", "notes")
    write(vault, "house.md", "# Boiler\n\nServiced by Schulz.\n")
    assert files(index, "meier") == []
    assert files(index, "schulz") == ["house.md"]
    (vault / "house.md").unlink()
    assert files(index, "schulz") == []


def test_notebooks_are_no_notes(vault: Path, index: Index) -> None:
    """What is in the prefix anyway is not found again; the journal is."""
    write(vault, "society/jarvis/USER.md", "- Likes tea")
    write(
        vault,
        "society/jarvis/daily/2026-02-05.md",
        "# 2026-02-05\n\n## 18:42 ★★★★ Tea\n\nBought tea.\n",
    )
    [hit] = index.search("tea")
    assert (hit.kind, hit.heading, hit.stars, str(hit.day)) == ("journal", "Tea", 4, "2026-02-05")
