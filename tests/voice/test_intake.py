"""The line in front of a call: everything in order, whoever is slow."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

import pytest

from voice import intake
from voice.intake import AFTER_END, FULL, HUNG_UP, NO_DISK, Intake
from voice.microphone import FRAME_BYTES, RATE_HZ, Span
from voice.records import Notice
from voice.virtual_time import run_virtual

T = TypeVar("T")


def frame(number: int) -> bytes:
    return number.to_bytes(2, "little") * (FRAME_BYTES // 2)


def on_virtual_time(main: Callable[[], Awaitable[T]]) -> T:
    async def run() -> T:
        return await main()

    return run_virtual(run, epoch_s=0, grace_s=0)


async def take(waiting: Intake, count: int) -> list[bytes]:
    taken = []
    for _ in range(count):
        arrived = await waiting.take()
        assert arrived is not None
        taken.append(arrived.samples)
        waiting.heard()
        waiting.delivered()
    return taken


async def speak(waiting: Intake, frames: range) -> None:
    for number in frames:
        waiting.put(frame(number), RATE_HZ)
        await asyncio.sleep(0.02)


@pytest.mark.parametrize(
    ("frames", "folder"), [(150, False), (150, True), (3_000, False), (4_000, True)]
)
def test_a_consumer_that_stands_still_costs_nothing(
    tmp_path: Path, frames: int, folder: bool
) -> None:
    """Three seconds, or more than memory holds: every frame comes, in order (v19)."""

    async def main() -> None:
        waiting = Intake(tmp_path if folder else None)
        await speak(waiting, range(frames))
        assert waiting.waiting_s == pytest.approx(frames * 0.02)
        assert await take(waiting, frames) == [frame(number) for number in range(frames)]
        found = await waiting.close()
        assert (found.frames, found.delivered, found.dropped) == (frames, frames, 0)
        assert found.waited_most == frames
        assert waiting.waiting_s == 0

    on_virtual_time(main)
    assert list(tmp_path.iterdir()) == []


def test_taking_and_joining_at_once(tmp_path: Path) -> None:
    """A consumer that begins late catches up while the microphone goes on."""

    async def main() -> list[bytes]:
        waiting = Intake(tmp_path, memory_s=1)
        speaking = asyncio.create_task(speak(waiting, range(2_000)))
        await asyncio.sleep(20)
        taken = await take(waiting, 2_000)
        await speaking
        await waiting.close()
        return taken

    assert on_virtual_time(main) == [frame(number) for number in range(2_000)]


def test_frames_know_when_they_came(tmp_path: Path) -> None:
    """Also those that were on the disk meanwhile."""

    async def main() -> list[float]:
        waiting = Intake(tmp_path, memory_s=1)
        began_s = asyncio.get_running_loop().time()
        await speak(waiting, range(500))
        came = []
        for _ in range(500):
            arrived = await waiting.take()
            assert arrived is not None
            came.append(arrived.at_s - began_s)
            waiting.heard()
            waiting.delivered()
        await waiting.close()
        return came

    assert on_virtual_time(main) == pytest.approx([number * 0.02 for number in range(500)])


def test_a_full_ring_forgets_its_oldest_and_says_so(tmp_path: Path) -> None:
    """What lies ready in memory is older and stays; the user is told once."""

    async def main() -> None:
        told: list[Notice] = []
        waiting = Intake(tmp_path, notify=told.append, memory_s=1, ring_s=4)
        await speak(waiting, range(1_000))
        found = waiting.summary()
        assert found.dropped == found.reasons[FULL] > 0
        taken = await take(waiting, found.waiting)
        assert taken[-1] == frame(999)
        assert taken == sorted(taken, key=lambda sound: int.from_bytes(sound[:2], "little"))
        assert len(told) == 1
        assert FULL in told[0].text
        assert (await waiting.close()).dropped == found.dropped

    on_virtual_time(main)


def test_a_disk_that_refuses(tmp_path: Path) -> None:
    """A minute stays in memory; the oldest of what is more is lost, counted and told."""

    async def main() -> None:
        told: list[Notice] = []
        (tmp_path / "state").write_text("no folder")
        waiting = Intake(tmp_path / "state", notify=told.append, memory_s=1)
        await speak(waiting, range(3_200))
        found = waiting.summary()
        assert found.reasons == {NO_DISK: 200}
        assert await take(waiting, 3_000) == [frame(number) for number in range(200, 3_200)]
        assert len(told) == 1
        await waiting.close()

    on_virtual_time(main)


def test_a_hole_is_known_and_silent() -> None:
    """Positions stay true to the clock when the device gives nothing for a while."""

    async def main() -> None:
        waiting = Intake()
        waiting.put(frame(7), RATE_HZ)
        waiting.missing(60, "the device was gone")
        waiting.put(frame(8), RATE_HZ)
        assert await take(waiting, 5) == [frame(7), *[bytes(FRAME_BYTES)] * 3, frame(8)]
        assert waiting.spans() == (
            Span(first=0, end=1, fate="delivered"),
            Span(first=1, end=4, fate="missing", reason="the device was gone"),
            Span(first=4, end=5, fate="delivered"),
        )
        await waiting.close()

    on_virtual_time(main)


def test_hanging_up() -> None:
    """What waits is still heard; what comes later, and what nobody took, is lost by name."""

    async def main() -> None:
        waiting = Intake()
        for number in range(4):
            waiting.put(frame(number), RATE_HZ)
        waiting.put(frame(4)[:100], RATE_HZ)
        waiting.shut()
        waiting.put(frame(5), RATE_HZ)
        draining = asyncio.create_task(waiting.drained())
        assert len(await take(waiting, 3)) == 3
        await asyncio.sleep(0)
        assert not draining.done()
        draining.cancel()
        found = await waiting.close()
        assert found.reasons == {HUNG_UP: 2, AFTER_END: 1}
        assert (found.delivered, found.waiting) == (3, 0)
        assert await waiting.take() is None

    on_virtual_time(main)


def test_all_was_heard() -> None:
    """`drained` ends when the ears had everything, whether or not the engine did."""

    async def main() -> None:
        waiting = Intake()
        waiting.put(frame(1), RATE_HZ)
        waiting.shut()
        assert await waiting.take() is not None
        draining = asyncio.create_task(waiting.drained())
        await asyncio.sleep(1)
        assert not draining.done()
        waiting.heard()
        await draining
        assert (await waiting.close()).delivered == 1

    on_virtual_time(main)


@pytest.mark.parametrize("deaf", ["ears", "engine"])
def test_a_pipeline_that_stands_still_is_not_filled(
    deaf: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No more frames than its window are on their way at once; the rest stands in line (v16)."""
    monkeypatch.setattr(intake, "ENGINE_WINDOW", 40)

    async def main() -> int:
        waiting = Intake()
        for number in range(100):
            waiting.put(frame(number), RATE_HZ)
        taken = 0
        try:
            async with asyncio.timeout(1):
                while await waiting.take() is not None:
                    taken += 1
                    if deaf == "engine":
                        waiting.heard()
        except TimeoutError:
            return taken
        finally:
            await waiting.close()
        raise AssertionError("all was taken")

    assert on_virtual_time(main) == (25 if deaf == "ears" else 40)
