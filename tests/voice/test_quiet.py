"""Quiet is when nobody talks to Jarvis."""

from __future__ import annotations

import asyncio
import contextlib

import pytest

from voice.quiet import QuietHouse


async def test_a_house_is_quiet_until_somebody_talks() -> None:
    """The last who leaves makes it quiet again."""
    house = QuietHouse()
    await house.wait()
    with house.talking():
        assert not house.is_quiet
        await house.broken()
        with house.talking():
            pass
        assert not house.is_quiet
    assert house.is_quiet
    await house.wait()


async def test_who_waits_is_woken() -> None:
    """By the end of a talk, or by its beginning."""
    house = QuietHouse()
    broken = asyncio.create_task(house.broken())
    await asyncio.sleep(0)
    assert not broken.done()
    with house.talking():
        await broken
        waiting = asyncio.create_task(house.wait())
        await asyncio.sleep(0)
        assert not waiting.done()
    await waiting


async def test_a_talk_that_breaks_off_is_over() -> None:
    """An error in a call doesn't hold reviews up for ever."""
    house = QuietHouse()
    with contextlib.suppress(RuntimeError), house.talking():
        raise RuntimeError
    assert house.is_quiet
    broken = asyncio.create_task(house.broken())
    await asyncio.sleep(0)
    assert not broken.done()
    broken.cancel()
    with pytest.raises(asyncio.CancelledError):
        await broken
