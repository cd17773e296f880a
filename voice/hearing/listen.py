"""The turns in a recording: the very path of a call, as fast as the machine allows."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from memory.records import LANGUAGES, Language
from voice.audio import Samples, decode
from voice.hearing.asking import Asked
from voice.hearing.detector import FRAME_BYTES
from voice.hearing.endpoint import FRAME_MS
from voice.hearing.listener import HearingSettings, Listener
from voice.records import Guess, Heard, UserSaid

_ANSWER_TAKES_MS = 600
"""From the last sound to an answer's first words, with the smaller built-in model; a turn stays
open for as long. `bench/latency.py` measures it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HeardTurn:
    """`start_s` and `end_s` count from the recording's begin."""

    start_s: float
    end_s: float
    text: str
    language: Language

    def as_json(self) -> dict[str, Any]:
        """The form that `jarvis hear --json` prints."""
        return {
            "start": round(self.start_s, 3),
            "end": round(self.end_s, 3),
            "text": self.text,
            "language": self.language,
        }


async def hear(
    path: Path,
    worker: Asked,
    *,
    language: Language = "en",
    languages: Sequence[Language] = LANGUAGES,
    settings: HearingSettings | None = None,
) -> list[HeardTurn]:
    """The turns in an audio file. Raises AudioUnreadable and WorkerFailed."""
    samples = await asyncio.to_thread(decode, path)
    heard = await hear_samples(
        samples, worker, language=language, languages=languages, settings=settings
    )
    return [
        HeardTurn(
            start_s=event.began_ms / 1000,
            end_s=event.ended_ms / 1000,
            text=event.text,
            language=event.language,
        )
        for event in heard
        if isinstance(event, UserSaid)
    ]


async def hear_samples(
    samples: Samples,
    worker: Asked,
    *,
    language: Language = "en",
    languages: Sequence[Language] = LANGUAGES,
    settings: HearingSettings | None = None,
) -> list[Heard]:
    """Every event of hearing in 16 kHz mono samples, without partial results.

    Each answer of the models is awaited before the next frame, so the events don't depend on
    how fast they are; times are those of the recording. Nobody answers: a turn stays open as if
    somebody did.
    """
    heard: list[Heard] = []
    made: Guess | None = None

    def tell(event: Heard) -> None:
        nonlocal made
        heard.append(event)
        if isinstance(event, Guess):
            made = event
            listener.hold(event.number)

    settings = replace(settings or HearingSettings(), partial_every_ms=0)
    async with asyncio.TaskGroup() as tasks:
        listener = Listener(
            worker,
            settings,
            languages,
            language,
            tell=tell,
            spawn=tasks.create_task,
            now=lambda: listener.position_ms / 1000,
        )
        pcm = samples.astype("<i2").tobytes()
        silence_ms = settings.endpoint.stop_ms * 10
        pcm += bytes(-len(pcm) % FRAME_BYTES + FRAME_BYTES * (silence_ms // FRAME_MS))
        for start in range(0, len(pcm), FRAME_BYTES):
            if made and listener.position_ms >= made.ended_ms + _ANSWER_TAKES_MS:
                listener.release(made.number)
                made = None
            listener.frame(pcm[start : start + FRAME_BYTES])
            await listener.settle()
        await listener.finish()
    return heard
