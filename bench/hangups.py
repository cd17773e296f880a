"""Does every hang-up end the call at once, with exactly one hand-over?

    python -m bench.hangups [--times 2000]

Calls on the virtual clock, whose time is the call's own: one turn by voice, one typed, both
answered, and a hang-up at a random instant in between, or at the n-th step of the event loop,
so that it falls on every await. Then: over within 500 ms, every turn handed over exactly
once, nothing left running. Seeded; no model runs.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import tempfile
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np

from bench.scripted_call import SPOKEN, recorded, scripted_call
from memory import Memory
from voice.audio import decode
from voice.engines.scripted import ScriptedModel
from voice.hearing.scripted import ScriptedHearing
from voice.logs import forward_loguru, set_up
from voice.recording import RecordedTyped
from voice.records import TurnAdded
from voice.transports.recording import RecordingTransport
from voice.virtual_time import run_virtual

BEGAN = datetime(2026, 12, 2, 10, 0, tzinfo=UTC)
PROMISED_S = 0.5
LENGTH_S = 10.0


@dataclass(frozen=True, slots=True)
class HungUp:
    """`took_s` on the call's clock; `wrong` is empty, or what was not as promised."""

    at: str
    took_s: float
    turns: int
    wrong: str


async def once(folder: Path, sound: bytes, at_s: float | None, step: int | None) -> HungUp:
    loop = asyncio.get_running_loop()
    began_s = loop.time()

    def now() -> datetime:
        return BEGAN + timedelta(seconds=round(loop.time() - began_s, 3))

    (folder / "vault").mkdir()
    memory = Memory.open(folder / "vault", folder / "state", now)
    typed = RecordedTyped(at_ms=6_000, text="and when?", pasted=False)
    line = RecordingTransport(recorded(BEGAN, sound, (typed,)))
    model = ScriptedModel(lambda _: "On the third of May, which is a Sunday.")
    call = scripted_call(line, ScriptedHearing(["When is it?"]), model, memory, now)

    async def keyboard(turn: RecordedTyped) -> None:
        await call.typed(turn.text, pasted=turn.pasted)

    line.connect_keyboard(keyboard)
    asked_s: list[float] = []

    def hang_up() -> None:
        asked_s.append(loop.time())
        call.hang_up()

    def count(left: int) -> None:
        if left:
            loop.call_soon(count, left - 1)
        else:
            hang_up()

    before = asyncio.all_tasks()
    running = asyncio.create_task(call.run())
    if at_s is not None:
        loop.call_later(at_s, hang_up)
    else:
        assert step is not None
        await asyncio.sleep(random.Random(step).uniform(0, LENGTH_S))  # noqa: S311 - no secret
        count(step % 400)
    async with asyncio.timeout(LENGTH_S + 30):
        await running
    took_s = loop.time() - (asked_s[0] if asked_s else loop.time())
    pending = memory.reviews_waiting()
    handed = [turn for each in pending for turn in each.handed_over]
    said = [event.turn for event in line.events if isinstance(event, TurnAdded)]
    left = asyncio.all_tasks() - before
    memory.close()
    wrong = ""
    if took_s > PROMISED_S:
        wrong = f"took {took_s:.2f} s"
    elif handed != said or len(pending) != (1 if said else 0):
        wrong = f"{len(pending)} hand-overs of {len(handed)} turns, {len(said)} were said"
    elif left:
        wrong = f"left running: {', '.join(str(task.get_coro()) for task in left)}"
    return HungUp(f"{at_s} s" if at_s is not None else f"step {step}", took_s, len(handed), wrong)


def main() -> None:
    arguments = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    arguments.add_argument("--times", type=int, default=2_000)
    times = arguments.parse_args().times
    set_up(40)
    forward_loguru()
    rng = random.Random(9)  # noqa: S311 - no secret
    sound = decode(SPOKEN)[: 16_000 * 4]
    call_sound = np.concatenate((sound, np.zeros(int(16_000 * LENGTH_S) - len(sound), np.int16)))
    found: list[HungUp] = []
    for number in range(times):
        at_s = round(rng.uniform(0, LENGTH_S), 4) if number % 2 else None

        async def run(at_s: float | None = at_s, number: int = number) -> HungUp:
            return await once(Path(folder), call_sound.tobytes(), at_s, number)

        with tempfile.TemporaryDirectory() as folder:
            found.append(run_virtual(run, epoch_s=BEGAN.timestamp(), grace_s=0))
    took_ms = sorted(each.took_s * 1000 for each in found)
    print(f"{times} hang-ups: p50 {took_ms[times // 2]:.0f} ms, worst {took_ms[-1]:.0f} ms")
    print("turns handed over:", dict(sorted(Counter(each.turns for each in found).items())))
    wrong = [each for each in found if each.wrong]
    print(f"{len(wrong)} not as promised", *(f"  {e.at}: {e.wrong}" for e in wrong[:10]), sep="\n")


if __name__ == "__main__":
    main()
