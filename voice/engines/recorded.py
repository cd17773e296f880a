"""The engine of a replay: says again what was said in the recorded call."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import numpy as np
from pipecat.frames.frames import (
    Frame,
    InterruptionFrame,
    TTSAudioRawFrame,
    TTSStartedFrame,
    TTSStoppedFrame,
)
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor

from memory.records import Language, Turn
from voice.engines.protocol import Opening
from voice.frames import (
    AnswerBeganFrame,
    AnswerDoneFrame,
    AnswerUnderWayFrame,
    HeardFrame,
    SpokenFrame,
    TypedFrame,
)
from voice.recording import Piece, RecordedAnswer
from voice.records import EngineDescription, Guess, GuessWithdrawn, Heard, UserSaid

RATE_HZ = 24_000
_TONE_HZ = 200
_TONE_LEVEL = 0.02


class RecordedEngine:
    """Answers the user's n-th turn with the recorded answer to the n-th turn.

    The words and their durations are those of the recording; the sound is a quiet tone. A
    turn without a recorded answer gets none, as in the call itself.
    """

    def __init__(
        self,
        answers: Sequence[RecordedAnswer],
        description: EngineDescription,
    ) -> None:
        self._answers = {answer.turn: answer for answer in answers}
        self._description = description

    @property
    def description(self) -> EngineDescription:
        return self._description

    async def open(self, opening: Opening) -> list[FrameProcessor]:
        # A session that follows a failed one goes on counting where that one stopped.
        said = sum(turn.speaker == "user" for turn in opening.earlier)
        return [_Answerer(self._answers, said)]

    def heard(self, turn: Turn) -> None:
        """What was heard changes nothing: the next answer is fixed."""

    async def close(self) -> None:
        """Nothing is held."""


class _Answerer(FrameProcessor):
    takes_sound = False

    def __init__(
        self,
        answers: dict[int, RecordedAnswer],
        user_turns: int,
    ) -> None:
        super().__init__()
        self._answers = answers
        self._user_turns = user_turns
        self._speaking: asyncio.Task[None] | None = None
        self._holding: asyncio.Task[None] | None = None

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        await super().process_frame(frame, direction)
        if isinstance(frame, InterruptionFrame):
            await self._stop()
        await self.push_frame(frame, direction)
        if isinstance(frame, HeardFrame):
            await self._hear(frame.event)
        elif isinstance(frame, TypedFrame):
            await self._answer(None, asyncio.get_running_loop().time())

    async def _hear(self, event: Heard) -> None:
        match event:
            case Guess():
                await self._let_end()
                answer = self._answers.get(self._user_turns)
                if answer is not None and answer.ready_ms is not None:
                    ready_s = event.ended_s + answer.ready_ms / 1000
                    self._holding = self.create_task(self._hold(event.number, ready_s))
            case GuessWithdrawn():
                await self._let_end()
            case UserSaid():
                await self._let_end()
                await self._answer(event, event.decided_s)

    async def _hold(self, guess: int, ready_s: float) -> None:
        """The turn stays open as long as it did in the call."""
        await self.push_frame(
            AnswerUnderWayFrame(guess=guess, ready=False), FrameDirection.UPSTREAM
        )
        await asyncio.sleep(ready_s - asyncio.get_running_loop().time())
        await self.push_frame(AnswerUnderWayFrame(guess=guess, ready=True), FrameDirection.UPSTREAM)

    async def _let_end(self) -> None:
        if self._holding is not None:
            await self.cancel_task(self._holding)
            self._holding = None

    async def _answer(self, to: UserSaid | None, asked_s: float) -> None:
        await self._stop()
        answer = self._answers.get(self._user_turns)
        self._user_turns += 1
        if answer is not None:
            self._speaking = self.create_task(self._speak(answer, to, asked_s))

    async def _speak(self, answer: RecordedAnswer, to: UserSaid | None, asked_s: float) -> None:
        loop = asyncio.get_running_loop()
        await asyncio.sleep(asked_s + answer.delay_ms / 1000 - loop.time())
        first_token_s = (
            None if answer.first_word_ms is None else asked_s + answer.first_word_ms / 1000
        )
        await self.push_frame(
            AnswerBeganFrame(to=to, first_token_s=first_token_s, first_audio_s=loop.time())
        )
        await self.push_frame(TTSStartedFrame())
        for piece in answer.pieces:
            await self._say(piece, answer.language)
        await self.push_frame(TTSStoppedFrame())
        await self.push_frame(AnswerDoneFrame())

    async def _say(self, piece: Piece, language: Language | None) -> None:
        samples = piece.duration_ms * RATE_HZ // 1000
        await self.push_frame(
            SpokenFrame(text=piece.text, samples=samples, sample_rate_hz=RATE_HZ, language=language)
        )
        times_s = np.arange(samples) / RATE_HZ
        tone = np.sin(2 * np.pi * _TONE_HZ * times_s) * _TONE_LEVEL * 32767
        sound = tone.astype("<i2").tobytes()  # in one frame: the output cuts it
        await self.push_frame(TTSAudioRawFrame(audio=sound, sample_rate=RATE_HZ, num_channels=1))

    async def _stop(self) -> None:
        if self._speaking is not None:
            await self.cancel_task(self._speaking)
            self._speaking = None

    async def cleanup(self) -> None:
        await self._stop()
        await self._let_end()
        await super().cleanup()  # type: ignore[no-untyped-call]  # pipecat does not annotate it
