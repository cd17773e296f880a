"""One call, from its start to its hang-up. The order of closing is written here."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from pipecat.frames.frames import InterruptionFrame
from pipecat.pipeline.worker import PipelineWorker
from pipecat.processors.frame_processor import FrameProcessor
from pipecat.workers.runner import WorkerRunner

from memory import Conversation, Memory, Session, brief_turns
from memory.records import Extract, HandOver, Language, Prefix, Turn
from voice import pipeline
from voice.abilities import abilities
from voice.engines.protocol import Engine, Opening, TakesSound
from voice.errors import EngineUnavailable
from voice.frames import TypedFrame
from voice.hearing.ears import Ears
from voice.intake import Intake
from voice.keeping import Keeper, news_of
from voice.looking import Looking
from voice.playback import Playback
from voice.records import (
    CallEnded,
    CallEvent,
    EndReason,
    EngineChanged,
    ExtractsShown,
    LatencyMeasured,
    Notice,
    NoTurn,
    PartialText,
    StateChanged,
    TokensCounted,
    TurnAdded,
)
from voice.requests import Requests
from voice.scribe import Scribe
from voice.tap import Tap
from voice.turns import Transcript

log = logging.getLogger(__name__)

# The last words get this long to be understood after a hang-up (v9).
LAST_WORDS_S = 2.0
# And what was said while nothing could be heard yet gets so much more, at most.
BACKLOG_S = 8.0
HEARD_TIMES_FASTER = 4.0
CLOSING_S = 5.0


class CallTransport(Protocol):
    """Where sound comes from and goes to: a browser, a recording, a microphone."""

    @property
    def microphone(self) -> Intake:
        """Where the microphone's sound waits; it is open before the call is."""
        ...

    @property
    def gone(self) -> asyncio.Future[EndReason]:
        """Done when the other side is gone."""
        ...

    def input(self) -> FrameProcessor: ...

    def output(self) -> FrameProcessor: ...

    @property
    def playback(self) -> Playback:
        """The output's own position, and the way to lower it."""
        ...

    def publish(self, event: CallEvent) -> None:
        """Show an event; never waits and never raises."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class CallSetup:
    """What a call is made of. `watch` sees every event, for logs and recordings, and `no_turn`
    what was heard and is none. `earlier` was said in a call whose line broke: this one goes on
    from there."""

    transport: CallTransport
    ears: Ears
    engine: Engine
    conversation: Conversation
    memory: Memory
    session: Session
    language: Language
    now: Callable[[], datetime]
    earlier: tuple[Turn, ...] = ()
    watch: Callable[[CallEvent], None] = lambda _: None
    no_turn: Callable[[NoTurn], None] = lambda _: None
    recorder: FrameProcessor | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CallResult:
    """What was said went to `watch`, to the transport and to disk; here it is only counted."""

    reason: EndReason
    turns: int
    hand_overs: tuple[HandOver, ...]


class Call:
    """A call in progress. `run` returns when it is over; the other methods may be called meanwhile."""

    def __init__(self, setup: CallSetup) -> None:
        self._setup = setup
        self._transcript = Transcript(
            setup.conversation.id,
            prefix_sha256=setup.session.prefix.sha256,
            played=setup.transport.playback.played,
        )
        self._tap = Tap(self._transcript, now=setup.now, emit=self._emit, no_turn=self._no_turn)
        self._turns = 0
        self._keeper = Keeper(
            setup.conversation, setup.memory.events, now=setup.now, emit=self._emit
        )
        self._requests = Requests(
            setup.memory,
            setup.session,
            setup.conversation.id,
            now=setup.now,
            emit=self._emit,
            part=self._part,
            shown=self._searched,
        )
        self._looking = Looking(setup.memory, notify=self._emit)
        self._searched_for: tuple[Extract, ...] = ()
        self._said_turns = 0
        self._parting_turn: int | None = None
        setup.ears.attach(
            setup.transport.playback,
            lambda text: self._emit(Notice(kind="handled", text=text)),
        )
        self._began_s = 0.0
        self._answers = ""
        self._worker: PipelineWorker | None = None
        self._over: asyncio.Future[EndReason] | None = None

    def played_samples(self) -> int:
        """How much of the present answer was heard by now, in its own samples."""
        return self._transcript.heard_samples

    # What somebody does --------------------------------------------------------------

    def hang_up(self, reason: EndReason = "hang-up") -> None:
        if self._over is not None and not self._over.done():
            self._over.set_result(reason)

    def _part(self, *, added: bool) -> None:
        """The user says goodbye with this turn: the call ends once the answer was heard. `added`:
        the turn stands in the transcript already."""
        self._parting_turn = self._said_turns + (not added)

    def _searched(self, extracts: tuple[Extract, ...]) -> None:
        self._searched_for += extracts

    async def typed(self, text: str, *, pasted: bool) -> None:
        """A turn by keyboard; it ends the answer that is being spoken."""
        if self._worker is None or not text.strip():
            return
        if self._transcript.answer_open:
            await self.stop_voice()
        await self._worker.queue_frame(TypedFrame(text=text.strip(), pasted=pasted))

    async def stop_voice(self) -> None:
        if self._worker is not None:
            await self._worker.queue_frame(InterruptionFrame())
            self._feed(self._transcript.stopped())

    def mute(self, muted: bool) -> None:
        self._setup.ears.set_muted(muted)

    # The call ------------------------------------------------------------------------

    async def run(self) -> CallResult:
        """Raises EngineUnavailable when the engine can't be opened at all."""
        setup = self._setup
        loop = asyncio.get_running_loop()
        self._over = loop.create_future()
        self._began_s = loop.time()
        self._answers = setup.engine.description.name
        self._emit(StateChanged(state="connecting"))
        try:
            processors = await setup.engine.open(self._opening())
        except EngineUnavailable as fault:
            await self._not_opened(fault)
            raise
        transport = setup.transport
        self._spare_sound(processors)
        self._worker = pipeline.build(
            transport.input(),
            setup.ears,
            Scribe(self._requests),
            processors,
            transport.output(),
            self._tap,
            setup.recorder,
        )
        runner = WorkerRunner(handle_sigint=False)
        await runner.add_workers(self._worker)
        async with asyncio.TaskGroup() as group:
            running = group.create_task(self._run_pipeline(runner))
            watches = [
                group.create_task(self._watch_transport()),
                group.create_task(self._watch_silence()),
                group.create_task(self._keeper.run()),
            ]
            self._keeper.began(
                "call", setup.engine.description.name, setup.language, setup.session.prefix
            )
            self._feed(self._transcript.opened())
            try:
                reason = await self._over
            finally:
                reason = self._over.result() if self._over.done() else "hang-up"
                await self._close(reason, running)
                for watch in watches:
                    watch.cancel()
        return CallResult(
            reason=reason,
            turns=self._turns,
            hand_overs=tuple(self._keeper.hand_overs),
        )

    def _spare_sound(self, processors: Sequence[FrameProcessor]) -> None:
        """The microphone's frames go as far as somebody takes them."""
        recorded = self._setup.recorder is not None
        taking = [each for each in processors if getattr(each, "takes_sound", True)]
        self._setup.ears.passes_sound_on = recorded or bool(taking)
        if taking and isinstance(taking[-1], TakesSound):
            taking[-1].passes_sound_on = recorded

    async def _not_opened(self, fault: EngineUnavailable) -> None:
        setup = self._setup
        self._emit(Notice(kind="stop", text=str(fault)))
        self._finish("engine failed")
        self._keeper.microphone(await setup.transport.microphone.close())
        await setup.engine.close()
        await self._looking.close()
        await asyncio.to_thread(setup.conversation.close)
        self._emit(CallEnded(reason="engine failed"))

    def _opening(self) -> Opening:
        setup = self._setup
        return Opening(
            prefix=setup.session.prefix,
            language=setup.language,
            now=setup.now,
            news=news_of(setup.session),
            notes=self._looking,
            notify=self._emit,
            earlier=setup.earlier,
            fresh_prefix=self._fresh_prefix,
            tools=abilities(self._requests, self._keeper.tool),
            played_samples=self.played_samples,
        )

    async def _fresh_prefix(self) -> Prefix:
        setup = self._setup
        # What the session would tell as news stands in the prefix that is read after it.
        await news_of(setup.session)()
        return await asyncio.to_thread(setup.memory.prefix)

    async def _run_pipeline(self, runner: WorkerRunner) -> None:
        try:
            with brief_turns():  # whoever computes in a thread meanwhile, the sound comes first
                await runner.run()
        finally:
            self.hang_up("error")

    async def _watch_transport(self) -> None:
        # Shielded: the future belongs to the transport, our end must not cancel it.
        self.hang_up(await asyncio.shield(self._setup.transport.gone))

    async def _watch_silence(self) -> None:
        await self._keeper.silence()
        self.hang_up("silence")

    async def _close(self, reason: EndReason, running: asyncio.Task[None]) -> None:
        """Microphone off, the last words, silence, the transcript, the hand-over, the engine."""
        setup = self._setup
        microphone = setup.transport.microphone
        microphone.shut()
        backlog_s = min(BACKLOG_S, microphone.waiting_s / HEARD_TIMES_FASTER)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(LAST_WORDS_S + backlog_s):
                await microphone.drained()
                await setup.ears.finish()
        assert self._worker is not None
        await self._worker.cancel(reason=reason)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(CLOSING_S):
                await asyncio.shield(running)
        self._finish(reason)
        self._keeper.microphone(await microphone.close())
        self._keeper.hand_over("silence" if reason == "silence" else "hang-up")
        lasted_s = asyncio.get_running_loop().time() - self._began_s
        self._keeper.ended(reason, lasted_s, turns=self._turns, user_turns=self._said_turns)
        await self._keeper.settled()
        await setup.engine.close()
        await self._looking.close()
        await asyncio.to_thread(setup.conversation.close)
        self._emit(CallEnded(reason=reason))

    def _finish(self, reason: EndReason) -> None:
        self._feed(self._transcript.ended(at=self._setup.now()))
        log.info("call %s ended: %s", self._setup.conversation.id, reason)

    # Events --------------------------------------------------------------------------

    def _no_turn(self, nothing: NoTurn) -> None:
        self._setup.no_turn(nothing)
        self._keeper.no_turn(nothing.reason, nothing.ended_ms - nothing.began_ms)

    def _feed(self, events: list[CallEvent]) -> None:
        for event in events:
            self._emit(event)

    def _emit(self, event: CallEvent) -> None:
        match event:
            case TurnAdded(turn=turn):
                self._turns += 1
                self._setup.engine.heard(turn)
                self._keeper.turn(turn)
                self._said_turns += turn.speaker == "user"
                if turn.interrupted:
                    self._keeper.interrupted(turn)
            case ExtractsShown(turn=turn):
                self._keeper.turn(turn)
            case LatencyMeasured():
                self._keeper.latency(event, self._setup.engine.description.name)
            case TokensCounted():
                self._keeper.tokens(event, self._setup.engine.description.name)
            case EngineChanged():
                self._keeper.engine_gave_up(self._answers)
                self._answers = event.engine.name
            case PartialText(speaker="assistant", text=text):
                self._setup.ears.spoke(text)
            case StateChanged(state=state):
                self._keeper.state_changed(state)
                if state == "listening" and self._said_turns == self._parting_turn:
                    self.hang_up()  # and who went on talking has said more turns than that
            case _:
                pass
        self._setup.transport.publish(event)
        self._setup.watch(event)
        if isinstance(event, TurnAdded) and event.turn.speaker == "assistant":
            searched, self._searched_for = self._searched_for, ()
            self._feed(self._transcript.searched(searched, event.turn))
