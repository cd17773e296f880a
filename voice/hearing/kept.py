"""What a hearing worker answered, kept with a recorded call: the same question, the same answer.

A question is known by its kind, its languages and its sound. So a replay with what was kept
needs no model, and asks for one only where something was heard anew.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from typing import Any

from voice.hearing.asking import Asked

Reply = dict[str, Any]

# Partial text is for whoever reads along; nothing is decided by it.
KINDS = frozenset({"words", "turn_end"})


def question(kind: str, header: Mapping[str, Any], sound: bytes) -> str:
    """32 letters that stand for it."""
    languages = (header.get("language", ""), *header.get("languages", ()))
    told = hashlib.sha256("|".join((kind, *languages, "")).encode())
    told.update(sound)
    return told.hexdigest()[:32]


class KeptHearing:
    """Answers from `known`, else asks the worker that `make` makes, once; `keep` is told of
    every answer that came from a worker."""

    def __init__(
        self,
        known: Mapping[str, Reply],
        make: Callable[[], Asked],
        keep: Callable[[str, Reply], None] = lambda _, __: None,
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
            return known, b""
        if self._worker is None:
            self._worker = self._make()
        reply, more = await self._worker.call(kind, header, payload)
        if kind in KINDS:
            self._keep(name, {key: reply[key] for key in reply if key not in ("request", "more")})
        return reply, more
