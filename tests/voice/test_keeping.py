"""What a conversation leaves behind, in a real event log."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from pathlib import Path

from memory import Memory
from memory.records import Turn
from voice.errors import EngineUnavailable
from voice.keeping import Keeper
from voice.microphone import MicrophoneSummary
from voice.records import LatencyMeasured, TokensCounted

AT = datetime(2026, 12, 1, 9, tzinfo=UTC)
TURN = Turn(
    conversation="c1",
    index=1,
    speaker="assistant",
    text="Hello.",
    language="en",
    began_at=AT,
    ended_at=AT,
    origin="spoken",
    interrupted=True,
)


async def test_the_event_log_takes_all_that_is_told(tmp_path: Path) -> None:
    """Whatever happens in a call has a kind there; what has none would end the call."""
    (tmp_path / "vault").mkdir()
    memory = Memory.open(tmp_path / "vault", tmp_path / "state", lambda: AT)
    keeper = Keeper(
        memory.begin("c1", "call", AT), memory.events, now=lambda: AT, emit=lambda _: None
    )
    running = asyncio.create_task(keeper.run())
    keeper.began("call", "OpenAI Realtime", "en", memory.prefix())
    keeper.latency(
        LatencyMeasured(index=1, stages_ms={"pause": 300}, total_ms=300), "OpenAI Realtime"
    )
    keeper.tokens(
        TokensCounted(index=1, prompt_tokens=9, cached_tokens=0, prefix_sha256=""),
        "OpenAI Realtime",
    )
    keeper.microphone(MicrophoneSummary())
    keeper.tool("search_notes", "done", 12)
    keeper.no_turn("noise", 200)
    keeper.interrupted(TURN)
    keeper.engine_fault("a script", EngineUnavailable("away"))
    keeper.engine_gave_up("OpenAI Realtime")
    keeper.ended("hang-up", 1.5, turns=1, user_turns=0)
    await keeper.settled()
    assert not running.done()
    running.cancel()
    kinds = [event.kind for event in memory.events.events()]
    memory.close()
    assert sorted(kinds) == [
        "began", "ended", "engine_fault", "engine_fault", "interrupted", "latency", "microphone",
        "no_turn", "tokens", "tool",
    ]  # fmt: skip
