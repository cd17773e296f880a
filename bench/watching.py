"""Notes saved in the ways of four editors, many at once: one update each, none missed (m34).

    python -m bench.watching [--rounds 1000] [--notes 20] [--index]

A round saves every note in one style at once; the next begins when each was seen, or after
five seconds. Counted are saves that were not seen, updates without a save, and how long after
its save a note was current. With --index the real search index is kept current as well.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import threading
import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from memory.figures import percentile
from memory.vault import Vault
from memory.watching.status import Seen
from memory.watching.watching import Index, Watching

_PATIENCE_S = 5.0


def in_place(path: Path, text: str) -> None:
    """nano, many small editors: the file is emptied, then written."""
    with path.open("w", encoding="utf-8") as file:
        file.write(text[: len(text) // 2])
        file.flush()
        file.write(text[len(text) // 2 :])


def atomic(path: Path, text: str) -> None:
    """VS Code, gedit, Obsidian's sync: another file takes its place."""
    part = path.with_name(f".goutputstream-{path.stem}")
    part.write_text(text, encoding="utf-8")
    part.replace(path)


def with_backup(path: Path, text: str) -> None:
    """vim, emacs: the old file becomes a backup, a new one is written."""
    backup = path.with_name(f"{path.name}~")
    path.rename(backup)
    path.write_text(text, encoding="utf-8")
    backup.unlink()


def delete_and_create(path: Path, text: str) -> None:
    """Some sync programs and word processors: the file goes, then comes."""
    path.unlink()
    path.write_text(text, encoding="utf-8")


STYLES: dict[str, Callable[[Path, str], None]] = {
    "in place": in_place,
    "atomic replace": atomic,
    "backup and write": with_backup,
    "delete and create": delete_and_create,
}


class Counted:
    """Updates by note, and when each came."""

    def __init__(self) -> None:
        self.seen: dict[str, list[float]] = {}
        self.total = 0
        self.news = threading.Condition()

    def __call__(self, seen: Seen) -> None:
        with self.news:
            self.total += 1
            self.seen.setdefault(seen.path, []).append(time.monotonic())
            self.news.notify_all()


def now() -> datetime:
    return datetime.now().astimezone()


def run(rounds: int, notes: int, *, with_index: bool) -> list[tuple[str, int, int, int, list[int]]]:
    """For each style: saves, missed, too many, and the delays in ms."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve()
        vault = Vault(root / "vault")
        paths = [vault.path / "notes" / f"note {number}.md" for number in range(notes)]
        paths[0].parent.mkdir(parents=True)
        for path in paths:
            path.write_text("# Begin\n", encoding="utf-8")
        counted = Counted()
        watching = Watching(
            state=root / "state", vault=vault, folders=(), now=now,
            index=_index(root / "state", vault) if with_index else None,
            journal=lambda _: None, seen=counted,
        )  # fmt: skip
        holder = watching.hold()
        watching.begin()
        stopped = threading.Event()
        thread = threading.Thread(target=_steps, args=(watching, stopped))
        thread.start()
        try:
            return [
                (name, *_style(save, paths, counted, rounds, name)) for name, save in STYLES.items()
            ]
        finally:
            stopped.set()
            thread.join()
            watching.end()
            holder.release()


def _steps(watching: Watching, stopped: threading.Event) -> None:
    while not stopped.is_set():
        watching.step()


def _index(state: Path, vault: Vault) -> Index:
    from memory.index import Index as SearchIndex

    found: Index = SearchIndex(state, vault)
    return found


def _style(
    save: Callable[[Path, str], None],
    paths: list[Path],
    counted: Counted,
    rounds: int,
    name: str,
) -> tuple[int, int, int, list[int]]:
    missed = 0
    before = counted.total
    delays: list[int] = []
    for number in range(rounds):
        with counted.news:
            counted.seen.clear()
        saved: dict[str, float] = {}
        for path in paths:
            save(path, f"# {name} {number}\n\n{path.stem} says {number * 7919}.\n" * 3)
            saved[str(path)] = time.monotonic()
        with counted.news:
            counted.news.wait_for(lambda: len(counted.seen) >= len(paths), _PATIENCE_S)
        missed += len(saved.keys() - counted.seen.keys())
        delays += [
            round((counted.seen[path][-1] - at) * 1000)
            for path, at in saved.items()
            if path in counted.seen
        ]
    time.sleep(1.0)  # a second update would come late
    saves = rounds * len(paths)
    return saves, missed, counted.total - before - (saves - missed), delays


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=1000, help="in all, over four styles")
    parser.add_argument("--notes", type=int, default=20)
    parser.add_argument("--index", action="store_true", help="keep the search index as well")
    given = parser.parse_args()
    load = os.getloadavg()[0]
    rows = run(given.rounds // len(STYLES), given.notes, with_index=given.index)
    print(
        f"{'style':<20} {'saves':>7} {'missed':>7} {'extra':>6} {'p50 ms':>7} {'p99 ms':>7} {'max':>6}"
    )
    for name, saves, missed, extra, delays in rows:
        print(
            f"{name:<20} {saves:>7,} {missed:>7} {extra:>6} {percentile(delays, 50):>7} "
            f"{percentile(delays, 99):>7} {max(delays):>6}"
        )
    print(f"load before: {load:.1f}")


if __name__ == "__main__":
    main()
