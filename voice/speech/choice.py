"""Which voice speaks a language: from settings, the files at hand and the cores."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from memory.records import LANGUAGES, Language

Synthesizer = Literal["hibari", "espeak", "kokoro", "piper"]

KOKORO_CORES = 4
"""From here on Kokoro is fast enough to be chosen by itself: on two cores its first sound
takes 0.75 s and synthesis takes half of the time that it sounds."""

_KOKORO_SPANISH = "ef_dora"

_TITLES: dict[Synthesizer, str] = {
    "hibari": "hibari",
    "espeak": "espeak-ng",
    "kokoro": "Kokoro",
    "piper": "Piper",
}
_LANGUAGE_NAMES: dict[Language, str] = {"en": "English", "de": "German", "es": "Spanish"}


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeechFiles:
    """What is on this machine, as paths.

    Kokoro's voices are an archive of arrays by name (npz). A Piper voice is its ".onnx", with
    ".onnx.json" beside it.
    """

    kokoro_model: str | None = None
    kokoro_voices: str | None = None
    piper_voices: Mapping[Language, str] = field(default_factory=dict)
    piper_installed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class VoiceChoice:
    """`model` and `voices` are paths, empty where the voice comes inside its package.

    `voice` is a name in `voices`. `warning` is a sentence for the user when it isn't the
    voice that was asked for.
    """

    synthesizer: Synthesizer
    model: str = ""
    voices: str = ""
    voice: str = ""
    warning: str = ""

    @property
    def name(self) -> str:
        """For the page: "Kokoro (ef_dora)"."""
        voice = self.voice or self.model.replace("\\", "/").rpartition("/")[2].partition(".")[0]
        title = _TITLES[self.synthesizer]
        return f"{title} ({voice})" if voice else title


def choose_voice(
    language: Language, wanted: Synthesizer | None, files: SpeechFiles, cores: int
) -> VoiceChoice:
    """The wanted voice where it can speak this language here, else the best that can."""
    able = _able(language, files)
    if wanted in able:
        return able[wanted]
    best = able[_best(language, able, cores)]
    if wanted is None:
        return best
    return replace(
        best,
        warning=f"{_TITLES[wanted]} was chosen to speak {_LANGUAGE_NAMES[language]}, but "
        f"{_why_not(wanted, language, files)} {_TITLES[best.synthesizer]} speaks instead.",
    )


def choose_voices(
    wanted: Mapping[Language, Synthesizer], files: SpeechFiles, cores: int
) -> dict[Language, VoiceChoice]:
    return {
        language: choose_voice(language, wanted.get(language), files, cores)
        for language in LANGUAGES
    }


def _able(language: Language, files: SpeechFiles) -> dict[Synthesizer, VoiceChoice]:
    able: dict[Synthesizer, VoiceChoice] = {"espeak": VoiceChoice(synthesizer="espeak")}
    if language == "en":
        able["hibari"] = VoiceChoice(synthesizer="hibari")
    if language == "es" and files.kokoro_model and files.kokoro_voices:
        able["kokoro"] = VoiceChoice(
            synthesizer="kokoro",
            model=files.kokoro_model,
            voices=files.kokoro_voices,
            voice=_KOKORO_SPANISH,
        )
    if files.piper_installed and language in files.piper_voices:
        able["piper"] = VoiceChoice(synthesizer="piper", model=files.piper_voices[language])
    return able


def _best(language: Language, able: Mapping[Synthesizer, VoiceChoice], cores: int) -> Synthesizer:
    if language == "en":
        return "hibari"
    if "piper" in able:
        return "piper"
    if "kokoro" in able and cores >= KOKORO_CORES:
        return "kokoro"
    return "espeak"


def _why_not(wanted: Synthesizer, language: Language, files: SpeechFiles) -> str:
    if wanted == "hibari" or (wanted == "kokoro" and language != "es"):
        return "it can't."
    if wanted == "piper" and not files.piper_installed:
        return "piper-tts is not installed: install it beside jarvis."
    return "its files are not on this machine: see jarvis models."
