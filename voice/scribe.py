"""The processor between ears and engine that has things done before they are answered."""

from __future__ import annotations

from pipecat.frames.frames import Frame
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor

from memory.records import Origin
from voice.frames import HeardFrame, TypedFrame
from voice.records import Guess, UserSaid
from voice.requests import Requests


class Scribe(FrameProcessor):
    """Gives turns that ask plain code for something their outcome along, as `told`.

    A guess at such a turn goes no further: an answer begun before the outcome is known would
    claim what has not happened.
    """

    def __init__(self, requests: Requests) -> None:
        super().__init__()
        self._requests = requests

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        await super().process_frame(frame, direction)
        match frame:
            case HeardFrame(event=Guess(text=text)) if self._requests.is_asked(text):
                return
            case HeardFrame(event=UserSaid() as said):
                frame.told = await self._requests.turn(said.text, "spoken")
            case TypedFrame():
                origin: Origin = "pasted" if frame.pasted else "typed"
                frame.told = await self._requests.turn(frame.text, origin)
            case _:
                pass
        await self.push_frame(frame, direction)
