from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from memory.index import Index
from memory.vault import Vault

FIXTURES = Path(__file__).parents[3] / "fixtures"


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


# Spellings --------------------------------------------------------------------------------

PAIRS = tomllib.loads((FIXTURES / "search" / "pairs.toml").read_text(encoding="utf-8"))
FINDS = [(query, text) for rows in PAIRS["finds"].values() for query, text in rows]


@pytest.fixture(scope="module")
def spelled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    folder = tmp_path_factory.mktemp("spelled")
    for number, text in enumerate(sorted({text for _, text in (*FINDS, *PAIRS["never"]["rows"])})):
        write(folder / "vault", f"{number}.md", text)
    index = Index(folder / "state", Vault(folder / "vault"))
    index.check()
    yield index
    index.close()


def texts(index: Index, query: str) -> set[str]:
    return {hit.text for hit in index.search(query, where="notes", limit=100, fresh=False)}


def test_there_are_enough_pairs() -> None:
    """Two hundred pairs of spellings are held, of each kind some."""
    assert len(FINDS) >= 200


@pytest.mark.parametrize(("query", "text"), FINDS)
def test_spellings(spelled: Index, query: str, text: str) -> None:
    """A word is found however it is written (m31, m32)."""
    assert text in texts(spelled, query)


@pytest.mark.parametrize(("query", "text"), PAIRS["never"]["rows"])
def test_parts_of_words_find_nothing(spelled: Index, query: str, text: str) -> None:
    """Letters within a word are not the word (N3)."""
    assert text not in texts(spelled, query)
