from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from memory.asking import Alone
from memory.conversations import Conversation, Kind
from memory.thinking.elsewhere import QuietEverywhere, is_talking
from tests.memory.turns import NOON, turn


@pytest.mark.parametrize(("kind", "age_s", "expected"), [
    ("call", 0, True), ("call", 3600, True), ("chat", 0, True), ("chat", 3600, False),
])  # fmt: skip
def test_a_call_and_a_chat_are_seen_from_other_processes(
    tmp_path: Path, kind: Kind, age_s: float, expected: bool
) -> None:
    """A call counts while it lasts, a chat while something is said in it."""
    assert not is_talking(tmp_path)
    conversation = Conversation.begin(tmp_path, "c1", kind, NOON)
    conversation.observe(turn(0))
    path = tmp_path / "calls" / "c1.jsonl"
    then = path.stat().st_mtime - age_s
    os.utime(path, (then, then))
    assert is_talking(tmp_path) == expected
    conversation.close()
    assert not is_talking(tmp_path)


async def test_quiet_is_everywhere(tmp_path: Path) -> None:
    """It is broken at once where somebody talks in another process, and there where nobody does."""
    quiet = QuietEverywhere(tmp_path, Alone())
    await quiet.wait()
    conversation = Conversation.begin(tmp_path, "c1", "call", NOON)
    conversation.observe(turn(0))
    await quiet.broken()
    waiting = asyncio.create_task(quiet.wait())
    await asyncio.sleep(0)
    assert not waiting.done()
    waiting.cancel()
    conversation.close()
    await quiet.wait()
