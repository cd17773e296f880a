"""What this machine hears, thinks and speaks with under the settings, and what that needs."""

from __future__ import annotations

import importlib.util
import locale
import os
from pathlib import Path

from memory.records import Language
from voice import weights
from voice.bringing import bring
from voice.config import Config
from voice.engines import choose
from voice.engines.embedded import EmbeddedModel
from voice.engines.language_model import LanguageModel
from voice.engines.model_states import measured_speed
from voice.engines.openai_compatible import OpenAICompatibleModel, find_ollama
from voice.remotes import bare_gemini_key
from voice.speech.choice import SpeechFiles, Synthesizer, choose_voices
from voice.speech.client import Speech
from voice.workers import Worker


def first_language(config: Config) -> Language:
    """The language that a conversation begins in: the setting, else the machine's own."""
    if config.language is not None:
        return config.language
    named = (locale.getlocale()[0] or os.environ.get("LANG", ""))[:2].lower()
    for language in config.languages:
        if language == named:
            return language
    return config.languages[0]


# Weights ------------------------------------------------------------------------------


def needed_weights(config: Config) -> list[str]:
    """What a call with these settings needs and a registry or a hub can give."""
    needed = ["whisper-base"]
    if config.engine in LOCAL and not config.llm_url:
        needed.append(choose.BETTER if config.model == "better" else choose.SMALL)
    if config.voice_es == "kokoro":
        needed += ["kokoro", "kokoro-voices"]
    if config.voice_de == "piper":
        needed.append("piper-de")
    return needed


def bring_weights(config: Config, names: list[str] | None) -> None:
    with weights.terminal_progress() as progress:
        bring(names or needed_weights(config), config.weights, progress)


def weights_of(choice: choose.Choice) -> list[str]:
    return [choice.model] if choice.kind == "embedded" else []


def weights_report(
    config: Config, names: list[str] | None, *, verify: bool
) -> list[weights.WeightState]:
    with weights.terminal_progress() as progress:
        rows = weights.models_report(config.weights, verify, progress)
    return [row for row in rows if not names or row.name in names]


# Voices -------------------------------------------------------------------------------


def speech_of(config: Config) -> Speech:
    wanted: dict[Language, Synthesizer] = {}
    if config.voice_es != "auto":
        wanted["es"] = config.voice_es
    if config.voice_de != "auto":
        wanted["de"] = config.voice_de
    return Speech(choose_voices(wanted, _speech_files(config), os.cpu_count() or 1))


def _speech_files(config: Config) -> SpeechFiles:
    here = {
        state.name: str(state.path)
        for name in ("kokoro", "kokoro-voices", "piper-de", "piper-es")
        if (state := weights.state_of(name, config.weights)).state == "present"
    }
    pairs: tuple[tuple[Language, str], ...] = (("de", "piper-de"), ("es", "piper-es"))
    return SpeechFiles(
        kokoro_model=here.get("kokoro"),
        kokoro_voices=here.get("kokoro-voices"),
        piper_voices={language: here[name] for language, name in pairs if name in here},
        piper_installed=importlib.util.find_spec("piper") is not None,
    )


def hearing_worker(config: Config) -> Worker:
    return Worker(
        "voice.hearing.worker",
        str(weights.path_of("whisper-base", config.weights)),
        title="The hearing worker",
    )


# What answers -------------------------------------------------------------------------

HEARS = "Whisper base, on this computer"
LOCAL = ("auto", "local")
"""The settings of `engine` with which this computer, or a server that it is told, may answer."""


async def look(config: Config) -> choose.Found:
    """What is at hand on this machine. Ollama is asked only where it could answer."""
    local = config.engine in LOCAL and not config.llm_url
    here = (choose.SMALL, choose.BETTER)
    states = [weights.state_of(name, config.weights) for name in here]
    return choose.Found(
        jarvis_openai_key=bool(config.openai_key),
        bare_openai_key=bool(os.environ.get("OPENAI_API_KEY")),
        jarvis_gemini_key=bool(config.gemini_key),
        bare_gemini_key=bool(bare_gemini_key() or config.google_key),
        ollama=await find_ollama() if local else None,
        weights=frozenset(state.name for state in states if state.state == "present"),
        memory_gib=_memory_gib(),
        cores=os.cpu_count() or 1,
        small_tokens_per_s=measured_speed(states_of(config), choose.SMALL),
    )


def wishes_of(config: Config) -> choose.Wishes:
    return choose.Wishes(
        engine=config.engine,
        model=config.model,
        llm_url=config.llm_url,
        llm_model=config.llm_model,
        openai_url=config.openai_url,
        openai_model=config.openai_model,
        gemini_url=config.gemini_url,
        gemini_model=config.gemini_model,
    )


def model_of(config: Config, choice: choose.Choice) -> LanguageModel | None:
    """The language model that was chosen; None where the engine itself thinks."""
    if choice.is_remote:
        return None
    if choice.kind == "embedded":
        return EmbeddedModel(
            weights.path_of(choice.model, config.weights),
            name=choice.model,
            states=states_of(config),
        )
    return OpenAICompatibleModel(
        choice.address,
        choice.model,
        key=config.llm_key,
        ollama=choice.kind == "ollama",
        prefills=choose.is_here(choice.address),
    )


def states_of(config: Config) -> Path:
    return config.state / "model-states"


def _memory_gib() -> float:
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / (1 << 30)
    except (ValueError, OSError, AttributeError):
        return choose.Found().memory_gib
