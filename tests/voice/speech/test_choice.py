"""Which voice speaks."""

from __future__ import annotations

from typing import get_args

import pytest

from memory.records import Language
from voice.speech.choice import (
    SpeechFiles,
    Synthesizer,
    VoiceChoice,
    choose_voice,
    choose_voices,
)

NOTHING = SpeechFiles()
KOKORO = SpeechFiles(kokoro_model="/w/kokoro.onnx", kokoro_voices="/w/voices.npz")
PIPER = SpeechFiles(piper_voices={"de": "/w/thorsten.onnx"}, piper_installed=True)
PIPER_MISSING = SpeechFiles(piper_voices={"de": "/w/thorsten.onnx"})

CHOICES: list[tuple[Language, Synthesizer | None, SpeechFiles, int, Synthesizer, str]] = [
    ("en", None, NOTHING, 1, "hibari", ""),
    ("en", None, KOKORO, 16, "hibari", ""),
    ("en", "espeak", NOTHING, 2, "espeak", ""),
    ("en", "kokoro", KOKORO, 8, "hibari", "it can't"),
    ("de", None, NOTHING, 16, "espeak", ""),
    ("de", None, KOKORO, 16, "espeak", ""),
    ("de", None, PIPER, 2, "piper", ""),
    ("de", "espeak", PIPER, 2, "espeak", ""),
    ("de", None, PIPER_MISSING, 2, "espeak", ""),
    ("de", "piper", PIPER_MISSING, 2, "espeak", "piper-tts is not installed"),
    ("de", "kokoro", KOKORO, 16, "espeak", "it can't"),
    ("de", "hibari", PIPER, 2, "piper", "it can't"),
    ("es", None, NOTHING, 16, "espeak", ""),
    ("es", None, KOKORO, 2, "espeak", ""),
    ("es", None, KOKORO, 3, "espeak", ""),
    ("es", None, KOKORO, 4, "kokoro", ""),
    ("es", "kokoro", KOKORO, 2, "kokoro", ""),
    ("es", "espeak", KOKORO, 8, "espeak", ""),
    ("es", "kokoro", NOTHING, 8, "espeak", "files are not on this machine"),
    ("es", "piper", PIPER, 8, "espeak", "files are not on this machine"),
]


@pytest.mark.parametrize(
    ("language", "wanted", "files", "cores", "synthesizer", "warning"), CHOICES
)
def test_choice(
    language: Language,
    wanted: Synthesizer | None,
    files: SpeechFiles,
    cores: int,
    synthesizer: Synthesizer,
    warning: str,
) -> None:
    choice = choose_voice(language, wanted, files, cores)
    assert choice.synthesizer == synthesizer
    assert warning in choice.warning
    assert bool(warning) == bool(choice.warning)


def test_every_language_has_a_voice() -> None:
    chosen = choose_voices({}, NOTHING, 2)
    assert {language: choice.synthesizer for language, choice in chosen.items()} == {
        "en": "hibari",
        "de": "espeak",
        "es": "espeak",
    }


@pytest.mark.parametrize("wanted", get_args(Synthesizer))
def test_a_wish_that_fails_says_who_speaks_instead(wanted: Synthesizer) -> None:
    choice = choose_voice("de", wanted, NOTHING, 2)
    assert (choice.warning == "") == (wanted == "espeak")
    assert choice.warning == "" or choice.warning.endswith("espeak-ng speaks instead.")


NAMES = [
    (VoiceChoice(synthesizer="hibari"), "hibari"),
    (
        VoiceChoice(synthesizer="kokoro", model="/w/k.onnx", voices="/w/v.npz", voice="ef_dora"),
        "Kokoro (ef_dora)",
    ),
    (VoiceChoice(synthesizer="piper", model="C:\\w\\de-x.onnx"), "Piper (de-x)"),
]


@pytest.mark.parametrize(("choice", "name"), NAMES)
def test_names_for_the_page(choice: VoiceChoice, name: str) -> None:
    assert choice.name == name
