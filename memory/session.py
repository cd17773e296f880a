"""What rides in front of a conversation, and what changes of it while that goes on."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from memory.errors import StateUnwritable
from memory.notebooks.news import news
from memory.notebooks.page import Page, read_page
from memory.notebooks.prefix import prefix
from memory.prompts import prompt
from memory.records import Prefix
from memory.vault import MEMORY, PERSONA, USER, Vault

if TYPE_CHECKING:
    from memory.lessons.door import Lessons
    from memory.lessons.records import Lesson

log = logging.getLogger(__name__)


class Prefixes:
    """Persona, notebooks and lessons as they are on disk, built anew when one of them changed.

    `lessons` is called when they are first needed.
    """

    def __init__(self, vault: Vault, lessons: Callable[[], Lessons]) -> None:
        self._vault = vault
        self._lessons = lessons
        self._reading = threading.Lock()
        self._built: tuple[tuple[Page, Page, Page, str], Prefix] | None = None
        self._riding: tuple[str, tuple[Lesson, ...]] = ("", ())

    def prefix(self) -> Prefix:
        """What rides in front of a conversation that begins now."""
        return self._look()[0]

    def pages(self) -> tuple[Page, Page]:
        """USER.md and MEMORY.md."""
        with self._reading:
            return self._vault.page(USER), self._vault.page(MEMORY)

    def session(self) -> Session:
        """One call's or chat's view of the notebooks, from now on."""
        found, pages = self._look()
        try:
            self._lessons().shelf.rides_in(found.sha256, self._riding[1])
        except StateUnwritable as fault:  # the use of some lessons goes uncounted
            log.warning("%s", fault)
        return Session(self.pages, found, pages)

    @contextmanager
    def cleared(self) -> Iterator[None]:
        """Nobody reads while the files go, and nothing of them is kept."""
        with self._reading:
            yield
            self._built = None
            self._riding = ("", ())

    def _look(self) -> tuple[Prefix, tuple[Page, Page]]:
        """The prefix, and the notebooks that it was made from."""
        with self._reading:
            pages = (self._persona(), self._vault.page(USER), self._vault.page(MEMORY))
            made_of = (*pages, self._lessons_block())
            if self._built is None or self._built[0] != made_of:
                self._built = (made_of, prefix(prompt("prefix.md"), *made_of))
            return self._built[1], pages[1:]

    def _lessons_block(self) -> str:
        """A disk that fails costs no conversation its prefix: the last lessons that were read."""
        try:
            self._riding = self._lessons().in_prompts()
        except StateUnwritable as fault:
            log.warning("%s", fault)
        return self._riding[0]

    def _persona(self) -> Page:
        own = self._vault.page(PERSONA)
        if own.text.strip():
            return own
        packaged = read_page(PERSONA, prompt(PERSONA).encode())
        return Page(
            name=PERSONA,
            text=packaged.text,
            entries=packaged.entries,
            warnings=(*own.warnings, *packaged.warnings),
        )


class Session:
    """The notebooks as one session has seen them.

    `prefix` stays what it was when the session began. `news` tells what changed since this
    session looked last; what another session has seen makes no difference.
    """

    def __init__(
        self, look: Callable[[], tuple[Page, Page]], prefix: Prefix, seen: tuple[Page, Page]
    ) -> None:
        self.prefix = prefix
        self._look = look
        self._seen = seen
        self._told: set[str] = set()

    def told(self, entry: str) -> None:
        """This session knows of a new entry by another way: it is no news."""
        self._told.add(entry)

    def news(self) -> str | None:
        """What changed, as one item for the next turn; None when nothing did."""
        now = self._look()
        seen, self._seen = self._seen, now
        if now == seen:
            return None
        told, self._told = self._told, set()
        return news(prompt("news.md"), list(zip(seen, now, strict=True)), told)
