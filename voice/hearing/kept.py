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

NEAR_MS = 100
"""A live call's question is asked when the one before was answered, a frame or two sooner or later
in a replay. It hears the same."""

KINDS = frozenset({"words", "again", "partial", "called_out", "turn_end"})


def question(kind: str, header: Mapping[str, Any], sound: bytes) -> str:
    """32 letters that stand for it."""
    languages = (header.get("language", ""), *header.get("languages", ()))
    told = hashlib.sha256("|".join((kind, *languages, "")).encode())
    told.update(sound)
    return told.hexdigest()[:32]


class KeptHearing:
    """Answers from `known`, after as long as it took then; what was asked of nearly as much of a
    turn in a live call is known as well. Else asks the worker that `make` makes, once. `keep` is
    told of every answer that came from a worker."""

    def __init__(
        self,
        known: Mapping[str, Answered],
        make: Callable[[], Asked],
        keep: Callable[[str, Answered], None] = lambda _, __: None,
    ) -> None:
        self._known = known
        self._live: dict[tuple[str, int], list[Answered]] = {}
        for answered in known.values():
            if answered.took_ms:
                self._live.setdefault((answered.kind, answered.turn), []).append(answered)
        self._make = make
        self._keep = keep
        self._worker: Asked | None = None

    async def call(
        self, kind: str, header: dict[str, Any] | None = None, payload: bytes = b""
    ) -> tuple[Reply, bytes]:
        header = header or {}
        name = question(kind, header, payload)
        turn, at_ms = int(header.get("turn", 0)), int(header.get("at_ms", 0))
        known = self._known.get(name) or self._nearly(kind, turn, at_ms)
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
            took_ms = round(1000 * (loop.time() - asked_s), 3)
            self._keep(name, Answered(answer, took_ms, kind, turn, at_ms))
        return reply, more

    def _nearly(self, kind: str, turn: int, at_ms: int) -> Answered | None:
        near = min(
            self._live.get((kind, turn), ()),
            key=lambda each: abs(each.at_ms - at_ms),
            default=None,
        )
        return near if near is not None and abs(near.at_ms - at_ms) <= NEAR_MS else None
