"""Watches folders: keeps the index current, and tells the journal what changed in projects (J4).

    watching = Watching(state=…, vault=…, folders=…, now=…, index=…, journal=…)
    await watching.run()            until it is cancelled, or `stop()` is called

A change is told by content: a file counts when it holds something else than before, once nobody
writes it any more, in whatever way an editor saves (m34). Told into the journal is what differs
from what was told last, so that nothing is lost or told twice by a restart.
"""

from __future__ import annotations

import asyncio
import logging
import os
import threading
import time
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path
from typing import Protocol, TypeVar

from filelock import FileLock

from memory import locks, store
from memory.errors import AlreadyWatching, MemoryFault, StateUnwritable
from memory.records import JournalEntry
from memory.threads import in_thread
from memory.vault import Vault
from memory.watching import status
from memory.watching.manifest import Manifest
from memory.watching.notifier import Notifier
from memory.watching.status import Seen, WatchStatus
from memory.watching.telling import Telling
from memory.watching.tree import Tree
from memory.watching.watched import Watched

log = logging.getLogger(__name__)

T = TypeVar("T")

LOOK_AGAIN_S = 600.0
"""How often everything is looked at, whatever the system told."""
_TICK_S = 0.5
_SOON_S = 0.05
_ROOTS_S = 2.0
_STATUS_S = 1.0
_LOCK_S = 0.3
_LOOKS = 3


class Index(Protocol):
    """What is kept current: the search index over notes and journal."""

    def check(self) -> object: ...

    def update(self, paths: Sequence[Path]) -> object: ...


class Watching:
    """`index` is None where there is none to keep; `journal` appends an entry. `now` is the user's
    clock, `clock` counts seconds. `seen` hears of each change. The journal waits for `calm`."""

    def __init__(
        self,
        *,
        state: Path,
        vault: Vault,
        folders: Sequence[Path],
        now: Callable[[], datetime],
        index: Index | None,
        journal: Callable[[JournalEntry], object],
        notifier: Notifier | None = None,
        clock: Callable[[], float] = time.monotonic,
        seen: Callable[[Seen], None] = lambda _: None,
        calm: Callable[[], bool] = lambda: True,
    ) -> None:
        # What Jarvis writes itself is no discovery, and nothing that was seen.
        self._own = vault.folder.resolve()
        self._state = state
        self._now = now
        self._index = index
        self._notifier = notifier or Notifier()
        self._clock = clock
        self._tell_seen = seen
        self._is_calm = calm
        self._projects = [
            Watched(Tree(folder, "project", (self._own, state.resolve())), clock)
            for folder in _apart(folders)
        ]
        notes = Watched(Tree(vault.path.resolve(), "notes"), clock)
        self._all = [*self._projects, notes]
        self._telling = Telling(Manifest(state), journal, now, clock)
        self._began_at = now()
        self._looked_s = self._roots_s = self._shown_s = clock()
        self._seen = 0
        self._last_seen: Seen | None = None
        self._index_at: datetime | None = None
        self._index_fault: str | None = None
        self._is_stopped = False
        self._is_shown = False
        self.begun = threading.Event()
        """Set when everything was looked at once: from then on changes are seen."""

    # Running ---------------------------------------------------------------------------

    async def run(self) -> None:
        """Until it is cancelled or stopped; then what is untold is told. Raises AlreadyWatching,
        StateUnwritable."""
        holder = await asyncio.to_thread(self.hold)
        # Of its own: it waits for good, and the loop's threads are few.
        waiting = ThreadPoolExecutor(1, "watching")
        try:
            await _whole(in_thread(self.begin), self.stop)
            loop = asyncio.get_running_loop()
            while not self._is_stopped:
                wait = loop.run_in_executor(waiting, self._notifier.wait, self.pause_s())
                told, everything = await _whole(wait, self.stop)
                if self.is_due(told, everything):
                    await _whole(in_thread(self.handle, told, everything), self.stop)
        finally:
            waiting.shutdown(wait=False)
            self.end()
            locks.drop_lock(holder)

    def stop(self) -> None:
        """It ends in a moment. From any thread, and from a signal's handler."""
        self._is_stopped = True
        self._notifier.stop()

    def hold(self) -> FileLock:
        """The lock of the one process that watches with this state. Raises AlreadyWatching."""
        store.make_folder(status.folder(self._state), private=True)
        holder = locks.try_lock(status.lock_of(self._state), _LOCK_S)
        if holder is None:
            there = status.read(self._state)
            whose = f" (process {there.pid})" if there is not None else ""
            raise AlreadyWatching(
                f"Another Jarvis watches already{whose}. `jarvis watch --status` shows what; "
                "`jarvis watch --stop` ends it."
            )
        return holder

    def begin(self) -> None:
        """Look at everything once. A folder that is away is waited for."""
        for each, rel in self._look(self._all, anew=True):
            each.examine(rel, at_once=True)
        if self._index is not None:
            self._on_index(self._index.check)
        self._take_up()
        self._show(at_once=True)
        self.begun.set()

    def end(self) -> None:
        """Tell what is untold, and leave."""
        self._telling.tell(all_of_it=True)
        self._notifier.close()
        self._show(at_once=True)

    def pause_s(self) -> float:
        """How long to wait for something to happen."""
        return _SOON_S if any(each.unsure for each in self._all) else _TICK_S

    def is_due(self, told: Collection[str], everything: bool) -> bool:
        """Whether `handle` would do anything."""
        now_s = self._clock()
        return bool(
            told
            or everything
            or any(each.unsure for each in self._all)
            or now_s - self._roots_s >= _ROOTS_S
            or (self._telling.is_due() and self._is_calm())
            or not self._is_shown
        )

    def step(self) -> None:
        """A round of `run`: wait for a moment, and handle what happened."""
        self.handle(*self._notifier.wait(self.pause_s()))

    def handle(self, told: Collection[str], everything: bool) -> None:
        """`told` are paths that something happened to; `everything` looks at all there is."""
        now_s = self._clock()
        everything = everything or now_s - self._looked_s >= LOOK_AGAIN_S
        moved = False
        if now_s - self._roots_s >= _ROOTS_S:
            self._roots_s = now_s
            moved = any(each.has_moved() for each in self._all)
            everything = everything or moved
        looks = list(self._all) if everything else []
        candidates = [(each, rel) for each in self._all for rel in each.unsure]
        for path in told:
            for each in self._all:
                rel = each.told_of(path)
                if rel:
                    candidates.append((each, rel))
                elif rel is not None and each not in looks:
                    looks.append(each)
        if looks:
            candidates += self._look(looks, anew=not everything or moved)
        self._examine(dict.fromkeys(candidates))
        self._take_up()
        if self._is_calm() and self._telling.tell():
            self._is_shown = False
        self._show()

    # Looking ---------------------------------------------------------------------------

    def _look(self, looks: Sequence[Watched], *, anew: bool) -> list[tuple[Watched, str]]:
        """Look at these folders, and have the system tell of those that there are now; the files
        that are to be examined. What happens between a look and the watch is found by another.

        `anew` asks the system again also where no folder came or went: one may be another under
        its old name.
        """
        found: dict[tuple[Watched, str], None] = {}
        for _ in range(_LOOKS):
            before = [each.folders.keys() for each in self._all]
            for each in looks:
                found |= dict.fromkeys((each, rel) for rel in each.look())
            after = [each.folders.keys() for each in self._all]
            if before == after and not anew and not self._notifier.is_unsure:
                break
            anew = False
            folders = [each.path(rel) for each in self._all for rel in each.folders]
            self._notifier.watch(list(dict.fromkeys(folders)))
            self._is_shown = False
        if len(looks) == len(self._all):
            self._looked_s = self._clock()
        return list(found)

    def _take_up(self) -> None:
        """Projects that are here for the first time: what they hold now is where telling begins."""
        for each in self._projects:
            if each.folders and not self._telling.knows(each):
                self._telling.take_up(each)

    def _examine(self, candidates: Iterable[tuple[Watched, str]]) -> None:
        notes: list[Path] = []
        for each, rel in candidates:
            is_new = each in self._projects and not self._telling.knows(each)
            what = each.examine(rel, at_once=is_new)
            if what is None or is_new:
                continue
            if each in self._projects:
                self._telling.note(each, rel)
            else:
                notes.append(each.path(rel))
            if not each.path(rel).is_relative_to(self._own):
                self._seen += 1
                self._last_seen = Seen(at=self._now(), path=str(each.path(rel)), what=what)
                self._is_shown = False
                self._tell_seen(self._last_seen)
        if notes and self._index is not None:
            index = self._index
            self._on_index(lambda: index.update(notes))

    def _on_index(self, work: Callable[[], object]) -> None:
        """A fault of the index ends no watch: it is told, and the next check mends it."""
        try:
            work()
        except MemoryFault as fault:
            if str(fault) != self._index_fault:
                log.warning("%s", fault)
            self._index_fault = str(fault)
        else:
            self._index_fault = None
            self._index_at = self._now()
        self._is_shown = False

    # Status ----------------------------------------------------------------------------

    def status(self) -> WatchStatus:
        faults = (self._notifier.fault, self._index_fault, self._telling.fault)
        return WatchStatus(
            pid=os.getpid(),
            began_at=self._began_at,
            updated_at=self._now(),
            folders=tuple(each.shown() for each in self._all),
            method=self._notifier.method,
            seen=self._seen,
            last_seen=self._last_seen,
            last_told=self._telling.last,
            waiting=self._telling.waiting,
            index_updated_at=self._index_at,
            faults=tuple(fault for fault in faults if fault),
        )

    def _show(self, *, at_once: bool = False) -> None:
        """Write the status where something is new in it, at most once a second."""
        if not at_once and (self._is_shown or self._clock() - self._shown_s < _STATUS_S):
            return
        self._shown_s = self._clock()
        self._is_shown = True
        try:
            status.write(self._state, self.status())
        except StateUnwritable as fault:
            log.warning("%s", fault)


async def _whole(work: Awaitable[T], stop: Callable[[], None]) -> T:
    """Work of a thread, waited for also when this is cancelled: it is told to stop."""
    doing = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(doing)
    except asyncio.CancelledError:
        stop()
        await asyncio.wait((doing,))
        raise


def _apart(folders: Sequence[Path]) -> list[Path]:
    """The folders, each once; one that lies in another is watched with it."""
    resolved = sorted({folder.resolve() for folder in folders})
    return [
        folder
        for folder in resolved
        if not any(other != folder and folder.is_relative_to(other) for other in resolved)
    ]
