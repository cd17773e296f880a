"""The real worker process and the voices that need no weights."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path

import numpy as np
import pytest
import pytest_asyncio
from numpy.typing import NDArray

from memory.records import LANGUAGES, Language
from voice.errors import WorkerFailed
from voice.speech.choice import SpeechFiles, choose_voices
from voice.speech.client import Speech, Voice
from voice.speech.sound import RATE_HZ

SENTENCES: dict[Language, str] = {
    "en": "Sure, I can help with that. Your sister's birthday is on the 14th of March.",
    "de": "Gern, ich helfe dir dabei. Deine Schwester hat am 14. März Geburtstag.",
    "es": "Claro, te ayudo con eso. El cumpleaños de tu hermana es el 14 de marzo.",
}


pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def speech() -> AsyncIterator[Speech]:
    speech = Speech(choose_voices({}, SpeechFiles(), cores=2))
    yield speech
    await speech.close()


async def spoken(voice: Voice, text: str, language: Language) -> list[NDArray[np.int16]]:
    return [np.frombuffer(audio, "<i2") async for audio in voice.speak(text, language)]


@pytest.mark.parametrize("language", LANGUAGES)
async def test_a_sentence_is_spoken(speech: Speech, language: Language) -> None:
    """Two sentences come as two pieces of 24 kHz sound, at once, at a human pace, without clicks."""
    assert await speech.warm([language]) == ()
    pieces = await spoken(speech, SENTENCES[language], language)
    assert len(pieces) == 2
    sound = np.concatenate(pieces)
    words = len(SENTENCES[language].split())
    assert 110 < words / (len(sound) / RATE_HZ / 60) < 230
    assert np.abs(sound).max() > 8000
    loud = np.abs(pieces[0].astype(np.int32)) > 0.02 * np.abs(sound).max()
    assert np.argmax(loud) <= 0.030 * RATE_HZ
    join = len(pieces[0])
    around = sound[join - 2 : join + 3].astype(np.int32)
    assert np.abs(np.diff(around)).max() < 0.01 * 32767


@pytest.mark.parametrize(("language", "name"), [("en", "hibari"), ("de", "espeak-ng")])
async def test_the_page_can_name_the_voice(speech: Speech, language: Language, name: str) -> None:
    assert speech.voice_name(language) == name


@pytest.mark.parametrize("text", ["", " ", "**", "😀", "...", "---\n"])
async def test_nothing_to_say_is_no_sound(speech: Speech, text: str) -> None:
    assert await spoken(speech, text, "en") == []


@pytest.mark.parametrize("text", ["你好", "\0Hallo\0", "a" * 2000, "<speak>x</speak>", "\ud83d ja"])
async def test_odd_text_does_not_stop_the_voice(speech: Speech, text: str) -> None:
    """What a voice can't read is left out, and the next sentence is spoken."""
    for language in LANGUAGES:
        await spoken(speech, text, language)
        assert await spoken(speech, SENTENCES[language], language)


async def test_requests_may_overlap(speech: Speech) -> None:
    """Three chunks that are asked for together come out whole, each to its own reader."""
    texts = ("one", "two two two", "three three three three three")
    alone = [await spoken(speech, text, "en") for text in texts]
    together = await asyncio.gather(*(spoken(speech, text, "en") for text in texts))
    for one, other in zip(alone, together, strict=True):
        assert np.array_equal(np.concatenate(one), np.concatenate(other))


async def test_who_leaves_early_is_not_waited_for(speech: Speech) -> None:
    """An hour of text that nobody wants any more does not hold up the next sentence."""
    endless = "This sentence is one of very many that nobody will hear. " * 3000
    async with asyncio.timeout(30), aclosing(speech.speak(endless, "en")) as audio:
        async for _ in audio:
            break
    async with asyncio.timeout(30):
        assert await spoken(speech, "Hello there.", "en")


async def test_a_cancelled_reader_cancels_the_voice(speech: Speech) -> None:
    endless = "This sentence is one of very many that nobody will hear. " * 3000
    first = asyncio.Event()

    async def listen() -> None:
        async for _ in speech.speak(endless, "en"):
            first.set()

    async with asyncio.timeout(60):
        listener = asyncio.create_task(listen())
        await first.wait()
        listener.cancel()
        with pytest.raises(asyncio.CancelledError):
            await listener
        assert await spoken(speech, "Hello there.", "en")


async def test_a_voice_that_died_speaks_again(speech: Speech) -> None:
    """The request it died under fails in words; the next one starts a new process."""
    await speech.warm(["de"])
    pid = speech.pid
    assert pid is not None

    async def listen_and_kill() -> None:
        async for _ in speech.speak("Das ist ein Satz von sehr vielen. " * 3000, "de"):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    with pytest.raises(WorkerFailed, match="The speech worker ended with code -9"):
        await listen_and_kill()
    assert await spoken(speech, SENTENCES["de"], "de")
    assert speech.pid != pid


async def test_a_broken_voice_is_replaced(tmp_path: Path) -> None:
    """A damaged Kokoro does not make the call mute, and the user hears of it."""
    model, voices = tmp_path / "kokoro.onnx", tmp_path / "voices.npz"
    model.write_bytes(b"not a model")
    voices.write_bytes(b"")
    files = SpeechFiles(kokoro_model=str(model), kokoro_voices=str(voices))
    speech = Speech(choose_voices({"es": "kokoro"}, files, cores=2))
    try:
        (warning,) = await speech.warm(["es"])
        assert "Kokoro (ef_dora)" in warning
        assert "espeak-ng speaks instead" in warning
        assert speech.voice_name("es") == "espeak-ng"
        assert await spoken(speech, SENTENCES["es"], "es")
    finally:
        await speech.close()


async def test_a_closed_voice_says_so() -> None:
    speech = Speech(choose_voices({}, SpeechFiles(), cores=2))
    await speech.close()
    with pytest.raises(WorkerFailed, match="closed"):
        await spoken(speech, "Hello.", "en")
