"""Silence, noise and music make no turn, and the call ends five minutes after the last true one.

    python -m bench.silence --data ../shared/data/speech [--minutes 60]

One true turn, then nothing but a quiet room, generated noise, and recorded rooms, streets, crowds,
keyboards and music, as long as asked for. The ears are the real ones; time is simulated, and the
call's own transcript and triggers say when its silence is full.
"""

from __future__ import annotations

import argparse
import asyncio
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np

from bench.room import MICROPHONE_HZ, Room, Scene, Sound, clips, hiss, leveled, noises
from voice.records import (
    CallEvent,
    NoTurn,
    Partial,
    SpeechBegan,
    StateChanged,
    TurnAdded,
    UserSaid,
)
from voice.triggers import Triggers
from voice.turns import AnswerBegan, Transcript
from voice.weights import path_of
from voice.workers import Worker

ANSWER_S = 2.0


def kinds(data: Path, seconds: int) -> Iterator[tuple[str, Sound]]:
    """Each as long, as loud as such things are in a room."""
    samples = seconds * MICROPHONE_HZ
    yield "a quiet room", hiss(samples, -62.0, 1)
    yield "a loud fan", np.convolve(hiss(samples, -30.0, 2), np.ones(40) / 12, "same")
    hum = np.sin(2 * np.pi * 50 * np.arange(samples) / MICROPHONE_HZ) * 1500
    yield "mains hum", hum + hiss(samples, -60.0, 3)
    chords = sum(
        np.sin(2 * np.pi * hz * np.arange(samples) / MICROPHONE_HZ) for hz in (262, 330, 392)
    )
    beats = 0.3 + 0.7 * (np.arange(samples) % (MICROPHONE_HZ // 2) < MICROPHONE_HZ // 5)
    yield "music, generated", leveled(np.asarray(chords) * beats, -28.0)
    for name, sound in noises(data):
        yield name, leveled(np.resize(sound, samples), -32.0)


def silence_ends_at_s(scene: Scene) -> float | None:
    """When the call would end by its five minutes, as its transcript and triggers have it."""
    transcript, triggers = Transcript("bench"), Triggers()
    began = datetime(2026, 1, 1, tzinfo=UTC)

    def feed(events: list[CallEvent], now_s: float) -> None:
        for event in events:
            if isinstance(event, StateChanged):
                triggers.state_changed(event.state, now_s)
            elif isinstance(event, TurnAdded):
                triggers.turn_added(event.turn, now_s)

    feed(transcript.opened(), 0.0)
    for at_ms, event in scene.events:
        now_s = at_ms / 1000
        due_s = triggers.silence_at_s
        if due_s is not None and due_s <= now_s:
            return due_s
        at = began + timedelta(seconds=now_s)
        match event:
            case SpeechBegan():
                feed(transcript.speech_began(), now_s)
            case Partial():
                feed(transcript.partial(event.text), now_s)
            case NoTurn():
                feed(transcript.nothing_said(), now_s)
            case UserSaid():
                feed(transcript.user_said(event, at=at, now_s=now_s), now_s)
                answer = AnswerBegan(to=None, first_token_s=None)
                feed(transcript.answer_began(answer, at=at), now_s)
                feed(transcript.piece("Yes.", 24_000, "en"), now_s)
                feed(transcript.given(24_000, at=at, now_s=now_s), now_s)
                feed(transcript.answer_done(at=at), now_s + ANSWER_S)
            case _:
                pass
    return triggers.silence_at_s


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with manifest.jsonl")
    parser.add_argument("--minutes", type=float, default=6.0, help="60 for the whole")
    parser.add_argument("--weights", type=Path, default=None)
    args = parser.parse_args()
    count = sum(1 for _ in kinds(args.data, 1))
    said = next(clip for clip in clips(args.data) if clip.language == "en")
    worker = Worker(
        "voice.hearing.worker", str(path_of("whisper-base", args.weights)), title="The ears"
    )
    total: Counter[str] = Counter()
    ends: list[float] = []
    try:
        for name, sound in kinds(args.data, round(args.minutes * 60 / count)):
            quiet = hiss(3 * MICROPHONE_HZ, -62.0, 4)
            microphone = np.concatenate((quiet, said.sound, quiet, sound, quiet))
            scene = await Room(worker, language="en").run(microphone, [])
            turns = [(at, e) for at, e in scene.events if isinstance(e, UserSaid)]
            true_ms = (len(quiet) + len(said.sound)) * 1000 // MICROPHONE_HZ + 3_000
            wrong = [event.text for at, event in turns if at > true_ms]
            total["turns"] += len(wrong)
            total["begun"] += sum(isinstance(e, NoTurn) for _, e in scene.events)
            if wrong:
                print(f"{name}: {wrong}", flush=True)
            last_s = max((at for at, _ in turns), default=0) / 1000 + ANSWER_S
            ends_s = silence_ends_at_s(scene)
            assert ends_s is not None
            ends.append(ends_s - last_s)
    finally:
        await worker.close()
    print("\n| minutes of no speech | kinds | turns | begun and dropped | silence full after |")
    print("|---|---|---|---|---|")
    print(
        f"| {args.minutes:.0f} | {count} | {total['turns']} | {total['begun']} "
        f"| {min(ends):.1f} to {max(ends):.1f} s |"
    )


if __name__ == "__main__":
    asyncio.run(main())
