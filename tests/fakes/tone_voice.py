"""A voice that hums: as long as the words would take, in no time."""

from __future__ import annotations

import math
import struct
from collections.abc import AsyncGenerator, Iterable
from functools import cache

from memory.records import Language
from voice.errors import WorkerFailed

RATE_HZ = 24_000
S_PER_WORD = 0.3


class ToneVoice:
    """A `voice.speech.client.Voice`. `spoken` keeps what it was given, in order.

    A text that holds `breaks_at` kills it, once.
    """

    def __init__(self, *, breaks_at: str | None = None, warning: str = "") -> None:
        self._breaks_at = breaks_at
        self._warnings = (warning,) if warning else ()
        self.spoken: list[tuple[str, Language]] = []

    async def warm(self, languages: Iterable[Language]) -> tuple[str, ...]:
        return self._warnings

    async def speak(self, text: str, language: Language) -> AsyncGenerator[bytes, None]:
        if self._breaks_at is not None and self._breaks_at in text:
            self._breaks_at = None
            raise WorkerFailed("The speech worker ended with code 1.")
        self.spoken.append((text, language))
        for _ in text.split():
            yield tone(S_PER_WORD)

    def voice_name(self, language: Language) -> str:
        return f"a tone ({language})"

    async def close(self) -> None:
        pass


@cache
def tone(duration_s: float) -> bytes:
    count = round(duration_s * RATE_HZ)
    return b"".join(
        struct.pack("<h", round(8000 * math.sin(2 * math.pi * 440 * i / RATE_HZ)))
        for i in range(count)
    )
