"""Looking something up in a vault, with and without vectors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from memory.embedding import Role, Vectors
from memory.index import Index
from memory.notes.looking import Notes
from memory.vault import Vault

SUBJECTS = (
    {"plumber", "boiler", "heating", "pump"},
    {"cake", "flour", "oven", "apple"},
    {"train", "ticket", "platform", "station"},
    {"tree", "garden", "hedge", "mower"},
)


class Subjects:
    """An embedder of ours: a text's vector is how often it speaks of each subject."""

    name = "subjects/1"
    dimensions = len(SUBJECTS) + 1

    def __init__(self) -> None:
        self.asked = 0

    def embed(self, texts: Sequence[str], role: Role = "passage") -> Vectors:
        self.asked += len(texts)
        rows = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        rows[:, -1] = 1.0
        for at, text in enumerate(texts):
            for subject, words in enumerate(SUBJECTS):
                rows[at, subject] += 3 * any(word in text.lower() for word in words)
        unit: Vectors = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        return unit


def write(vault: Path, name: str, text: str) -> None:
    path = vault / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    folder = tmp_path / "vault"
    write(folder, "house.md", "# House\n\nThe boiler engineer is Meier; he comes on Tuesdays.\n")
    write(folder, "cake.md", "# Apple cake\n\nThe oven is at 175 degrees, for 45 minutes.\n")
    write(folder, "travel.md", "# Lisbon\n\nThe ticket is in the drawer of the desk.\n")
    for number in range(12):
        write(
            folder, f"garden{number}.md", f"# Bed {number}\n\nThe hedge of bed {number} is low.\n"
        )
    return folder


@pytest.fixture
def index(tmp_path: Path, vault: Path) -> Iterator[Index]:
    with closing(Index(tmp_path / "state", Vault(vault))) as opened:
        yield opened


def embedded(notes: Notes) -> None:
    while made := notes.embed_some(4):
        assert made <= 4


def files(notes: Notes, said: str) -> list[str]:
    return [extract.file for extract in notes.extracts(said, vector=notes.vector_of(said))]


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ("When does the boiler engineer come?", ["house.md"]),
        ("how hot is the oven for the apple cake", ["cake.md"]),
        ("Who won the election in Mongolia?", []),
        ("Good morning!", []),
        ("the and of", []),
        ("", []),
    ],
)
def test_nothing_relevant_means_nothing(index: Index, said: str, found: list[str]) -> None:
    """An extract is found by its words, and none where no note has to do with it (N3)."""
    assert files(Notes(index, lambda: None), said) == found


def test_an_edit_and_a_deletion_count_at_once(vault: Path, index: Index) -> None:
    """The next answer knows what a note says now (N6)."""
    notes = Notes(index, lambda: None)
    write(vault, "house.md", "# House\n\nThe boiler engineer is Schulz.\n")
    [extract] = notes.extracts("who is the boiler engineer")
    assert extract.text == "The boiler engineer is Schulz."
    (vault / "house.md").unlink()
    assert notes.extracts("who is the boiler engineer") == ()


def test_meaning_finds_what_words_do_not(index: Index) -> None:
    """“Plumber” finds the boiler engineer where a model is at hand, and only there (N7)."""
    assert files(Notes(index, lambda: None), "which plumber do we have") == []
    notes = Notes(index, Subjects)
    embedded(notes)
    assert files(notes, "which plumber do we have")[:1] == ["house.md"]


def test_a_vector_is_made_once(vault: Path, index: Index) -> None:
    """An edit costs the pieces that it changed; a rebuilt index costs none (N7)."""
    model = Subjects()
    notes = Notes(index, lambda: model)
    embedded(notes)
    made = model.asked
    assert (made, notes.embed_some()) == (index.counts()[1], 0)
    write(vault, "cake.md", "# Apple cake\n\nThe oven is at 180 degrees.\n")
    index.refresh()
    embedded(notes)
    assert model.asked == made + 1
    index.rebuild()
    embedded(notes)
    assert model.asked == made + 1


def test_a_vector_goes_with_its_text(vault: Path, index: Index) -> None:
    """Of a deleted note nothing is left in the index, its meaning neither (m22)."""
    notes = Notes(index, Subjects)
    embedded(notes)
    (vault / "house.md").unlink()
    index.refresh()
    left = index.asked(lambda base: base.execute("SELECT count(*) FROM vector").fetchone()[0])
    assert left == index.counts()[1]
    assert "house.md" not in files(notes, "which plumber do we have")


def test_a_search_gives_only_what_holds_a_word_or_is_near(index: Index) -> None:
    """Something is always nearest; that alone is no hit."""
    notes = Notes(index, Subjects)
    embedded(notes)
    assert [hit.file for hit in notes.search("plumber")][:1] == ["house.md"]
    assert "cake.md" not in [hit.file for hit in notes.search("plumber")]
    assert notes.search("zyzzyva") == ()
    assert notes.search("boiler", limit=0) == ()
