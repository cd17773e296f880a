"""Does it take its own voice for the user? Jarvis speaks, nobody else does, and all comes back.

    python -m bench.echo --data ../shared/data/speech [--minutes 60]

Recorded people stand in for Jarvis' voice, in three languages; the echo is 6 to 20 dB softer and
50 to 900 ms late, with two walls and a quiet room's noise. Each delay and loudness is a call of
its own, so the path is unknown at its beginning. Wanted: no turn and no interruption. `--claimed`: the
microphone says that it takes the echo out, and doesn't.
"""

from __future__ import annotations

import argparse
import asyncio
import random
from collections import Counter
from pathlib import Path

from bench.room import MICROPHONE_HZ, Answer, Clip, Echo, Room, Scene, clips, hiss
from memory.records import LANGUAGES, Language
from voice.records import BargedIn, NoTurn, UserSaid
from voice.weights import path_of
from voice.workers import Worker

DELAYS_MS = (50, 120, 250, 400, 600, 900)
GAINS_DB = (-6.0, -10.0, -15.0, -20.0)


async def call(
    worker: Worker,
    spoken: list[Clip],
    language: Language,
    echo: Echo,
    *,
    claimed: bool,
    minutes: float,
    seed: int,
) -> Scene:
    dice = random.Random(seed)  # noqa: S311  a benchmark's choice
    length_ms, at_ms, answers = round(minutes * 60_000), 1_000, []
    while True:
        clip = dice.choice(spoken)
        took_ms = len(clip.sound) * 1000 // MICROPHONE_HZ
        if at_ms + took_ms + 1_500 > length_ms:
            break
        answers.append(Answer(at_ms=at_ms, sound=clip.sound, text=clip.text))
        at_ms += took_ms + dice.randint(1_500, 4_000)
    microphone = hiss(length_ms * MICROPHONE_HZ // 1000, -64.0, seed)
    room = Room(worker, language=language, echo=echo, cancelled=claimed)
    return await room.run(microphone, answers)


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with manifest.jsonl")
    parser.add_argument("--minutes", type=float, default=6.0, help="60 for the whole")
    parser.add_argument("--claimed", action="store_true")
    parser.add_argument("--weights", type=Path, default=None)
    args = parser.parse_args()
    spoken = clips(args.data)
    cases = [
        (Echo(delay_ms=delay, gain_db=gain), LANGUAGES[number % len(LANGUAGES)])
        for number, (delay, gain) in enumerate((d, g) for d in DELAYS_MS for g in GAINS_DB)
    ]
    minutes = args.minutes / len(cases)
    worker = Worker(
        "voice.hearing.worker", str(path_of("whisper-base", args.weights)), title="The ears"
    )
    total: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    try:
        for seed, (echo, language) in enumerate(cases):
            of_language = [clip for clip in spoken if clip.language == language]
            scene = await call(
                worker,
                of_language,
                language,
                echo,
                claimed=args.claimed,
                minutes=minutes,
                seed=seed,
            )
            turns = [event.text for _, event in scene.events if isinstance(event, UserSaid)]
            total["turns"] += len(turns)
            total["interruptions"] += sum(isinstance(e, BargedIn) for _, e in scene.events)
            total["lowered"] += sum(step == "lower" for _, step in scene.steps)
            total["silenced"] += sum(step == "hold" for _, step in scene.steps)
            total["half duplex"] += len(scene.notices)
            reasons.update(e.reason for _, e in scene.events if isinstance(e, NoTurn))
            if turns:
                print(f"{language} {echo.delay_ms} ms {echo.gain_db:.0f} dB: {turns}", flush=True)
    finally:
        await worker.close()
    print(f"\n| minutes of echo | {' | '.join(total)} |\n|---|{'---|' * len(total)}")
    print(f"| {minutes * len(cases):.0f} | {' | '.join(str(total[name]) for name in total)} |")
    for reason, count in reasons.most_common():
        print(f"no turn: {reason}: {count}")


if __name__ == "__main__":
    asyncio.run(main())
