"""A recorded call through the same code as a live one, on a virtual clock (V14).

Nothing of the user's is written: notebooks are copied into a temporary vault beside a
temporary state, and both are gone when the replay is over.
"""

from __future__ import annotations

import asyncio
import shutil
import statistics
import tempfile
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from memory import Memory
from memory.records import HandOver, Trigger, Turn
from voice.call import Call, CallSetup
from voice.config import Config
from voice.engines.recorded import RecordedEngine
from voice.hearing.ears import Ears
from voice.hearing.listener import HearingSettings
from voice.logs import forward_loguru
from voice.recording import (
    Outcome,
    RecordedCall,
    RecordedTranscript,
    RecordedTyped,
    read_recording,
)
from voice.records import (
    CallEvent,
    EndReason,
    HandedOver,
    Heard,
    LatencyMeasured,
    NoTurn,
    event_json,
)
from voice.transports.recording import RecordingTransport
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
    forward_loguru()
    with tempfile.TemporaryDirectory(prefix="jarvis-replay-") as scratch:
        vault, state = Path(scratch) / "vault", Path(scratch) / "state"
        _copy_notebooks(config.vault, vault)
        if isinstance(recording, RecordedTranscript):
            began_at = recording.turns[0].began_at
            replay = _Transcript(recording, vault, state).run
        else:
            began_at = recording.began_at
            replay = _Sound(recording, config, vault, state).run
        return _on_its_clock(replay, began_at, real_time=real_time)


def _on_its_clock(
    main: Callable[[], Coroutine[Any, Any, ReplayResult]], began_at: datetime, *, real_time: bool
) -> ReplayResult:
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


class _Clock:
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


class _Sound:
    """A call with its sound: through the ears and the pipeline, answered as it was then."""

    def __init__(self, recording: RecordedCall, config: Config, vault: Path, state: Path) -> None:
        self._recording = recording
        self._config = config
        self._vault = vault
        self._state = state

    async def run(self) -> ReplayResult:
        recording, config = self._recording, self._config
        worker = Worker(
            "voice.hearing.worker",
            str(path_of("whisper-base", config.weights)),
            title="The hearing worker",
        )
        await worker.call("warm", {"languages": recording.languages})
        ears = Ears(
            worker, HearingSettings(judge=config.vad), recording.languages, recording.language
        )
        clock = _Clock(recording.began_at)
        memory = Memory.open(self._vault, self._state, clock.now)
        session = memory.session()
        transport = RecordingTransport(recording)
        noises: list[NoTurn] = []

        def heard(event: Heard) -> None:
            if isinstance(event, NoTurn):
                noises.append(event)

        async def news() -> str | None:
            return await asyncio.to_thread(session.news)

        call = Call(
            CallSetup(
                transport=transport,
                ears=ears,
                engine=RecordedEngine(recording.answers, recording.engine, heard),
                conversation=memory.begin(recording.conversation, "call", clock.now()),
                events=memory.events,
                prefix=session.prefix,
                news=news,
                language=recording.language,
                now=clock.now,
            )
        )

        async def keyboard(turn: RecordedTyped) -> None:
            await call.typed(turn.text, pasted=turn.pasted)

        transport.connect_keyboard(keyboard)
        try:
            result = await call.run()
        finally:
            await worker.close()
            memory.close()
        return ReplayResult(
            turns=result.turns,
            noises=tuple(noises),
            hand_overs=result.hand_overs,
            latencies=result.latencies,
            events=tuple(transport.events),
            ended=result.reason,
            length_s=clock.passed_s(),
        )


class _Transcript:
    """A call of which only the turns are left: they go to the triggers and to memory, each
    when it ended. Silence hands over and the conversation goes on, since its turns did."""

    def __init__(self, recording: RecordedTranscript, vault: Path, state: Path) -> None:
        self._turns = recording.turns
        self._vault = vault
        self._state = state
        self._triggers = Triggers()
        self._hand_overs: list[HandOver] = []

    async def run(self) -> ReplayResult:
        loop = asyncio.get_running_loop()
        clock = _Clock(self._turns[0].began_at)
        memory = Memory.open(self._vault, self._state, clock.now)
        conversation = memory.begin(self._turns[0].conversation, "call", clock.now())

        async def hand_over(trigger: Trigger) -> None:
            given = await asyncio.to_thread(conversation.hand_over, trigger, clock.now())
            if given is not None:
                self._hand_overs.append(given)

        async def quiet_until(at: datetime) -> None:
            silence_s = self._triggers.silence_at_s
            if silence_s is not None:
                until_s = loop.time() + (at - clock.now()).total_seconds()
                if silence_s < until_s:
                    await asyncio.sleep(silence_s - loop.time())
                    self._triggers.silence_passed()
                    await hand_over("silence")
            await clock.reach(at)

        self._triggers.state_changed("listening", loop.time())
        for turn in self._turns:
            await quiet_until(turn.began_at)
            if turn.speaker == "assistant":
                self._triggers.state_changed("speaking", loop.time())
            await clock.reach(turn.ended_at)
            await asyncio.to_thread(conversation.observe, turn)
            self._triggers.state_changed("listening", loop.time())
            if self._triggers.turn_added(turn, loop.time()):
                await hand_over("30 turns")
        await hand_over("hang-up")
        conversation.close()
        memory.close()
        return ReplayResult(
            turns=self._turns,
            noises=(),
            hand_overs=tuple(self._hand_overs),
            latencies=(),
            events=(),
            ended="hang-up",
            length_s=clock.passed_s(),
        )
