from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Callable, Collection, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from bench.watching import STYLES
from memory.errors import AlreadyWatching, StateUnwritable
from memory.records import JournalEntry
from memory.vault import Vault
from memory.watching import status
from memory.watching.changes import CALM_S, SETTLE_S
from memory.watching.notifier import Notifier, Telling
from memory.watching.status import Seen
from memory.watching.watched import GONE_S
from memory.watching.watching import LOOK_AGAIN_S, Watching

BEGAN = datetime(2026, 2, 5, 12, 0, tzinfo=UTC)


class Silent:
    """A system that tells nothing by itself: the test says what happened."""

    def watch(self, *_: object) -> str:
        return "timeout"

    def close(self) -> None:
        pass


class CountedIndex:
    """An index that keeps what it was asked for."""

    def __init__(self) -> None:
        self.checks = 0
        self.updates: list[list[str]] = []
        self.fault: StateUnwritable | None = None

    def check(self) -> None:
        self.checks += 1

    def update(self, paths: Sequence[Path]) -> None:
        if self.fault is not None:
            raise self.fault
        self.updates.append(sorted(path.name for path in paths))


class House:
    """A vault, a project in `code`, and a watch over them on a clock that the test sets."""

    def __init__(self, root: Path, tell: Callable[[Sequence[str]], Telling] | None = None) -> None:
        self.root = root.resolve()
        self.code = self.root / "code"
        self.vault = Vault(self.root / "vault")
        for folder in (self.code / "shop", self.vault.path):
            folder.mkdir(parents=True, exist_ok=True)
        (self.code / "shop" / "go.mod").write_text("module shop\n", encoding="utf-8")
        self.watched: list[str] = []
        self.index = CountedIndex()
        self.entries: list[JournalEntry] = []
        self.seen: list[tuple[str, str]] = []
        self.refuses: StateUnwritable | None = None
        self.now_s = 0.0
        self.is_calm = True
        self.tell = tell or self._watch
        self.watching = self.made()

    def _watch(self, folders: Sequence[str]) -> Telling:
        self.watched = [str(Path(each).relative_to(self.root)) for each in folders]
        return Silent()  # type: ignore[return-value]

    def made(self, *folders: Path) -> Watching:
        return Watching(
            state=self.root / "state",
            vault=self.vault,
            folders=folders or (self.code,),
            now=lambda: BEGAN + timedelta(seconds=self.now_s),
            index=self.index,
            journal=self.append,
            notifier=Notifier(self.tell),
            clock=lambda: self.now_s,
            seen=self.saw,
            calm=lambda: self.is_calm,
        )

    def append(self, entry: JournalEntry) -> None:
        if self.refuses is not None:
            raise self.refuses
        self.entries.append(entry)

    def saw(self, seen: Seen) -> None:
        self.seen.append((Path(seen.path).name, seen.what))

    def begin(self) -> None:
        status.folder(self.root / "state").mkdir(parents=True, exist_ok=True)
        self.watching.begin()

    def write(self, name: str, text: str) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def told(self, *paths: Path, everything: bool = False) -> None:
        self.watching.handle([str(path) for path in paths], everything)

    def later(self, seconds: float, told: Collection[str] = ()) -> None:
        self.now_s += seconds
        self.watching.handle(told, False)


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path)


def test_a_change_becomes_an_entry(house: House) -> None:
    """A changed file of a project is told a few seconds later, with its new lines and its topic."""
    house.write("code/shop/pay.go", "package pay\n")
    house.begin()
    assert house.watched == ["code", "code/shop", "vault"]
    path = house.write("code/shop/pay.go", "package pay\n\nfunc refund the order() {}\n")
    house.told(path)
    assert house.entries == []
    house.later(SETTLE_S)
    [entry] = house.entries
    assert entry.title == "shop: pay.go changed"
    assert "func refund the order() {}" in entry.text
    assert entry.tags == ("shop",)
    assert entry.at == BEGAN


def test_a_change_while_another_is_told_is_not_counted_wrongly(house: House) -> None:
    """Lines are compared with the text that was told, never with a later one."""
    path = house.write("code/shop/pay.go", "package pay\n")
    house.begin()
    house.told(house.write("code/shop/pay.go", "package pay\n\nfunc refund() {}\n"))
    house.write("code/shop/pay.go", "package pay\n\nfunc refund the order() {}\n")
    house.later(SETTLE_S)
    house.told(path)
    house.later(CALM_S)
    first, second = house.entries
    assert "lines" not in first.text + second.text
    assert "(+" not in first.title + second.title


def test_the_journal_waits_for_calm(house: House) -> None:
    """While somebody speaks the index is kept, and nothing else is worked on."""
    house.begin()
    house.is_calm = False
    house.told(house.write("code/shop/pay.go", "one\n"), house.write("vault/a.md", "one\n"))
    house.later(SETTLE_S)
    assert house.index.updates == [["a.md"]]
    assert house.entries == []
    house.is_calm = True
    house.later(0.1)
    assert len(house.entries) == 1


def test_the_same_content_is_no_change(house: House) -> None:
    """A touch, a save without an edit, an edit taken back: nothing is told (m34)."""
    path = house.write("code/shop/pay.go", "package pay\n")
    house.begin()
    os.utime(path, (1, 1))
    house.told(path)
    house.write("code/shop/pay.go", "package pay\n")
    house.told(path)
    assert house.seen == []
    house.write("code/shop/pay.go", "other\n")
    house.told(path)
    house.write("code/shop/pay.go", "package pay\n")
    house.told(path)
    house.later(SETTLE_S)
    assert house.entries == []


def test_work_that_goes_on_is_told_every_half_hour(house: House) -> None:
    """A hundred saves are two entries: the first soon, the others together."""
    house.begin()
    for number in range(100):
        path = house.write("code/shop/pay.go", f"package pay {number}\n")
        house.later(6.0, [str(path)])
    house.later(CALM_S)
    assert len(house.entries) == 2


def test_a_note_is_current_in_the_index(house: House) -> None:
    """Notes that changed, came and went; what is no note is none of the index' business."""
    house.write("vault/a.md", "one\n")
    house.write("vault/b.md", "one\n")
    house.begin()
    assert house.index.checks == 1
    a, c = house.write("vault/a.md", "two\n"), house.write("vault/c.md", "new\n")
    picture = house.write("vault/c.png", "x")
    (house.root / "vault" / "b.md").unlink()
    house.told(a, c, picture, house.root / "vault" / "b.md")
    assert house.index.updates == [["a.md", "c.md"]]
    house.later(GONE_S)
    assert house.index.updates[1:] == [["b.md"]]
    assert house.entries == []


def test_a_journal_page_is_current_in_the_index_and_no_discovery(house: House) -> None:
    """What Jarvis writes is found, and told by nobody: also when the vault itself is watched."""
    house.watching = house.made(house.vault.path)
    (house.vault.folder / "daily").mkdir(parents=True)
    house.begin()
    path = house.write("vault/society/jarvis/daily/2026-02-05.md", "## 12:00 Tea\n")
    note = house.write("vault/a.md", "words of a note\n")
    house.told(path, note)
    house.later(SETTLE_S)
    assert house.index.updates == [["2026-02-05.md", "a.md"]]
    assert [entry.title for entry in house.entries] == ["vault: a.md new"]


def test_an_index_that_fails_ends_no_watch(house: House) -> None:
    """Its fault stands in the status until it works again."""
    house.begin()
    house.index.fault = StateUnwritable("The index can't be written. Free some space.")
    house.told(house.write("vault/a.md", "two\n"))
    assert house.watching.status().faults == ("The index can't be written. Free some space.",)
    house.index.fault = None
    house.told(house.write("vault/a.md", "three\n"))
    assert house.watching.status().faults == ()


def test_new_folders_are_watched(house: House) -> None:
    """With what was in them before the system could tell; ignored ones are not."""
    house.begin()
    path = house.write("code/shop/api/v1/a.go", "package api\n")
    house.write("code/shop/node_modules/m/index.js", "x\n")
    house.told(path.parents[1], house.code / "shop" / "node_modules")
    assert "code/shop/api/v1" in house.watched
    assert not any("node_modules" in each for each in house.watched)
    assert house.seen == [("a.go", "new")]


def test_an_ignore_file_counts_from_now_on(house: House) -> None:
    """What it names is gone from the watch, and told once as gone; the rest stays."""
    house.write("code/shop/secret.txt", "x\n")
    house.begin()
    house.told(house.write("code/shop/.gitignore", "secret.txt\n"))
    house.told(house.write("code/shop/secret.txt", "the new words\n"))
    house.later(SETTLE_S)
    assert "the new words" not in house.entries[0].text


def test_noise_is_not_told(house: House) -> None:
    """An editor's temporary files, build output and secrets make no entry."""
    house.begin()
    for name in (".pay.go.swp", "pay.go~", "4913", "dist/app.js", ".env", "x.log"):
        house.told(house.write(f"code/shop/{name}", "words of noise\n"))
    house.later(SETTLE_S, [str(house.code / "shop" / "dist")])
    assert house.seen == []
    assert house.entries == []


def test_a_folder_that_vanishes_comes_back(house: House) -> None:
    """A drive that is away deletes nothing; back again, its changes are told."""
    house.write("code/shop/pay.go", "one\n")
    house.begin()
    away = house.root / "away"
    house.code.rename(away)
    house.later(2.0, [str(house.code)])
    assert house.watching.status().folders[0].state == "gone"
    assert house.watched == ["vault"]
    house.later(60.0)
    assert house.seen == []
    (away / "shop" / "pay.go").write_text("two\n", encoding="utf-8")
    away.rename(house.code)
    house.later(2.0)
    assert house.watching.status().folders[0].state == "watching"
    assert house.watched == ["code", "code/shop", "vault"]
    house.later(SETTLE_S)
    assert house.seen == [("pay.go", "changed")]
    assert len(house.entries) == 1


def test_another_folder_under_the_same_name_is_watched(house: House) -> None:
    """The system told of the old one; it is asked to tell of the new one, before that is looked at."""
    house.begin()
    shutil.rmtree(house.code)
    house.write("code/shop/new.go", "new\n")
    house.watched = []
    house.told(house.code)
    assert house.watched == ["code", "code/shop", "vault"]
    assert house.seen[0] == ("new.go", "new")


def test_what_changed_while_nobody_watched_is_told_once(house: House) -> None:
    """After a restart, and after a crash before it was told; then no more."""
    path = house.write("code/shop/pay.go", "one\n")
    house.begin()
    path.write_text("two\n", encoding="utf-8")
    house.told(path)
    house.watching = house.made()  # killed before it was told
    house.begin()
    house.later(SETTLE_S)
    assert [entry.title for entry in house.entries] == ["shop: pay.go changed"]
    for _ in range(2):
        house.watching = house.made()
        house.begin()
        house.later(SETTLE_S)
    assert len(house.entries) == 1


def test_the_end_tells_what_is_untold(house: House) -> None:
    """Nothing has to wait for the next start."""
    house.begin()
    house.told(house.write("code/shop/pay.go", "one\n"))
    house.watching.end()
    assert len(house.entries) == 1


def test_a_journal_that_cannot_be_written_waits(house: House) -> None:
    """The fault is shown, and the change is told when there is room again."""
    house.begin()
    house.refuses = StateUnwritable("No room. Free some space.")
    house.told(house.write("code/shop/pay.go", "one\n"))
    house.later(SETTLE_S)
    assert house.watching.status().faults == ("No room. Free some space.",)
    house.refuses = None
    house.later(60.0)
    assert len(house.entries) == 1
    assert house.watching.status().faults == ()


def test_where_the_system_is_at_its_limit_it_looks_again_and_again(tmp_path: Path) -> None:
    """Polling finds the same changes, and the status says why."""

    def refuse(folders: Sequence[str]) -> Telling:
        raise OSError("OS file watch limit reached.")

    house = House(tmp_path, refuse)
    house.begin()
    house.write("vault/a.md", "new\n")
    house.told(everything=True)
    assert house.index.updates == [["a.md"]]
    found = house.watching.status()
    assert found.method == "polling"
    assert "limit" in found.faults[0]


def test_everything_is_looked_at_now_and_then(house: House) -> None:
    """What the system forgot to tell is found within ten minutes."""
    house.begin()
    house.write("vault/a.md", "new\n")
    house.later(LOOK_AGAIN_S)
    assert house.index.updates == [["a.md"]]


def test_a_file_that_is_being_written_waits(house: House) -> None:
    """It is one update, when it is whole."""
    house.begin()
    path = house.root / "vault" / "a.md"
    with path.open("w", encoding="utf-8") as file:
        file.write("half")
        file.flush()
        house.told(path)
        assert house.seen == []
        assert house.watching.pause_s() < 0.1
        file.write(" and whole")
    house.later(0.1)
    assert house.seen == [("a.md", "new")]


def test_a_file_that_is_deleted_and_created_was_never_gone(house: House) -> None:
    """Some editors save like that."""
    path = house.write("vault/a.md", "one\n")
    house.begin()
    path.unlink()
    house.told(path)
    path.write_text("two\n", encoding="utf-8")
    house.later(0.1)
    assert house.seen == [("a.md", "changed")]


def test_only_one_process_watches(house: House) -> None:
    """A second one is refused, with what to do."""
    holder = house.watching.hold()
    with pytest.raises(AlreadyWatching, match="--stop"):
        house.made().hold()
    holder.release()


def test_a_folder_that_is_not_there_yet_is_waited_for(house: House) -> None:
    """A drive that is plugged in later: what is on it is where telling begins."""
    away = house.root / "away"
    house.code.rename(away)
    house.begin()
    away.rename(house.code)
    house.later(2.0)
    house.later(SETTLE_S)
    assert house.entries == []
    house.told(house.write("code/shop/pay.go", "one\n"))
    house.later(SETTLE_S)
    assert len(house.entries) == 1
    house.watching = house.made()
    house.code.rename(away)
    house.begin()
    away.rename(house.code)
    house.later(2.0)
    house.later(SETTLE_S)
    assert len(house.entries) == 1


def test_folders_within_others_are_watched_once(house: House) -> None:
    """The outer one has them."""
    watching = house.made(house.code, house.code / "shop", house.code)
    assert [folder.path for folder in watching.status().folders] == [
        str(house.code), str(house.vault.path),
    ]  # fmt: skip


@pytest.mark.parametrize("style", STYLES)
async def test_each_save_is_one_update(tmp_path: Path, style: str) -> None:
    """Editors save in four ways, many notes at once: none is missed, none seen twice (m34)."""
    house = House(tmp_path, None)
    paths = [house.write(f"vault/{number}.md", "begin\n") for number in range(8)]
    seen: asyncio.Queue[str] = asyncio.Queue()
    loop = asyncio.get_running_loop()

    def saw(each: Seen) -> None:
        loop.call_soon_threadsafe(seen.put_nowait, each.path)

    watching = Watching(
        state=house.root / "state", vault=house.vault, folders=(house.code,),
        now=lambda: BEGAN, index=house.index, journal=house.append,
        seen=saw,
    )  # fmt: skip
    running = asyncio.create_task(watching.run())
    async with asyncio.timeout(20):
        await asyncio.to_thread(watching.begun.wait)
        for number in range(3):
            for path in paths:
                STYLES[style](path, f"round {number} of {path.name}\n")
            got = sorted([await seen.get() for _ in paths])
            assert got == sorted(map(str, paths))
    watching.stop()
    await running
    assert seen.empty()
    ended = status.read(house.root / "state")
    assert ended is not None
    assert not ended.running
    assert ended.seen == 3 * len(paths)


async def test_it_ends_when_it_is_cancelled(tmp_path: Path) -> None:
    """Its lock is free, and what was untold is told."""
    house = House(tmp_path)
    running = asyncio.create_task(house.watching.run())
    await asyncio.to_thread(house.watching.begun.wait)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    house.watching.hold().release()
