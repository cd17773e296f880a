"""A clock that waits for work and for nothing else."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from voice.virtual_time import at_work, run_virtual

EPOCH_S = 1_796_000_000.0
WORK_S = 0.05


def spent(main: Callable[[], Coroutine[Any, Any, None]]) -> float:
    """Virtual seconds that `main` took."""

    async def measured() -> float:
        loop = asyncio.get_running_loop()
        began_s = loop.time()
        await main()
        return loop.time() - began_s

    return run_virtual(measured, epoch_s=EPOCH_S)


def test_a_timer_costs_no_time() -> None:
    """A day passes in far less than a second of it."""
    began_s = time.monotonic()
    assert spent(lambda: asyncio.sleep(86_400)) == 86_400
    assert time.monotonic() - began_s < 60


def test_timers_fire_in_the_order_of_their_times() -> None:
    """Whoever sleeps less wakes first, however the sleepers were started."""
    woken: list[int] = []

    async def main() -> None:
        async def sleeper(milliseconds: int) -> None:
            await asyncio.sleep(milliseconds / 1000)
            woken.append(milliseconds)

        await asyncio.gather(*(sleeper(each) for each in (40, 10, 30, 20, 5)))

    assert spent(main) == pytest.approx(0.04)
    assert woken == [5, 10, 20, 30, 40]


def test_the_clock_stands_still_while_a_thread_works() -> None:
    """A thread's work takes no virtual time, so no timer overtakes it."""
    order: list[str] = []

    async def main() -> None:
        async def timer() -> None:
            await asyncio.sleep(0.001)
            order.append("timer")

        def work() -> None:
            threading.Event().wait(WORK_S)
            order.append("work")

        await asyncio.gather(timer(), asyncio.to_thread(work))

    spent(main)
    assert order == ["work", "timer"]


def test_a_thread_that_fails_lets_the_clock_go_on() -> None:
    """The clock is not held by work that ended in an error."""

    async def main() -> None:
        def work() -> None:
            raise ValueError

        with pytest.raises(ValueError):  # noqa: PT011 - it is the one raised above
            await asyncio.to_thread(work)
        await asyncio.sleep(5)

    assert spent(main) == 5


def test_the_clock_stands_still_for_whoever_is_at_work() -> None:
    """Waiting for another process is work too, also when two wait at once."""

    async def main() -> None:
        loop = asyncio.get_running_loop()
        done = loop.create_future()

        async def wait() -> None:
            with at_work():
                await done

        async def fire() -> None:
            with at_work():
                threading.Timer(
                    WORK_S, lambda: loop.call_soon_threadsafe(done.set_result, None)
                ).start()
                await done

        async with asyncio.timeout(0.001):
            await asyncio.gather(wait(), fire())

    assert spent(main) == 0


async def test_at_work_does_nothing_on_a_real_clock() -> None:
    """The same code runs in a live call."""
    with at_work():
        await asyncio.sleep(0)


def test_a_server_in_the_same_loop_answers_before_a_timer() -> None:
    """What waits in a socket comes before the clock moves."""

    async def main() -> None:
        async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write(await reader.readexactly(5))
            writer.close()
            await writer.wait_closed()

        server = await asyncio.start_server(echo, "127.0.0.1", 0)
        address = server.sockets[0].getsockname()
        reader, writer = await asyncio.open_connection(*address)
        async with asyncio.timeout(0.001):
            writer.write(b"hello")
            assert await reader.readexactly(5) == b"hello"
        writer.close()
        await writer.wait_closed()
        server.close()
        await server.wait_closed()

    assert spent(main) == 0


def test_the_wall_clock_follows_the_loops_and_comes_back() -> None:
    """`time` tells the call's own time within, and the real one afterwards."""
    real = (time.time, time.monotonic, time.time_ns, time.monotonic_ns)

    async def main() -> tuple[float, float, float, float]:
        began = (time.time(), time.monotonic(), time.time_ns(), time.monotonic_ns())
        await asyncio.sleep(90)
        return (
            began[0],
            time.time() - began[0],
            time.monotonic() - began[1],
            (time.monotonic_ns() - began[3]) / 1e9,
        )

    began_s, *passed_s = run_virtual(main, epoch_s=EPOCH_S)
    assert began_s == EPOCH_S
    assert passed_s == pytest.approx([90, 90, 90])
    assert (time.time, time.monotonic, time.time_ns, time.monotonic_ns) == real


def test_the_wall_clock_comes_back_after_a_failure() -> None:
    """A call that crashed leaves the process as it was."""
    real = time.time

    async def main() -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        run_virtual(main, epoch_s=EPOCH_S)
    assert time.time is real


def test_the_same_program_gives_the_same_times_again() -> None:
    """Timers, threads and queues together: three runs, one list of times. Which of two threads at
    one instant is done first is the system's to say."""

    async def main() -> list[tuple[float, str]]:
        loop = asyncio.get_running_loop()
        events: list[tuple[float, str]] = []

        async def talker(name: str, period_s: float) -> None:
            for _ in range(50):
                await asyncio.sleep(period_s)
                await asyncio.to_thread(sum, range(1000))
                events.append((loop.time(), name))

        async with asyncio.TaskGroup() as group:
            group.create_task(talker("a", 0.02))
            group.create_task(talker("b", 0.013))
            group.create_task(talker("c", 0.37))
        return sorted(events)

    first, second, third = (run_virtual(main, epoch_s=EPOCH_S) for _ in range(3))
    assert first == second == third
