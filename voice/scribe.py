"""The processor between ears and engine that has things done before they are answered, and knows
what is not to be answered."""

from __future__ import annotations

from pipecat.frames.frames import Frame
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor

from memory.records import LANGUAGES, Origin
from voice.frames import HeardFrame, TypedFrame
from voice.hearing.phrases import phrases
from voice.hearing.wording import wants_silence
from voice.records import BargedIn, Guess, NoTurn, UserSaid
from voice.requests import Requests


class Scribe(FrameProcessor):
    """Gives turns that ask plain code for something their outcome along, as `told`.

    A guess at such a turn goes no further: an answer begun before the outcome is known would
    claim what has not happened. "Stop", and what else asks for silence, is not answered.
    """

    def __init__(self, requests: Requests) -> None:
        super().__init__()
        self._requests = requests
        self._into_answer = False

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        await super().process_frame(frame, direction)
        match frame:
            case HeardFrame(event=BargedIn()):
                self._into_answer = True
            case HeardFrame(event=NoTurn()):
                self._into_answer = False
            case HeardFrame(event=Guess(text=text)) if self._requests.is_asked(
                text
            ) or self._wants_silence(text):
                return
            case HeardFrame(event=UserSaid() as said):
                frame.told = await self._requests.turn(said.text, "spoken")
                frame.answered = frame.told is not None or not self._wants_silence(said.text)
                self._into_answer = False
            case TypedFrame():
                origin: Origin = "pasted" if frame.pasted else "typed"
                frame.told = await self._requests.turn(frame.text, origin)
            case _:
                pass
        await self.push_frame(frame, direction)

    def _wants_silence(self, text: str) -> bool:
        """In any language: who listens to one may say "stop" in another."""
        return any(
            wants_silence(text, phrases(each), into_answer=self._into_answer) for each in LANGUAGES
        )
