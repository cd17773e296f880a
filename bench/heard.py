"""How far from the truth is what is kept of an interrupted answer?

    python -m bench.heard [--interruptions 1000]

An answer over the page's line, on a virtual clock: the page's buffer and device hold 30 to
300 ms and change in mid-call, its reports come late and name packets, its clock is its own.
The call is interrupted at random places, some before a sample was heard, some while it is held.
The truth is what the page's device had played; the error is what the transcript kept beside it.
"""

from __future__ import annotations

import argparse
import asyncio
import random
from dataclasses import dataclass

import numpy as np

from voice.heard import heard_samples
from voice.playback import RATE_HZ, position_of
from voice.transports.page_voice import PagePlayback, VoiceTrack
from voice.virtual_time import run_virtual

MS = RATE_HZ // 1000
_ORIGIN = 4_294_000_000
_ENCODER_MS = 6.5


@dataclass(slots=True)
class Page:
    """Plays `behind_ms` late, reports every 90 ms, and obeys within 10 ms of being told."""

    dice: random.Random
    behind_ms: float
    latency_ms: float
    playback: PagePlayback | None = None
    silent_from_ms: float | None = None
    began_s: float = 0.0

    def now_ms(self) -> float:
        return (asyncio.get_running_loop().time() - self.began_s) * 1000

    def tell(self, gain: float) -> None:
        if gain == 0.0 and self.silent_from_ms is None:
            self.silent_from_ms = self.now_ms() + self.dice.uniform(1, 10)
        elif gain > 0.0:
            self.silent_from_ms = None

    def heard_ms(self) -> float:
        """What of the line's sound was let be heard."""
        now = self.now_ms() if self.silent_from_ms is None else self.silent_from_ms
        return min(now, self.now_ms()) - self.behind_ms - self.latency_ms

    async def report(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(0.09)
            plays_ms = self.now_ms() - self.behind_ms + _ENCODER_MS
            if self.playback is not None and plays_ms > 0:
                rtp = (_ORIGIN + int(plays_ms // 20 * 20 * 48)) % (1 << 32)
                loop.call_later(
                    self.dice.uniform(0.0005, 0.02),
                    self.playback.reported,
                    rtp,
                    50_000 + self.now_ms(),
                    self.latency_ms,
                )


async def interrupted(seed: int) -> float:
    """One answer cut somewhere; the error in ms."""
    dice = random.Random(seed)  # noqa: S311  a benchmark's choice
    page = Page(dice, behind_ms=dice.uniform(20, 220), latency_ms=dice.uniform(5, 60))
    page.began_s = asyncio.get_running_loop().time()
    playback = page.playback = PagePlayback(page.tell)
    voice = VoiceTrack(playback, lambda: _ORIGIN)

    async def line() -> None:
        while True:
            await voice.recv()

    tasks = [asyncio.create_task(line()), asyncio.create_task(page.report())]
    await asyncio.sleep(dice.uniform(0.5, 2.0))
    length_ms = dice.randint(400, 6_000)
    began_ms = page.now_ms()
    pts, _ = voice.give(bytes(length_ms * MS * 2))
    wait_s = dice.choice((dice.uniform(0.0, 0.2), dice.uniform(0.2, length_ms / 1000)))
    await asyncio.sleep(wait_s / 2)
    if dice.random() < 0.3:
        page.behind_ms += dice.uniform(-15, 15)  # the page's buffer adapts
    await asyncio.sleep(wait_s / 2)
    if dice.random() < 0.5:
        playback.lower()
        playback.hold()
        await asyncio.sleep(dice.uniform(0.1, 0.9))
    kept = heard_samples(position_of(pts), length_ms * MS, playback.played()) / MS
    truth = max(0.0, min(page.heard_ms() - began_ms, float(length_ms)))
    voice.flush()
    playback.close()
    for task in tasks:
        task.cancel()
    return abs(kept - truth)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--interruptions", type=int, default=1_000)
    count = parser.parse_args().interruptions
    errors = run_virtual(lambda: _all(count), epoch_s=0.0, grace_s=0.0)
    p50, p99, worst = np.percentile(errors, (50, 99, 100))
    print("| interruptions | error p50 | p99 | worst |\n|---|---|---|---|")
    print(f"| {count} | {p50:.0f} ms | {p99:.0f} ms | {worst:.0f} ms |")


async def _all(count: int) -> list[float]:
    return [await interrupted(seed) for seed in range(count)]


if __name__ == "__main__":
    main()
