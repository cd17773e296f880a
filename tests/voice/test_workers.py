"""Worker processes: requests, faults and ends."""

from __future__ import annotations

import asyncio
import os
import select
import signal
import subprocess
import sys
from collections.abc import AsyncIterator

import pytest

from voice.errors import WorkerFailed
from voice.virtual_time import run_virtual
from voice.workers import Worker

ECHO = "tests.fakes.echo_worker"


@pytest.fixture
async def worker() -> AsyncIterator[Worker]:
    worker = Worker(ECHO, title="The echo")
    yield worker
    await worker.close()


async def test_a_request_is_answered_with_its_header_and_payload(worker: Worker) -> None:
    """What goes in comes back, whatever bytes it holds."""
    payload = bytes(range(256)) * 4096
    header, returned = await worker.call("echo", {"text": "Straße, mañana"}, payload)
    assert header["text"] == "Straße, mañana"
    assert returned == payload


async def test_start_tells_what_the_child_said_when_ready(worker: Worker) -> None:
    """The child is started once, and its greeting is kept."""
    assert await worker.start() == {"mood": "willing"}
    pid = worker.pid
    assert await worker.start() == {"mood": "willing"}
    assert worker.pid == pid


async def test_requests_of_two_kinds_overlap(worker: Worker) -> None:
    """A request that waits does not hold up one of another kind."""
    waiting = asyncio.create_task(worker.call("wait", payload=b"patient"))
    assert (await worker.call("echo", {"n": 1}))[0]["n"] == 1
    assert not waiting.done()
    await worker.call("open")
    assert (await waiting)[1] == b"patient"


async def test_many_requests_at_once_get_their_own_answers(worker: Worker) -> None:
    """Answers find their requests by number."""
    answers = await asyncio.gather(*(worker.call("echo", {"n": n}) for n in range(50)))
    assert [header["n"] for header, _ in answers] == list(range(50))


async def test_a_stream_gives_its_replies_in_order(worker: Worker) -> None:
    """Replies come one by one and end by themselves."""
    numbers = [header["number"] async for header, _ in worker.stream("count", {"to": 100})]
    assert numbers == list(range(100))


async def test_a_stream_left_early_leaves_the_worker_usable(worker: Worker) -> None:
    """The rest of an abandoned stream is dropped."""
    stream = worker.stream("count", {"to": 1000})
    async for header, _ in stream:
        assert header["number"] == 0
        break
    await stream.aclose()
    assert (await worker.call("echo", {"n": 2}))[0]["n"] == 2


async def test_noise_on_standard_output_does_not_reach_the_protocol(worker: Worker) -> None:
    """What a library prints while it works is not taken for a reply."""
    assert (await worker.call("chatter", {"n": 3}))[0]["n"] == 3
    assert (await worker.call("echo", {"n": 4}))[0]["n"] == 4


async def test_noise_before_the_worker_serves_does_not_reach_the_protocol() -> None:
    """What a library prints while it is imported is not taken for a greeting."""
    worker = Worker(ECHO, "noisy", title="The echo")
    assert await worker.start() == {"mood": "noisy"}
    await worker.close()


async def test_a_request_that_fails_tells_why_and_the_worker_goes_on(worker: Worker) -> None:
    """An exception in the child is a fault of that request only."""
    with pytest.raises(WorkerFailed, match=r"The echo: ValueError: this can't be done"):
        await worker.call("break")
    assert (await worker.call("echo", {"n": 5}))[0]["n"] == 5


async def test_an_unknown_kind_of_request_ends_the_child_and_says_so(worker: Worker) -> None:
    """A request that no handler takes is our mistake; its caller does not wait for ever."""
    with pytest.raises(WorkerFailed, match="sing"):
        await worker.call("sing")
    assert (await worker.call("echo", {"n": 6}))[0]["n"] == 6


async def test_a_call_that_gets_no_reply_is_a_fault(worker: Worker) -> None:
    """One reply is expected of a call; none is said so."""
    with pytest.raises(WorkerFailed, match="gave 0 replies to nothing"):
        await worker.call("nothing")


async def test_a_child_that_dies_fails_its_requests_with_its_last_words(worker: Worker) -> None:
    """Whoever waits learns the exit code and what the child said."""
    waiting = asyncio.create_task(worker.call("wait"))
    with pytest.raises(WorkerFailed, match=r"ended with code 3.*about to fall over"):
        await worker.call("die")
    with pytest.raises(WorkerFailed, match="ended with code 3"):
        await waiting


async def test_a_killed_child_is_started_again_at_the_next_use(worker: Worker) -> None:
    """After a kill the request that waited fails, and the next one works."""
    await worker.start()
    waiting = asyncio.create_task(worker.call("wait"))
    await worker.call("echo")
    first = worker.pid
    assert first is not None
    os.kill(first, signal.SIGKILL)
    with pytest.raises(WorkerFailed, match="ended with code -9"):
        await waiting
    assert (await worker.call("echo", {"n": 7}))[0]["n"] == 7
    assert worker.pid != first


async def test_a_child_that_cannot_start_tells_its_last_words() -> None:
    """The reason on standard error is in the message."""
    worker = Worker(ECHO, "broken", title="The echo")
    with pytest.raises(WorkerFailed, match=r"did not start.*the model's file is damaged"):
        await worker.start()
    await worker.close()


async def test_a_child_that_never_gets_ready_is_given_up() -> None:
    """Starting has an end."""
    worker = Worker(ECHO, "stuck", title="The echo", start_timeout_s=0.3)
    with pytest.raises(WorkerFailed, match="did not start"):
        await worker.start()
    await worker.close()


async def test_a_start_that_is_cancelled_leaves_a_worker_that_starts_anew() -> None:
    """The half-started child ends, and the next use gets a whole one."""
    worker = Worker(ECHO, title="The echo")
    starting = asyncio.create_task(worker.start())
    while worker.pid is None:  # noqa: ASYNC110 - nothing tells when a process has an id
        await asyncio.sleep(0)
    half_started = os.pidfd_open(worker.pid)
    starting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await starting
    assert select.select([half_started], [], [], 10)[0]
    os.close(half_started)
    assert (await worker.call("echo", {"n": 9}))[0]["n"] == 9
    await worker.close()


async def test_the_child_runs_at_lower_priority(worker: Worker) -> None:
    """The call itself comes first."""
    (header, _) = await worker.call("nice")
    assert header["nice"] >= min(19, os.nice(0) + 5)


@pytest.mark.parametrize("told", [None, "7"])
async def test_threads_that_wait_leave_their_core(
    worker: Worker, monkeypatch: pytest.MonkeyPatch, told: str | None
) -> None:
    """OpenMP's threads wait for each other a moment only, unless the user says how long."""
    if told is not None:
        monkeypatch.setenv("GOMP_SPINCOUNT", told)
    else:
        monkeypatch.delenv("GOMP_SPINCOUNT", raising=False)
    header, _ = await worker.call("spins")
    assert header["spins"] == (told or "4000")


async def test_closing_ends_the_child_although_a_request_is_at_work() -> None:
    """Close is bounded, and who still waits is told."""
    worker = Worker(ECHO, title="The echo")
    await worker.start()
    waiting = asyncio.create_task(worker.call("wait"))
    await worker.call("echo")
    pid = worker.pid
    assert pid is not None
    async with asyncio.timeout(10):
        await worker.close()
        with pytest.raises(WorkerFailed):
            await waiting
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


async def test_a_closed_worker_is_not_started_again() -> None:
    """A late request after the call's end is a fault, not a new process."""
    worker = Worker(ECHO, title="The echo")
    await worker.close()
    with pytest.raises(WorkerFailed, match="was closed"):
        await worker.call("echo")


PARENT = f"""
import asyncio, sys
from voice.workers import Worker
async def main():
    worker = Worker({ECHO!r}, title="The echo")
    await worker.start()
    asyncio.ensure_future(worker.call("wait"))
    await worker.call("echo")
    print(worker.pid, flush=True)
    await asyncio.Event().wait()
asyncio.run(main())
"""


def test_the_child_ends_when_its_parent_is_killed() -> None:
    """No worker outlives the call, also when nobody could say goodbye."""
    with subprocess.Popen((sys.executable, "-c", PARENT), stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        child = os.pidfd_open(int(parent.stdout.readline()))
        parent.kill()
        parent.wait()
        os.set_blocking(child, False)
        ended, _, _ = select.select([child], [], [], 10)
        os.close(child)
    assert ended


def test_a_virtual_clock_stands_still_while_a_worker_works() -> None:
    """Start, request and end of a worker take no time on a virtual clock."""

    async def main() -> tuple[float, float]:
        loop = asyncio.get_running_loop()
        began_s = loop.time()
        worker = Worker(ECHO, title="The echo")
        await worker.call("echo", {"n": 8}, bytes(1_000_000))
        asked_s = loop.time()
        async with asyncio.timeout(1):  # the timer is there, and does not fire meanwhile
            numbers = [header async for header, _ in worker.stream("count", {"to": 50})]
        assert len(numbers) == 50
        answered_s = loop.time()
        await worker.close()
        return asked_s - began_s, answered_s - asked_s

    assert run_virtual(main, epoch_s=0.0) == (0.0, 0.0)
