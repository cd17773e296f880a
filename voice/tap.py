"""The processor behind the output: frames in, the call's events out."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import datetime

from pipecat.frames.frames import Frame, InterruptionFrame, TTSAudioRawFrame
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor

from voice.frames import (
    AnswerBeganFrame,
    AnswerDoneFrame,
    AnswerFailedFrame,
    HeardFrame,
    MicrophoneFrame,
    SpokenFrame,
    TypedFrame,
)
from voice.playback import position_of
from voice.records import (
    BargedIn,
    CallEvent,
    Guess,
    GuessWithdrawn,
    Heard,
    Notice,
    NoTurn,
    Partial,
    SpeechBegan,
    UserSaid,
)
from voice.turns import AnswerBegan, Transcript

_LOOK_S = 0.02
_MOST_BEHIND_S = 3.0
"""No device is further behind. One that doesn't play at all was not heard."""


class Tap(FrameProcessor):
    """Feeds the transcript. It stands behind the output: what it sees was let out, in order."""

    def __init__(
        self,
        transcript: Transcript,
        *,
        now: Callable[[], datetime],
        emit: Callable[[CallEvent], None],
        no_turn: Callable[[NoTurn], None] = lambda _: None,
    ) -> None:
        super().__init__()
        self._transcript = transcript
        self._now = now
        self._emit = emit
        self._no_turn = no_turn
        self._ending: asyncio.Task[None] | None = None

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        await super().process_frame(frame, direction)
        if isinstance(frame, MicrophoneFrame):
            frame.intake.delivered()
            return
        if direction is FrameDirection.DOWNSTREAM:
            for event in self._events(frame):
                self._emit(event)
            if isinstance(frame, AnswerDoneFrame) and self._transcript.ending:
                self._ending = self.create_task(self._hear_the_end(), "the end of an answer")
        await self.push_frame(frame, direction)

    async def cleanup(self) -> None:
        if self._ending is not None and not self._ending.done():
            await self.cancel_task(self._ending)
        await super().cleanup()  # type: ignore[no-untyped-call]  # pipecat does not annotate it

    async def _hear_the_end(self) -> None:
        """The output has let out the whole answer; the device still plays the last of it."""
        loop = asyncio.get_running_loop()
        given_up_s, heard = loop.time() + _MOST_BEHIND_S, self._transcript.heard_samples
        while self._transcript.ending:
            await asyncio.sleep(_LOOK_S)
            if (so_far := self._transcript.heard_samples) != heard:
                given_up_s, heard = loop.time() + _MOST_BEHIND_S, so_far
            at = self._now()
            events = self._transcript.heard_to_its_end(at=at)
            if not events and loop.time() >= given_up_s:
                events = self._transcript.interrupted(at=at)
            for event in events:
                self._emit(event)

    def _events(self, frame: Frame) -> list[CallEvent]:
        transcript, at = self._transcript, self._now()
        now_s = asyncio.get_running_loop().time()
        match frame:
            case TTSAudioRawFrame():
                samples = len(frame.audio) // (2 * frame.num_channels)
                position = None if frame.pts is None else position_of(frame.pts)
                return transcript.given(samples, position=position, at=at, now_s=now_s)
            case HeardFrame():
                events = self._heard(frame.event, at, now_s)
                return events if frame.answered else [*events, *transcript.unanswered()]
            case SpokenFrame():
                return transcript.piece(frame.text, frame.samples, frame.language)
            case AnswerBeganFrame():
                began = AnswerBegan(
                    to=frame.to,
                    first_token_s=frame.first_token_s,
                    prompt_tokens=frame.prompt_tokens,
                    cached_tokens=frame.cached_tokens,
                    extracts=frame.extracts,
                )
                return transcript.answer_began(began, at=at)
            case AnswerDoneFrame():
                return transcript.answer_done(
                    at=at,
                    prompt_tokens=frame.prompt_tokens,
                    cached_tokens=frame.cached_tokens,
                    prefix_sha256=frame.prefix_sha256,
                )
            case InterruptionFrame():
                return transcript.interrupted(at=at)
            case AnswerFailedFrame():
                return [*transcript.failed(), Notice(kind="stop", text=frame.text)]
            case TypedFrame():
                return transcript.typed(frame.text, pasted=frame.pasted, at=at)
            case _:
                return []

    def _heard(self, event: Heard, at: datetime, now_s: float) -> list[CallEvent]:
        match event:
            case SpeechBegan():
                return self._transcript.speech_began()
            case Partial() | Guess():
                return self._transcript.partial(event.text)
            case UserSaid():
                return self._transcript.user_said(event, at=at, now_s=now_s)
            case NoTurn():
                self._no_turn(event)
                return self._transcript.nothing_said()
            case BargedIn():
                return self._transcript.barged_in(at=at)
            case GuessWithdrawn():
                return []
