"""What the user's notes say to a turn: looked up beside the event loop, while it is being said."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from memory import Memory, brief_turns, notes_block
from memory.errors import MemoryFault
from voice.records import NotesFound, Notice

if TYPE_CHECKING:
    from memory import Vectors

log = logging.getLogger(__name__)

FRESH_S = 1.0
"""For so long a look at which notes were edited serves: the words of a turn come in parts."""

PATIENCE_S = 0.5
"""What typed words mean is waited for so long; it takes 40 ms where the CPU is free."""

_SAME_QUESTION = 0.6
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class _Looked:
    words: tuple[str, ...]
    found: NotesFound | None


class Looking:
    """Of one conversation. Called with what was understood so far it looks ahead, and with the
    final words it answers in some milliseconds; it never raises, and costs no turn."""

    def __init__(self, memory: Memory, *, notify: Callable[[Notice], None]) -> None:
        self._memory = memory
        self._notify = notify
        self._last: _Looked | None = None
        self._fresh_until_s = 0.0
        self._meaning: tuple[tuple[str, ...], asyncio.Task[Vectors | None]] | None = None
        self._told: set[str] = set()

    async def __call__(self, words: str, *, patient: bool = False) -> NotesFound | None:
        """`patient` waits for what the words mean, where a model for that is at hand: typed words
        come whole."""
        said = _words(words)
        if not said:
            return None
        now_s = asyncio.get_running_loop().time()
        is_fresh = now_s < self._fresh_until_s
        if is_fresh and self._last is not None and self._last.words == said:
            return self._last.found
        try:
            vector = await self._vector(words, said, patient=patient)
            with brief_turns():
                extracts = await asyncio.to_thread(
                    partial(self._memory.extracts, words, vector=vector, fresh=not is_fresh)
                )
        except MemoryFault as fault:
            self._tell(str(fault))
            return None
        except Exception:
            # A mistake of ours here must not cost the turn that it would only have helped.
            log.exception("nothing could be looked up for a turn")
            return None
        if not is_fresh:
            self._fresh_until_s = now_s + FRESH_S
        found = NotesFound(block=notes_block(extracts), extracts=extracts) if extracts else None
        self._last = _Looked(said, found)
        log.info("looked up: %d extracts", len(extracts))
        return found

    async def close(self) -> None:
        """Nobody asks any more: what is still being made out is not waited for."""
        if self._meaning is not None:
            _, making = self._meaning
            making.cancel()
            await asyncio.wait({making})

    async def _vector(self, words: str, said: tuple[str, ...], *, patient: bool) -> Vectors | None:
        """What these words mean, or nearly these; None while nobody knows."""
        if self._meaning is None or (self._meaning[0] != said and self._meaning[1].done()):
            task = asyncio.create_task(asyncio.to_thread(self._memory.meaning_of, words))
            self._meaning, before = (said, task), self._meaning
        else:
            before = None
        meant, making = self._meaning
        if patient and meant == said:
            await asyncio.wait({making}, timeout=PATIENCE_S)
        for each in (self._meaning, before):
            if each is not None and each[1].done() and _is_same(each[0], said):
                return each[1].result()
        return None

    def _tell(self, text: str) -> None:
        if text not in self._told:
            self._told.add(text)
            self._notify(Notice(kind="stop", text=text))


def _words(text: str) -> tuple[str, ...]:
    return tuple(_WORD.findall(text.lower()))


def _is_same(partly: tuple[str, ...], said: tuple[str, ...]) -> bool:
    """Whether most of what is said now was said then."""
    return len(set(partly) & set(said)) >= _SAME_QUESTION * len(set(said))
