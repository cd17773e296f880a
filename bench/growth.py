"""How much memory does a long call cost?

    python -m bench.growth [--hours 4]

A call on the virtual clock: the microphone gives noise all the time, every half minute the
user types a turn that is answered and spoken, and the thirtieth hands over. Memory is read every
quarter of an hour of the call; the first quarter is warm-up. No model runs.

What counts is the process' own memory. Beside it stand the pages of files that are mapped (the
weights of meanings, libraries): they fill as they are touched, up to the files' sizes, and the
system takes them back when it wants.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import tempfile
import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np

from bench.scripted_call import recorded, scripted_call
from memory import Memory
from tests.fakes.tone_voice import ToneVoice
from voice.engines.scripted import ScriptedModel
from voice.hearing.scripted import ScriptedHearing
from voice.logs import forward_loguru, set_up
from voice.records import CallEvent
from voice.transports.recording import RecordingTransport
from voice.virtual_time import run_virtual

BEGAN = datetime(2026, 12, 2, 10, 0, tzinfo=UTC)
TURN_EVERY_S = 30
QUARTER_S = 900


class Line(RecordingTransport):
    """A microphone that never ends, and a page that keeps nothing."""

    def publish(self, event: CallEvent) -> None:
        """Nobody reads."""


@dataclass(frozen=True, slots=True)
class Measured:
    hours: float
    own_mb: float
    mapped_mb: float

    def __str__(self) -> str:
        return f"{self.hours:6.2f} h {self.own_mb:9.2f} MB {self.mapped_mb:9.2f} MB"


def measured_at(hours: float) -> Measured:
    gc.collect()
    found = {}
    for line in Path("/proc/self/status").read_text().splitlines():
        name, _, figure = line.partition(":")
        if name in ("RssAnon", "RssFile"):
            found[name] = int(figure.split()[0]) / 1024
    return Measured(hours, found["RssAnon"], found["RssFile"])


async def grow(folder: Path, hours: float) -> list[Measured]:
    """Once a quarter of the call."""
    loop = asyncio.get_running_loop()
    began_s = loop.time()

    def now() -> datetime:
        return BEGAN + timedelta(seconds=round(loop.time() - began_s, 3))

    (folder / "vault").mkdir()
    memory = Memory.open(folder / "vault", folder / "state", now)
    line = Line(recorded(BEGAN))
    line.gone = loop.create_future()
    hearing, voice = ScriptedHearing(["mhm"]), ToneVoice()
    model = ScriptedModel(lambda _: "On the third of May, which is a Sunday, in the morning.")
    call = scripted_call(line, hearing, model, memory, now, voice)
    running = asyncio.create_task(call.run())
    noise = np.random.default_rng(1).normal(size=16_000 * 20).clip(-4, 4) * 30
    sound = noise.astype("<i2").tobytes()
    measured: list[Measured] = []
    frames = int(hours * 3600 * 50)
    for frame in range(frames):
        if frame % (50 * QUARTER_S) == 0:
            # What the scripted ones noted down is no part of a call.
            for noted in (hearing.asked, voice.spoken, model.requests, model.prefills):
                noted.clear()
            measured.append(measured_at(frame / 50 / 3600))
            print(measured[-1], flush=True)
        if frame % (50 * TURN_EVERY_S) == 50:
            await call.typed(f"when is it, number {frame}?", pasted=False)
        at = frame % 1_000 * 640
        line.microphone.put(sound[at : at + 640], 16_000)
        await asyncio.sleep(0.02)
    measured.append(measured_at(hours))
    print(measured[-1], flush=True)
    call.hang_up()
    result = await running
    memory.close()
    print(f"{result.turns} turns, {len(result.hand_overs)} hand-overs")
    return measured


def main() -> None:
    arguments = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    arguments.add_argument("--hours", type=float, default=4.0)
    hours = arguments.parse_args().hours
    set_up(30)
    forward_loguru()
    began_s = time.perf_counter()
    print(f"{'':8} {'own':>12} {'mapped':>12}")
    with tempfile.TemporaryDirectory() as folder:

        async def run() -> list[Measured]:
            return await grow(Path(folder), hours)

        measured = run_virtual(run, epoch_s=BEGAN.timestamp(), grace_s=0)
    settled = measured[1:] if len(measured) > 2 else measured
    grown = settled[-1].own_mb - settled[0].own_mb
    over = settled[-1].hours - settled[0].hours
    print(f"growth {grown / over:.2f} MB an hour; {time.perf_counter() - began_s:.0f} s of work")


if __name__ == "__main__":
    main()
