"""Questions to the hearing worker, and its answers as words that count or don't."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any, Literal, Protocol, cast

from memory.records import Language
from voice.errors import WorkerFailed
from voice.hearing.open_turn import OpenTurn, Words
from voice.hearing.phrases import phrases
from voice.hearing.wording import Evidence, cleaned, why_nothing

log = logging.getLogger(__name__)

Kind = Literal["words", "again", "partial"]

_TRIES = 3
_CALLED_OUT_LOGPROB = -2.1
"""Of 80 words of stopping in eight voices 73 are likelier; of 64 signs of listening, 117 pieces of noise
and 86 beginnings of people's sentences the likeliest is −2.2."""


class Asked(Protocol):
    """What answers: a `voice.workers.Worker` that runs `voice.hearing.worker`."""

    async def call(
        self, kind: str, header: dict[str, Any] | None = None, payload: bytes = b""
    ) -> tuple[dict[str, Any], bytes]: ...


class Questions:
    """To one worker, about the turns of one call. `WorkerFailed` where it doesn't answer."""

    def __init__(self, worker: Asked, languages: Sequence[Language]) -> None:
        self._worker = worker
        self._languages = tuple(languages)

    async def words(
        self, kind: Kind, turn: OpenTurn, language: Language, sound: bytes
    ) -> Words | None:
        """`language` is the session's. What is known of the voice when the answer comes counts.
        None where more of the turn was asked about meanwhile."""
        header = {
            "languages": self._languages,
            "language": language,
            "turn": turn.number,
            "at_ms": turn.last_words_ms,
        }
        reply, _ = await self._worker.call(kind, header, sound)
        if reply.get("superseded"):
            return None
        found = cast("Language", reply["language"])
        text = cleaned(reply["text"], phrases(found))
        evidence = Evidence(
            voiced_ms=turn.voice.voiced_ms,
            span_ms=turn.last_voice_ms - turn.began_ms,
            confidence=turn.voice.confidence,
            above_room_db=turn.above_room_db,
            below_usual_db=turn.below_usual_db,
            logprob=reply["logprob"],
            no_speech=reply["no_speech"],
        )
        return Words(
            text=text,
            language=found,
            sure=reply["sure"],
            logprob=reply["logprob"],
            nothing=why_nothing(text, evidence, phrases(found)),
            again=reply.get("again", False),
        )

    async def words_for_sure(
        self, kind: Kind, turn: OpenTurn, language: Language, sound: bytes
    ) -> Words | None:
        """A worker that dies is started again, and asked again."""
        for left in reversed(range(_TRIES)):
            try:
                return await self.words(kind, turn, language, sound)
            except WorkerFailed as fault:
                if not left:
                    raise
                log.warning("asking for a turn's words again: %s", fault)
        raise AssertionError("unreachable")

    async def called_out(self, turn: OpenTurn, language: Language, sound: bytes) -> Words | None:
        """The word of stopping that a short sound is, if it is likely enough to be one."""
        header = {
            "language": language,
            "turn": turn.number,
            "at_ms": turn.last_words_ms,
            "phrases": sorted(phrases(language).called_out),
        }
        reply, _ = await self._worker.call("called_out", header, sound)
        if reply["logprob"] < _CALLED_OUT_LOGPROB:
            return None
        return Words(
            text=f"{reply['text'].capitalize()}.",
            language=language,
            sure=False,
            logprob=reply["logprob"],
            nothing=None,
        )

    async def over(self, turn: int, at_ms: int, sound: bytes) -> float:
        """The end-of-turn model's probability that the n-th turn, `sound` of it up to `at_ms`, is
        done."""
        reply, _ = await self._worker.call("turn_end", {"turn": turn, "at_ms": at_ms}, sound)
        return float(reply["over"])
