"""Work in a thread, beside an event loop that must not wait.

A thread that computes gives Python's lock back when another thread has asked for it for so
long as `sys.setswitchinterval` says: 5 ms by default, which each turn of the event loop would
then wait. While our work is in a thread it is a tenth of that.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Final, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

_BRIEF_S: Final = 0.0005
_USUAL_S: Final = sys.getswitchinterval()

_at_work = 0


@contextmanager
def brief_turns() -> Iterator[None]:
    """Threads that compute give the lock back soon while this is open; for the event loop's
    own thread."""
    global _at_work  # the switch interval is the whole process', and so is this count
    _at_work += 1
    sys.setswitchinterval(_BRIEF_S)
    try:
        yield
    finally:
        _at_work -= 1
        if not _at_work:
            sys.setswitchinterval(_USUAL_S)


async def in_thread(work: Callable[P, T], *args: P.args, **named: P.kwargs) -> T:
    """As `asyncio.to_thread`, with a shorter turn for the thread."""
    with brief_turns():
        return await asyncio.to_thread(partial(work, *args, **named))
