"""The speech worker: synthesis in a process of its own.

Requests: "warm" loads voices, "speak" says a text piece by piece, and "cancel" makes an
utterance end before its next piece. Run with the choice of voices as JSON.
"""

from __future__ import annotations

import json
import logging
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

from memory.records import LANGUAGES, Language
from voice.speech.choice import VoiceChoice
from voice.speech.clauses import clauses, sentences
from voice.speech.sound import pause_ms, playable
from voice.speech.voices import Synthesizer, load
from voice.speech.words import words_of
from voice.workers import Header, Message, serve

log = logging.getLogger(__name__)

_WARM_UP: dict[Language, str] = {
    # With an invented word, because unknown ones load a model of their own.
    "en": "Hello, this is Jarvisett.",
    "de": "Hallo.",
    "es": "Hola.",
}


class SpeechWorker:
    """Loads voices at their first use. A voice that can't load is replaced by espeak-ng."""

    def __init__(self, choices: dict[Language, VoiceChoice]) -> None:
        self._choices = choices
        self._voices: dict[Language, Synthesizer] = {}
        self._warnings: dict[Language, str] = {}
        self._at_work = threading.Lock()
        self._cancelled: set[int] = set()

    def warm(self, header: Header, _payload: bytes) -> Iterator[Message]:
        for language in header["languages"]:
            with self._at_work:
                self._voice(language).say(_WARM_UP[language])
        names = {language: self._choices[language].name for language in self._voices}
        yield {"names": names, "warnings": self._warnings}, b""

    def speak(self, header: Header, _payload: bytes) -> Iterator[Message]:
        utterance: int = header["utterance"]
        language: Language = header["language"]
        # Utterances are spoken in their order, so what came before this one is over.
        self._cancelled = {number for number in self._cancelled if number >= utterance}
        if utterance in self._cancelled:
            return
        with self._at_work:
            voice = self._voice(language)
        cut = clauses if voice.by_clause else sentences
        for part in cut(header["text"], words_of(language).abbreviations):
            if utterance in self._cancelled:
                return
            began_s = time.perf_counter()
            with self._at_work:
                sound = voice.say(part.strip())
            audio = playable(sound, voice.rate_hz, gain=voice.gain, pause_ms=pause_ms(part))
            if audio:
                yield {"took_ms": round((time.perf_counter() - began_s) * 1000)}, audio

    def cancel(self, header: Header, _payload: bytes) -> Iterator[Message]:
        self._cancelled.add(header["utterance"])
        yield {}, b""

    def _voice(self, language: Language) -> Synthesizer:
        if language not in self._voices:
            choice = self._choices[language]
            try:
                self._voices[language] = load(choice, language)
            except Exception as fault:
                # Whatever a synthesizer raises while it loads, the call must not go mute.
                log.exception("%s can't be loaded", choice.name)
                if choice.synthesizer == "espeak":
                    raise
                self._choices[language] = VoiceChoice(synthesizer="espeak")
                self._voices[language] = load(self._choices[language], language)
                self._warnings[language] = (
                    f"The voice {choice.name} can't be loaded ({fault}), so espeak-ng speaks "
                    "instead. Check its files with jarvis models."
                )
        return self._voices[language]


def _choices_from_json(text: str) -> dict[Language, VoiceChoice]:
    loaded: dict[str, Any] = json.loads(text)
    return {language: VoiceChoice(**loaded[language]) for language in LANGUAGES}


def main() -> None:
    worker = SpeechWorker(_choices_from_json(sys.argv[1]))
    serve({"warm": worker.warm, "speak": worker.speak, "cancel": worker.cancel})


if __name__ == "__main__":
    main()
