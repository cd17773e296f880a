"""“Remember that …” in a running conversation: on disk before an answer begins (V12, L3)."""

from __future__ import annotations

import asyncio
import tomllib
from collections.abc import Callable
from datetime import datetime
from importlib import resources
from string import Template

from memory import OWN_WORDS, Memory, asks_to_remember
from memory.errors import MemoryFault
from memory.records import Origin, Remembered
from voice.records import CallEvent, MemoryWritten, Notice

_TOLD = tomllib.loads((resources.files("prompts") / "remembered.toml").read_text(encoding="utf-8"))


class Remembering:
    """Of one conversation. Keeps the user's last words, which "remember that" may point back to."""

    def __init__(
        self,
        memory: Memory,
        conversation: str,
        *,
        now: Callable[[], datetime],
        emit: Callable[[CallEvent], None],
    ) -> None:
        self._memory = memory
        self._conversation = conversation
        self._now = now
        self._emit = emit
        self._before: tuple[str, datetime] | None = None

    def is_asked(self, text: str) -> bool:
        return asks_to_remember(text, self._before[0] if self._before else None)

    async def turn(self, text: str, origin: Origin) -> str | None:
        """A turn of the user's, in its final words: what the model is to be told with it.

        None where nothing was asked. On return what could be saved is on disk.
        """
        at = self._now()
        before, before_at = self._before or (None, None)
        self._before = (text, at) if origin in OWN_WORDS else None
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
            return told(Remembered(saved=False, reason=str(fault)))
        for outcome in outcomes:
            self._emit(written(outcome))
        return "\n".join(map(told, outcomes)) or None


def told(outcome: Remembered) -> str:
    """The outcome in the words that the model gets."""
    kind = "saved" if outcome.saved else "kept" if outcome.waits else "refused"
    return Template(_TOLD[kind]).safe_substitute(
        notebook=outcome.notebook or "", entry=outcome.entry or "", reason=outcome.reason or ""
    )


def written(outcome: Remembered) -> MemoryWritten:
    return MemoryWritten(
        saved=outcome.saved,
        notebook=outcome.notebook,
        entry=outcome.entry,
        reason=outcome.reason,
        change=outcome.change,
    )
