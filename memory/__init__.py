"""The door: what voice knows of memory.

    memory = Memory.open(vault, state, now)
    memory.recover(now())                        at the start of a process
    session = memory.session()                   one for each call and chat
    conversation = memory.begin("c1", "call", now())

Besides, `memory.records` and `memory.errors`. Everything here waits for the disk, some
milliseconds; a running call asks from a thread.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from importlib import resources
from pathlib import Path

from memory import conversations
from memory.conversations import Conversation, Kind, Pending
from memory.events import Event, EventLog, LatencySummary, TokenSummary
from memory.notebooks.news import news
from memory.notebooks.page import Page, read_page
from memory.notebooks.prefix import NOTEBOOK_CHARS, prefix, show
from memory.records import HandOver, Prefix
from memory.vault import MEMORY, PERSONA, USER, Vault

__all__ = [
    "Conversation",
    "Event",
    "EventLog",
    "Kind",
    "LatencySummary",
    "Memory",
    "NotebookSummary",
    "Pending",
    "Session",
    "TokenSummary",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class NotebookSummary:
    """A notebook in figures: its list items, and the characters that the model sees of it."""

    name: str
    path: Path
    entries: int
    chars: int
    limit_chars: int
    warnings: tuple[str, ...]


class Memory:
    """Notebooks, conversations and the event log of one user. For any thread."""

    def __init__(self, vault: Vault, state: Path, events: EventLog) -> None:
        self._vault = vault
        self._state = state
        self._reading = threading.Lock()
        self._built: tuple[tuple[Page, Page, Page], Prefix] | None = None
        self._summed: tuple[tuple[Page, Page], tuple[NotebookSummary, ...]] | None = None
        self.events = events

    @classmethod
    def open(
        cls, vault: Path, state: Path, now: Callable[[], datetime], *, create: bool = False
    ) -> Memory:
        """Memory over this vault. `now` is the user's clock, aware.

        `create` is for the default vault: it and its notebooks are made where they are
        missing. A vault that the user named must be there: VaultMissing.
        """
        found = Vault(vault)
        found.check(create=create)
        return cls(found, state, EventLog(state, now))

    def close(self) -> None:
        self.events.close()

    # Notebooks -------------------------------------------------------------------------

    def prefix(self) -> Prefix:
        """What rides in front of a conversation that begins now."""
        return self._look()[0]

    def _look(self) -> tuple[Prefix, tuple[Page, Page]]:
        """The prefix, and the notebooks that it was made from."""
        with self._reading:
            pages = (self._persona(), self._vault.page(USER), self._vault.page(MEMORY))
            if self._built is None or self._built[0] != pages:
                self._built = (pages, prefix(_prompt("prefix.md"), *pages))
            return self._built[1], pages[1:]

    def _persona(self) -> Page:
        own = self._vault.page(PERSONA)
        if own.text.strip():
            return own
        packaged = read_page(PERSONA, _prompt(PERSONA).encode())
        return Page(
            name=PERSONA,
            text=packaged.text,
            entries=packaged.entries,
            warnings=(*own.warnings, *packaged.warnings),
        )

    def session(self) -> Session:
        """One call's or chat's view of the notebooks, from now on."""
        return Session(self._pages, *self._look())

    def _pages(self) -> tuple[Page, Page]:
        with self._reading:
            return self._vault.page(USER), self._vault.page(MEMORY)

    def notebooks(self) -> tuple[NotebookSummary, ...]:
        """USER.md and MEMORY.md as they are now."""
        pages = self._pages()
        if self._summed is None or self._summed[0] != pages:
            self._summed = (pages, tuple(map(self._summary, pages)))
        return self._summed[1]

    def _summary(self, page: Page) -> NotebookSummary:
        shown = show(page)
        return NotebookSummary(
            name=page.name,
            path=self._vault.folder / page.name,
            entries=len(page.entries),
            chars=len(shown.text),
            limit_chars=NOTEBOOK_CHARS,
            warnings=shown.warnings,
        )

    # Conversations ---------------------------------------------------------------------

    def begin(self, conversation: str, kind: Kind, at: datetime) -> Conversation:
        """Raises ConversationInUse, StateUnwritable."""
        return Conversation.begin(self._state, conversation, kind, at)

    def recover(self, at: datetime) -> list[HandOver]:
        """Hand over what processes that died left. Raises StateUnwritable."""
        return conversations.recover(self._state, at)

    def pending(self) -> list[Pending]:
        """Hand-overs that wait for their review, oldest first."""
        return conversations.pending(self._state)

    def unreadable(self) -> list[str]:
        """A sentence for each transcript that can't be read, wholly or in part."""
        return conversations.unreadable(self._state)


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

    def news(self) -> str | None:
        """What changed, as one item for the next turn; None when nothing did."""
        now = self._look()
        seen, self._seen = self._seen, now
        if now == seen:
            return None
        return news(_prompt("news.md"), list(zip(seen, now, strict=True)))


def _prompt(name: str) -> str:
    return (resources.files("prompts") / name).read_text(encoding="utf-8")
