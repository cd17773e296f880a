"""`jarvis reflect`: a pass over the event log now, without a conversation."""

from __future__ import annotations

from memory import ReflectReport
from voice.config import Config
from voice.house import House


async def reflect_now(config: Config) -> ReflectReport:
    house = House(config)
    try:
        return await house.reviews.reflect_now()
    finally:
        await house.close()
