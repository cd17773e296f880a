"""`jarvis watch` and `jarvis think`: a house without conversations."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from memory import Memory, Seen, Thinked
from voice.config import Config
from voice.errors import WatchStuck
from voice.house import House
from voice.own_memory import now

_STOP_S = 10.0
_STOP_STEP_S = 0.05


async def think_now(config: Config) -> Thinked:
    """One thought. Raises MemoryFault, VoiceFault."""
    house = House(config)
    try:
        return await house.tending.think()
    finally:
        await house.close()


async def watch_until_told(
    config: Config,
    folders: Sequence[Path],
    *,
    seen: Callable[[Seen], None],
    say: Callable[[str], None],
) -> None:
    """Watch, and think beside it, until SIGINT or SIGTERM. Raises AlreadyWatching,
    StateUnwritable."""
    house = House(config)
    loop = asyncio.get_running_loop()
    watching = house.memory.watching(folders, now, seen=seen)
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, watching.stop)
    try:
        running = asyncio.create_task(watching.run())
        thinking = (
            asyncio.create_task(house.tending.run_thinking()) if house.tending.thinks else None
        )
        begun = asyncio.create_task(asyncio.to_thread(watching.begun.wait))
        await asyncio.wait((running, begun), return_when=asyncio.FIRST_COMPLETED)
        watching.begun.set()  # where it could not begin, nobody waits any longer
        if not running.done():
            say(f"Watching {', '.join(map(str, folders))} (Ctrl-C ends it)")
        try:
            await running
        finally:
            if thinking is not None:
                thinking.cancel()
                await asyncio.gather(thinking, return_exceptions=True)
        say("The watch has ended.")
    finally:
        await house.close()


def stop_other(memory: Memory, pid: int) -> bool:
    """End the watch of another process, and wait for it. Raises WatchStuck."""
    with contextlib.suppress(ProcessLookupError):
        try:
            os.kill(pid, signal.SIGTERM)
        except PermissionError:
            raise WatchStuck(f"Process {pid} watches as another user. End it there.") from None
    until = time.monotonic() + _STOP_S
    while time.monotonic() < until:
        found = memory.watch_status()
        if found is None or not found.running:
            return True
        time.sleep(_STOP_STEP_S)
    raise WatchStuck(f"Process {pid} still watches after {_STOP_S:.0f} seconds. End it by hand.")
