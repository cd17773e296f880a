from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from memory import Llm, Memory
from memory.llm.scripted import ScriptedLlm
from memory.records import JournalEntry
from voice.config import Config, load
from voice.own_memory import now
from voice.quiet import QuietHouse
from voice.tending import Tending
from voice.virtual_time import VirtualLoop

INSIGHT = {
    "entries": [1], "title": "Tea", "importance": 3,
    "text": "The boiler was mended on the day on which the tea ran out.",
}  # fmt: skip


class Home:
    def __init__(self, root: Path, **settings: object) -> None:
        self.vault, self.code = root / "vault", root / "code"
        for folder in (self.vault, self.code):
            folder.mkdir(exist_ok=True)
        self.config: Config = load({"vault": self.vault, "state": root / "state", **settings})
        self.memory = Memory.open(self.vault, self.config.state, now)
        self.model = ScriptedLlm([json.dumps({"insights": [INSIGHT]})])
        self.quiet = QuietHouse()
        self.tending = Tending(self.config, self.memory, self._model, self.quiet)

    async def _model(self) -> Llm:
        return self.model

    def note(self, text: str) -> None:
        self.memory.journal(JournalEntry(at=now(), title="Note", text=text))


@pytest.fixture(autouse=True)
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JARVIS_CONFIG", str(tmp_path / "config.toml"))


def test_it_thinks_beside_conversations(tmp_path: Path) -> None:
    """At its interval, and not while somebody speaks."""

    async def main() -> None:
        home = Home(tmp_path)
        home.note("The boiler was mended.")
        home.note("The tea ran out.")
        home.tending.start()
        home.tending.start()
        with home.quiet.talking():
            await asyncio.sleep(600)
            assert home.model.questions == []
        await asyncio.sleep(61)
        assert len(home.model.questions) == 1
        assert [each.text for each in home.memory.insights()] == [INSIGHT["text"]]
        await asyncio.sleep(3600)
        assert len(home.model.questions) == 1
        await home.tending.close()
        home.memory.close()

    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        runner.run(main())


@pytest.mark.parametrize("switch", ["think", "learning"])
def test_switched_off_nobody_thinks(tmp_path: Path, switch: str) -> None:
    """By itself; `jarvis think` still does."""

    async def main() -> None:
        home = Home(tmp_path, **{switch: False})
        home.note("The boiler was mended.")
        home.note("The tea ran out.")
        home.tending.start()
        await asyncio.sleep(3600)
        assert home.model.questions == []
        assert (await home.tending.think()).what == "noted"
        await home.tending.close()
        home.memory.close()

    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        runner.run(main())


def test_the_switch_counts_at_once(tmp_path: Path) -> None:
    """Switched off it thinks no more, switched on again it does."""

    async def main() -> None:
        home = Home(tmp_path)
        home.note("The boiler was mended.")
        home.note("The tea ran out.")
        home.tending.start()
        home.tending.take(home.config.model_copy(update={"think": False}))
        await asyncio.sleep(3600)
        assert home.model.questions == []
        home.tending.take(home.config)
        await asyncio.sleep(3600)
        assert len(home.model.questions) == 1
        await home.tending.close()
        home.memory.close()

    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        runner.run(main())


async def test_it_watches_the_folders_of_the_settings(tmp_path: Path) -> None:
    """Until it is closed; where another process does so already it leaves it to it."""
    code = tmp_path / "code"
    home, second = Home(tmp_path, watch=(code,)), Home(tmp_path, watch=(code,))
    home.tending.start()
    async with asyncio.timeout(20):
        while not _runs(home.memory):
            await asyncio.to_thread(_runs, home.memory)
    second.tending.start()
    (code / "a.txt").write_text("the words of a new file\n", encoding="utf-8")
    await second.tending.close()
    assert second.tending.faults == []
    assert _runs(home.memory)
    await home.tending.close()
    assert not _runs(home.memory)
    home.memory.close()
    second.memory.close()


def _runs(memory: Memory) -> bool:
    status = memory.watch_status()
    return status is not None and status.running


def test_the_notes_are_looked_at_before_the_first_question(tmp_path: Path) -> None:
    """At a start the index is built beside everything else, once nobody talks."""

    async def main() -> None:
        home = Home(tmp_path)
        (home.vault / "Heating.md").write_text("The boiler is old.")
        with home.quiet.talking():
            home.tending.start()
            await asyncio.sleep(0)
            assert not home.memory.index.path.exists()
        async with asyncio.timeout(20):
            while not home.memory.index.path.exists():  # noqa: ASYNC110 - a file tells nobody
                await asyncio.sleep(0)
        assert home.memory.index.counts() == (1, 1)
        await home.tending.close()
        home.memory.close()

    asyncio.run(main())
