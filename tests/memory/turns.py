"""Turns for tests: a user and an assistant who take turns, a second each."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from memory.records import Turn

NOON = datetime(2026, 12, 2, 12, 0, tzinfo=UTC)


def turn(index: int, text: str = "", conversation: str = "c1") -> Turn:
    began_at = NOON + timedelta(seconds=index)
    return Turn(
        conversation=conversation,
        index=index,
        speaker="user" if index % 2 == 0 else "assistant",
        text=text or f"Satz {index}: „Größe“ 🙂",
        language="de",
        began_at=began_at,
        ended_at=began_at + timedelta(seconds=1),
        origin="spoken",
    )
