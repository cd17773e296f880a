"""A recorded call through the same code as a live one, on a virtual clock (V14).

Nothing of the user's is written: notebooks are copied into a temporary vault beside a
temporary state, and both are gone when the replay is over.
"""

from __future__ import annotations

import asyncio
import shutil
import statistics
import tempfile
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from memory import Memory
from memory.records import HandOver, Trigger, Turn
from voice.config import Config
from voice.recording import (
    Outcome,
    RecordedCall,
    RecordedTranscript,
    read_recording,
)
from voice.records import (
    CallEvent,
    EndReason,
    HandedOver,
    LatencyMeasured,
    NoTurn,
    event_json,
)
from voice.triggers import Triggers
from voice.virtual_time import run_virtual
from voice.weights import path_of
from voice.workers import Worker


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayResult:
    """What came out of a replay. `length_s` is how long the call took on its own clock."""

    turns: tuple[Turn, ...]
    noises: tuple[NoTurn, ...]
    hand_overs: tuple[HandOver, ...]
    latencies: tuple[LatencyMeasured, ...]
    events: tuple[CallEvent, ...]
    ended: EndReason | None
    length_s: float

    @property
    def handed_over(self) -> Trigger | None:
        """The trigger of the last hand-over: the one that ended the call, or None."""
        return self.hand_overs[-1].trigger if self.hand_overs else None

    def as_json(self) -> dict[str, Any]:
        """The form of `jarvis replay --json` (spec, section C).

        Nothing is marked or reviewed yet: memory keeps what was handed over for later.
        """
        return {
            "turns": [turn.as_json() for turn in self.turns],
            "marked": 0,
            "reviews": 0,
            "changes": [],
            "rejections": [],
            "handed_over": self.handed_over,
            "latency_ms": self._latency_ms(),
        }

    def _latency_ms(self) -> dict[str, int]:
        """The median of each stage and of the whole, over the answers to spoken turns."""
        if not self.latencies:
            return {}
        rows = [{**each.stages_ms, "total": each.total_ms} for each in self.latencies]
        return {name: round(statistics.median(row[name] for row in rows)) for name in rows[0]}

    def events_json(self) -> list[dict[str, Any]]:
        """Everything that a page would have been told, in order."""
        return [event_json(event) for event in self.events]

    def outcome(self) -> Outcome:
        return Outcome(
            turns=self.turns,
            noises=self.noises,
            hand_overs=tuple(
                HandedOver(
                    first_index=each.first_index, last_index=each.last_index, trigger=each.trigger
                )
                for each in self.hand_overs
            ),
            ended=self.ended,
        )


def run(config: Config, path: Path, *, real_time: bool = False) -> ReplayResult:
    """Replay the recorded call at `path`. Not for a process that does anything else meanwhile.

    Raises RecordingInvalid, AudioUnreadable, VaultMissing, and what the hearing worker raises.
    """
    recording = read_recording(path)
    began_at = (
        recording.turns[0].began_at
        if isinstance(recording, RecordedTranscript)
        else recording.began_at
    )
    with tempfile.TemporaryDirectory(prefix="jarvis-replay-") as scratch:
        vault, state = Path(scratch) / "vault", Path(scratch) / "state"
        _copy_notebooks(config.vault, vault)

        async def main() -> ReplayResult:
            clock = Clock(began_at)
            memory = Memory.open(vault, state, clock.now)
            try:
                if isinstance(recording, RecordedTranscript):
                    return await _replay_transcript(recording, memory, clock)
                return await _replay_sound(recording, config, memory, clock, warm=real_time)
            finally:
                memory.close()

        if real_time:
            return asyncio.run(main())
        # No socket is waited for, and the worker only under at_work(): no grace is needed.
        return run_virtual(main, epoch_s=began_at.timestamp(), grace_s=0)


def _copy_notebooks(vault: Path, copy: Path) -> None:
    """The user's notebooks as they are now; a vault that isn't there is an empty one."""
    source, target = vault / "society" / "jarvis", copy / "society" / "jarvis"
    target.mkdir(parents=True)
    for name in ("persona.md", "USER.md", "MEMORY.md"):
        page = source / name
        if page.is_file() and page.resolve().is_relative_to(vault.resolve()):
            shutil.copyfile(page, target / name)


class Clock:
    """The call's own wall clock, in whole milliseconds from when it was recorded."""

    def __init__(self, began_at: datetime) -> None:
        self._began_at = began_at
        self._loop = asyncio.get_running_loop()
        self._began_s = self._loop.time()

    def now(self) -> datetime:
        return self._began_at + timedelta(milliseconds=round(self.passed_s() * 1000))

    def passed_s(self) -> float:
        return self._loop.time() - self._began_s

    async def reach(self, at: datetime) -> None:
        await asyncio.sleep((at - self._began_at).total_seconds() - self.passed_s())


async def _replay_sound(
    recording: RecordedCall, config: Config, memory: Memory, clock: Clock, *, warm: bool
) -> ReplayResult:
    worker = Worker(
        "voice.hearing.worker",
        str(path_of("whisper-base", config.weights)),
        title="The hearing worker",
    )
    try:
        starting = asyncio.create_task(worker.start())
        while worker.pid is None and not starting.done():  # noqa: ASYNC110 - nothing tells
            await asyncio.sleep(0)
        # Loading pipecat takes as long as the worker needs to load its models: both at once.
        from voice.replay_call import replay_call

        await starting
        if warm:
            await worker.call("warm", {"languages": recording.languages})
        return await replay_call(recording, worker, config, memory, clock)
    finally:
        await worker.close()


async def _replay_transcript(
    recording: RecordedTranscript, memory: Memory, clock: Clock
) -> ReplayResult:
    """Turns alone go to the triggers and to memory, each when it ended. Silence hands over
    and the conversation goes on, since its turns did."""
    loop = asyncio.get_running_loop()
    triggers = Triggers()
    hand_overs: list[HandOver] = []
    conversation = memory.begin(recording.turns[0].conversation, "call", clock.now())

    async def hand_over(trigger: Trigger) -> None:
        given = await asyncio.to_thread(conversation.hand_over, trigger, clock.now())
        if given is not None:
            hand_overs.append(given)

    async def quiet_until(at: datetime) -> None:
        silence_s = triggers.silence_at_s
        until_s = loop.time() + (at - clock.now()).total_seconds()
        if silence_s is not None and silence_s < until_s:
            await asyncio.sleep(silence_s - loop.time())
            triggers.silence_passed()
            await hand_over("silence")
        await clock.reach(at)

    triggers.state_changed("listening", loop.time())
    for turn in recording.turns:
        await quiet_until(turn.began_at)
        if turn.speaker == "assistant":
            triggers.state_changed("speaking", loop.time())
        await clock.reach(turn.ended_at)
        await asyncio.to_thread(conversation.observe, turn)
        triggers.state_changed("listening", loop.time())
        if triggers.turn_added(turn, loop.time()):
            await hand_over("30 turns")
    await hand_over("hang-up")
    conversation.close()
    return ReplayResult(
        turns=recording.turns,
        noises=(),
        hand_overs=tuple(hand_overs),
        latencies=(),
        events=(),
        ended="hang-up",
        length_s=clock.passed_s(),
    )
