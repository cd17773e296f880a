"""How long the event loop of a call is held up while reviews run beside it:

    python -m bench.review_stall [--seconds 20]

A tick every 5 ms, first alone, then while conversations of sixty turns are reviewed one after
the other, in a new process each: with everything loaded, and from a cold start. The model is
scripted, so that all the work is ours. Figures are how late a tick was, in milliseconds.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import tempfile
import time
from datetime import datetime, timedelta
from itertools import cycle
from pathlib import Path
from typing import Literal

from memory.asking import Alone
from memory.conversations import Conversation
from memory.events import EventLog
from memory.figures import percentile
from memory.llm.protocol import Llm
from memory.llm.scripted import ScriptedLlm
from memory.notebooks.ledger import Ledger
from memory.records import Turn
from memory.task import MemoryTask
from memory.vault import Vault

TICK_S = 0.005
AT = datetime.fromisoformat("2026-12-02T10:00:00+01:00")
Mode = Literal["alone", "reviews", "cold"]

SAID = (
    "set a timer for ten minutes please",
    "I'm vegan by the way and I live in Hamburg with my two cats",
    "wie wird das wetter morgen in bremen",
    "meine schwester lena hat am dritten mai geburtstag",
    "no me gusta nada el cilantro",
    "play something quiet and not too loud while I cook",
    "what is the capital of australia and how many people live there",
    "ich möchte nächsten freitag um neun zum zahnarzt",
)


def talk(state: Path, name: str) -> None:
    conversation = Conversation.begin(state, name, "call", AT)
    texts = cycle(SAID)
    for index in range(60):
        at = AT + timedelta(seconds=4 * index)
        conversation.observe(
            Turn(
                conversation=name,
                index=index,
                speaker="user" if index % 2 == 0 else "assistant",
                text=next(texts) if index % 2 == 0 else "Of course, one moment please.",
                language=None,
                began_at=at,
                ended_at=at + timedelta(seconds=2),
                origin="spoken",
            )
        )
    conversation.hand_over("30 turns", AT + timedelta(minutes=10))
    conversation.close()


def proposal(number: int) -> str:
    quote = SAID[1] if number % 2 else SAID[3]
    text = (
        "Lives in Hamburg with two cats."
        if number % 2
        else "Schwester Lena: Geburtstag am dritten Mai."
    )
    change = {
        "operation": "add",
        "notebook": "USER.md",
        "entry": None,
        "text": text,
        "quote": quote,
    }
    return json.dumps({"changes": [change] * 3})


async def tick(late_ms: list[int], until_s: float) -> None:
    """Microseconds are kept: a percentile of whole numbers."""
    while time.perf_counter() < until_s:
        due = time.perf_counter() + TICK_S
        await asyncio.sleep(TICK_S)
        late_ms.append(int(1_000_000 * max(0.0, time.perf_counter() - due)))


async def measure(folder: Path, mode: Mode, seconds: float) -> tuple[list[int], int]:
    """How late each tick was, in microseconds, and how many reviews were done meanwhile."""
    vault, state = Vault(folder / "vault"), folder / "state"
    vault.check(create=True)
    conversations = 3 if mode == "cold" else max(3, int(seconds * 8))
    for number in range(conversations):
        await asyncio.to_thread(talk, state, f"c{number:03}")
    llm = ScriptedLlm([proposal(number) for number in range(conversations + 5)])

    async def model() -> Llm:
        return llm

    def task() -> MemoryTask:
        return MemoryTask(
            state=state,
            ledger=Ledger(vault, state),
            events=EventLog(state, lambda: AT),
            model=model,
            quiet=Alone(),
            now=lambda: AT + timedelta(hours=1),
        )

    if mode == "reviews":
        await task().review_now("c000")
    late: list[int] = []
    ticking = asyncio.create_task(tick(late, time.perf_counter() + seconds))
    reviewing = asyncio.create_task(task().review_now()) if mode != "alone" else None
    await ticking
    if reviewing is not None:
        reviewing.cancel()
        await asyncio.gather(reviewing, return_exceptions=True)
    return late, len(llm.questions)


def run(mode: Mode, seconds: float) -> tuple[list[int], int]:
    with tempfile.TemporaryDirectory() as folder:
        return asyncio.run(measure(Path(folder), mode, seconds))


def main() -> None:
    arguments = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    arguments.add_argument("--seconds", type=float, default=20.0)
    seconds = arguments.parse_args().seconds
    print(f"{'':10}{'ticks':>8}{'reviews':>9}{'p50':>8}{'p95':>8}{'p99':>8}{'worst':>8}")
    modes: tuple[Mode, ...] = ("alone", "reviews", "alone", "cold")
    for mode in modes:
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            late, reviews = pool.apply(run, (mode, seconds if mode != "cold" else seconds / 2))
        figures = [percentile(late, percent) / 1000 for percent in (50, 95, 99)]
        cells = "".join(f"{figure:8.2f}" for figure in (*figures, max(late) / 1000))
        print(f"{mode:10}{len(late):8}{reviews if mode != 'alone' else 0:9}{cells}")


if __name__ == "__main__":
    main()
