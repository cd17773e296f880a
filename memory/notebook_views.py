"""A notebook as the rest of the house meets it: in figures, and as a page to look into."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from memory.notebooks.files import Book
from memory.notebooks.origins import Origin, origins
from memory.notebooks.page import Page
from memory.notebooks.prefix import NOTEBOOK_CHARS, show
from memory.records import Change, Notebook


@dataclass(frozen=True, slots=True, kw_only=True)
class NotebookSummary:
    """A notebook in figures: its list items, and the characters that the model sees of it."""

    name: str
    path: Path
    entries: int
    chars: int
    limit_chars: int
    warnings: tuple[str, ...]

    @classmethod
    def of(cls, page: Page, folder: Path) -> NotebookSummary:
        shown = show(page)
        return cls(
            name=page.name,
            path=folder / page.name,
            entries=len(page.entries),
            chars=len(shown.text),
            limit_chars=NOTEBOOK_CHARS,
            warnings=shown.warnings,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class NotebookPage:
    """A notebook to look into and to edit, as it is on disk.

    `entries` are told with where they come from. `digest` is what `save_notebook` asks for;
    "" where the page can't be edited, and `unwritable` says why.
    """

    name: Notebook
    path: Path
    text: str
    digest: str
    unwritable: str
    entries: tuple[Origin, ...]
    chars: int
    warnings: tuple[str, ...]

    @classmethod
    def of(
        cls, name: Notebook, book: Book, folder: Path, changes: Sequence[Change]
    ) -> NotebookPage:
        page = book.page
        return cls(
            name=name,
            path=folder / name,
            text=page.text,
            digest=book.digest,
            unwritable=book.unwritable,
            entries=origins(changes, name, page.entries),
            chars=page.entry_chars,
            warnings=page.warnings,
        )
