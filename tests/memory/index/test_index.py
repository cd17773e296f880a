from __future__ import annotations

import random
import sqlite3
import threading
import tomllib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory.errors import StateUnwritable, VaultMissing
from memory.index import Index
from memory.vault import Vault

FIXTURES = Path(__file__).parents[3] / "fixtures"


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    folder = tmp_path / "vault"
    folder.mkdir()
    return folder


@pytest.fixture
def index(tmp_path: Path, vault: Path) -> Iterator[Index]:
    with closing(Index(tmp_path / "state", Vault(vault))) as opened:
        yield opened


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


# What happens to the file -------------------------------------------------------------------


def held(index: Index) -> bytes:
    """Every byte that the index has on disk."""
    return b"".join(path.read_bytes() for path in index.path.parent.glob("index*")).lower()


def test_what_was_deleted_leaves_no_byte(vault: Path, index: Index) -> None:
    """After many edits and deletions nothing of what is gone is on disk, not even where rows
    moved (m22)."""
    rng = random.Random(4)  # noqa: S311 - the same each time
    marks = ["".join(rng.choices("jkqvwxyz", k=14)) for _ in range(360)]
    for round_ in range(6):
        for at in range(20):
            mine = marks[60 * round_ + 3 * at :][:3]
            filling = " ".join(
                f"{rng.choice(marks[:3])[:5]}{rng.randint(0, 400)}" for _ in range(90)
            )
            write(vault, f"{round_}-{at}.md", f"# {mine[0]}\n\n{filling} {mine[1]}. {mine[2]}\n")
        index.refresh()
        assert marks[60 * round_ + 1].encode() in held(index)
        for at in range(20):
            (vault / f"{round_}-{at}.md").unlink()
        write(vault, "stays.md", f"Round {round_}.")
        index.refresh()
        gone = [mark for mark in marks[: 60 * (round_ + 1)] if mark.encode() in held(index)]
        assert gone == []


def broken_file(path: Path) -> None:
    path.write_bytes(b"this is no database" * 500)


def broken_page(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[4096 : 5 * 4096] = (bytes(range(1, 255)) * 65)[: 4 * 4096]
    path.write_bytes(content)


def of_another_make(path: Path) -> None:
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("UPDATE meta SET value = 'older' WHERE name = 'make'")


def without_a_table(path: Path) -> None:
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("DROP TABLE word")


def empty(path: Path) -> None:
    path.write_bytes(b"")


@pytest.mark.parametrize(
    "harm", [Path.unlink, broken_file, broken_page, of_another_make, without_a_table, empty]
)
@pytest.mark.parametrize("is_running", [False, True])
def test_an_index_that_is_harmed_comes_back(
    tmp_path: Path, vault: Path, harm: Callable[[Path], None], is_running: bool
) -> None:
    """Deleted, damaged or of another make, before a start or while it is used: it is built anew
    from the files (J1, m33)."""
    write(vault, "a.md", "The boiler hums.")
    for number in range(30):
        write(vault, f"more {number}.md", f"Filling number {number} {'and on ' * 60}.")
    index = Index(tmp_path / "state", Vault(vault))
    index.check()
    if not is_running:
        index.close()
    harm(index.path)
    if not is_running:
        index = Index(tmp_path / "state", Vault(vault))
    index.check()
    assert files(index, "boiler") == ["a.md"]
    assert index.is_sound()
    assert {path.name for path in index.path.parent.iterdir()} <= {
        "index.db", "index.db-wal", "index.db-shm", "index.lock",
    }  # fmt: skip
    index.close()


def test_nobody_waits_long_for_a_first_index(vault: Path, index: Index) -> None:
    """A question waits so long and no longer; the index is built meanwhile, or given up when it is
    closed."""
    for number in range(40):
        write(vault, f"{number}.md", f"The boiler number {number} hums.")
    assert not index.ready_within(0.0)
    assert [thread.name for thread in threading.enumerate()].count("first index") == 1
    index.close()
    assert index.ready_within(30.0)
    assert len(index.search("boiler", limit=50, fresh=False)) == 40
    index.close()


def test_harm_that_a_change_meets_is_mended(vault: Path, index: Index) -> None:
    """A watcher that writes into a harmed index has it built anew, with its file in it."""
    write(vault, "a.md", "The boiler hums.")
    index.check()
    without_a_table(index.path)
    write(vault, "b.md", "Another boiler.")
    index.update(["b.md"])
    assert len(index.search("boiler", fresh=False)) == 2


def test_what_a_crash_left_is_removed(vault: Path, index: Index) -> None:
    """A copy that was being built when its process died does not stay."""
    write(vault, "a.md", "The boiler hums.")
    index.check()
    left = index.path.with_suffix(".part")
    left.write_bytes(b"the boiler")
    index.check()
    assert not left.exists()


def test_two_indexes_are_one(tmp_path: Path, vault: Path, index: Index) -> None:
    """What one process takes in another finds, and a rebuild under its feet changes nothing."""
    other = Index(tmp_path / "state", Vault(vault))
    write(vault, "a.md", "The boiler hums.")
    assert files(other, "boiler") == ["a.md"]
    write(vault, "b.md", "Another boiler.")
    index.update(["b.md"])
    assert len(other.search("boiler", fresh=False)) == 2
    index.rebuild()
    assert len(other.search("boiler", fresh=False)) == 2
    (index.path).unlink()
    assert len(other.search("boiler", fresh=False)) == 2
    other.close()


def test_threads_ask_and_write_at_once(vault: Path, index: Index) -> None:
    """A call asks while a watcher writes: each gets an answer, and nothing is lost."""
    for number in range(20):
        write(vault, f"{number}.md", f"The boiler number{number} hums.")
    index.check()

    def ask(number: int) -> int:
        return len(index.search("boiler", limit=50, fresh=False))

    def put(number: int) -> None:
        write(vault, f"{number}.md", f"The boiler number{number} hums loudly{number}.")
        index.update([f"{number}.md"])

    with ThreadPoolExecutor(6) as pool:
        asked = list(pool.map(ask, range(60)))
        list(pool.map(put, range(20)))
    assert set(asked) == {20}
    assert all(files(index, f"loudly{number}") == [f"{number}.md"] for number in range(20))


def test_a_full_disk_is_a_sentence(vault: Path, index: Index) -> None:
    """Where the index can't be written the user hears why, and what is there still serves."""
    write(vault, "a.md", "The boiler hums.")
    index.check()
    write(vault, "b.md", " ".join(f"word{number}" for number in range(60_000)))
    # A limit of this connection alone stands for the disk's.
    [(pages,)] = index.asked(lambda database: database.execute("PRAGMA page_count").fetchall())
    with index.changing() as database:
        database.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(StateUnwritable, match="no room left on its disk"):
        index.refresh()
    assert [hit.file for hit in index.search("boiler", fresh=False)] == ["a.md"]
    index.close()
    assert files(index, "word77") == ["b.md"]


def test_a_vault_that_is_away_loses_nothing(vault: Path, index: Index) -> None:
    """A drive that is gone for a moment is a fault; it deletes no note from the index."""
    write(vault, "a.md", "The boiler hums.")
    index.check()
    vault.rename(vault.with_name("away"))
    with pytest.raises(VaultMissing):
        index.search("boiler")
    assert [hit.file for hit in index.search("boiler", fresh=False)] == ["a.md"]
    with pytest.raises(VaultMissing):
        index.update(["a.md"])
    assert [hit.file for hit in index.search("boiler", fresh=False)] == ["a.md"]


# Files ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("by", ["update", "refresh"])
def test_files_come_and_go(vault: Path, index: Index, by: str) -> None:
    """New, changed, moved and removed files and folders are taken in, told or found."""

    def told(*names: str) -> None:
        if by == "update":
            index.update([vault / name for name in names])
        else:
            index.refresh()

    def found(query: str) -> list[str]:
        return sorted(hit.file for hit in index.search(query, fresh=False))

    write(vault, "old/a.md", "The boiler hums.")
    write(vault, "old/b.md", "A boiler too.")
    told("old/a.md", "old/b.md")
    assert found("boiler") == ["old/a.md", "old/b.md"]
    (vault / "old").rename(vault / "new")
    told("old", "new/a.md", "new/b.md")
    assert found("boiler") == ["new/a.md", "new/b.md"]
    (vault / "new").rename(vault / "newer")
    told("new", "newer")
    assert found("boiler") == ["newer/a.md", "newer/b.md"]
    (vault / "newer").rename(vault / "new")
    told("newer", "new")
    (vault / "new" / "a.md").rename(vault / "new" / "A.md")
    told("new/a.md", "new/A.md")
    assert found("hums") == ["new/A.md"]
    (vault / "new" / "A.md").write_bytes(bytes(range(256)) * 40)
    told("new/A.md")
    assert found("hums") == []
    assert index.unread() == {"new/A.md": "it is not a text file"}
    assert index.counts() == (2, 1)


def test_a_folder_is_searched_alone(vault: Path, index: Index) -> None:
    """Only what is in the folder is found, not what is beside it under a name that begins so."""
    for name in ("house/a.md", "house/deep/b.md", "house-old/c.md", "d.md"):
        write(vault, name, "The boiler hums.")
    for folder, expected in (
        ("house", ["house/a.md", "house/deep/b.md"]),
        ("house/deep", ["house/deep/b.md"]),
        ("nowhere", []),
        ("", ["d.md", "house-old/c.md", "house/a.md", "house/deep/b.md"]),
    ):
        assert sorted(hit.file for hit in index.search("boiler", folder=folder)) == expected


def test_a_title_alone_is_found(vault: Path, index: Index) -> None:
    """A note is found by its name, and by a heading under which nothing stands."""
    write(vault, "Heizkessel Vogt.md", "")
    write(vault, "b.md", "# Zeppelin\n")
    assert files(index, "vogt") == ["Heizkessel Vogt.md"]
    assert files(index, "zeppelin") == ["b.md"]


def test_beginnings_are_the_journals(vault: Path, index: Index) -> None:
    """Whole words in notes, beginnings too in the journal (N3, J3)."""
    write(vault, "a.md", "The boiler hums.")
    write(vault, "society/jarvis/daily/2026-02-05.md", "## 10:00 ★★★ Boiler\n\nIt hums.\n")
    assert [hit.kind for hit in index.search("boil", where="notes")] == []
    assert [hit.kind for hit in index.search("boil", where="journal")] == ["journal"]
    assert [hit.kind for hit in index.search("boil", where="all")] == []


def test_a_topics_file_gives_what_the_user_wrote(vault: Path, index: Index) -> None:
    """Lines that only link to a day are found in their day, once."""
    write(vault, "society/jarvis/daily/2026-02-05.md", "## 10:00 ★★★ Roses\n\nPlanted.\n")
    write(
        vault,
        "society/jarvis/topics/garden.md",
        "# garden\n\n- 2026-02-05 10:00 ★★★ [Roses](../daily/2026-02-05.md)\n\nMy own compost.\n",
    )
    assert files(index, "roses") == ["society/jarvis/daily/2026-02-05.md"]
    assert files(index, "compost") == ["society/jarvis/topics/garden.md"]


def test_the_rarest_words_come_first(vault: Path, index: Index) -> None:
    """A piece with every word of a question is before one with a single common one."""
    for number in range(60):
        write(vault, f"{number}.md", "The boiler hums. " + "Nothing else. " * 5)
    write(vault, "best.md", "Meier services the boiler in May, whatever the weather is like then.")
    assert files(index, "when does Meier service the boiler")[0] == "best.md"
    assert len(index.search("boiler", limit=100)) == 61


ALPHABET = st.one_of(
    st.text(max_size=40),
    st.lists(
        st.sampled_from(
            ["boiler", '"', "*", "(", ")", ":", "^", "-", "NEAR(", "AND", "OR", "NOT", "{", "}", "我",
             "+", "C++", "10:30", "\\", "\0", ";", "--", "%", "\ud800", "ß", "a\u0301", "'", " "]
        ),
        max_size=12,
    ).map(" ".join),
)  # fmt: skip


@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(query=ALPHABET)
def test_any_string_is_a_query(spelled: Index, query: str) -> None:
    """Whatever a query holds, it is words, and no error (m30)."""
    spelled.search(query, where="all", fresh=False, beginnings=True)
