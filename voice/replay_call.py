"""The part of a replay that needs pipecat: a recorded call's sound through a live call."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import replace

from memory import Memory
from memory.records import HandOver
from voice.call import Call, CallSetup
from voice.config import Config
from voice.engines.lasting import LastingEngine
from voice.engines.protocol import Engine
from voice.engines.realtime_replayed import ReplayedEngine
from voice.engines.recorded import RecordedEngine
from voice.errors import EngineUnavailable
from voice.hearing.asking import Asked
from voice.hearing.ears import Ears
from voice.hearing.listener import HearingSettings
from voice.logs import forward_loguru
from voice.recording import RecordedCall, RecordedTyped
from voice.records import EndReason, LatencyMeasured, NoTurn, TurnAdded
from voice.replayed import Clock, ReplayResult
from voice.transports.recording import RecordingTransport

_LATE_MS = 280
"""Models that take no time on the call's clock are asked two frames before a turn may end."""


async def replay_call(
    recording: RecordedCall,
    worker: Asked,
    config: Config,
    memory: Memory,
    clock: Clock,
    *,
    real_time: bool,
) -> ReplayResult:
    """Run the call from its start to its end. The worker hears."""
    forward_loguru()
    session = memory.session()
    transport = RecordingTransport(
        recording,
        latency_s=recording.late_ms / 1000,
        began_s=asyncio.get_running_loop().time(),
    )
    noises: list[NoTurn] = []
    began_s = clock.passed_s()
    service = ReplayedEngine(recording.service) if recording.service is not None else None
    settings = _hearing(recording, config, real_time=real_time)
    call = Call(
        CallSetup(
            transport=transport,
            ears=Ears(worker, settings, recording.languages, recording.language),
            engine=_engine(recording, service),
            conversation=memory.begin(recording.conversation, "call", clock.now()),
            memory=memory,
            session=session,
            language=recording.language,
            now=clock.now,
            no_turn=noises.append,
        )
    )

    async def keyboard(turn: RecordedTyped) -> None:
        await call.typed(turn.text, pasted=turn.pasted)

    transport.connect_keyboard(keyboard)
    transport.connect_button(call.stop_voice)
    reason: EndReason = "engine failed"
    hand_overs: tuple[HandOver, ...] = ()
    with contextlib.suppress(EngineUnavailable):  # as in the call, which told the user
        result = await call.run()
        reason, hand_overs = result.reason, result.hand_overs
    events = tuple(transport.events)
    return ReplayResult(
        turns=tuple(each.turn for each in events if isinstance(each, TurnAdded)),
        noises=tuple(noises),
        hand_overs=hand_overs,
        latencies=tuple(each for each in events if isinstance(each, LatencyMeasured)),
        events=events,
        ended=reason,
        length_s=clock.passed_s() - began_s,
        differences=service.differences() if service is not None else (),
    )


def _hearing(recording: RecordedCall, config: Config, *, real_time: bool) -> HearingSettings:
    settings = HearingSettings(judge=config.vad)
    if recording.service is not None:
        return settings
    # Nobody reads along, and no model reads ahead. A service may be told of a turn by its first
    # words.
    settings = replace(settings, partial_every_ms=0)
    takes_time = any(answered.took_ms for answered in recording.hearing.values())
    return settings if real_time or takes_time else replace(settings, ask_after_ms=_LATE_MS)


def _engine(recording: RecordedCall, service: ReplayedEngine | None) -> Engine:
    """The recorded answers; where there was a voice service, they stand behind it, as what took
    over from it did."""
    answers = RecordedEngine(recording.answers, recording.engine)
    if service is None or recording.service is None:
        return answers
    spare = recording.service.spare

    async def stands_in() -> Engine:
        if spare is None:
            raise EngineUnavailable("In the recorded call nothing stood in for the voice service.")
        return RecordedEngine(recording.answers, spare)

    return LastingEngine(service, stands_in)
