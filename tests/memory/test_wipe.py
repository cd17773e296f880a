from __future__ import annotations

import errno
import json
import os
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from memory.door import Memory
from memory.errors import WipeRefused
from memory.lessons.records import Lesson
from memory.wipe import MARKER, finish
from tests.memory.turns import NOON, turn

SECRET = "zebrafinch"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "vault").mkdir()
    return tmp_path


@pytest.fixture
def memory(folder: Path) -> Iterator[Memory]:
    found = opened(folder)
    yield found
    found.close()


def opened(folder: Path) -> Memory:
    return Memory.open(folder / "vault", folder / "state", lambda: NOON)


def live(memory: Memory, folder: Path) -> None:
    """A little of everything that Jarvis keeps, each with the word in it."""
    memory.remember_text(f"I love my {SECRET}", NOON)
    memory.forget(SECRET, NOON + timedelta(hours=1))
    memory.remember_text(f"I have two {SECRET}s", NOON)
    memory.lessons.shelf.add(
        [Lesson(id="a1", kind="user", text=f"Asks about {SECRET}s", made_at=NOON, made_by="p1")],
        NOON,
    )
    memory.lessons.drop("a1", NOON)
    conversation = memory.begin("c1", "call", NOON)
    conversation.observe(turn(0, f"tell me about {SECRET}s"))
    conversation.hand_over("hang-up", NOON)
    conversation.close()
    own = folder / "vault" / "society" / "jarvis"
    for name in (
        "daily/2026-12-02.md",
        "topics/birds.md",
        "USER (conflicted copy).md",
        ".USER.md.tmp",
    ):
        (own / name).parent.mkdir(exist_ok=True)
        (own / name).write_text(f"# {SECRET}\n")
    state = folder / "state"
    for name in (
        "index.db", "index.db-wal", "waiting.jsonl", "model-states/a.bin", "watching/tree.db",
        "events.damaged-20261201T000000.db", "reviews/c0.jsonl",
    ):  # fmt: skip
        (state / name).parent.mkdir(exist_ok=True)
        (state / name).write_text(SECRET * 50)
    recording = folder / "recordings" / "call-1"
    recording.mkdir(parents=True)
    for name in ("call.json", "microphone.flac"):
        (recording / name).write_text(f'{{"note": "{SECRET}"}}')
    memory.recorded_in(recording)


def holding(folder: Path) -> list[str]:
    """The files with the word in them, raw."""
    return sorted(
        str(path.relative_to(folder))
        for path in folder.rglob("*")
        if path.is_file() and SECRET.encode() in path.read_bytes()
    )


def test_a_wipe_leaves_no_byte_of_it(memory: Memory, folder: Path) -> None:
    """Notebooks, logs, journal, lessons, index, recordings: none is found again; notes stay."""
    live(memory, folder)
    note = folder / "vault" / "birds.md"
    note.write_text(f"my own {SECRET}")
    persona = folder / "vault" / "society" / "jarvis" / "persona.md"
    persona.write_text("You are Jarvis.")
    planned = memory.wipe_plan()
    assert len(holding(folder)) > 12
    report = memory.wipe(NOON)
    assert report.failed == ()
    assert holding(folder) == ["vault/birds.md"]
    assert persona.read_text() == "You are Jarvis."
    assert {each.what for each in report.cleared} == {each.what for each in planned.items}
    assert {each.what for each in report.cleared} == {
        "notebooks", "change log", "journal", "event log and lessons", "index",
        "transcripts and recordings", "reviews", "waiting for room", "watched projects",
        "model states", "recordings",
    }  # fmt: skip
    assert report.bytes == sum(each.bytes for each in report.cleared) > 0
    assert [path.name for path in (folder / "state").iterdir()] == ["in-use.lock"]


def test_the_blocks_are_overwritten_before_they_are_given_back(
    memory: Memory, folder: Path
) -> None:
    """Who still has a file open, as whoever reads the disk raw would, finds zeros."""
    live(memory, folder)
    kept = [
        (path, path.open("rb"))
        for path in folder.rglob("*")
        if path.is_file() and SECRET.encode() in path.read_bytes()
    ]
    memory.wipe(NOON)
    for path, file in kept:
        with file:
            assert SECRET.encode() not in file.read(), path


def test_memory_begins_anew(memory: Memory, folder: Path) -> None:
    """The same process goes on: nothing is known, and everything can be kept again."""
    live(memory, folder)
    memory.session()
    memory.wipe(NOON)
    assert SECRET not in memory.prefix().text
    assert (memory.changes(), memory.lessons.live(), memory.lessons.forgotten()) == ((), (), ())
    assert memory.events.counts() == {}
    assert memory.remember_text("I love tea", NOON).saved
    assert memory.wipe_plan().bytes > 0


def test_nobody_is_wiped_from_under(memory: Memory, folder: Path) -> None:
    """A call that goes on, or another process with the state open: refused, nothing touched."""
    live(memory, folder)
    conversation = memory.begin("c2", "call", NOON)
    before = holding(folder)
    with pytest.raises(WipeRefused, match="call or a chat"):
        memory.wipe(NOON)
    conversation.close()
    other = opened(folder)
    with pytest.raises(WipeRefused, match="Another Jarvis"):
        memory.wipe(NOON)
    other.close()
    assert holding(folder) == before
    memory.wipe(NOON)


def test_a_wipe_that_was_cut_short_is_finished_at_the_next_start(
    memory: Memory, folder: Path
) -> None:
    """Whatever was left goes before anything is read, and it is told."""
    live(memory, folder)
    planned = memory.wipe_plan()
    memory.close()
    (folder / "state" / MARKER).write_text(
        json.dumps(
            {
                "at": NOON.isoformat(),
                "files": [str(path) for path in planned.paths],
                "folders": [str(path) for path in planned.folders],
            }
        )
    )
    planned.paths[-1].unlink()
    again = opened(folder)
    assert [each for each in holding(folder) if not each.startswith("recordings")] == []
    assert any("cut short" in each for each in again.events.warnings)
    assert not (folder / "state" / MARKER).exists()
    again.close()


def test_a_list_of_somebody_elses_leads_nowhere(folder: Path) -> None:
    """A marker that names files outside of Jarvis' folders takes none of them."""
    mine = folder / "vault" / "mine.md"
    mine.write_text("mine")
    state = folder / "state"
    state.mkdir()
    (state / MARKER).write_text(
        json.dumps(
            {"at": "x", "files": [str(mine), str(state / "../vault/mine.md")], "folders": []}
        )
    )
    told = finish(folder / "vault" / "society" / "jarvis", state)
    assert mine.read_text() == "mine"
    assert told is not None and "run `jarvis wipe` once more" in told


def test_copies_and_links_of_the_users_are_left(memory: Memory, folder: Path) -> None:
    """A second name of a file is a backup and is not overwritten; a link goes, not its target."""
    live(memory, folder)
    own = folder / "vault" / "society" / "jarvis"
    backup = folder / "backup.md"
    os.link(own / "daily" / "2026-12-02.md", backup)
    target = folder / "elsewhere.md"
    target.write_text("mine")
    (own / "daily" / "2026-12-03.md").symlink_to(target)
    report = memory.wipe(NOON)
    assert SECRET in backup.read_text()
    assert target.read_text() == "mine"
    assert any("is a link" in each for each in report.stays)


def test_what_is_none_of_jarvis_files_stays_and_is_named(memory: Memory, folder: Path) -> None:
    """A file that the user put beside the notebooks, or into the state folder, is theirs."""
    live(memory, folder)
    theirs = [
        folder / "vault" / "society" / "jarvis" / "USERS guide.md",
        folder / "state" / "diary.txt",
    ]
    for path in theirs:
        path.write_text("mine")
    report = memory.wipe(NOON)
    assert [path.read_text() for path in theirs] == ["mine", "mine"]
    assert sum("none of Jarvis' files" in each for each in report.stays) == 2


def test_what_can_not_go_is_told_and_tried_again(
    memory: Memory, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One file that refuses costs no other; the list stays until it is gone."""
    live(memory, folder)
    unlink = Path.unlink

    def refusing(path: Path, missing_ok: bool = False) -> None:
        if path.name == "changes.jsonl":
            raise OSError(errno.EIO, "a bad block")
        unlink(path, missing_ok)

    with monkeypatch.context() as patched:
        patched.setattr(Path, "unlink", refusing)
        report = memory.wipe(NOON)
    assert len(report.failed) == 1
    assert holding(folder) == []
    changes = folder / "vault" / "society" / "jarvis" / "changes.jsonl"
    assert changes.exists()
    assert (folder / "state" / MARKER).exists()
    memory.close()
    again = opened(folder)
    assert not changes.exists()
    again.close()
