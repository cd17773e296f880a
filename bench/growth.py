"""How much memory does a long call cost?

    python -m bench.growth [--hours 4]

A call on the virtual clock: the microphone gives noise all the time, every half minute the
user types a turn that is answered and spoken, and the thirtieth hands over. Resident memory is
read every quarter of an hour of the call; the first quarter is warm-up. No model runs.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import resource
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np

from memory import Memory
from memory.records import LANGUAGES
from tests.fakes.tone_voice import ToneVoice
from voice.call import Call, CallSetup
from voice.engines.local import LocalEngine
from voice.engines.scripted import ScriptedModel
from voice.hearing.ears import Ears
from voice.hearing.listener import HearingSettings
from voice.hearing.scripted import ScriptedHearing
from voice.logs import forward_loguru, set_up
from voice.recording import RecordedCall
from voice.records import CallEvent, EngineDescription
from voice.transports.recording import RecordingTransport
from voice.virtual_time import run_virtual

BEGAN = datetime(2026, 12, 2, 10, 0, tzinfo=UTC)
PAGE_KB = resource.getpagesize() / 1024
TURN_EVERY_S = 30
QUARTER_S = 900
ABOUT = EngineDescription(
    name="Script", hears="", thinks="", speaks="", words_go_to="nowhere", costs="nothing"
)


class Line(RecordingTransport):
    """A microphone that never ends, and a page that keeps nothing."""

    def publish(self, event: CallEvent) -> None:
        """Nobody reads."""


def resident_mb() -> float:
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * PAGE_KB / 1024


async def grow(folder: Path, hours: float) -> list[tuple[float, float]]:
    """(hours into the call, MB), once a quarter."""
    loop = asyncio.get_running_loop()
    began_s = loop.time()

    def now() -> datetime:
        return BEGAN + timedelta(seconds=round(loop.time() - began_s, 3))

    (folder / "vault").mkdir()
    memory = Memory.open(folder / "vault", folder / "state", now)
    empty = RecordedCall(
        conversation="c1", began_at=BEGAN, language="en", languages=LANGUAGES, engine=ABOUT,
        note="", ended="hang-up", microphone=b"", answers=(), typed=(), expected=None,
    )  # fmt: skip
    line = Line(empty)
    line.gone = loop.create_future()
    hearing, voice = ScriptedHearing(["mhm"]), ToneVoice()
    model = ScriptedModel(lambda _: "On the third of May, which is a Sunday, in the morning.")
    call = Call(
        CallSetup(
            transport=line,
            ears=Ears(hearing, HearingSettings(), LANGUAGES, "en"),
            engine=LocalEngine(
                model,
                voice,
                languages=LANGUAGES,
                description=ABOUT,
            ),
            conversation=memory.begin("c1", "call", now()),
            memory=memory,
            session=memory.session(),
            language="en",
            now=now,
        )
    )
    running = asyncio.create_task(call.run())
    noise = np.random.default_rng(1).normal(size=16_000 * 20).clip(-4, 4) * 30
    sound = noise.astype("<i2").tobytes()
    measured: list[tuple[float, float]] = []
    frames = int(hours * 3600 * 50)
    for frame in range(frames):
        if frame % (50 * QUARTER_S) == 0:
            # What the scripted ones noted down is no part of a call.
            for noted in (hearing.asked, voice.spoken, model.requests, model.prefills):
                noted.clear()
            measured.append((frame / 50 / 3600, resident_mb()))
            print(f"{measured[-1][0]:6.2f} h {measured[-1][1]:8.1f} MB", flush=True)
        if frame % (50 * TURN_EVERY_S) == 50:
            await call.typed(f"when is it, number {frame}?", pasted=False)
        at = frame % 1_000 * 640
        line.microphone.put(sound[at : at + 640], 16_000)
        await asyncio.sleep(0.02)
    measured.append((hours, resident_mb()))
    call.hang_up()
    result = await running
    memory.close()
    print(f"{len(result.turns)} turns, {len(result.hand_overs)} hand-overs")
    return measured


def main() -> None:
    arguments = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    arguments.add_argument("--hours", type=float, default=4.0)
    hours = arguments.parse_args().hours
    set_up(30)
    forward_loguru()
    began_s = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:

        async def run() -> list[tuple[float, float]]:
            return await grow(Path(folder), hours)

        measured = run_virtual(run, epoch_s=BEGAN.timestamp(), grace_s=0)
    print(f"{measured[-1][0]:6.2f} h {measured[-1][1]:8.1f} MB")
    settled = measured[1:] if len(measured) > 2 else measured
    grown = settled[-1][1] - settled[0][1]
    over = settled[-1][0] - settled[0][0]
    print(f"growth {grown / over:.2f} MB an hour; {time.perf_counter() - began_s:.0f} s of work")


if __name__ == "__main__":
    main()
