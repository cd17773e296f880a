"""Who may interrupt an answer: people do, noises and signs of listening don't.

    python -m bench.interruptions --data ../shared/data/speech [--each 20]

Into an answer comes, after two seconds, a person's sentence, a spoken "stop" ("stopp", "para"), a
sign of listening in three languages, or three seconds of noise at the same loudness. Counted is
what ended the answer within three seconds, and how long after the first sound of a person it
was lower and silent. Models answer after 160 ms, as on two idle cores.
"""

from __future__ import annotations

import argparse
import asyncio
import random
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from bench.room import MICROPHONE_HZ, Answer, Clip, Room, Scene, Sound, clips, hiss, leveled, noises
from memory.records import Language
from voice.records import BargedIn
from voice.speech.choice import SpeechFiles, choose_voices
from voice.speech.client import Speech
from voice.weights import path_of
from voice.workers import Worker

AT_MS = 3_000
WITHIN_MS = 3_000
STOPS: tuple[tuple[Language, str], ...] = (("en", "Stop."), ("de", "Stopp."), ("es", "¡Para!"))
LISTENING: tuple[tuple[Language, str], ...] = (
    ("en", "Mhm."), ("en", "Yeah."), ("en", "Okay."), ("en", "Right."), ("en", "Uh huh."),
    ("de", "Mhm."), ("de", "Ja."), ("de", "Genau."), ("de", "Okay."), ("de", "Ach so."),
    ("es", "Ajá."), ("es", "Sí."), ("es", "Claro."), ("es", "Vale."), ("es", "Ya."),
)  # fmt: skip


@dataclass(slots=True)
class Row:
    tries: int = 0
    ended: int = 0
    held: int = 0
    lowered_ms: list[int] = field(default_factory=list)
    silent_ms: list[int] = field(default_factory=list)
    away_ms: list[float] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)

    def add(self, name: str, scene: Scene, onset_ms: int, *, wanted: bool) -> None:
        self.tries += 1
        barged = [at for at, event in scene.events if isinstance(event, BargedIn)]
        ended = any(onset_ms <= at <= onset_ms + WITHIN_MS for at in barged)
        self.ended += ended
        if ended != wanted:
            self.missed.append(name)
        lowered = [at for at, step in scene.steps if at >= onset_ms]
        silent = [at for at, step in scene.steps if step == "hold" and at >= onset_ms]
        silent += [at for at in barged if at >= onset_ms]
        self.held += bool(silent)
        self.lowered_ms += [min(lowered) - onset_ms] if lowered else []
        self.silent_ms += [min(silent) - onset_ms] if silent else []
        self.away_ms += scene.lost_place_ms

    def line(self, name: str) -> str:
        def p95(values: list[int]) -> str:
            return f"{np.percentile(values, 95):.0f} ms" if values else "–"

        away = f"{max(self.away_ms):.0f} ms" if self.away_ms else "–"
        share = f"{100 * self.ended / max(self.tries, 1):.0f} %"
        return (
            f"| {name} | {self.tries} | {share} | {p95(self.lowered_ms)} | {p95(self.silent_ms)} "
            f"| {away} |"
        )


def onset(sound: Sound) -> int:
    """Where a voice begins: the first of three frames in a row within 25 dB of the loudest."""
    step = MICROPHONE_HZ // 100
    frames = sound[: len(sound) // step * step].reshape(-1, step)
    level = np.sqrt(np.mean(np.square(frames), axis=1))
    loud = level > level.max() * 10 ** (-25 / 20)
    for at in range(len(loud) - 3):
        if loud[at : at + 3].all():
            return at * 10
    return 0


async def one(worker: Worker, answer: Clip, sound: Sound, language: Language) -> Scene:
    """The sound, into a long answer, over headphones."""
    length = (AT_MS + WITHIN_MS + 2_000) * MICROPHONE_HZ // 1000
    microphone = hiss(length, -62.0, 1)
    at = AT_MS * MICROPHONE_HZ // 1000
    part = sound[: length - at]
    microphone[at : at + len(part)] += part
    spoken = np.tile(answer.sound, 1 + length // len(answer.sound))[:length]
    answers = [Answer(at_ms=400, sound=spoken, text=answer.text)]
    return await Room(worker, language=language).run(microphone, answers)


async def spoken_words(
    speech: Speech, words: tuple[tuple[Language, str], ...]
) -> list[tuple[str, Sound, Language]]:
    found = []
    for language, text in words:
        pcm = b"".join([sound async for sound in speech.speak(text, language)])
        at_24k = np.frombuffer(pcm, np.int16).astype(np.float64)
        grid = np.arange(len(at_24k) * 2 // 3) * 1.5
        sound = leveled(np.interp(grid, np.arange(len(at_24k)), at_24k))
        found.append((f"{language} {text}", sound, language))
    return found


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with manifest.jsonl")
    parser.add_argument("--each", type=int, default=15, help="people, and excerpts of noise")
    parser.add_argument("--weights", type=Path, default=None)
    args = parser.parse_args()
    dice = random.Random(7)  # noqa: S311  a benchmark's choice
    spoken = clips(args.data)
    people = [(clip.text, clip.sound, clip.language) for clip in dice.sample(spoken, args.each)]
    loud: list[tuple[str, Sound, Language]] = []
    rooms = noises(args.data)
    for number in range(args.each):
        name, sound = rooms[number % len(rooms)]
        at = dice.randrange(max(1, len(sound) - 3 * MICROPHONE_HZ))
        loud.append((name, leveled(sound[at : at + 3 * MICROPHONE_HZ], -30.0), "en"))
    speech = Speech(choose_voices({}, SpeechFiles(), 2))
    worker = Worker(
        "voice.hearing.worker", str(path_of("whisper-base", args.weights)), title="The ears"
    )
    kinds = {
        "people": (people, True),
        "stop, stopp, para": (await spoken_words(speech, STOPS), True),
        "signs of listening": (await spoken_words(speech, LISTENING), False),
        "noise": (loud, False),
    }
    print("| into an answer | tries | ended it | lowered p95 | silent p95 | place kept within |")
    print("|---|---|---|---|---|---|")
    try:
        for kind, (sounds, wanted) in kinds.items():
            row = Row()
            for name, sound, language in sounds:
                answer = dice.choice([clip for clip in spoken if len(clip.sound) > 40_000])
                scene = await one(worker, answer, sound, language)
                row.add(name, scene, AT_MS + onset(sound), wanted=wanted)
            print(row.line(kind), flush=True)
            for name in row.missed:
                print(f"  not as wanted: {name}")
    finally:
        await worker.close()
        await speech.close()


if __name__ == "__main__":
    asyncio.run(main())
