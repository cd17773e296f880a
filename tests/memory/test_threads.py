from __future__ import annotations

import asyncio
import sys
import threading

import pytest

from memory.threads import in_thread


async def test_the_loop_gets_its_turn_sooner_while_a_thread_works() -> None:
    """Threads take turns ten times as often, until the last work is done, also when it fails."""
    usual = sys.getswitchinterval()
    free = threading.Event()
    both = [asyncio.create_task(in_thread(free.wait, timeout=10)) for _ in range(2)]
    await asyncio.sleep(0)
    assert sys.getswitchinterval() == pytest.approx(usual / 10)
    with pytest.raises(ZeroDivisionError):
        await in_thread(lambda: 1 // 0)
    assert sys.getswitchinterval() == pytest.approx(usual / 10)
    free.set()
    assert await asyncio.gather(*both) == [True, True]
    assert sys.getswitchinterval() == pytest.approx(usual)
