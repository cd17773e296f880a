"""What a hearing worker answered, kept with a recorded call: the same question, the same answer.

A question is known by its kind, its languages and its sound. So a replay with what was kept
needs no model, and asks for one only where something was heard anew.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Mapping
from typing import Any

from voice.hearing.asking import Asked
from voice.recording import Answered

Reply = dict[str, Any]

KINDS = frozenset({"words", "partial", "turn_end"})


def question(kind: str, header: Mapping[str, Any], sound: bytes) -> str:
    """32 letters that stand for it."""
    languages = (header.get("language", ""), *header.get("languages", ()))
    told = hashlib.sha256("|".join((kind, *languages, "")).encode())
    told.update(sound)
    return told.hexdigest()[:32]


class KeptHearing:
    """Answers from `known`, after as long as it took then; else asks the worker that `make`
    makes, once. `keep` is told of every answer that came from a worker."""

    def __init__(
        self,
        known: Mapping[str, Answered],
        make: Callable[[], Asked],
        keep: Callable[[str, Answered], None] = lambda _, __: None,
    ) -> None:
        self._known = known
        self._make = make
        self._keep = keep
        self._worker: Asked | None = None

    async def call(
        self, kind: str, header: dict[str, Any] | None = None, payload: bytes = b""
    ) -> tuple[Reply, bytes]:
        name = question(kind, header or {}, payload)
        known = self._known.get(name)
        if known is not None:
            if known.took_ms:
                await asyncio.sleep(known.took_ms / 1000)
            return known.answer, b""
        if self._worker is None:
            self._worker = self._make()
        loop = asyncio.get_running_loop()
        asked_s = loop.time()
        reply, more = await self._worker.call(kind, header, payload)
        if kind in KINDS:
            answer = {key: reply[key] for key in reply if key not in ("request", "more")}
            self._keep(name, Answered(answer, round(1000 * (loop.time() - asked_s), 3)))
        return reply, more
