"""Whether somebody talks to Jarvis in another process: `jarvis watch` thinks beside a call of
`jarvis serve`."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

from memory import locks
from memory.asking import Quiet
from memory.errors import StateUnwritable

CHAT_S = 60.0
"""A chat counts for so long after its last line: it stays open, and nobody may be there."""
_LOOK_S = 2.0
_CALL = b'"kind": "call"'
_HEAD_BYTES = 512


def is_talking(state: Path) -> bool:
    """Whether a process leads a call, or a chat in which something was said just now."""
    for lock in (state / "calls").glob("*.lock"):
        transcript = lock.with_suffix(".jsonl")
        try:
            with transcript.open("rb") as file:
                is_call = _CALL in file.read(_HEAD_BYTES).partition(b"\n")[0]
            age_s = time.time() - transcript.stat().st_mtime
        except OSError:
            continue
        if (is_call or age_s < CHAT_S) and _is_held(lock):
            return True
    return False


def _is_held(lock: Path) -> bool:
    try:
        with locks.held(lock) as is_ours:
            return not is_ours
    except StateUnwritable:
        return False


class QuietEverywhere:
    """Quiet here, as `here` knows, and in every process with this state."""

    def __init__(self, state: Path, here: Quiet) -> None:
        self._state = state
        self._here = here

    async def wait(self) -> None:
        while True:
            await self._here.wait()
            if not await asyncio.to_thread(is_talking, self._state):
                return
            await asyncio.sleep(_LOOK_S)

    async def broken(self) -> None:
        here = asyncio.ensure_future(self._here.broken())
        try:
            while not here.done():
                if await asyncio.to_thread(is_talking, self._state):
                    return
                await asyncio.wait((here,), timeout=_LOOK_S)
        finally:
            here.cancel()
            await asyncio.gather(here, return_exceptions=True)
