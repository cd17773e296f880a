"""Who may interrupt an answer: people do, noises and signs of listening don't.

    python -m bench.interruptions --data ../shared/data/speech [--each 20]

Into an answer comes, after two seconds, a person's sentence, a spoken "stop" ("stopp", "para"), a
sign of listening in three languages, or three seconds of noise at the same loudness. Counted is
what ended the answer within three seconds, and how long after the first sound of a person it
was lower and silent; what did not happen counts as never. An answer that was silent and went on
at its place was not ended, but paused: how often and how long is told beside it. Models answer after
160 ms, as on two idle cores. `--ways` are other rooms and moments: the first second of a call's
first answer, with a loudspeaker or headphones.
"""

from __future__ import annotations

import argparse
import asyncio
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from zlib import crc32

import numpy as np

from bench.room import (
    MICROPHONE_HZ,
    Answer,
    Clip,
    Echo,
    Room,
    Scene,
    Sound,
    clips,
    hiss,
    leveled,
    noises,
)
from memory.records import Language
from voice.hearing.asking import Asked
from voice.hearing.detector import FRAME_BYTES, VoiceDetector
from voice.records import BargedIn
from voice.speech.choice import SpeechFiles, choose_voices
from voice.speech.client import Speech
from voice.weights import path_of
from voice.workers import Worker

ANSWER_AT_MS = 400
WITHIN_MS = 3_000
LEAST_VOICE = 0.5
"""A recording in which the judge of voices is never so sure holds wind and bumps."""
NEVER = float("inf")
STOPS: tuple[tuple[Language, str], ...] = (("en", "Stop."), ("de", "Stopp."), ("es", "¡Para!"))
LISTENING: tuple[tuple[Language, str], ...] = (
    ("en", "Mhm."), ("en", "Yeah."), ("en", "Okay."), ("en", "Right."), ("en", "Uh huh."),
    ("de", "Mhm."), ("de", "Ja."), ("de", "Genau."), ("de", "Okay."), ("de", "Ach so."),
    ("es", "Ajá."), ("es", "Sí."), ("es", "Claro."), ("es", "Vale."), ("es", "Ya."),
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """How Jarvis' voice comes back, and when somebody speaks."""

    at_ms: int = 3_000
    echo: Echo | None = None
    cancelled: bool = False


def early(dice: random.Random) -> int:
    """Within the first second of the first answer."""
    return ANSWER_AT_MS + dice.randint(250, 1_000)


def loudspeaker(dice: random.Random) -> Echo:
    return Echo(delay_ms=dice.randint(60, 400), gain_db=dice.uniform(-20, -8))


WAYS: dict[str, Callable[[random.Random], Way]] = {
    "headphones": lambda _: Way(),
    "loudspeaker": lambda dice: Way(echo=loudspeaker(dice)),
    "first second, cancelled": lambda dice: Way(at_ms=early(dice), cancelled=True),
    "first second, headphones": lambda dice: Way(at_ms=early(dice)),
    "first second, loudspeaker": lambda dice: Way(at_ms=early(dice), echo=loudspeaker(dice)),
}


@dataclass(slots=True)
class Row:
    """Times in ms from a sound's beginning; what did not happen counts as never."""

    tries: int = 0
    ended: int = 0
    again: int = 0
    """Somebody was to be let speak, and the answer went on once before it ended."""
    lowered_ms: list[float] = field(default_factory=list)
    silent_ms: list[float] = field(default_factory=list)
    pauses_ms: list[int] = field(default_factory=list)
    """Of each time that it was silent and went on."""
    paused: int = 0
    away_ms: list[float] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)

    def add(self, name: str, scene: Scene, onset_ms: int, *, wanted: bool) -> None:
        self.tries += 1
        voices = voice_steps(scene)
        ended = any(
            step == "ended" and onset_ms <= at <= onset_ms + WITHIN_MS for at, step in voices
        )
        self.ended += ended
        if ended != wanted:
            self.missed.append(name)
        self.lowered_ms.append(since(voices, onset_ms, ("lower", "hold", "ended")))
        self.silent_ms.append(since(voices, onset_ms, ("hold", "ended")))
        pauses = [
            later - at
            for (at, step), (later, after) in pairwise(voices)
            if step == "hold" and after == "go on" and later > onset_ms
        ]
        self.pauses_ms += pauses
        self.paused += bool(pauses)
        self.again += bool(pauses) and ended
        self.away_ms += scene.lost_place_ms

    def line(self, name: str, *, wanted: bool) -> str:
        away = f"{max(self.away_ms):.0f} ms" if self.away_ms else "–"
        times = (95, self.lowered_ms), (50, self.silent_ms), (95, self.silent_ms)
        cells = [quantile(values, of) if wanted else "–" for of, values in times]
        lengths = " / ".join(quantile(self.pauses_ms, of) for of in (50, 95))
        paused = self.again if wanted else self.paused
        return (
            f"| {name} | {self.tries} | {100 * self.ended / max(self.tries, 1):.0f} % "
            f"| {' | '.join(cells)} | {100 * paused / max(self.tries, 1):.0f} % | {lengths} "
            f"| {away} |"
        )


def quantile(values: Sequence[float], percent: int) -> str:
    if not values:
        return "–"
    found = float(np.percentile(values, percent, method="higher"))
    return "never" if found == float("inf") else f"{found:.0f} ms"


def voice_steps(scene: Scene) -> list[tuple[int, str]]:
    """What the answer's voice did, in order: lower, hold, go on, ended."""
    ended = [(at, "ended") for at, event in scene.events if isinstance(event, BargedIn)]
    return sorted(scene.steps + ended, key=lambda step: step[0])


def since(voices: list[tuple[int, str]], onset_ms: int, steps: tuple[str, ...]) -> float:
    """How long after the onset the voice was so; 0 where it was before."""
    before = [step for at, step in voices if at < onset_ms]
    if before and before[-1] in steps:
        return 0
    return next((at - onset_ms for at, step in voices if at >= onset_ms and step in steps), NEVER)


def onset(sound: Sound) -> int:
    """In ms, where a voice begins, with hindsight: the first that lasts, back to where 100 ms in a row are
    25 dB softer, or 15 dB and no louder than the recording is without it. A bump of the microphone
    before it is none, nor is the room's own noise."""
    detector = VoiceDetector()
    # The detector looks back half a second when it wakes.
    lead = hiss(MICROPHONE_HZ // 2, -62.0, 1)
    pcm = np.clip(np.concatenate((lead, sound)), -32768, 32767).astype("<i2").tobytes()
    likely = [
        detector.frame(pcm[at : at + FRAME_BYTES], turn_open=True).probability >= 0.5
        for at in range(0, len(pcm) - FRAME_BYTES + 1, FRAME_BYTES)
    ][len(lead) * 2 // FRAME_BYTES :]
    at = next((n for n in range(len(likely) - 2) if all(likely[n : n + 3])), 0) * 2
    step = MICROPHONE_HZ // 100
    frames = sound[: len(sound) // step * step].reshape(-1, step)
    level = np.sqrt(np.mean(np.square(frames), axis=1))
    peak, room = level[at : at + 50].max(), np.percentile(level, 10)
    loud = level > np.clip(room * 10 ** (10 / 20), peak * 10 ** (-25 / 20), peak * 10 ** (-15 / 20))
    while at > 0 and loud[max(at - 10, 0) : at].any():
        at -= 1
    return (at + int(np.argmax(loud[at : at + 50]))) * 10


async def one(worker: Asked, answer: Clip, sound: Sound, language: Language, way: Way) -> Scene:
    """The sound, into a long answer, `way.at_ms` into the call."""
    length = (way.at_ms + WITHIN_MS + 2_000) * MICROPHONE_HZ // 1000
    microphone = hiss(length, -62.0, 1)
    at = way.at_ms * MICROPHONE_HZ // 1000
    part = sound[: length - at]
    microphone[at : at + len(part)] += part
    saying = answer.sound[onset(answer.sound) * MICROPHONE_HZ // 1000 :]
    spoken = np.tile(saying, 1 + length // len(saying))[:length]
    answers = [Answer(at_ms=ANSWER_AT_MS, sound=spoken, text=answer.text)]
    room = Room(worker, language=language, echo=way.echo, cancelled=way.cancelled)
    return await room.run(microphone, answers)


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


def half_of(spoken: list[Clip], half: str) -> list[Clip]:
    """Limits are chosen on one half and measured on the other."""
    halves = {"one": (0,), "other": (1,), "all": (0, 1)}
    return [clip for clip in spoken if crc32(clip.text.encode()) % 2 in halves[half]]


async def measured(worker: Asked, speech: Speech, args: argparse.Namespace) -> None:
    dice = random.Random(7)  # noqa: S311  a benchmark's choice
    spoken = half_of(clips(args.data), args.half)
    able = [clip for clip in spoken if clip.voice >= LEAST_VOICE]
    chosen = dice.sample(able, min(args.each, len(able)))
    people = [(clip.text, clip.sound, clip.language) for clip in chosen]
    loud: list[tuple[str, Sound, Language]] = []
    rooms = noises(args.data)
    for number in range(args.each):
        name, sound = rooms[number % len(rooms)]
        at = dice.randrange(max(1, len(sound) - 3 * MICROPHONE_HZ))
        loud.append((name, leveled(sound[at : at + 3 * MICROPHONE_HZ], -30.0), "en"))
    kinds = {
        "people": (people, True),
        "stop, stopp, para": (await spoken_words(speech, STOPS), True),
        "signs of listening": (await spoken_words(speech, LISTENING), False),
        "noise": (loud, False),
    }
    print(f"{len(spoken) - len(able)} of {len(spoken)} recordings hold no voice to be made out")
    for title in args.ways:
        print(
            f"\n| {title} | tries | ended it | lowered p95 | silent p50 | p95 | paused, went on ",
            end="",
        )
        print("| paused for p50 / p95 | place kept within |\n|---|---|---|---|---|---|---|---|---|")
        for kind, (sounds, wanted) in kinds.items():
            row = Row()
            for name, sound, language in sounds:
                answer = dice.choice([clip for clip in spoken if len(clip.sound) > 40_000])
                way = WAYS[title](dice)
                scene = await one(worker, answer, sound, language, way)
                row.add(name, scene, way.at_ms + onset(sound), wanted=wanted)
            print(row.line(kind, wanted=wanted), flush=True)
            for name in row.missed:
                print(f"  not as wanted: {name}")


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with manifest.jsonl")
    parser.add_argument("--each", type=int, default=15, help="people, and excerpts of noise")
    parser.add_argument("--half", choices=("one", "other", "all"), default="all")
    parser.add_argument("--ways", nargs="+", choices=list(WAYS), default=list(WAYS)[:1])
    parser.add_argument("--weights", type=Path, default=None)
    args = parser.parse_args()
    speech = Speech(choose_voices({}, SpeechFiles(), 2))
    worker = Worker(
        "voice.hearing.worker", str(path_of("whisper-base", args.weights)), title="The ears"
    )
    try:
        await measured(worker, speech, args)
    finally:
        await worker.close()
        await speech.close()


if __name__ == "__main__":
    asyncio.run(main())
