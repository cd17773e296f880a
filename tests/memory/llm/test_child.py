from __future__ import annotations

import asyncio
import os
import shlex
from pathlib import Path

import pytest

from memory.llm.child import OUTPUT_BYTES, Ran, run


async def sh(folder: Path, script: str, *, text: str = "", timeout_s: float = 60.0) -> Ran:
    return await run(
        ("/bin/sh", "-c", script),
        text=text,
        folder=folder,
        environment={"PATH": os.defpath},
        timeout_s=timeout_s,
    )


class Alive:
    """A pipe that a command and its child hold open as long as they live."""

    def __init__(self, folder: Path) -> None:
        pipe = folder / "alive"
        os.mkfifo(pipe)
        self.script = f"exec 9> {shlex.quote(str(pipe))}\nsleep 600 &\necho both >&9\nwait"
        # Held open for both, so that there is no end before there was a beginning.
        self._both = os.open(pipe, os.O_RDWR | os.O_NONBLOCK)
        self._end = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)

    async def begun(self) -> None:
        await readable(self._both)

    async def ended(self) -> None:
        os.close(self._both)
        while True:
            await readable(self._end)
            if not os.read(self._end, 100):
                break
        os.close(self._end)


async def readable(pipe: int) -> None:
    ready = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.add_reader(pipe, ready.set)
    try:
        async with asyncio.timeout(60):
            await ready.wait()
    finally:
        loop.remove_reader(pipe)


async def test_it_is_run_to_its_end(tmp_path: Path) -> None:
    """Where it runs, what it reads, what it says on either stream, and how it ends."""
    ran = await sh(tmp_path, "pwd; cat; echo no >&2; exit 3", text="¡ñ!")
    assert ran == Ran(code=3, out=f"{tmp_path}\n¡ñ!", err="no\n")


async def test_a_cancellation_kills_all_of_it(tmp_path: Path) -> None:
    """The command and what it started are gone when the cancelled call is."""
    alive = Alive(tmp_path)
    running = asyncio.create_task(sh(tmp_path, alive.script))
    await alive.begun()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    await alive.ended()


@pytest.mark.parametrize("turns", range(8))
async def test_a_cancellation_while_it_starts(tmp_path: Path, turns: int) -> None:
    """However early it comes, nothing is left running."""
    alive = Alive(tmp_path)
    running = asyncio.create_task(sh(tmp_path, alive.script))
    for _ in range(turns):
        await asyncio.sleep(0)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    await alive.ended()


async def test_a_timeout_kills_all_of_it(tmp_path: Path) -> None:
    """A command that hangs leaves nothing behind."""
    alive = Alive(tmp_path)
    with pytest.raises(TimeoutError):
        await sh(tmp_path, alive.script, timeout_s=0.5)
    await alive.ended()


async def test_what_is_left_running_does_not_hold_the_end_back(tmp_path: Path) -> None:
    """A child that keeps the pipe open is killed when its parent has ended."""
    async with asyncio.timeout(60):
        assert (await sh(tmp_path, "sleep 600 &\nprintf done")).out == "done"


async def test_endless_output_ends(tmp_path: Path) -> None:
    """A command that never stops talking is killed."""
    async with asyncio.timeout(60):
        assert (await sh(tmp_path, "yes x")).code < 0


async def test_a_command_that_reads_nothing(tmp_path: Path) -> None:
    """A text that nobody reads breaks no pipe of ours."""
    assert (await sh(tmp_path, "exit 7", text="x" * OUTPUT_BYTES)).code == 7
