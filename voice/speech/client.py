"""Speech for a call: text in, 24 kHz PCM out, from a worker process."""

from __future__ import annotations

import asyncio
import itertools
import json
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Mapping
from contextlib import aclosing
from dataclasses import asdict
from typing import Protocol

from memory.records import LANGUAGES, Language
from voice.errors import WorkerFailed
from voice.speech.choice import VoiceChoice
from voice.speech.preparation import speakable
from voice.speech.words import words_of
from voice.workers import Worker

log = logging.getLogger(__name__)


class Voice(Protocol):
    """What speaks in a call."""

    async def warm(self, languages: Iterable[Language]) -> tuple[str, ...]:
        """Load what these languages need; returns sentences about voices that were replaced."""
        ...

    def speak(self, text: str, language: Language) -> AsyncIterator[bytes]:
        """Mono 16-bit PCM at 24 kHz, as it comes; nothing for a text without words.

        Closing the iterator early (`aclosing`) cancels. Raises WorkerFailed.
        """
        ...

    def voice_name(self, language: Language) -> str:
        """For the page, the terminal and the log."""
        ...

    async def close(self) -> None: ...


class Speech:
    """The voice of this machine. Texts are spoken in the order in which they were asked for."""

    def __init__(self, choices: Mapping[Language, VoiceChoice]) -> None:
        arguments = json.dumps({language: asdict(choices[language]) for language in LANGUAGES})
        self._names = {language: choices[language].name for language in LANGUAGES}
        self._warnings = {
            language: choices[language].warning
            for language in LANGUAGES
            if choices[language].warning
        }
        self._worker = Worker("voice.speech.worker", arguments, title="The speech worker")
        self._utterances = itertools.count(1)
        self._cancelling: set[asyncio.Task[None]] = set()

    @property
    def pid(self) -> int | None:
        return self._worker.pid

    async def warm(self, languages: Iterable[Language]) -> tuple[str, ...]:
        wanted = list(dict.fromkeys(languages))
        told, _ = await self._worker.call("warm", {"languages": wanted})
        self._names.update(told["names"])
        self._warnings.update(told["warnings"])
        return tuple(self._warnings[language] for language in wanted if language in self._warnings)

    async def speak(self, text: str, language: Language) -> AsyncGenerator[bytes, None]:
        prepared = speakable(text, words_of(language))
        if not prepared:
            return
        utterance = next(self._utterances)
        request = {"utterance": utterance, "language": language, "text": prepared}
        left_early = True
        try:
            async with aclosing(self._worker.stream("speak", request)) as replies:
                async for _, audio in replies:
                    yield audio
            left_early = False
        except WorkerFailed:
            left_early = False
            raise
        finally:
            if left_early:
                # Not awaited: whoever leaves is in a hurry, and may itself be cancelled.
                task = asyncio.create_task(self._cancel(utterance))
                self._cancelling.add(task)
                task.add_done_callback(self._cancelling.discard)

    async def _cancel(self, utterance: int) -> None:
        try:
            await self._worker.call("cancel", {"utterance": utterance})
        except WorkerFailed as fault:
            log.debug("nothing left to cancel: %s", fault)

    def voice_name(self, language: Language) -> str:
        return self._names[language]

    async def close(self) -> None:
        await asyncio.gather(*self._cancelling)
        await self._worker.close()
