"""How fast the voices are, and how well they are understood.

    python -m bench.speech --whisper DIR [--kokoro-model FILE --kokoro-voices FILE]

For each voice: milliseconds from a sentence's request to its first audio through the worker
process, seconds of work per second of sound, and the word error rate of what Whisper base
hears when the answer is cut in three ways: whole sentences, clauses (as the call cuts them
while audio is left) and three words at a time (as it cuts them when audio runs out).
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import re
import statistics
import time
import unicodedata
from contextlib import aclosing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, get_args

import jiwer
import numpy as np
import soxr
from faster_whisper import WhisperModel

from memory.records import LANGUAGES, Language
from voice.speech.choice import SpeechFiles, Synthesizer, choose_voices
from voice.speech.clauses import Clauses, sentences
from voice.speech.client import Speech
from voice.speech.sound import RATE_HZ
from voice.speech.words import words_of

SENTENCES: dict[Language, tuple[str, ...]] = {
    "en": (
        "Sure, I can help you with that right now.",
        "Your sister's birthday is in the second week of March, so there is still time.",
        "You could make a vegetable stir fry with rice, or a simple lentil soup.",
        "The library closes early on Saturday, but it stays open all day on Friday.",
        "If the bread feels too dry, add a little water and let it rest for an hour.",
        "I did not find anything about that in your notes.",
        "Would you like me to remember that for the next time?",
        "The train to the coast leaves every morning from the old station.",
        "Take a coat with you, because it may rain in the afternoon.",
        "Your brother moved to a new house near the river last summer.",
    ),
    "de": (
        "Gern, dabei kann ich dir sofort helfen.",
        "Deine Schwester hat in der zweiten Woche im März Geburtstag, es ist also noch Zeit.",
        "Du könntest Gemüse mit Reis kochen, oder eine einfache Linsensuppe.",
        "Die Bücherei schließt am Samstag früh, aber am Freitag ist sie den ganzen Tag offen.",
        "Wenn der Teig zu trocken ist, gib etwas Wasser dazu und lass ihn eine Stunde ruhen.",
        "Dazu habe ich in deinen Notizen nichts gefunden.",
        "Soll ich mir das für das nächste Mal merken?",
        "Der Zug an die Küste fährt jeden Morgen vom alten Bahnhof ab.",
        "Nimm einen Mantel mit, denn am Nachmittag kann es regnen.",
        "Dein Bruder ist im letzten Sommer in ein neues Haus am Fluss gezogen.",
    ),
    "es": (
        "Claro, te puedo ayudar con eso ahora mismo.",
        "El cumpleaños de tu hermana es en la segunda semana de marzo, así que todavía hay tiempo.",
        "Podrías preparar verduras con arroz, o una sopa sencilla de lentejas.",
        "La biblioteca cierra temprano el sábado, pero el viernes está abierta todo el día.",
        "Si la masa está muy seca, añade un poco de agua y déjala descansar una hora.",
        "No he encontrado nada sobre eso en tus notas.",
        "¿Quieres que lo recuerde para la próxima vez?",
        "El tren a la costa sale todas las mañanas de la estación vieja.",
        "Lleva un abrigo, porque puede llover por la tarde.",
        "Tu hermano se mudó el verano pasado a una casa nueva cerca del río.",
    ),
}

CUTS = ("sentences", "clauses", "three words")


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """Times in milliseconds; `rtf` is work per sound; errors in percent of the words."""

    language: Language
    voice: str
    first_ms: float
    first_p95_ms: float
    rtf: float
    rtf_p95: float
    word_errors: dict[str, float]


def cut(text: str, language: Language, how: str) -> list[str]:
    abbreviations = words_of(language).abbreviations
    if how == "sentences":
        return sentences(text, abbreviations)
    reader = Clauses(abbreviations)
    left_s = 0.0 if how == "three words" else math.inf
    chunks = [c for piece in re.findall(r"\s*\S+", text) for c in reader.feed(piece, left_s)]
    return chunks + reader.end()


async def say(speech: Speech, chunks: list[str], language: Language) -> tuple[bytes, float, float]:
    """The sound, seconds to its first sample, and seconds of work."""
    audio, first_s = b"", 0.0
    began_s = time.perf_counter()
    for chunk in chunks:
        async with aclosing(speech.speak(chunk, language)) as pieces:
            async for piece in pieces:
                first_s = first_s or time.perf_counter() - began_s
                audio += piece
    return audio, first_s, time.perf_counter() - began_s


def plain(text: str) -> str:
    text = unicodedata.normalize("NFC", text.lower().replace("’", "'"))
    return " ".join(re.findall(r"[\w']+", text))


def hear(whisper: Any, audio: bytes, language: Language) -> str:
    sound = np.frombuffer(audio, "<i2").astype(np.float32) / 32768
    heard, _ = whisper.transcribe(
        soxr.resample(sound, RATE_HZ, 16_000),
        language=language,
        beam_size=5,
        temperature=0.0,
        condition_on_previous_text=False,
        no_repeat_ngram_size=4,  # a robotic voice makes Whisper loop, which tells nothing about it
    )
    return plain(" ".join(segment.text for segment in heard))


def percentile_95(values: list[float]) -> float:
    return sorted(values)[math.ceil(0.95 * len(values)) - 1]


async def measure(speech: Speech, language: Language, whisper: Any) -> Result:
    await speech.warm([language])
    firsts_ms, rtfs = [], []
    word_errors = {}
    wanted = [plain(text) for text in SENTENCES[language]]
    for how in CUTS if whisper is not None else CUTS[:1]:
        heard = []
        for text in SENTENCES[language]:
            audio, first_s, work_s = await say(speech, cut(text, language, how), language)
            if how == "sentences":
                firsts_ms.append(first_s * 1000)
                rtfs.append(work_s / (len(audio) / 2 / RATE_HZ))
            if whisper is not None:
                heard.append(await asyncio.to_thread(hear, whisper, audio, language))
        if whisper is not None:
            word_errors[how] = round(100 * jiwer.wer(wanted, heard), 1)
    return Result(
        language=language,
        voice=speech.voice_name(language),
        first_ms=round(statistics.median(firsts_ms), 1),
        first_p95_ms=round(percentile_95(firsts_ms), 1),
        rtf=round(statistics.median(rtfs), 4),
        rtf_p95=round(percentile_95(rtfs), 4),
        word_errors=word_errors,
    )


async def run(arguments: argparse.Namespace) -> None:
    files = SpeechFiles(kokoro_model=arguments.kokoro_model, kokoro_voices=arguments.kokoro_voices)
    whisper = (
        WhisperModel(str(arguments.whisper), device="cpu", compute_type="int8", cpu_threads=2)
        if arguments.whisper
        else None
    )
    wishes: list[tuple[Language, Synthesizer]] = [
        ("en", "hibari"),
        ("de", "espeak"),
        ("es", "espeak"),
    ]
    if arguments.kokoro_model and arguments.kokoro_voices:
        wishes.append(("es", "kokoro"))
    for language, synthesizer in wishes:
        if language not in arguments.languages:
            continue
        speech = Speech(choose_voices({language: synthesizer}, files, cores=1))
        try:
            result = await measure(speech, language, whisper)
        finally:
            await speech.close()
        print(json.dumps(asdict(result), ensure_ascii=False), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument(
        "--whisper", type=Path, help="folder of whisper base; without it, times only"
    )
    parser.add_argument("--kokoro-model", help="kokoro-v1.0.int8.onnx")
    parser.add_argument("--kokoro-voices", help="archive of Kokoro's voices (npz)")
    parser.add_argument("--languages", nargs="+", choices=get_args(Language), default=LANGUAGES)
    asyncio.run(run(parser.parse_args()))


if __name__ == "__main__":
    main()
