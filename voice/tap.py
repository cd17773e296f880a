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


class Tap(FrameProcessor):
    """Feeds the transcript. It stands behind the output, so what it counts was played."""

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

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        await super().process_frame(frame, direction)
        if isinstance(frame, MicrophoneFrame):
            frame.intake.delivered()
            return
        if direction is FrameDirection.DOWNSTREAM:
            for event in self._events(frame):
                self._emit(event)
        await self.push_frame(frame, direction)

    def _events(self, frame: Frame) -> list[CallEvent]:
        transcript, at = self._transcript, self._now()
        now_s = asyncio.get_running_loop().time()
        match frame:
            case TTSAudioRawFrame():
                samples = len(frame.audio) // (2 * frame.num_channels)
                return transcript.played(samples, at=at, now_s=now_s)
            case HeardFrame():
                return self._heard(frame.event, at, now_s)
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
                    at=at, prompt_tokens=frame.prompt_tokens, cached_tokens=frame.cached_tokens
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
            case Partial():
                return self._transcript.partial(event.text)
            case UserSaid():
                return self._transcript.user_said(event, at=at, now_s=now_s)
            case NoTurn():
                self._no_turn(event)
                return self._transcript.nothing_said()
            case BargedIn():
                return self._transcript.barged_in(at=at)
            case Guess() | GuessWithdrawn():
                return []
