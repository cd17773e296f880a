"""Turns for tests: a user and an assistant who take turns, a second each."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from memory.records import Origin, Speaker, Turn

NOON = datetime(2026, 12, 2, 12, 0, tzinfo=UTC)
AT = datetime.fromisoformat("2026-12-02T10:00:00+01:00")
"""When the first turn of `said` was said."""


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


def said(
    text: str, index: int = 0, *, speaker: Speaker = "user", origin: Origin = "spoken"
) -> Turn:
    """A turn a minute, in whatever way it came in."""
    at = AT + timedelta(minutes=index)
    return Turn(
        conversation="c1", index=index, speaker=speaker, text=text, language=None,
        began_at=at, ended_at=at + timedelta(seconds=5), origin=origin,
    )  # fmt: skip
