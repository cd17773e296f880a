"""The processor of a call with a realtime service: sockets come and go under it.

It carries out what the core decides and knows nothing of the protocol: frames in, frames and
events out, and timers.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Coroutine
from typing import Any

from pipecat.frames.frames import (
    CancelFrame,
    EndFrame,
    Frame,
    InputAudioRawFrame,
    InterruptionFrame,
    StartFrame,
)
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor

from memory.records import Turn
from voice.engines.protocol import Opening
from voice.engines.realtime_core import RealtimeCore
from voice.engines.realtime_frames import frames_of, used
from voice.engines.realtime_lookups import Lookups
from voice.engines.realtime_records import (
    Arm,
    Began,
    Effect,
    Ended,
    Failed,
    GiveUp,
    Lose,
    Note,
    Question,
    Renew,
    RunTool,
    Send,
    Silence,
    Sound,
    Spoke,
    Timer,
    Want,
)
from voice.engines.realtime_sessions import GaveUp, Sessions, Struggles, log_bug_of
from voice.engines.realtime_socket import Service
from voice.engines.realtime_sound import MICROPHONE_HZ
from voice.frames import (
    AnswerFailedFrame,
    HeardFrame,
    MicrophoneFrame,
    TypedFrame,
)
from voice.records import (
    BargedIn,
    Guess,
    Heard,
    NoTurn,
    Partial,
    SpeechBegan,
    UserSaid,
)
from voice.tools import Tool

log = logging.getLogger(__name__)

_CANCELLING_S = 0.5


class RealtimeSession(FrameProcessor):
    """`gave_up` and `struggles` as in `Sessions`. Once another engine answers, this one only passes
    frames on."""

    def __init__(
        self,
        service: Service,
        core: RealtimeCore,
        opening: Opening,
        *,
        gave_up: GaveUp | None = None,
        struggles: Struggles | None = None,
    ) -> None:
        super().__init__(name=f"{service.name} session")
        self.passes_sound_on = True
        self._core = core
        self._opening = opening
        self._sessions = Sessions(
            service, core, opening, self, gave_up=gave_up, struggles=struggles
        )
        self._lookups = Lookups(opening)
        self._tools: dict[str, Tool] = {tool.name: tool for tool in opening.tools}
        self._beside: set[asyncio.Task[None]] = set()
        self._timers: dict[Timer, asyncio.TimerHandle] = {}
        self._frames: deque[Frame] = deque()
        self._emission = asyncio.Lock()

    # Life ---------------------------------------------------------------------------------

    async def begin(self) -> None:
        """The first session, before there is a pipeline. Raises SessionRefused."""
        await self._sessions.begin()

    async def end(self) -> None:
        """At once, whatever is under way; more than once does no harm."""
        sessions = self._sessions.stop()
        for handle in self._timers.values():
            handle.cancel()
        looking = self._lookups.end()
        tasks = [task for task in (*sessions, *self._beside, looking) if task]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=_CANCELLING_S)
        await self._sessions.close()

    async def cleanup(self) -> None:
        await self.end()
        await super().cleanup()  # type: ignore[no-untyped-call]  # pipecat does not annotate it

    def heard(self, turn: Turn) -> None:
        self._core.heard(turn)
        self.carry_out_now()

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._beside.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._beside.discard(task)
        log_bug_of(task)

    # Carrying out -------------------------------------------------------------------------

    async def carry_out(self) -> None:
        self.carry_out_now()
        while self._frames:
            async with self._emission:
                if self._frames:
                    await self.push_frame(self._frames.popleft())

    def carry_out_now(self) -> None:
        """All but the pushing of frames, which wait in order."""
        for effect in self._core.take():
            self._carry(effect)

    def _carry(self, effect: Effect) -> None:
        match effect:
            case Send(event):
                self._sessions.send(event)
            case Began() | Spoke() | Sound() | Ended() | Failed():
                self._frames += frames_of(effect, self._core.prefix.sha256)
                if isinstance(effect, Ended):
                    self._sessions.answered()
            case Silence():
                self._frames = deque(
                    frame for frame in self._frames if isinstance(frame, AnswerFailedFrame)
                )
            case Arm(timer, after_s):
                self._set(timer, after_s)
            case Lose():
                self._sessions.lose()
            case GiveUp(text):
                self._sessions.give_up(text)
            case Renew(within_s):
                self._sessions.ends_within(within_s)
            case RunTool():
                self.spawn(self._run_tool(effect))
            case Want():
                self._sessions.want()
            case Note(text):
                log.info("%s", text)

    def _set(self, timer: Timer, after_s: float | None) -> None:
        if timer in self._timers:
            self._timers.pop(timer).cancel()
        if after_s is not None:
            loop = asyncio.get_running_loop()
            self._timers[timer] = loop.call_later(after_s, self._fired, timer)

    def _fired(self, timer: Timer) -> None:
        self._timers.pop(timer, None)
        self._core.fired(timer)
        self.spawn(self.carry_out())

    async def _run_tool(self, asked: RunTool) -> None:
        output = await used(self._tools.get(asked.name), asked)
        self._core.tool_done(asked.call_id, output)
        await self.carry_out()

    # What the user does -------------------------------------------------------------------

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        await super().process_frame(frame, direction)
        if isinstance(frame, StartFrame):
            self._sessions.start()
        elif isinstance(frame, EndFrame | CancelFrame):
            await self.end()
        elif isinstance(frame, MicrophoneFrame) and not self.passes_sound_on:
            if not self._sessions.retired:
                self._hear(frame)
            frame.intake.delivered()
            return
        if self._sessions.retired or direction is not FrameDirection.DOWNSTREAM:
            if isinstance(frame, InterruptionFrame) and not self._sessions.retired:
                await self._interrupt()
            await self.push_frame(frame, direction)
            return
        if isinstance(frame, InputAudioRawFrame):
            self._hear(frame)
        elif isinstance(frame, InterruptionFrame) or (
            isinstance(frame, HeardFrame) and isinstance(frame.event, BargedIn)
        ):
            await self._interrupt()
        await self.push_frame(frame, direction)
        if isinstance(frame, HeardFrame):
            await self._on_heard(frame.event, frame)
        elif isinstance(frame, TypedFrame):
            await self._on_question(Question(to=None, text=frame.text, told=frame.told))

    def _hear(self, frame: InputAudioRawFrame) -> None:
        assert frame.sample_rate == MICROPHONE_HZ and frame.num_channels == 1
        self._core.audio(frame.audio)
        self.carry_out_now()

    async def _on_heard(self, heard: Heard, frame: HeardFrame) -> None:
        match heard:
            case SpeechBegan(began_ms=began_ms):
                self._core.speech_began(began_ms)
                self._sessions.wake()
            case Partial(text=text) if text:
                self._core.worth()
            case Guess(text=text):
                self._core.worth()
                self._lookups.look_ahead(text)
            case NoTurn():
                self._core.no_turn()
            case UserSaid(text=text) if not frame.answered:
                await self._interrupt()
                self._core.hushed(text)
            case UserSaid(text=text):
                await self._on_question(Question(to=heard, text=text, told=frame.told))
            case _:
                return
        self.carry_out_now()

    async def _on_question(self, question: Question) -> None:
        news, notes = await asyncio.gather(
            self._lookups.news(connected=self._core.connected), self._lookups.notes_to(question)
        )
        # Nothing is awaited from here to the asking, or a lost session could come between.
        question = Question(to=question.to, text=question.text, told=question.told, notes=notes)
        self._core.asked(question, self._opening.now(), news)
        if self._sessions.no_answer:
            self._core.fail(self._sessions.no_answer)
        await self.carry_out()
        self._sessions.wake()

    async def _interrupt(self) -> None:
        """The answer stops here, and the service learns what was heard of it."""
        async with self._emission:
            stopped = self._core.interrupted(self._opening.played_samples())
            self.carry_out_now()
        if stopped:
            # What was pushed in this very moment lies in the next processor's inbox, where
            # an interruption overtakes it; let it be taken in, to be thrown away with the rest.
            await asyncio.sleep(0)
