"""How late is a call's event loop while models work beside it?

    JARVIS_WEIGHTS=... python -m bench.lateness [--seconds 15] [--runs 3] [--record]

A tick every 5 ms on the loop of a call that runs in real time: the microphone plays recorded
speech over and over, each turn is transcribed and judged by the real hearing worker and
answered by a scripted model, and conversations of sixty turns are reviewed one after the other
by a scripted reviewer. What a house loads before any call is loaded beforehand. First the loop alone, then
all of that, several times: milliseconds late. With `--record` the call is recorded as well. It fails where nothing was heard or reviewed.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from bench.review_stall import proposal, talk, tick
from bench.scripted_call import ABOUT, SPOKEN, recorded, scripted_call
from memory import Memory, warm
from memory.asking import Alone
from memory.figures import percentile
from memory.llm.protocol import Llm
from memory.llm.scripted import ScriptedLlm
from memory.records import LANGUAGES
from voice.audio import decode
from voice.collector import settle
from voice.config import load
from voice.engines.scripted import ScriptedModel
from voice.equipment import hearing_worker
from voice.hearing.detector import silero
from voice.logs import forward_loguru, set_up
from voice.recorder import Recorder
from voice.records import Notice, TurnAdded
from voice.transports.recording import RecordingTransport
from voice.workers import Worker

REVIEWED = 150
MEANWHILE = ("turns", "words", "turn_end", "reviews")


def now() -> datetime:
    return datetime.now().astimezone()


@dataclass(frozen=True, slots=True)
class Asked:
    """The hearing worker, and how often it was asked for what while `counted`."""

    worker: Worker
    counted: Counter[str] = field(default_factory=Counter)

    async def call(
        self, kind: str, header: dict[str, Any] | None = None, payload: bytes = b""
    ) -> tuple[dict[str, Any], bytes]:
        reply = await self.worker.call(kind, header, payload)
        self.counted[kind] += 1
        return reply


async def measure(
    folder: Path, seconds: float, *, record: bool
) -> tuple[list[int], list[int], Counter[str]]:
    """Microseconds late alone, and at work; how often what was done meanwhile."""
    loop = asyncio.get_running_loop()
    (folder / "vault").mkdir()
    for number in range(REVIEWED):
        await asyncio.to_thread(talk, folder / "state", f"c{number:03}")
    memory = Memory.open(folder / "vault", folder / "state", now)
    worker = hearing_worker(load())
    asked = Asked(worker)
    await worker.call("warm", {"languages": list(LANGUAGES)})
    await asyncio.gather(asyncio.to_thread(warm), asyncio.to_thread(silero))
    await asyncio.to_thread(settle)
    alone: list[int] = []
    await tick(alone, loop.time() + min(seconds, 5.0))
    sound = decode(SPOKEN).astype("<i2").tobytes()
    line = RecordingTransport(recorded(now(), sound * (1 + int(seconds) // 25)))
    recorder = recorder_of(folder, loop.time()) if record else None
    model_of_call = ScriptedModel(lambda _: "On the third of May.")
    call = scripted_call(line, asked, model_of_call, memory, now, recorder=recorder)
    llm = ScriptedLlm([proposal(number) for number in range(REVIEWED + 5)])

    async def model() -> Llm:
        return llm

    task = memory.task(model=model, quiet=Alone(), now=now)
    running = asyncio.create_task(call.run())
    await asyncio.sleep(1)  # the pipeline and what it loads are there before anybody speaks
    reviewing = asyncio.create_task(task.review_now())
    late: list[int] = []
    await tick(late, loop.time() + seconds)
    done = asked.counted + Counter(
        turns=sum(
            isinstance(each, TurnAdded) and each.turn.speaker == "user" for each in line.events
        ),
        reviews=len(llm.questions),
    )
    reviewing.cancel()
    await asyncio.gather(reviewing, return_exceptions=True)
    call.hang_up()
    await running
    if recorder is not None:
        await recorder.close()
        assert (recorder.folder / "microphone.flac").stat().st_size > 0, "nothing was recorded"
    await worker.close()
    memory.close()
    return alone, late, done


def recorder_of(folder: Path, began_s: float) -> Recorder:
    def failed(notice: Notice) -> None:
        raise SystemExit(notice.text)

    return Recorder(
        folder / "recorded", conversation="c1", began_at=now(), began_s=began_s, language="en",
        languages=LANGUAGES, engine=ABOUT, notify=failed,
    )  # fmt: skip


def row(name: str, late: list[int]) -> str:
    figures = [percentile(late, percent) / 1000 for percent in (50, 95, 99)]
    cells = "".join(f"{figure:8.2f}" for figure in (*figures, max(late) / 1000))
    return f"{name:10}{len(late):8}{cells}"


def main() -> None:
    arguments = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    arguments.add_argument("--seconds", type=float, default=15.0)
    arguments.add_argument("--runs", type=int, default=3)
    arguments.add_argument("--record", action="store_true", help="record the call")
    given = arguments.parse_args()
    set_up(40)
    forward_loguru()
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    print(f"{'':10}{'ticks':>8}{'p50':>8}{'p95':>8}{'p99':>8}{'worst':>8}")
    idle: set[str] = set()
    ratios: list[float] = []
    for _ in range(given.runs):
        with tempfile.TemporaryDirectory() as folder:
            alone, late, done = asyncio.run(
                measure(Path(folder), given.seconds, record=given.record)
            )
        print(row("alone", alone))
        print(row("at work", late))
        print("meanwhile:", ", ".join(f"{count} {what}" for what, count in sorted(done.items())))
        ratios.append(percentile(late, 99) / max(percentile(alone, 99), 1))
        idle |= {what for what in MEANWHILE if not done[what]}
    print(f"p99 at work over p99 alone: {statistics.median(ratios):.1f}")
    if idle:
        raise SystemExit(f"Nothing was shown: {', '.join(sorted(idle))} did not happen meanwhile.")


if __name__ == "__main__":
    main()
