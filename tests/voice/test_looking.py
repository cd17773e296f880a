"""Looking notes up beside a conversation."""

from __future__ import annotations

import asyncio
import shutil
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

import pytest

from memory import Memory
from memory.records import Extract
from voice.looking import FRESH_S, Looking
from voice.records import Notice
from voice.virtual_time import run_virtual

NOW = datetime(2026, 12, 2, 10, 0, tzinfo=UTC)
NOTE = "# Boiler\n\nThe boiler engineer Meier comes on Tuesdays.\n"
ASKED = "When does the boiler engineer come?"


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    folder = tmp_path / "vault"
    folder.mkdir()
    (folder / "house.md").write_text(NOTE, encoding="utf-8")
    for number in range(8):
        (folder / f"bed{number}.md").write_text(f"The hedge of bed {number} is low.\n", "utf-8")
    return folder


@pytest.fixture
def memory(vault: Path, tmp_path: Path) -> Iterator[Memory]:
    memory = Memory.open(vault, tmp_path / "state", lambda: NOW)
    yield memory
    memory.close()


class House:
    """A conversation's look-ups, and what the user was told."""

    def __init__(self, memory: Memory) -> None:
        self.notices: list[Notice] = []
        self.looking = Looking(memory, notify=self.notices.append)

    async def files(self, words: str) -> list[str]:
        found = await self.looking(words)
        return [] if found is None else [extract.file for extract in found.extracts]


def test_what_is_found_comes_wrapped(memory: Memory) -> None:
    """The block for the model, and the extracts that it was made from."""

    async def main() -> None:
        found = await Looking(memory, notify=lambda _: None)(ASKED)
        assert found is not None
        assert [(each.file, each.first_line) for each in found.extracts] == [("house.md", 3)]
        assert "[house > Boiler]\nThe boiler engineer Meier" in found.block

    run_virtual(main, epoch_s=0.0)


@pytest.mark.parametrize("words", ["", "...", "Good morning!", "Who rules Mongolia?"])
def test_nothing_is_found_for_what_notes_do_not_answer(memory: Memory, words: str) -> None:
    """Silence, small talk and the world at large bring no extract."""

    async def main() -> list[str]:
        return await House(memory).files(words)

    assert run_virtual(main, epoch_s=0.0) == []


def test_an_edit_counts_from_the_next_turn(memory: Memory, vault: Path) -> None:
    """Within one turn the files are looked at once, and anew for the next one (N6)."""

    async def main() -> None:
        house = House(memory)
        assert await house.files("When does the boiler") == ["house.md"]
        (vault / "house.md").unlink()
        await asyncio.sleep(FRESH_S)
        assert await house.files(ASKED) == []

    run_virtual(main, epoch_s=0.0)


def test_the_same_words_are_looked_up_once(memory: Memory, vault: Path) -> None:
    """A turn's final words that a partial had already cost nothing."""

    async def main() -> None:
        looking = Looking(memory, notify=lambda _: None)
        first = await looking(ASKED)
        assert first is not None
        assert await looking(ASKED.lower().rstrip("?")) is first

    run_virtual(main, epoch_s=0.0)


def test_a_vault_that_is_gone_costs_no_turn(memory: Memory, vault: Path) -> None:
    """What can't be read is told once, and the answer goes without it."""

    shutil.rmtree(vault)

    async def main() -> None:
        house = House(memory)
        assert await house.files(ASKED) == []
        assert await house.files("And who is the plumber?") == []
        assert len(house.notices) <= 1

    run_virtual(main, epoch_s=0.0)


class Pondering:
    """A memory that takes its time to make out what is meant."""

    def __init__(self) -> None:
        self.may_end = threading.Event()

    def meaning_of(self, _: str) -> None:
        self.may_end.wait(10)

    def extracts(self, *_: object, **__: object) -> tuple[Extract, ...]:
        return ()


def test_nothing_is_made_out_for_a_conversation_that_is_over() -> None:
    """Closed while what was said is still being made out: no task is left (v9)."""

    async def main() -> None:
        memory, others = Pondering(), asyncio.all_tasks()
        looking = Looking(cast("Memory", memory), notify=lambda _: None)
        await looking("When does the engineer come?")
        assert asyncio.all_tasks() != others
        await looking.close()
        assert asyncio.all_tasks() == others
        memory.may_end.set()

    asyncio.run(main())
