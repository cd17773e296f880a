"""What a conversation leaves in the journal: an entry for each talk that is over (J2)."""

from __future__ import annotations

import logging
from datetime import timedelta
from pathlib import Path

from memory.errors import NotebookUnwritable
from memory.journal.talks import entries_of
from memory.notebooks.ledger import Ledger
from memory.reviews import Reviews, Talk

log = logging.getLogger(__name__)

_WRITING = timedelta(seconds=30)
"""How long after a turn what it asked to have remembered may be written."""


class Journaling:
    """Reads files and writes them: for a thread. Raises StateUnwritable."""

    def __init__(self, reviews: Reviews, ledger: Ledger) -> None:
        self._reviews = reviews
        self._ledger = ledger

    def is_done(self, path: Path) -> bool:
        """Whether what this conversation held is in the journal, from now on at the latest."""
        if not self._reviews.talks_in(path):
            return True
        with self._reviews.reviewing() as is_ours:
            if is_ours:
                self.journal(path)
        return is_ours

    def journal(self, path: Path) -> None:
        """Each talk that is over leaves its entry, once: a crash between the entry and the note
        that it is there finds the entry (m14)."""
        for talk in self._reviews.talks_in(path):
            for entry in entries_of(talk.turns, talk.kind, self._remembered_in(talk)):
                try:
                    self._ledger.journal(entry)
                except NotebookUnwritable as fault:
                    # The day's file is the user's: as it is, nothing can be appended to it.
                    log.warning("%s", fault)
            self._reviews.journaled(talk)

    def _remembered_in(self, talk: Talk) -> list[str]:
        first, last = talk.turns[0].began_at, talk.turns[-1].ended_at + _WRITING
        return [
            change.new
            for change in self._ledger.changes()
            if change.source == "remember"
            and change.conversation == talk.conversation
            and change.new is not None
            and first <= (change.said_at or change.at) <= last
        ]
