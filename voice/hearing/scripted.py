"""A hearing worker whose answers are written down: for tests, where nobody wants a model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from voice.errors import WorkerFailed


class ScriptedHearing:
    """Answers `words` from a list, one after the other; the last one stays.

    An entry is a text, a whole reply, or a WorkerFailed to raise. `again` is what a second look
    finds; it is asked where a reply says so. `called_out` is how likely a word of stopping is, by
    word. `over` is the end-of-turn
    model's answer, also a list. `asked` is what was asked: kind and bytes of sound.
    """

    def __init__(
        self,
        words: Sequence[str | dict[str, Any] | WorkerFailed],
        *,
        over: Sequence[float] = (0.95,),
        partials: Sequence[str] = ("",),
        again: Sequence[str | dict[str, Any] | WorkerFailed] = (),
        called_out: Mapping[str, float] | None = None,
    ) -> None:
        self._scripts: dict[str, list[str | dict[str, Any] | WorkerFailed]] = {
            "words": list(words),
            "partial": list(partials),
            "again": list(again),
        }
        self._over = list(over)
        self._called_out = called_out or {}
        self.asked: list[tuple[str, bytes]] = []

    async def call(
        self, kind: str, header: dict[str, Any] | None = None, payload: bytes = b""
    ) -> tuple[dict[str, Any], bytes]:
        self.asked.append((kind, payload))
        if kind == "turn_end":
            return {"over": self._over.pop(0) if len(self._over) > 1 else self._over[0]}, b""
        if kind == "called_out":
            likely = {word: self._called_out.get(word, -9.0) for word in (header or {})["phrases"]}
            best = max(likely, key=lambda word: likely[word])
            return {"text": best, "logprob": likely[best]}, b""
        script = self._scripts[kind]
        answer = script.pop(0) if len(script) > 1 else script[0]
        if isinstance(answer, WorkerFailed):
            raise answer
        given = {"text": answer} if isinstance(answer, str) else answer
        language = (header or {}).get("language", "en")
        reply = {"language": language, "sure": True, "logprob": -0.2, "no_speech": 0.05}
        return {**reply, **given}, b""
