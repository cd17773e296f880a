"""What the notebooks survive: `python -m bench.durability [--rounds 2000] [--seed 0]`

1. kill -9 at every write: a child writes sentences and acknowledges each; it is killed at a
   system call drawn from all that a write makes (before it, after it, or with half of a
   write done), in the middle of recovering from the last kill too.
2. 8 processes write 200 sentences each into one vault at the same time.
3. An editor saves while the ledger writes, in four styles, each of its steps between two
   system calls of the write that are drawn for each round.
4. The same with an editor in a process of its own, at whatever moment it happens.

Rounds are drawn from the seed. Exit code 1 when anything was lost, torn, doubled or
overwritten.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import json
import multiprocessing
import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from memory import store
from memory.notebooks import changelog
from memory.notebooks.ledger import Ledger
from memory.notebooks.page import read_page
from memory.records import NOTEBOOKS, Accepted, Change, Notebook
from memory.vault import Vault

AT = datetime(2026, 12, 2, 10, tzinfo=UTC)
ROOM = 10_000_000
STYLES = ("in place", "rename", "delete and create", "append")
_PER_VAULT = 25
_CALLS_A_ROUND = 150
_UNCHECKED = 0.3
_MOMENTS_A_WRITE = 50
_STEPS = 8


def _dice(seed: float) -> random.Random:
    return random.Random(seed)  # noqa: S311 - the same rounds again from the same seed


def accepted(
    operation: Any, text: str | None, entry: str | None = None, notebook: Notebook = "USER.md"
) -> Accepted:
    return Accepted(
        operation=operation,
        notebook=notebook,
        entry=entry,
        text=text,
        quote="so it was said",
        turn_index=0,
    )


def new_vault(folder: Path) -> Path:
    folder.mkdir(parents=True)
    return folder


def ledger_of(folder: Path) -> Ledger:
    return Ledger(Vault(folder), folder.with_name(f"{folder.name}-state"), limit_chars=ROOM)


def page_texts(folder: Path) -> list[str]:
    texts: list[str] = []
    for name in NOTEBOOKS:
        path = folder / "society" / "jarvis" / name
        if path.exists():
            page = read_page(name, path.read_bytes())
            assert not page.warnings, page.warnings
            texts += [entry.text for entry in page.entries]
    return texts


# System calls -------------------------------------------------------------------------

_CALLS = ("write", "fsync", "ftruncate", "open", "replace", "rename", "link", "unlink", "close")


@contextlib.contextmanager
def at_each_call(step: Callable[[str, Callable[[], Any], tuple[Any, ...]], Any]) -> Iterator[None]:
    """Every system call that changes a file, and every wait, goes through `step(name, call,
    arguments)`, which makes it."""
    real = {name: getattr(os, name) for name in _CALLS}
    exchange, sleep = store._renameat2, time.sleep

    def through(name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *args, **kwargs: step(name, lambda: call(*args, **kwargs), args)

    for name, call in real.items():
        setattr(os, name, through(name, call))
    store._renameat2 = through("renameat2", exchange) if exchange else None
    time.sleep = through("sleep", lambda _s: None)
    try:
        yield
    finally:
        for name, call in real.items():
            setattr(os, name, call)
        store._renameat2, time.sleep = exchange, sleep


# 1. Killed ----------------------------------------------------------------------------


@dataclass
class Crashes:
    rounds: int = 0
    killed: int = 0
    acknowledged: int = 0
    lost: list[str] = field(default_factory=list)
    doubled: list[str] = field(default_factory=list)
    torn: list[str] = field(default_factory=list)
    misread: list[str] = field(default_factory=list)
    calls: Counter[str] = field(default_factory=Counter)

    @property
    def faults(self) -> list[str]:
        return [*self.lost, *self.doubled, *self.torn, *self.misread]


def _child(folder: Path, round_: int, die_at: int, dice: random.Random, pipe: int) -> None:
    """Write, acknowledging each; die at the system call of this number."""
    count = 0
    really_write, kill = os.write, os.kill

    def step(name: str, call: Callable[[], Any], args: tuple[Any, ...]) -> Any:
        nonlocal count
        count += 1
        if count != die_at:
            return call()
        how = dice.choice(("before", "after", "half"))
        if how == "after":
            with contextlib.suppress(OSError):
                call()
        elif how == "half" and name == "write":
            really_write(args[0], bytes(args[1])[: len(args[1]) // 2])
        really_write(pipe, f"died {name}\n".encode())
        kill(os.getpid(), signal.SIGKILL)
        raise AssertionError

    def say(what: dict[str, Any]) -> None:
        really_write(pipe, json.dumps(what).encode() + b"\n")

    with at_each_call(step):
        ledger = ledger_of(folder)
        for turn in itertools.count():
            key = f"{round_} {turn}"
            one, two, three = (f"Sentence {key} {number} is true." for number in range(3))
            edited = f"Sentence {key} 1 was changed."
            acts: tuple[tuple[list[str], list[str], Callable[[], Any]], ...] = (
                ([one], [], lambda: ledger.write(
                    [accepted("add", one)], source="remember", at=AT, key=f"{key} a")),  # noqa: B023
                ([two], [], lambda: ledger.write(
                    [accepted("add", two, notebook="MEMORY.md")], source="remember", at=AT)),  # noqa: B023
                ([three, edited], [two], lambda: ledger.write(
                    [accepted("add", three), accepted("update", edited, two, "MEMORY.md")],  # noqa: B023
                    source="review", at=AT, key=f"{key} b")),  # noqa: B023
                ([], [one], lambda: ledger.forget(one, at=AT)),  # noqa: B023
            )  # fmt: skip
            for there, gone, act in acts:
                say({"begins": {"there": there, "gone": gone}})
                act()
                say({"done": {"there": there, "gone": gone}})


def crashes(
    rounds: int, folder: Path, seed: int = 0, tick: Callable[[int], None] = lambda _n: None
) -> Crashes:
    """`rounds` children, each killed at a system call."""
    found = Crashes()
    dice = _dice(seed)
    vault = folder
    there: set[str] = set()
    gone: set[str] = set()
    unsure: set[str] = set()
    for round_ in range(rounds):
        if round_ % _PER_VAULT == 0:
            vault = new_vault(folder / f"v{round_}")
            there, gone, unsure = set(), set(), set()
        tick(round_)
        begun: dict[str, list[str]] = {}
        for line in _killed_child(vault, round_, dice.randrange(1, _CALLS_A_ROUND), dice.random()):
            if line.startswith("died "):
                found.killed += 1
                found.calls[line.removeprefix("died ")] += 1
            elif line.startswith("failed "):
                found.misread.append(f"round {round_}: {line}")
            elif begins := (record := json.loads(line)).get("begins"):
                begun = begins
            else:
                found.acknowledged += 1
                there = (there | set(record["done"]["there"])) - set(record["done"]["gone"])
                gone |= set(record["done"]["gone"])
                begun = {}
        # What had begun may be done or not; what it takes out may be there or not.
        unsure |= {each for texts in begun.values() for each in texts}
        found.rounds += 1
        if dice.random() < _UNCHECKED:  # the next child finds what this one left, and dies in it
            continue
        texts = _check(found, vault, there - unsure, gone, round_)
        there, unsure = set(texts), set()
    return found


def _killed_child(vault: Path, round_: int, die_at: int, seed: float) -> list[str]:
    """What the child said until it was killed, line by line."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reader)
        try:
            _child(vault, round_, die_at, _dice(seed), writer)
        except BaseException as fault:  # noqa: BLE001 - the parent reports it
            os.write(writer, f"failed {fault!r}\n".encode())
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        lines = pipe.read().decode().splitlines()
    os.waitpid(pid, 0)
    return lines


def _check(
    found: Crashes, vault: Path, there: set[str], gone: set[str], round_: int
) -> Counter[str]:
    """What the pages hold once the next process has looked at them."""
    folder = vault / "society" / "jarvis"
    ledger_of(vault).notice_edits(AT)
    try:
        texts = Counter(page_texts(vault))
    except AssertionError as fault:
        found.torn.append(f"round {round_}: {fault}")
        return Counter(there)
    found.lost += [f"round {round_}: {each}" for each in there - texts.keys()]
    found.lost += [f"round {round_}: back again: {each}" for each in gone & texts.keys()]
    found.doubled += [f"round {round_}: {each}" for each, count in texts.items() if count > 1]
    log = folder / "changes.jsonl"
    content = log.read_bytes() if log.exists() else b""
    logged, damaged = changelog.parse(content[: content.rfind(b"\n") + 1])
    if damaged:
        found.torn.append(f"round {round_}: {damaged} lines of the log")
    ids = Counter(each.change.id for each in logged)
    found.doubled += [f"round {round_}: change {each}" for each, n in ids.items() if n > 1]
    keys = Counter((each.key, each.item) for each in logged if each.key)
    found.doubled += [f"round {round_}: {each}" for each, n in keys.items() if n > 1]
    if any(each.change.source == "user" for each in logged):
        found.misread.append(f"round {round_}: a write was taken for the user's")
    held = changelog.held(each.change for each in logged)
    if sum(held.values(), Counter()) != texts:
        found.misread.append(f"round {round_}: log and pages differ")
    left = [each.name for each in folder.iterdir() if each.name.endswith((".part", ".tmp"))]
    if left:
        found.torn.append(f"round {round_}: left behind: {left}")
    return texts


# 2. Many writers ----------------------------------------------------------------------


def _writer(vault: Path, who: int, sentences: int) -> None:
    ledger = ledger_of(vault)
    for number in range(sentences):
        [done] = ledger.write(
            [accepted("add", f"Writer {who} says {number}.", notebook=NOTEBOOKS[who % 2])],
            source="remember",
            at=AT,
        )
        assert isinstance(done, Change), done


def writers(processes: int, sentences: int, vault: Path) -> list[str]:
    """What is missing, doubled, or logged otherwise than once."""
    context = multiprocessing.get_context("fork")
    started = [
        context.Process(target=_writer, args=(vault, who, sentences)) for who in range(processes)
    ]
    for each in started:
        each.start()
    for each in started:
        each.join()
    faults = [f"writer ended with {each.exitcode}" for each in started if each.exitcode]
    expected = Counter(f"Writer {w} says {n}." for w in range(processes) for n in range(sentences))
    texts = Counter(page_texts(vault))
    faults += [f"page: {each} {n}" for each, n in ((texts - expected) + (expected - texts)).items()]
    changes = ledger_of(vault).changes()
    logged = Counter(change.new for change in changes)
    faults += [f"log: {each} {n}" for each, n in logged.items() if n != 1 or each not in expected]
    faults += [] if len(logged) == len(expected) else ["log: lines are missing"]
    faults += (
        [] if len({change.id for change in changes}) == len(changes) else ["ids are not unique"]
    )
    faults += (
        [] if [c.id for c in changes] == sorted(c.id for c in changes) else ["ids are not in order"]
    )
    return faults


# 3. and 4. An editor ------------------------------------------------------------------


@dataclass
class Crossings:
    rounds: int = 0
    crossed: int = 0
    overwritten: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    torn: list[str] = field(default_factory=list)
    stale: int = 0
    by_style: Counter[str] = field(default_factory=Counter)

    @property
    def faults(self) -> list[str]:
        return [*self.overwritten, *self.lost, *self.torn]


def saving(path: Path, style: str, line: str, loaded: Callable[[bytes], None]) -> Iterator[None]:
    """An editor that loads the page, puts a line in and saves, step by step."""
    if style == "append":
        fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        yield
        os.write(fd, f"- {line}\n".encode())
        yield
        os.close(fd)
        return
    while not path.exists():
        yield
    content = path.read_bytes()
    loaded(content)
    yield
    head, item, tail = content.partition(b"\n- ")
    new = head + f"\n- {line}".encode() + item + tail
    half = len(new) // 2
    if style == "rename":
        temporary = path.with_name("USER.md~")
        fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.write(fd, new)
        os.close(fd)
        yield
        temporary.rename(path)
        return
    if style == "delete and create":
        path.unlink()
        yield
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    else:
        fd = os.open(path, os.O_WRONLY | os.O_TRUNC)
    yield
    os.write(fd, new[:half])
    yield
    os.write(fd, new[half:])
    yield
    os.close(fd)


class _Between:
    """Makes the steps of a save at moments before and behind system calls: each at its number,
    and one in each wait."""

    def __init__(self, save: Iterator[None], due: list[int]) -> None:
        self._save = save
        self._due = due
        self._moments = 0
        self._is_busy = False
        self.has_begun = False

    def step(self, name: str, call: Callable[[], Any], _args: tuple[Any, ...]) -> Any:
        if self._is_busy:  # the editor's own
            return call()
        self._edit(waits=False)
        done = call()
        self._edit(waits=name == "sleep")
        return done

    def _edit(self, *, waits: bool) -> None:
        self._moments += 1
        while self._due and (self._due[0] <= self._moments or waits):
            self._due.pop(0)
            self._is_busy = self.has_begun = True
            next(self._save, None)
            self._is_busy = False
            if waits:
                break


def crossings(rounds: int, folder: Path, seed: int = 0) -> Crossings:
    """Each round: one write of the ledger, with the steps of one save between its system calls."""
    found = Crossings()
    dice = _dice(seed)
    vault = folder
    path = folder
    for round_ in range(rounds):
        if round_ % _PER_VAULT == 0:
            vault = new_vault(folder / f"v{round_}")
            path = vault / "society" / "jarvis" / "USER.md"
            ledger_of(vault).write([accepted("add", "The first one.")], source="remember", at=AT)
        style = STYLES[round_ % len(STYLES)]
        line, entry = f"Edited by hand {round_}.", f"Said in a call {round_}."
        seen: list[bytes] = []
        save = saving(path, style, line, seen.append)
        first = dice.randrange(1, _MOMENTS_A_WRITE)
        gap = dice.choice((0, 0, 1, 1, 2, 3, 10))  # quick, as an editor's steps are, or not
        editor = _Between(save, [first + gap * number for number in range(_STEPS)])
        with at_each_call(editor.step):
            [written] = ledger_of(vault).write([accepted("add", entry)], source="remember", at=AT)
        found.crossed += editor.has_begun
        for _ in save:
            pass
        found.rounds += 1
        found.by_style[style] += 1
        _check_crossing(found, vault, style, line, entry, seen, isinstance(written, Change), round_)
    return found


def _check_crossing(
    found: Crossings, vault: Path, style: str, line: str, entry: str, seen: list[bytes],
    is_written: bool, round_: int,
) -> None:  # fmt: skip
    where = f"round {round_}, {style}"
    ledger_of(vault).notice_edits(AT)
    try:
        texts = Counter(page_texts(vault))
    except AssertionError as fault:
        found.torn.append(f"{where}: {fault}")
        return
    if texts[line] != 1:
        found.overwritten.append(f"{where}: “{line}” is there {texts[line]} times")
    if seen:
        saved = {each.text for each in read_page("USER.md", seen[0]).entries}
        found.overwritten += [f"{where}: {each}" for each in saved - texts.keys()]
    if not is_written:
        found.lost.append(f"{where}: “{entry}” was not written")
    elif texts[entry] == 0 and seen and entry.encode() not in seen[0]:
        found.stale += 1  # saved from what was loaded before the write: the user's file, as it is
    elif texts[entry] != 1:
        found.lost.append(f"{where}: “{entry}” is there {texts[entry]} times")
    left = [
        each.name
        for each in (vault / "society" / "jarvis").iterdir()
        if each.name not in ("USER.md", "MEMORY.md", "changes.jsonl")
    ]
    if left:
        found.torn.append(f"{where}: left behind: {left}")


def _editor(path: Path, orders: Any, answers: Any) -> None:
    for style, line, delay_s in iter(orders.recv, None):
        seen: list[bytes] = []
        until = time.perf_counter() + delay_s
        while time.perf_counter() < until:
            pass
        try:
            for _ in saving(Path(path), style, line, seen.append):
                pass
            answers.send(seen)
        except OSError as fault:
            answers.send(fault)


def free_crossings(rounds: int, folder: Path, seed: int = 0) -> Crossings:
    """The same with an editor in its own process."""
    found = Crossings()
    dice = _dice(seed)
    vault = new_vault(folder / "free")
    path = vault / "society" / "jarvis" / "USER.md"
    took_s = 0.01
    context = multiprocessing.get_context("fork")
    (get_orders, orders), (answers, send_answers) = context.Pipe(False), context.Pipe(False)
    editor = context.Process(target=_editor, args=(path, get_orders, send_answers), daemon=True)
    editor.start()
    for round_ in range(rounds):
        if round_ % _PER_VAULT == 0:
            for name in ("USER.md", "changes.jsonl"):
                (path.parent / name).unlink(missing_ok=True)
            ledger_of(vault).write([accepted("add", "The first one.")], source="remember", at=AT)
        style = STYLES[round_ % len(STYLES)]
        line, entry = f"Edited by hand {round_}.", f"Said in a call {round_}."
        orders.send((style, line, dice.random() * took_s))
        began_s = time.perf_counter()
        [written] = ledger_of(vault).write([accepted("add", entry)], source="remember", at=AT)
        took_s = min(0.05, time.perf_counter() - began_s)
        seen = answers.recv()
        found.rounds += 1
        found.by_style[style] += 1
        found.crossed += 1
        if isinstance(seen, OSError):
            found.torn.append(f"round {round_}, {style}: the editor met {seen!r}")
            continue
        _check_crossing(found, vault, style, line, entry, seen, isinstance(written, Change), round_)
    orders.send(None)
    editor.join()
    return found


# ---------------------------------------------------------------------------------------


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=2_000, help="kills; half as many crossings")
    parser.add_argument("--sentences", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    faults: list[str] = []
    # In memory where that is possible: what a killed process wrote is in the system's hands.
    in_memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=in_memory if in_memory.is_dir() else None) as name:
        folder = Path(name)
        began_s = time.perf_counter()
        killed = crashes(asked.rounds, folder / "kills", asked.seed)
        took_s = time.perf_counter() - began_s
        faults += killed.faults
        print(
            f"kill -9 at every write   {killed.rounds} rounds, {killed.killed} killed, {took_s:.0f} s"
        )
        print(f"  acknowledged {killed.acknowledged}, lost {len(killed.lost)}, torn {len(killed.torn)}, "
              f"doubled {len(killed.doubled)}, misread {len(killed.misread)}")  # fmt: skip
        print(f"  killed at: {', '.join(f'{name} {n}' for name, n in killed.calls.most_common())}")
        began_s = time.perf_counter()
        wrong = writers(8, asked.sentences, new_vault(folder / "writers"))
        took_s = time.perf_counter() - began_s
        faults += wrong
        print(
            f"8 × {asked.sentences} sentences       {len(wrong)} missing or doubled, {took_s:.0f} s"
        )
        for title, run in (
            ("saves between calls", crossings),
            ("saves of a process", free_crossings),
        ):
            began_s = time.perf_counter()
            crossed = run(asked.rounds // 2, folder / title, asked.seed)
            took_s = time.perf_counter() - began_s
            faults += crossed.faults
            print(f"{title:<24} {crossed.rounds} rounds, {crossed.crossed} crossed, {took_s:.0f} s")
            print(f"  edits overwritten {len(crossed.overwritten)}, entries lost {len(crossed.lost)}, "
                  f"torn {len(crossed.torn)}; entries that a save didn't know {crossed.stale}")  # fmt: skip
    for fault in faults[:20]:
        print(fault, file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
