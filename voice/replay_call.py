"""The part of a replay that needs pipecat: a recorded call's sound through a live call."""

from __future__ import annotations

from memory import Memory
from voice.call import Call, CallSetup
from voice.config import Config
from voice.engines.recorded import RecordedEngine
from voice.hearing.asking import Asked
from voice.hearing.ears import Ears
from voice.hearing.listener import HearingSettings
from voice.logs import forward_loguru
from voice.recording import RecordedCall, RecordedTyped
from voice.records import Heard, LatencyMeasured, NoTurn, TurnAdded
from voice.replayed import Clock, ReplayResult
from voice.transports.recording import RecordingTransport


async def replay_call(
    recording: RecordedCall,
    worker: Asked,
    config: Config,
    memory: Memory,
    clock: Clock,
) -> ReplayResult:
    """Run the call from its start to its end. The worker hears."""
    forward_loguru()
    session = memory.session()
    transport = RecordingTransport(recording)
    noises: list[NoTurn] = []

    def heard(event: Heard) -> None:
        if isinstance(event, NoTurn):
            noises.append(event)

    began_s = clock.passed_s()
    call = Call(
        CallSetup(
            transport=transport,
            ears=Ears(
                worker,
                # Nobody reads along, and no model reads ahead: partial text decides nothing.
                HearingSettings(judge=config.vad, partial_every_ms=0),
                recording.languages,
                recording.language,
            ),
            engine=RecordedEngine(recording.answers, recording.engine, heard),
            conversation=memory.begin(recording.conversation, "call", clock.now()),
            memory=memory,
            session=session,
            language=recording.language,
            now=clock.now,
        )
    )

    async def keyboard(turn: RecordedTyped) -> None:
        await call.typed(turn.text, pasted=turn.pasted)

    transport.connect_keyboard(keyboard)
    result = await call.run()
    return ReplayResult(
        turns=tuple(each.turn for each in transport.events if isinstance(each, TurnAdded)),
        noises=tuple(noises),
        hand_overs=result.hand_overs,
        latencies=tuple(e for e in transport.events if isinstance(e, LatencyMeasured)),
        events=tuple(transport.events),
        ended=result.reason,
        length_s=clock.passed_s() - began_s,
    )
