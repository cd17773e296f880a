"""“Remember that …” in a running conversation: on disk before an answer begins (V12, L3)."""

from __future__ import annotations

import asyncio
import logging
import tomllib
from collections.abc import Callable, Iterable
from datetime import datetime
from string import Template

from memory import OWN_WORDS, Memory, Session, asks_to_remember, is_said, only_remembering, prompt
from memory.errors import MemoryFault
from memory.records import LANGUAGES, Language, Origin, Remembered
from voice.records import CallEvent, MemoryWritten, Notice, Told

log = logging.getLogger(__name__)

_PROMPT = tomllib.loads(prompt("remembered.toml"))


class Remembering:
    """Of one conversation. Keeps the user's last words, which "remember that" may point back to."""

    def __init__(
        self,
        memory: Memory,
        session: Session,
        conversation: str,
        *,
        now: Callable[[], datetime],
        emit: Callable[[CallEvent], None],
    ) -> None:
        self._memory = memory
        self._session = session
        self._conversation = conversation
        self._now = now
        self._emit = emit
        self._before: tuple[str, datetime] | None = None

    def is_asked(self, text: str) -> bool:
        return asks_to_remember(text, self._before[0] if self._before else None)

    async def turn(self, text: str, origin: Origin) -> Told | None:
        """A turn of the user's, in its final words: what became of its wish.

        None where nothing was asked. On return what could be saved is on disk.
        """
        at = self._now()
        own = origin in OWN_WORDS and is_said(text, spoken=origin == "spoken")
        before, self._before = self._before, (text, at) if own else None
        try:
            return await self._turn(text, origin, at, *(before or (None, None)))
        except Exception:
            # A mistake of ours in the rules must not cost the turn that they read.
            log.exception("a turn could not be looked at for what it asks to have remembered")
            return None

    async def _turn(
        self,
        text: str,
        origin: Origin,
        at: datetime,
        before: str | None,
        before_at: datetime | None,
    ) -> Told | None:
        if not asks_to_remember(text, before):
            return None
        try:
            outcomes = await asyncio.to_thread(
                self._memory.remember,
                text,
                at,
                origin=origin,
                before=before,
                before_at=before_at,
                conversation=self._conversation,
            )
        except MemoryFault as fault:
            self._emit(Notice(kind="stop", text=str(fault)))
            outcomes = (Remembered(saved=False, why="fault", reason=str(fault)),)
        else:
            for outcome in outcomes:
                if outcome.change is not None and outcome.entry is not None:
                    self._session.told(outcome.entry)
                self._emit(written(outcome))
        if not outcomes:
            return None
        return Told(
            note="\n".join(map(note, outcomes)),
            said={language: said(outcomes, language) for language in LANGUAGES},
            whole=only_remembering(text, before),
            lasting="\n".join(_lasting(outcome) for outcome in outcomes if outcome.saved),
        )


def note(outcome: Remembered) -> str:
    """The outcome in the words that a model gets."""
    kind = "saved" if outcome.saved else "kept" if outcome.waits else "refused"
    return Template(_PROMPT["told"][kind]).safe_substitute(
        notebook=outcome.notebook or "", entry=outcome.entry or "", reason=outcome.reason or ""
    )


def _lasting(outcome: Remembered) -> str:
    return Template(_PROMPT["lasting"]["saved"]).substitute(
        notebook=outcome.notebook or "", entry=outcome.entry or ""
    )


def said(outcomes: Iterable[Remembered], language: Language) -> str:
    """The outcomes as Jarvis says them; the same one is said once."""
    words = _PROMPT["said"][language]
    return " ".join(
        dict.fromkeys(
            words["there" if each.reason else "saved"] if each.saved else words[each.why or "fault"]
            for each in outcomes
        )
    )


def written(outcome: Remembered) -> MemoryWritten:
    return MemoryWritten(
        saved=outcome.saved,
        notebook=outcome.notebook,
        entry=outcome.entry,
        reason=outcome.reason,
        change=outcome.change,
        why=outcome.why,
        waits=outcome.waits,
    )
