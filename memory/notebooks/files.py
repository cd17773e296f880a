"""The notebooks' files: the pages that they are, and what a write stages beside them.

Which write comes when, and under which lock: memory/notebooks/ledger.py.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from memory import store
from memory.errors import NotebookUnwritable
from memory.notebooks import edit
from memory.notebooks.page import Page, read_page
from memory.records import NOTEBOOKS, Notebook
from memory.vault import Vault

Pages = dict[Notebook, Page]
Contents = dict[Notebook, bytes | None]
"""None where there is no file."""

_FILE_BYTES = 256 * 1024


@dataclass(frozen=True, slots=True)
class Book:
    """A notebook to be edited. `digest` names what was read; it is "" where the page can't be
    edited, and `unwritable` says why."""

    page: Page
    digest: str
    unwritable: str = ""


class NotebookFiles:
    """Of one vault, for any thread. Raises StateUnwritable, and NotebookUnwritable for a link out
    of the vault."""

    def __init__(self, vault: Vault) -> None:
        self._vault = vault
        self._pages: dict[Notebook, tuple[bytes | None, Page]] = {}

    def book(self, name: Notebook) -> Book:
        """The page as it is on disk, for somebody who wants to read or edit it."""
        target = self.target(name)
        with store.writing(target):
            size = target.stat().st_size if target.exists() else 0
        if size > _FILE_BYTES:
            return Book(self._vault.page(name), "", _too_large(target, size))
        content = self.content(name, awaited=False)
        try:
            return Book(self.editable(name, content), digest(content))
        except NotebookUnwritable as fault:
            return Book(read_page(name, content or b""), "", str(fault))

    def target(self, name: Notebook) -> Path:
        """The file itself, where the notebook is a link."""
        path = self._vault.folder / name
        target = path.resolve()
        if not target.is_relative_to(self._vault.path.resolve()):
            raise NotebookUnwritable(
                f"{path} is a link to a place outside of the vault, so it is not written. Put a "
                "plain file there."
            )
        return target

    def contents(self, known: Mapping[Notebook, Collection[str]]) -> Contents:
        """Of both, awaited where entries of it are `known`."""
        return {name: self.content(name, awaited=bool(known[name])) for name in NOTEBOOKS}

    def content(self, name: Notebook, *, awaited: bool) -> bytes | None:
        target = self.target(name)
        with store.writing(target):
            return store.read_settled(target, awaited=awaited)[0]

    def page(self, name: Notebook, content: bytes | None) -> Page:
        """The page that these bytes are; raises NotebookUnwritable for one that is none."""
        before = self._pages.get(name)
        if before is not None and before[0] == content:
            return before[1]
        if content is not None and len(content) > _FILE_BYTES:
            raise NotebookUnwritable(_too_large(self.target(name), len(content)))
        page = edit.editable(name, content)
        self._pages[name] = content, page
        return page

    def editable(self, name: Notebook, content: bytes | None) -> Page:
        """The page; raises NotebookUnwritable also where the file is read-only."""
        path = self.target(name)
        if content is not None and store.is_read_only(path):
            raise NotebookUnwritable(
                f"{path} is read-only, so nothing was changed in it. Allow writing, then try again."
            )
        return self.page(name, content)

    def pages_of(self, contents: Contents, to_change: Collection[Notebook]) -> Pages:
        """Both pages; only those that are to be changed have to be fit for it."""
        pages: Pages = {}
        for name, content in contents.items():
            known = self._pages.get(name)
            if name in to_change:
                pages[name] = self.editable(name, content)
            elif known is not None and known[0] == content:
                pages[name] = known[1]
            else:
                pages[name] = read_page(name, (content or b"")[:_FILE_BYTES])
        return pages

    def put(self, part: Path, name: Notebook, page: Page, *, before: bytes | None) -> bool:
        """What was staged takes the page's place; False where that is not `before` any more."""
        if not store.commit(part, self.target(name), expected=before):
            return False
        self._pages[name] = edit.as_bytes(page, before), page
        return True

    def stage(self, name: Notebook, batch: str, before: bytes | None, page: Page) -> Path:
        content = edit.as_bytes(page, before)
        target = self.target(name)
        part = target.with_name(
            f".{target.name}.{batch}.{short_digest(before or b'')}.{short_digest(content)}.part"
        )
        store.stage(part, target, content)
        return part

    def left(self, name: Notebook) -> list[re.Match[str]]:
        """What a crash left beside the page: names of staged pages, half-written ones too, with
        their batch and the digests before and after."""
        target = self.target(name)
        pattern = re.compile(
            rf"\.{re.escape(target.name)}"
            r"\.(?P<batch>\w+)\.(?P<before>\w+)\.(?P<after>\w+)\.part(?P<half>\.tmp)?"
        )
        if not target.parent.is_dir():
            return []
        with store.writing(target):
            names = sorted(each.name for each in target.parent.iterdir())
        return [found for each in names if (found := pattern.fullmatch(each))]


def _too_large(path: Path, size_bytes: int) -> str:
    return (
        f"{path} is too large for a notebook ({size_bytes // 1024} KiB), so nothing was changed in "
        "it. Shorten it."
    )


def digest(content: bytes | None) -> str:
    """Names what a file holds; None is no file."""
    return "none" if content is None else sha256(content).hexdigest()


def short_digest(content: bytes) -> str:
    return sha256(content).hexdigest()[:12]
