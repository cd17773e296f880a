from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from memory import Memory
from memory.event_records import Value
from memory.records import JournalEntry
from voice.config import Config, load
from voice.links import links

NOW = datetime(2026, 2, 5, 18, 42, tzinfo=UTC)


class Chain:
    def __init__(self, root: Path) -> None:
        self.root = root
        self.vault, self.state, self.code = root / "vault", root / "state", root / "code"
        self.vault.mkdir()
        self.code.mkdir()
        self.memory = Memory.open(self.vault, self.state, lambda: NOW)
        self.settings: dict[str, object] = {"watch": (self.code,)}

    @property
    def config(self) -> Config:
        return load({"vault": self.vault, "state": self.state, **self.settings})

    def broken(self) -> list[str]:
        """The subjects of what doesn't work as it should, with their texts."""
        return [
            f"{each.subject}: {each.text}"
            for each in links(self.memory, self.config, NOW)
            if each.level != "works"
        ]

    def entry(self) -> Path:
        return self.memory.journal(JournalEntry(at=NOW, title="Refund the boiler", text="Words."))

    def thought(self, outcome: str) -> None:
        asked: dict[str, Value] = {"outcome": "asking", "tokens_in": 10, "tokens_out": 5}
        for data in (asked, {"outcome": outcome, "next_at": NOW.isoformat()}):
            self.memory.events.append("thought", NOW, data={**data, "model": "cheap"})


@pytest.fixture
def chain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Chain]:
    monkeypatch.setenv("JARVIS_CONFIG", str(tmp_path / "config.toml"))
    made = Chain(tmp_path)
    yield made
    made.memory.close()


def test_a_chain_that_works_is_quiet(chain: Chain) -> None:
    """From the watched folder to the recalled entry."""
    chain.entry()
    watching = chain.memory.watching([chain.code], lambda: NOW)
    holder = watching.hold()
    watching.begin()
    assert chain.broken() == []
    subjects = [each.subject for each in links(chain.memory, chain.config, NOW)]
    assert subjects == ["Watch", "Journal", "Index", "Recall", "Thoughts"]
    watching.end()
    holder.release()


def test_without_settings_nothing_is_broken(chain: Chain) -> None:
    """A user who watches nothing is told how to."""
    chain.settings = {}
    assert chain.broken() == []


def unwatched(chain: Chain) -> None:
    pass


def no_folder(chain: Chain) -> None:
    chain.code.rmdir()


def foreign_day(chain: Chain) -> None:
    chain.entry().write_bytes("Größe\n".encode("cp1252"))


def damaged_index(chain: Chain) -> None:
    chain.entry()
    chain.memory.recall("refund")
    chain.memory.index.close()
    path = chain.memory.index.path
    content = bytearray(path.read_bytes())
    content[4096:12288] = b"x" * 8192
    path.write_bytes(content)


def unreadable_notes(chain: Chain) -> None:
    for number in range(5):
        (chain.config.vault / f"n{number}.md").write_bytes(bytes(range(256)) * 40)


def failing_model(chain: Chain) -> None:
    chain.thought("unavailable")


def cap_reached(chain: Chain) -> None:
    chain.settings["think_calls_a_day"] = 1
    chain.thought("nothing")


@pytest.mark.parametrize(
    ("break_it", "told"),
    [
        (unwatched, "Watch: folders are set, and no process watches them"),
        (no_folder, "Watched:"),
        (foreign_day, "Journal:"),
        (damaged_index, "Index: was damaged"),
        (unreadable_notes, "Index: n2.md is not searched: it is not a text file"),
        (unreadable_notes, "Index: 2 more files are not searched"),
        (failing_model, "Thoughts: cheap gave no answer 1 times"),
        (cap_reached, "Thoughts: the cap is reached"),
    ],
)
def test_each_broken_link_is_named(
    chain: Chain, break_it: Callable[[Chain], None], told: str
) -> None:
    """With what to do where something can be done (J6)."""
    break_it(chain)
    assert any(each.startswith(told) for each in chain.broken()), chain.broken()


def test_what_the_watch_says_is_told(chain: Chain) -> None:
    """A folder that is gone, and one that was added to the settings since."""
    watching = chain.memory.watching([chain.code], lambda: NOW)
    holder = watching.hold()
    chain.code.rmdir()
    watching.begin()
    other = chain.root / "other"
    other.mkdir()
    chain.settings["watch"] = (chain.code, other)
    broken = chain.broken()
    assert f"Watch: {chain.code} is gone" in broken
    assert f"Watch: {other} is set, and not watched" in broken
    watching.end()
    holder.release()


def test_switched_off_is_no_fault(chain: Chain) -> None:
    """The switch that is off is named."""
    for name in ("think", "learning"):
        chain.settings = {name: False}
        texts = [each.text for each in links(chain.memory, chain.config, NOW)]
        assert f"switched off ({name} = false)" in texts


def test_a_journal_that_cannot_be_written_is_named(chain: Chain) -> None:
    """By its folder: a file is in its place."""
    folder = chain.vault / "society" / "jarvis"
    folder.mkdir(parents=True)
    (folder / "daily").write_text("x", encoding="utf-8")
    assert any("can't be written" in each for each in chain.broken())


def test_old_thoughts_are_not_counted(chain: Chain) -> None:
    """Caps are for 24 hours."""
    chain.thought("nothing")
    found = links(chain.memory, chain.config, NOW + timedelta(days=2))
    assert found[-1].text.endswith("0 of 24 calls, 0 of 40,000 tokens in 24 hours")


def test_common_words_are_no_broken_recall(chain: Chain) -> None:
    """An entry of words that nobody searches by is no sign; the one before it is asked then."""
    chain.settings = {}
    chain.entry()
    chain.memory.journal(JournalEntry(at=NOW, title="Two", text="Both at once."))
    assert chain.broken() == []
