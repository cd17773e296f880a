"""From changed files to entries of the journal: what is told, when, and what was told already."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from memory.errors import MemoryFault
from memory.records import JournalEntry
from memory.watching import changes
from memory.watching.changes import What
from memory.watching.manifest import Manifest
from memory.watching.status import Told
from memory.watching.watched import Watched, digest

log = logging.getLogger(__name__)

TEXTS_BYTES = 32 * 1024 * 1024
"""So much text of projects is kept in memory, to tell which lines are new."""
COMPARED_AT_MOST = 40
"""Of more files that changed together only the names are told."""
_AGAIN_S = 60.0


@dataclass(slots=True)
class _Untold:
    """Changes of one project since it was told last."""

    first_s: float = 0.0
    last_s: float = 0.0
    at: datetime | None = None
    paths: set[str] = field(default_factory=set)
    told_s: float | None = None
    retry_s: float = 0.0

    def is_due(self, now_s: float) -> bool:
        due_s = changes.due_s(self.first_s, self.last_s, self.told_s)
        return bool(self.paths) and now_s >= max(self.retry_s, due_s)


class Telling:
    """`journal` appends an entry. Untold is what a file holds other than when it was told: a
    change that was taken back before it was told is none."""

    def __init__(
        self,
        manifest: Manifest,
        journal: Callable[[JournalEntry], object],
        now: Callable[[], datetime],
        clock: Callable[[], float],
    ) -> None:
        self._manifest = manifest
        self._journal = journal
        self._now = now
        self._clock = clock
        self._told: dict[Path, dict[str, str]] = {}
        self._texts: dict[Path, dict[str, str]] = {}
        self._texts_bytes = 0
        self._untold: dict[tuple[Path, str], _Untold] = {}
        self._watched: dict[Path, Watched] = {}
        self.last: Told | None = None
        self.fault: str | None = None

    @property
    def waiting(self) -> int:
        """Files that changed and are not told yet."""
        return sum(len(each.paths) for each in self._untold.values())

    def knows(self, each: Watched) -> bool:
        return each.tree.root in self._watched

    def take_up(self, each: Watched) -> None:
        """A project folder as it is now; what changed while nobody watched is untold."""
        root = each.tree.root
        self._watched[root] = each
        self._texts[root] = {}
        kept = self._manifest.told(root)
        told = self._told[root] = dict(each.digests if kept is None else kept)
        for rel in told.keys() - each.digests.keys():
            if each.tree.stamp(rel) is not None:  # ignored by now, not gone
                del told[rel]
        for rel in sorted(told.keys() | each.digests.keys()):
            if told.get(rel) == each.digests.get(rel):
                self._keep_text(root, rel, self._text(each, rel))
            else:
                self.note(each, rel)
        self._manifest.keep(root, told)

    def note(self, each: Watched, rel: str) -> None:
        """A file of a project holds something else, or is gone."""
        now_s = self._clock()
        untold = self._untold.setdefault((each.tree.root, each.project_of(rel)), _Untold())
        if not untold.paths:
            untold.first_s = now_s
        untold.last_s, untold.at = now_s, self._now()
        untold.paths.add(rel)

    def is_due(self) -> bool:
        now_s = self._clock()
        return any(each.is_due(now_s) for each in self._untold.values())

    def tell(self, *, all_of_it: bool = False) -> bool:
        """Tell what is due; whether anything was to be told."""
        now_s = self._clock()
        due = [
            key
            for key, each in self._untold.items()
            if each.is_due(now_s) or (all_of_it and each.paths)
        ]
        for root, project in due:
            self._tell(self._watched[root], project, self._untold[root, project])
        return bool(due)

    def _tell(self, each: Watched, project: str, untold: _Untold) -> None:
        root = each.tree.root
        told = self._told[root]
        differing = [rel for rel in sorted(untold.paths) if told.get(rel) != each.digests.get(rel)]
        told_s = untold.told_s
        if differing:
            assert untold.at is not None
            compares = len(differing) <= COMPARED_AT_MOST
            texts = {rel: self._text(each, rel) if compares else None for rel in differing}
            entry = changes.discovery(
                project.rstrip("/").rpartition("/")[2] or root.name,
                [self._changed(each, project, rel, text) for rel, text in texts.items()],
                untold.at,
            )
            try:
                self._journal(entry)
                self._was_told(each, texts)
            except MemoryFault as fault:
                log.warning("%s", fault)
                self.fault = str(fault)
                untold.retry_s = self._clock() + _AGAIN_S
                return
            self.fault = None
            self.last = Told(at=entry.at, title=entry.title)
            told_s = self._clock()
        self._untold[root, project] = _Untold(told_s=told_s)

    def _changed(self, each: Watched, project: str, rel: str, text: str | None) -> changes.Changed:
        root = each.tree.root
        what: What = "changed"
        if rel not in self._told[root]:
            what = "new"
        elif rel not in each.digests:
            what = "gone"
        before = self._texts[root].get(rel)
        return changes.changed(rel.removeprefix(project), what, before, text)

    def _was_told(self, each: Watched, texts: Mapping[str, str | None]) -> None:
        root = each.tree.root
        told = self._told[root]
        for rel, text in texts.items():
            if rel in each.digests:
                told[rel] = each.digests[rel]
            else:
                told.pop(rel, None)
            self._keep_text(root, rel, text)
        self._manifest.keep(root, told)

    def _text(self, each: Watched, rel: str) -> str | None:
        """The text that the known digest is of; None where the file holds another by now, which
        its next change is told from."""
        stamp = each.tree.stamp(rel)
        if stamp is None or stamp[1] > changes.TEXT_BYTES:
            return None
        content = each.content(rel, stamp)[0]
        if content is None or digest(stamp, content) != each.digests.get(rel):
            return None
        return changes.text_of(content)

    def _keep_text(self, root: Path, rel: str, text: str | None) -> None:
        """The text as it was told, while there is room."""
        texts = self._texts[root]
        self._texts_bytes -= len(texts.pop(rel, ""))
        if text is not None and self._texts_bytes + len(text) <= TEXTS_BYTES:
            texts[rel] = text
            self._texts_bytes += len(text)
