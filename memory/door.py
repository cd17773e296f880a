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
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from memory.events import EventLog
from memory.journal import book
from memory.notebook_views import NotebookPage, NotebookSummary
from memory.notebooks.ledger import Ledger
from memory.notebooks.limits import MERGE_AT, NOTEBOOKS_CHARS
from memory.notebooks.page import Page
from memory.notes.context import EXTRACTS_CHARS
from memory.notes.reading import Read, is_note, read_note
from memory.presence import Presence
from memory.records import (
    Change,
    Extract,
    HandOver,
    JournalDay,
    JournalEntry,
    JournalRead,
    Language,
    MarkedSentence,
    Notebook,
    Origin,
    Prefix,
    Remembered,
)
from memory.session import Prefixes, Session
from memory.vault import Vault
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
    from memory.llm.protocol import Llm
    from memory.notes.looking import Notes
    from memory.reviews import Waiting as WaitingReview
    from memory.task import MemoryTask
    from memory.thinking.ledger import Thoughts
    from memory.thinking.thinking import Caps, Thinking
    from memory.watching.status import Seen, WatchStatus
    from memory.watching.watching import Watching


def _embedder() -> Embedder | None:
    """Looked for when it is first needed: most commands make no vectors."""
    from memory.embedding import at_hand

    return at_hand()


class Memory:
    """Notebooks, conversations and the event log of one user. For any thread."""

    def __init__(self, vault: Vault, state: Path, events: EventLog, presence: Presence) -> None:
        self._presence = presence
        self._vault = vault
        self._state = state
        self._ledger = Ledger(vault, state)
        self._prefixes = Prefixes(vault, lambda: self.lessons)
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
        with self._prefixes.cleared():
            self._summed = None
            return wipe(
                self._vault.folder,
                self._state,
                at,
                presence=self._presence,
                log_held=self.events.held(),
            )

    # Notebooks -------------------------------------------------------------------------

    def prefix(self) -> Prefix:
        """What rides in front of a conversation that begins now."""
        return self._prefixes.prefix()

    def session(self) -> Session:
        """One call's or chat's view of the notebooks, from now on."""
        return self._prefixes.session()

    def notebooks(self) -> tuple[NotebookSummary, ...]:
        """USER.md and MEMORY.md as they are now."""
        pages = self._prefixes.pages()
        if self._summed is None or self._summed[0] != pages:
            found = tuple(NotebookSummary.of(page, self._vault.folder) for page in pages)
            self._summed = (pages, found)
        return self._summed[1]

    def notebook(self, name: Notebook) -> NotebookPage:
        """Raises NotebookUnwritable for a link out of the vault, StateUnwritable."""
        return NotebookPage.of(name, self._ledger.book(name), self._vault.folder, self.changes())

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
        from memory.remembering import OWN_WORDS, asked_in_turn, remember_turn

        if origin not in OWN_WORDS:
            return ()
        return remember_turn(
            self._ledger,
            self.events,
            asked_in_turn(text, before, spoken=origin == "spoken"),
            at,
            before_at=before_at,
            conversation=conversation,
        )

    def remember_text(
        self, text: str, at: datetime, *, language: Language | None = None, dry_run: bool = False
    ) -> Remembered:
        """Write down this text, with or without “remember that” in front."""
        from memory.remembering import remember_text

        return remember_text(
            self._ledger, self.events, text, at, language=language, dry_run=dry_run
        )

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
