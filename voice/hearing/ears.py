"""The ears in the pipeline: microphone frames in, frames and the events of hearing out."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

from pipecat.frames.frames import (
    BotStartedSpeakingFrame,
    BotStoppedSpeakingFrame,
    EndFrame,
    Frame,
    InputAudioRawFrame,
)
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor

from memory.records import Language
from voice.frames import AnswerUnderWayFrame, HeardFrame, MicrophoneFrame
from voice.hearing.asking import Asked
from voice.hearing.detector import FRAME_BYTES, RATE_HZ
from voice.hearing.listener import HearingSettings, Listener
from voice.playback import Playback
from voice.records import BargedIn, Heard

log = logging.getLogger(__name__)

_LAST_WORDS_S = 3.0


class Ears(FrameProcessor):
    """Hears turns. Audio and every other frame pass through as they come; audio only where
    `passes_sound_on`.

    A `BargedIn` is followed by pipecat's interruption, in both directions. The worker is
    shared and stays open; its owner closes it.
    """

    def __init__(
        self,
        worker: Asked,
        settings: HearingSettings,
        languages: Sequence[Language],
        language: Language,
    ) -> None:
        super().__init__(name="Ears")
        self._make_listener: Callable[[], Listener] = lambda: Listener(
            worker,
            settings,
            languages,
            language,
            tell=self._keep,
            spawn=self._spawn,
            now=asyncio.get_running_loop().time,
        )
        self._listener: Listener | None = None
        self._rest = bytearray()
        self._events: deque[Heard] = deque()
        self._telling = asyncio.Lock()
        self.passes_sound_on = True
        self._muted = False
        self._complained = False
        self._attached: tuple[Playback, Callable[[str], None]] | None = None

    @property
    def language(self) -> Language:
        """The session's language, as the user's own speech settled it."""
        return self._listening().language

    @property
    def position_ms(self) -> int:
        """How much of the microphone's stream was heard."""
        return self._listening().position_ms

    def attach(self, playback: Playback, notify: Callable[[str], None]) -> None:
        """Where Jarvis' own voice comes out; before the first frame. As in `Listener.attach`."""
        self._attached = (playback, notify)

    def spoke(self, text: str) -> None:
        """What Jarvis' present answer says so far: what comes back of it is no turn."""
        if self._listener is not None:
            self._listener.spoke(text)

    def set_muted(self, muted: bool) -> None:
        """While muted, what the microphone gives counts as silence, here and downstream."""
        self._muted = muted

    async def finish(self) -> None:
        """The microphone is off: tell the open turn, if its words come within three seconds."""
        try:
            async with asyncio.timeout(_LAST_WORDS_S):
                await self._listening().finish()
        except TimeoutError:
            log.warning("the last words were not transcribed in time")
        await self._tell()

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        await super().process_frame(frame, direction)
        match frame:
            case InputAudioRawFrame():
                await self._hear(frame, direction)
                if isinstance(frame, MicrophoneFrame):
                    frame.intake.heard()
                return
            case AnswerUnderWayFrame(guess=guess, ready=ready):
                listener = self._listening()
                (listener.release if ready else listener.hold)(guess)
                return
            case BotStartedSpeakingFrame():
                self._listening().answering(True)
            case BotStoppedSpeakingFrame():
                self._listening().answering(False)
            case EndFrame():
                await self.finish()
        await self.push_frame(frame, direction)

    def _listening(self) -> Listener:
        if self._listener is None:
            self._listener = self._make_listener()
            if self._attached is not None:
                self._listener.attach(*self._attached)
        return self._listener

    async def _hear(self, frame: InputAudioRawFrame, direction: FrameDirection) -> None:
        if frame.sample_rate != RATE_HZ or frame.num_channels != 1:
            await self._complain(frame)
            return
        if self._muted:
            frame.audio = bytes(len(frame.audio))
        if self.passes_sound_on:
            await self.push_frame(frame, direction)
        elif isinstance(frame, MicrophoneFrame):
            frame.intake.delivered()
        listener = self._listening()
        came_s = frame.arrived_s if isinstance(frame, MicrophoneFrame) else None
        self._rest += frame.audio
        while len(self._rest) >= FRAME_BYTES:
            listener.frame(bytes(self._rest[:FRAME_BYTES]), came_s)
            del self._rest[:FRAME_BYTES]
        await self._tell()

    async def _complain(self, frame: InputAudioRawFrame) -> None:
        """Audio of another rate would be heard at the wrong speed: better not at all."""
        if self._complained:
            return
        self._complained = True
        text = (
            f"The microphone gives {frame.sample_rate} Hz with {frame.num_channels} channels; "
            f"the ears need {RATE_HZ} Hz mono and hear nothing. Set the transport's input to that."
        )
        log.error(text)
        await self.push_error(error_msg=text)

    def _spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        return self.create_task(self._working(work), "hearing")

    async def _working(self, work: Coroutine[Any, Any, None]) -> None:
        await work
        await self._tell()

    def _keep(self, event: Heard) -> None:
        self._events.append(event)

    async def _tell(self) -> None:
        async with self._telling:  # two tasks that push would mix up the order
            while self._events:
                event = self._events.popleft()
                await self.push_frame(HeardFrame(event=event))
                if isinstance(event, BargedIn):
                    await self.broadcast_interruption()  # type: ignore[no-untyped-call]

    async def cleanup(self) -> None:
        if self._listener is not None:
            for task in self._listener.waiting():
                await self.cancel_task(task)
        self._events.clear()
        await super().cleanup()  # type: ignore[no-untyped-call]
