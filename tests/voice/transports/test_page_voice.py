"""How far a page has played, from its reports, on a virtual clock."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import numpy as np
import pytest

from voice.playback import RATE_HZ
from voice.transports.page_voice import PagePlayback, VoiceTrack
from voice.virtual_time import run_virtual

MS = RATE_HZ // 1000
ORIGIN = 4_294_900_000
"""Close to where RTP timestamps begin anew."""
BEHIND_MS = 87
PAGE_CLOCK_MS = 123_456.0


class Line:
    """A page that plays everything `BEHIND_MS` late and reports by packets of 20 ms."""

    def __init__(self) -> None:
        self.gains: list[tuple[int, float]] = []
        self.began_s = asyncio.get_running_loop().time()
        self.playback = PagePlayback(self._tell)
        self.voice = VoiceTrack(self.playback, lambda: ORIGIN)
        self.out = bytearray()

    @property
    def now_ms(self) -> float:
        return (asyncio.get_running_loop().time() - self.began_s) * 1000

    def _tell(self, gain: float) -> None:
        self.gains.append((round(self.now_ms), gain))

    async def run(self) -> None:
        while True:
            self.out += (await self.voice.recv()).to_ndarray()[0].tobytes()

    def report(self) -> None:
        # A decoded packet plays as much later as the encoder looks ahead.
        plays_ms = self.now_ms - BEHIND_MS + 6.5
        if plays_ms > 0:
            packet_ms = plays_ms // 20 * 20
            rtp = (ORIGIN + int(packet_ms * 48)) % (1 << 32)
            self.playback.reported(rtp, PAGE_CLOCK_MS + self.now_ms, 0.0)

    async def report_all(self) -> None:
        while True:
            await asyncio.sleep(0.09)
            self.report()


def on_a_line(scene: Callable[[Line], Awaitable[None]]) -> None:
    async def main() -> None:
        line = Line()
        tasks = [asyncio.create_task(line.run()), asyncio.create_task(line.report_all())]
        await scene(line)
        for task in tasks:
            task.cancel()
        line.playback.close()

    run_virtual(main, epoch_s=0.0)


def sound(ms: int) -> bytes:
    return np.full(ms * MS, 9_000, np.int16).tobytes()


def test_played_is_what_the_page_plays() -> None:
    """Between its reports too, to within 5 ms, whichever part of a packet they met."""

    async def scene(line: Line) -> None:
        await asyncio.sleep(1.0)
        line.voice.give(sound(3_000))
        began_ms = line.now_ms
        for _ in range(40):
            await asyncio.sleep(0.0501)
            truth_ms = max(0.0, line.now_ms - began_ms - BEHIND_MS)
            assert line.playback.played() / MS == pytest.approx(truth_ms, abs=15)

    on_a_line(scene)


def test_interrupted_before_a_sample_was_heard() -> None:
    """What went out and lies in the page's buffer was heard by nobody."""

    async def scene(line: Line) -> None:
        await asyncio.sleep(1.0)
        line.voice.give(sound(1_000))
        await asyncio.sleep(0.06)
        assert line.playback.loudspeaker.next >= 50 * MS
        line.voice.flush()
        assert line.playback.played() == 0
        await asyncio.sleep(0.5)
        assert line.playback.played() == 0
        assert not line.playback.sounding()

    on_a_line(scene)


def test_held_and_going_on() -> None:
    """Silent at once in the page; it goes on where the user heard it stop, within 20 ms."""

    async def scene(line: Line) -> None:
        await asyncio.sleep(0.8)
        line.voice.give(sound(4_000))
        await asyncio.sleep(1.0)
        line.playback.lower()
        await asyncio.sleep(0.1)
        line.playback.hold()
        assert [gain for _, gain in line.gains] == [0.2, 0.0]
        place = line.playback.played()
        await asyncio.sleep(0.4)
        assert line.playback.played() == place
        line.playback.go_on()
        began_ms = line.now_ms
        assert line.gains[-1][1] == 1.0
        await asyncio.sleep(0.05)
        assert line.playback.played() == place
        await asyncio.sleep(0.25)
        truth = place + (line.now_ms - began_ms - BEHIND_MS) * MS
        assert abs(line.playback.played() - truth) <= 20 * MS

    on_a_line(scene)


def test_a_short_hold_is_not_heard_twice() -> None:
    """The page stays silent until it has played off what it had buffered when it was held."""

    async def scene(line: Line) -> None:
        await asyncio.sleep(0.8)
        line.voice.give(sound(4_000))
        await asyncio.sleep(1.0)
        line.playback.hold()
        await asyncio.sleep(0.02)
        line.playback.go_on()
        went_on_ms = line.now_ms
        await asyncio.sleep(0.3)
        [(at_ms, gain)] = line.gains[1:]
        assert gain == 1.0
        assert at_ms - went_on_ms == pytest.approx(BEHIND_MS, abs=15)

    on_a_line(scene)


def test_stopped_and_speaking_again() -> None:
    """Flushed, the page is silent until it has played off the old answer; then it hears the new."""

    async def scene(line: Line) -> None:
        await asyncio.sleep(0.8)
        _, gone_out = line.voice.give(sound(4_000))
        await asyncio.sleep(1.0)
        line.voice.flush()
        assert gone_out.result() is False
        assert line.gains[-1][1] == 0.0
        out = len(line.out)
        await asyncio.sleep(0.03)
        assert not any(line.out[out + 2 * 10 * MS :])
        first, gone_out = line.voice.give(sound(200))
        assert await gone_out
        assert first == 4_000_000_000
        await asyncio.sleep(0.2)
        assert line.gains[-1][1] == 1.0
        assert line.playback.played() == 4_200 * MS

    on_a_line(scene)


def test_a_page_that_tells_nothing_yet() -> None:
    """Until its first report a page is taken to be a tenth of a second behind."""

    async def main() -> None:
        line = Line()
        task = asyncio.create_task(line.run())
        line.voice.give(sound(1_000))
        await asyncio.sleep(0.5)
        assert line.playback.played() == pytest.approx(390 * MS, abs=20 * MS)
        task.cancel()

    run_virtual(main, epoch_s=0.0)


def test_a_report_of_another_line() -> None:
    """A timestamp from before this line began says nothing."""

    async def main() -> None:
        line = Line()
        task = asyncio.create_task(line.run())
        await asyncio.sleep(0.5)
        line.playback.reported(ORIGIN - 96_000, PAGE_CLOCK_MS, 0.0)
        assert line.playback.device == pytest.approx(390 * MS, abs=20 * MS)
        task.cancel()

    run_virtual(main, epoch_s=0.0)
