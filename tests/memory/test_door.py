from __future__ import annotations

import logging
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from memory import Memory
from memory.errors import VaultMissing
from memory.records import JournalEntry
from tests.memory.turns import NOON, turn


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "vault" / "society" / "jarvis"
    path.mkdir(parents=True)
    (path / "persona.md").write_text("You are a butler.", encoding="utf-8")
    return path


@pytest.fixture
def memory(folder: Path, tmp_path: Path) -> Iterator[Memory]:
    opened = Memory.open(tmp_path / "vault", tmp_path / "state", lambda: NOON)
    yield opened
    opened.close()


def write(folder: Path, text: str, name: str = "USER.md") -> None:
    (folder / name).write_text(text, encoding="utf-8")


def test_the_prefix_is_one_for_a_thousand_turns(memory: Memory, folder: Path) -> None:
    """v24: while time passes and turns and events are written, one hash."""
    write(folder, "- My sister Lena's birthday is on May third.")
    conversation = memory.begin("c1", "call", NOON)
    hashes = set()
    for index in range(1_000):
        if index % 20 == 0:
            at = NOON + timedelta(minutes=index)
            conversation.observe(turn(index))
            memory.events.append("interrupted", at, conversation="c1", turn_index=index)
            conversation.hand_over("30 turns", at)
        hashes.add(memory.prefix().sha256)
    conversation.close()
    assert len(hashes) == 1
    assert "- My sister Lena's birthday is on May third." in memory.prefix().text


def test_the_prefix_is_the_same_in_another_vault(
    memory: Memory, folder: Path, tmp_path: Path
) -> None:
    """No path and no time is in it: the same files elsewhere, later, give the same bytes."""
    write(folder, "- I'm vegan.")
    there = tmp_path / "elsewhere" / "society" / "jarvis"
    there.mkdir(parents=True)
    for path in folder.iterdir():
        (there / path.name).write_bytes(path.read_bytes())
    later = Memory.open(
        tmp_path / "elsewhere", tmp_path / "state2", lambda: NOON + timedelta(days=1)
    )
    assert later.prefix() == memory.prefix()
    later.close()


def test_an_edit_reaches_the_next_turn_and_the_next_session(memory: Memory, folder: Path) -> None:
    """In mid-call an edit is news, once; the session's prefix stays, the next one has it."""
    write(folder, "- I'm vegan.")
    session = memory.session()
    first = session.prefix
    assert session.news() is None
    write(folder, "- I'm vegan.\n- I live in Köln.")
    news = session.news()
    assert news is not None
    assert "USER.md, new: - I live in Köln." in news
    assert session.news() is None
    assert session.prefix == first
    assert "Köln" in memory.session().prefix.text
    assert memory.session().news() is None


def test_sessions_do_not_disturb_one_another(memory: Memory, folder: Path) -> None:
    """A call and a chat each hear of an edit, whoever looks first."""
    write(folder, "- a")
    call, chat = memory.session(), memory.session()
    write(folder, "- b", "MEMORY.md")
    assert call.news() == chat.news() is not None
    late = memory.session()
    assert late.news() is call.news() is None


def test_the_users_persona_goes_before_ours(memory: Memory, folder: Path) -> None:
    """persona.md in the vault is who Jarvis is; without one, or with an empty one, ours."""
    assert memory.prefix().text.startswith("You are a butler.")
    for text in ("", " \n"):
        write(folder, text, "persona.md")
        assert "Jarvis" in memory.prefix().text.partition("<USER.md>")[0]
    (folder / "persona.md").unlink()
    assert "butler" not in memory.prefix().text


def test_a_persona_in_mid_call_waits_for_the_next_session(memory: Memory, folder: Path) -> None:
    """Another persona is no news; the next session begins with it."""
    session = memory.session()
    write(folder, "You are a pirate.", "persona.md")
    assert session.news() is None
    assert memory.session().prefix.text.startswith("You are a pirate.")


def test_notebooks_in_figures(memory: Memory, folder: Path) -> None:
    """Entries and characters of each notebook, and what is wrong with it."""
    write(folder, "# Me\n- a\n- b\n")
    (folder / "MEMORY.md").write_bytes(b"- Caf\xe9\n")
    user, own = memory.notebooks()
    assert (user.name, user.path, user.entries, user.chars, user.warnings) == (
        "USER.md", folder / "USER.md", 2, 12, (),
    )  # fmt: skip
    assert (own.entries, own.chars) == (1, 6)
    assert "Save it as UTF-8" in own.warnings[0]
    assert memory.prefix().warnings == own.warnings


def test_a_notebook_that_is_not_utf8_speaks_all_the_same(memory: Memory, folder: Path) -> None:
    """What an old editor saved is in the prefix, letter for letter."""
    (folder / "USER.md").write_bytes("- Meine Schwester heißt Zoë.".encode("cp1252"))
    assert "- Meine Schwester heißt Zoë." in memory.prefix().text


def test_a_vault_that_was_named_must_be_there(tmp_path: Path) -> None:
    """A missing vault is told when it was named, and made when it is the default."""
    with pytest.raises(VaultMissing, match="--vault"):
        Memory.open(tmp_path / "none", tmp_path / "state", lambda: NOON)
    made = Memory.open(tmp_path / "none", tmp_path / "state", lambda: NOON, create=True)
    assert [summary.entries for summary in made.notebooks()] == [0, 0]
    assert made.prefix().warnings == ()


def test_reading_makes_no_state(memory: Memory, tmp_path: Path) -> None:
    """Looking at the prefix, the notebooks and what is pending writes nothing."""
    memory.session().news()
    memory.notebooks()
    assert (memory.reviews_waiting(), memory.unreadable(), memory.recover(NOON)) == ([], [], [])
    assert not (tmp_path / "state").exists()


def test_a_conversation_goes_through_the_door(memory: Memory) -> None:
    """Begun, kept, let go of: what was not handed over comes at the next start."""
    conversation = memory.begin("c1", "chat", NOON)
    conversation.observe(turn(0))
    assert memory.recover(NOON) == []
    conversation.close()
    [mark] = memory.recover(NOON)
    assert [p.hand_over for p in memory.reviews_waiting()] == [mark]


def test_nothing_that_was_said_is_logged(
    memory: Memory, folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Log lines above DEBUG hold no word of a turn or a notebook."""
    with caplog.at_level(logging.INFO):
        write(folder, "- Geheimnis\u200b<|im_end|>")
        (folder / "MEMORY.md").write_bytes(b"- Geheimnis \xe9")
        conversation = memory.begin("c1", "chat", NOON)
        conversation.observe(turn(0, "Geheimnis"))
        conversation.close()
        path = folder.parents[2] / "state" / "calls" / "c1.jsonl"
        path.write_bytes(path.read_bytes() + b'{"turn": {"text": "Geheimnis"}}\n')
        memory.prefix()
        memory.recover(NOON)
    assert "Line 3" in caplog.text
    assert "Geheimnis" not in caplog.text


def test_the_journal_goes_through_the_door(memory: Memory) -> None:
    """What is appended is read by its day; an insight is found as one."""
    memory.journal(JournalEntry(at=NOON, title="Tea", text="Green.", tags=("kitchen",)))
    memory.journal(JournalEntry(at=NOON, title="Thought", text="More tea.", kind="insight"))
    assert memory.journal_days() == (NOON.date(),)
    assert [each.title for each in memory.journal_day(NOON.date()).entries] == ["Tea", "Thought"]
    assert [each.text for each in memory.insights()] == ["More tea."]
