"""The door: what voice knows of memory.

    memory = Memory.open(vault, state, now)
    memory.recover(now())                        at the start of a process
    session = memory.session()                   one for each call and chat
    conversation = memory.begin("c1", "call", now())

Besides, `memory.records` and `memory.errors`. Everything here waits for the disk, some
milliseconds; a running call asks from a thread.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from memory.errors import StateUnwritable
from memory.events import EventLog
from memory.journal import book
from memory.notebooks.ledger import Ledger
from memory.notebooks.limits import MERGE_AT, NOTEBOOKS_CHARS
from memory.notebooks.news import news
from memory.notebooks.origins import Origin as EntryOrigin
from memory.notebooks.origins import origins
from memory.notebooks.page import Page, read_page
from memory.notebooks.prefix import NOTEBOOK_CHARS, prefix, show
from memory.notes.context import EXTRACTS_CHARS, block
from memory.notes.reading import Read, is_note, read_note
from memory.presence import Presence
from memory.prompts import prompt
from memory.records import (
    Change,
    Extract,
    HandOver,
    JournalDay,
    JournalEntry,
    JournalRead,
    Language,
    Notebook,
    Origin,
    Prefix,
    Remembered,
)
from memory.vault import MEMORY, PERSONA, USER, Vault
from memory.wipe import WipePlan, WipeReport, finish, plan, recorded_in, wipe

# The rooms that a command may do without are imported by the methods that open them: together
# they take a third of a second.
if TYPE_CHECKING:
    from memory.asking import Quiet
    from memory.conversations import Conversation, Kind
    from memory.embedding import Embedder, Vectors
    from memory.index import Hit, Index
    from memory.index.records import Progress
    from memory.lessons.door import Lessons
    from memory.lessons.records import Lesson
    from memory.llm.protocol import Llm
    from memory.notebooks.remember import Asked
    from memory.notes.looking import Notes
    from memory.reviews import Waiting as WaitingReview
    from memory.task import MemoryTask
    from memory.thinking.ledger import Thoughts
    from memory.thinking.thinking import Caps, Thinking
    from memory.watching.status import Seen, WatchStatus
    from memory.watching.watching import Watching

log = logging.getLogger(__name__)


def _embedder() -> Embedder | None:
    """Looked for when it is first needed: most commands make no vectors."""
    from memory.embedding import at_hand

    return at_hand()


@dataclass(frozen=True, slots=True, kw_only=True)
class NotebookSummary:
    """A notebook in figures: its list items, and the characters that the model sees of it."""

    name: str
    path: Path
    entries: int
    chars: int
    limit_chars: int
    warnings: tuple[str, ...]


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
    entries: tuple[EntryOrigin, ...]
    chars: int
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkedSentence:
    """A sentence that waits for its review; `failed` is what the last try said, where one did."""

    quote: str
    conversation: str
    at: datetime
    next_at: datetime | None
    failed: str


def notes_block(extracts: Sequence[Extract]) -> str:
    """The extracts as they stand in the one request that they are for (N4)."""
    return block(extracts, prompt("notes.md"))


class Memory:
    """Notebooks, conversations and the event log of one user. For any thread."""

    def __init__(self, vault: Vault, state: Path, events: EventLog, presence: Presence) -> None:
        self._presence = presence
        self._vault = vault
        self._state = state
        self._ledger = Ledger(vault, state)
        self._reading = threading.Lock()
        self._built: tuple[tuple[Page, Page, Page, str], Prefix] | None = None
        self._riding: tuple[str, tuple[Lesson, ...]] = ("", ())
        self._summed: tuple[tuple[Page, Page], tuple[NotebookSummary, ...]] | None = None
        self.events = events
        self._opening = threading.RLock()
        self._lessons: Lessons | None = None
        self._index: Index | None = None
        self._looking: Notes | None = None

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
        presence = Presence(state)
        presence.enter()
        memory = cls(found, state, EventLog(state, now, enter=presence.enter), presence)
        try:
            cut_short = finish(found.folder, state)
        except BaseException:
            memory.close()
            raise
        if cut_short:
            memory.events.warnings.append(cut_short)
            found.check(create=create)
        return memory

    @property
    def lessons(self) -> Lessons:
        with self._opening:
            if self._lessons is None:
                from memory.lessons.door import Lessons

                self._lessons = Lessons(self.events, _embedder)
            return self._lessons

    @property
    def index(self) -> Index:
        with self._opening:
            if self._index is None:
                from memory.index import Index

                self._index = Index(self._state, self._vault)
            return self._index

    @property
    def _notes(self) -> Notes:
        with self._opening:
            if self._looking is None:
                from memory.notes.looking import Notes

                self._looking = Notes(self.index, _embedder)
            return self._looking

    def close(self) -> None:
        if self._index is not None:
            self._index.close()
        self.events.close()
        self._presence.leave()

    # Wiping ----------------------------------------------------------------------------

    def wipe_plan(self) -> WipePlan:
        """What a wipe would clear now, with sizes (S4)."""
        return plan(self._vault.folder, self._state)

    def recorded_in(self, folder: Path) -> None:
        """A call is being recorded in this folder: a wipe takes it too. Raises StateUnwritable."""
        recorded_in(self._state, folder)

    def wipe(self, at: datetime) -> WipeReport:
        """Clear everything that Jarvis knows; on return it is off the disk. Raises WipeRefused
        while somebody talks or another process uses this state, and StateUnwritable."""
        if self._index is not None:
            self._index.close()
        with self._reading:
            report = wipe(
                self._vault.folder,
                self._state,
                at,
                presence=self._presence,
                log_held=self.events.held(),
            )
            self._built = self._summed = None
            self._riding = ("", ())
        return report

    # Notebooks -------------------------------------------------------------------------

    def prefix(self) -> Prefix:
        """What rides in front of a conversation that begins now."""
        return self._look()[0]

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
            self._riding = self.lessons.in_prompts()
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

    def session(self) -> Session:
        """One call's or chat's view of the notebooks, from now on."""
        found, pages = self._look()
        try:
            self.lessons.shelf.rides_in(found.sha256, self._riding[1])
        except StateUnwritable as fault:  # the use of some lessons goes uncounted
            log.warning("%s", fault)
        return Session(self._pages, found, pages)

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

    def notebook(self, name: Notebook) -> NotebookPage:
        """Raises NotebookUnwritable for a link out of the vault, StateUnwritable."""
        book = self._ledger.book(name)
        page = book.page
        return NotebookPage(
            name=name,
            path=self._vault.folder / name,
            text=page.text,
            digest=book.digest,
            unwritable=book.unwritable,
            entries=origins(self.changes(), name, page.entries),
            chars=page.entry_chars,
            warnings=page.warnings,
        )

    def save_notebook(self, name: Notebook, text: str, *, seen: str, at: datetime) -> None:
        """The user's own edit. Raises NotebookChanged when the page is not the one whose
        digest is `seen`, and what `remember` raises."""
        self._ledger.save(name, text, seen=seen, at=at)

    @property
    def room(self) -> tuple[int, float]:
        """The characters of both notebooks together, and how full they are when merged."""
        return NOTEBOOKS_CHARS, MERGE_AT

    # Learning --------------------------------------------------------------------------

    def remember(
        self,
        text: str,
        at: datetime,
        *,
        origin: Origin = "typed",
        before: str | None = None,
        before_at: datetime | None = None,
        conversation: str | None = None,
    ) -> tuple[Remembered, ...]:
        """Write down what this turn of the user's asks to have remembered (L3); on return it is
        on disk. Empty where it asks for nothing, or is not the user's own.

        `before` is the user's previous turn in their own words, `before_at` when it was said,
        `at` when this one was. Raises StateUnwritable, NotebookUnwritable, VaultMissing.
        """
        from memory.remembering import OWN_WORDS, asked_in_turn

        if origin not in OWN_WORDS:
            return ()
        found = asked_in_turn(text, before, spoken=origin == "spoken")
        return self._remembered(found, at, before_at=before_at, conversation=conversation)

    def remember_text(
        self, text: str, at: datetime, *, language: Language | None = None, dry_run: bool = False
    ) -> Remembered:
        """Write down this text, with or without “remember that” in front."""
        from memory.notebooks.remember import only_looks_like_it
        from memory.remembering import as_asked

        if only_looks_like_it(text):
            return Remembered(
                saved=False, reason="this asks for no memory: it is a question, or a reminder."
            )
        [first, *_] = self._remembered(as_asked(text, language), at, dry_run=dry_run)
        return first

    def _remembered(
        self,
        found: tuple[Asked, ...],
        at: datetime,
        *,
        before_at: datetime | None = None,
        conversation: str | None = None,
        dry_run: bool = False,
    ) -> tuple[Remembered, ...]:
        from memory.remembering import remember_turn

        outcomes = remember_turn(
            self._ledger,
            found,
            at,
            before_at=before_at,
            conversation=conversation,
            dry_run=dry_run,
        )
        for outcome in () if dry_run else outcomes:
            self.events.append(
                "remembered",
                at,
                conversation=conversation,
                data={
                    "saved": outcome.saved,
                    "notebook": outcome.notebook,
                    "reason": outcome.reason,
                },
            )
        return outcomes

    def changes(self) -> tuple[Change, ...]:
        """What was changed in the notebooks, oldest first."""
        return self._ledger.changes()

    def undo(self, change: str, at: datetime) -> Change:
        """Reverse one change. Raises NoSuchChange, and what `remember` raises."""
        return self._ledger.undo(change, at=at)

    def forget(self, text: str, at: datetime) -> tuple[Change, ...]:
        """Take the entry that `text` names out. Raises NoSuchChange, AmbiguousEntry."""
        return self._ledger.forget(text, at=at)

    def why(self, text: str) -> tuple[Change, ...]:
        """The changes that led to the entry that `text` names. Raises NoSuchChange."""
        return self._ledger.why(text)

    def notice_edits(self, at: datetime) -> None:
        """Log what the user edited by hand, and place what waited for room."""
        self._ledger.notice_edits(at)
        self._ledger.place_waiting(at)

    def waiting_for_room(self) -> tuple[str, ...]:
        """Entries that are in the journal until a notebook has room, oldest first."""
        return tuple(each.accepted.text or "" for each in self._ledger.waiting())

    def entries(self) -> Mapping[Notebook, tuple[str, ...]]:
        """What stands in each notebook, in its own order."""
        return self._ledger.entries()

    def fullness(self) -> float:
        """1.0 is full."""
        return self._ledger.fullness()

    def conflict_copies(self) -> tuple[str, ...]:
        """A sentence for each copy of a notebook that a sync program made."""
        return self._vault.conflict_copies()

    def reviews_waiting(self) -> list[WaitingReview]:
        """Hand-overs that wait for their review, oldest first."""
        from memory.reviews import Reviews

        return Reviews(self._state).waiting()

    def marked_waiting(self) -> tuple[MarkedSentence, ...]:
        """The sentences that wait for their review, oldest first."""
        from memory.notebooks.candidates import candidates

        return tuple(
            MarkedSentence(
                quote=each.quote,
                conversation=waiting.hand_over.conversation,
                at=waiting.hand_over.at,
                next_at=waiting.next_at,
                failed=waiting.failures[-1].message if waiting.failures else "",
            )
            for waiting in self.reviews_waiting()
            for each in candidates(waiting.turns, waiting.hand_over.first_index)
        )

    def task(
        self,
        *,
        model: Callable[[], Awaitable[Llm]],
        quiet: Quiet,
        now: Callable[[], datetime],
        learning: bool = True,
        reflects: bool = True,
    ) -> MemoryTask:
        """The out-of-band worker over this memory; see `memory.task`."""
        from memory.task import MemoryTask

        return MemoryTask(
            state=self._state,
            ledger=self._ledger,
            events=self.events,
            model=model,
            quiet=quiet,
            now=now,
            learning=learning,
            reflects=reflects,
            lessons=self.lessons,
        )

    # The journal -----------------------------------------------------------------------

    def journal(self, entry: JournalEntry) -> Path:
        """Append an entry to its day; the file. Raises StateUnwritable, NotebookUnwritable."""
        return book.append(self._vault, entry)

    def journal_days(self) -> tuple[date, ...]:
        """The days that have a file, newest first."""
        return book.days(self._vault)

    def journal_day(self, day: date) -> JournalDay:
        """A day as its file is now, the user's own edits included."""
        return book.day(self._vault, day)

    def insights(self, limit: int = 20) -> tuple[JournalRead, ...]:
        """What thinking has noted, newest first."""
        return book.latest(self._vault, ("insight",), limit=limit)

    # Searching -------------------------------------------------------------------------

    def recall(
        self,
        words: str,
        limit: int = 10,
        *,
        fresh: bool = True,
        progress: Progress | None = None,
    ) -> tuple[Hit, ...]:
        """The journal's pieces for any words, best first; whole words and word beginnings (J3).

        This and `notes` look first what changed, or with `fresh` off don't; they raise
        StateUnwritable, VaultMissing.
        """
        from memory.index.records import no_progress

        return self._notes.search(
            words, where="journal", limit=limit, fresh=fresh, progress=progress or no_progress
        )

    def latest(self, limit: int = 10) -> tuple[Hit, ...]:
        """The journal's newest entries, newest first."""
        from memory.index.records import Hit

        return tuple(
            Hit.of_entry(entry, self._named(book.file_of(self._vault, entry.day)))
            for entry in book.latest(self._vault, limit=limit)
        )

    def notes(
        self,
        words: str,
        limit: int = 10,
        *,
        folder: Path | None = None,
        relevant: bool = False,
        fresh: bool = True,
        progress: Progress | None = None,
    ) -> tuple[Hit, ...]:
        """The notes' pieces for any words, best first. `folder` is a part of the vault, or another
        folder of notes; `relevant` leaves what would be sent with these words as a question."""
        from memory.index.records import no_progress
        from memory.notes.looking import Notes

        with self.index.of(folder) as (index, inside):
            notes = self._notes if index is self.index else Notes(index, _embedder)
            return notes.search(
                words,
                limit=limit,
                folder=inside,
                relevant=relevant,
                fresh=fresh,
                progress=progress or no_progress,
            )

    def note_text(self, file: str) -> str | None:
        """A note or a day of the journal, as a hit names it; None where it is none or is gone."""
        found = read_note(self._vault.path, file) if is_note(file) else None
        return found.text if isinstance(found, Read) else None

    def extracts(
        self,
        said: str,
        *,
        chars: int = EXTRACTS_CHARS,
        vector: Vectors | None = None,
        fresh: bool = True,
    ) -> tuple[Extract, ...]:
        """What of the notes has to do with a turn, the best first, for this one request; often
        none (N1, N3). `fresh` looks first what changed. `vector` is what `meaning_of` gave for
        these words, or for the beginning of them. Raises StateUnwritable, VaultMissing."""
        return self._notes.extracts(said, chars=chars, vector=vector, fresh=fresh)

    def meaning_of(self, said: str) -> Vectors | None:
        """What a turn means, some 40 ms of this CPU; None without a model for that (N7)."""
        return self._notes.vector_of(said)

    def embed_some(self, most: int = 1) -> int:
        """Make so many of the vectors that are missing, 0.3 s each; 0 where there is nothing to
        do. Raises StateUnwritable, VaultMissing."""
        return self._notes.embed_some(most)

    def _named(self, path: Path) -> str:
        return path.relative_to(self._vault.path).as_posix()

    # Watching and thinking -------------------------------------------------------------

    def watching(
        self,
        folders: Sequence[Path],
        now: Callable[[], datetime],
        *,
        seen: Callable[[Seen], None] = lambda _: None,
        calm: Callable[[], bool] = lambda: True,
    ) -> Watching:
        """The watch over these folders and the vault; see `memory.watching`. It keeps the index
        current and journals what changed, the latter only while it is calm."""
        from memory.watching.watching import Watching

        return Watching(
            state=self._state,
            vault=self._vault,
            folders=folders,
            now=now,
            index=self.index,
            journal=self.journal,
            seen=seen,
            calm=calm,
        )

    def watch_status(self) -> WatchStatus | None:
        """What the watch does, in whatever process; None where nobody ever watched."""
        from memory.watching import status

        return status.read(self._state)

    def thinking(
        self,
        *,
        model: Callable[[], Awaitable[Llm]],
        quiet: Quiet,
        now: Callable[[], datetime],
        caps: Caps,
    ) -> Thinking:
        """The think loop over the journal; see `memory.thinking`. Quiet means in every process."""
        from memory.thinking.elsewhere import QuietEverywhere
        from memory.thinking.thinking import Thinking

        return Thinking(
            state=self._state,
            vault=self._vault,
            events=self.events,
            model=model,
            quiet=QuietEverywhere(self._state, quiet),
            now=now,
            caps=caps,
        )

    def thoughts(self, now: datetime) -> Thoughts:
        """How thinking went lately, and what it has taken of its caps."""
        from memory.thinking.ledger import thoughts

        return thoughts(self.events.events("thought"), now)

    # Conversations ---------------------------------------------------------------------

    def begin(self, conversation: str, kind: Kind, at: datetime) -> Conversation:
        """Raises ConversationInUse, StateUnwritable."""
        from memory.conversations import Conversation

        return Conversation.begin(self._state, conversation, kind, at)

    def recover(self, at: datetime) -> list[HandOver]:
        """Hand over what processes that died left. Raises StateUnwritable."""
        from memory import conversations

        return conversations.recover(self._state, at)

    def unreadable(self) -> list[str]:
        """A sentence for each transcript that can't be read, wholly or in part."""
        from memory import conversations

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
