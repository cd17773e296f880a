"""What a call is asked before a question goes to its service: what changed, what the notes say."""

from __future__ import annotations

import asyncio
import logging

from voice.engines.protocol import Opening
from voice.engines.realtime_records import Question
from voice.records import NotesFound

log = logging.getLogger(__name__)

_NOTES_S = 0.3


class Lookups:
    """Of one session's processor. `end` it with the call."""

    def __init__(self, opening: Opening) -> None:
        self._opening = opening
        self._ahead: tuple[str, asyncio.Task[NotesFound | None]] | None = None

    def look_ahead(self, text: str) -> None:
        """What the notes say to a guess, while it is still one."""
        if self._ahead is not None:
            self._ahead[1].cancel()
        self._ahead = (text, asyncio.create_task(self._opening.notes(text)))  # type: ignore[arg-type]

    async def news(self, *, connected: bool) -> str | None:
        """For a session that stands; the next one is told everything anyway."""
        return await self._opening.news() if connected else None

    async def notes_to(self, question: Question) -> NotesFound | None:
        """Bounded: an answer does not wait for a slow disk. Of a turn that plain code acted on,
        only what that found."""
        if question.told is not None:
            return question.told.found
        if self._ahead is None or self._ahead[0] != question.text:
            self.look_ahead(question.text)
        assert self._ahead is not None
        _, looking = self._ahead
        self._ahead = None
        try:
            async with asyncio.timeout(_NOTES_S):
                return await looking
        except TimeoutError:
            log.warning("the notes were not searched in time")
            return None

    def end(self) -> asyncio.Task[NotesFound | None] | None:
        """What is still under way; it is cancelled."""
        if self._ahead is None:
            return None
        self._ahead[1].cancel()
        return self._ahead[1]
