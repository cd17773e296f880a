"""Synthesizers, each behind one Protocol. They are imported in the speech worker only."""

from __future__ import annotations

from typing import Protocol

from memory.records import Language
from voice.speech.choice import VoiceChoice
from voice.speech.sound import Sound


class Synthesizer(Protocol):
    """Says one sentence or clause. Not for two threads at once.

    `gain` brings it to the loudness of the others; `by_clause` asks for short pieces,
    because the first sound comes only when a piece is done.
    """

    @property
    def rate_hz(self) -> int: ...
    @property
    def gain(self) -> float: ...
    @property
    def by_clause(self) -> bool: ...

    def say(self, text: str) -> Sound: ...


def load(choice: VoiceChoice, language: Language) -> Synthesizer:
    """Import and load what was chosen; takes up to two seconds."""
    # Imported here: each costs time and memory, and only the chosen ones are needed.
    if choice.synthesizer == "hibari":
        from voice.speech.voices.hibari import Hibari

        return Hibari()
    if choice.synthesizer == "kokoro":
        from voice.speech.voices.kokoro import Kokoro

        return Kokoro(choice.model, choice.voices, choice.voice)
    if choice.synthesizer == "piper":
        from voice.speech.voices.piper import Piper

        return Piper(choice.model)
    from voice.speech.voices.espeak import Espeak

    return Espeak(language)
