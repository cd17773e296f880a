"""The pipeline's first processor: takes the microphone's frames out of their line."""

from __future__ import annotations

import asyncio

from pipecat.frames.frames import CancelFrame, EndFrame, Frame, StartFrame
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor

from voice.frames import MicrophoneFrame
from voice.intake import Intake
from voice.microphone import RATE_HZ


class MicrophoneInput(FrameProcessor):
    """As fast as the ears take them when there is a backlog, as they come when there is none."""

    def __init__(self, intake: Intake) -> None:
        super().__init__()
        self._intake = intake
        self._taking: asyncio.Task[None] | None = None

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        await super().process_frame(frame, direction)
        if isinstance(frame, EndFrame | CancelFrame):
            await self._stop()
        await self.push_frame(frame, direction)
        if isinstance(frame, StartFrame):
            self._taking = self.create_task(self._take())

    async def _take(self) -> None:
        intake = self._intake
        while (arrived := await intake.take()) is not None:
            await self.push_frame(
                MicrophoneFrame(
                    audio=arrived.samples,
                    sample_rate=RATE_HZ,
                    num_channels=1,
                    arrived_s=arrived.at_s,
                    intake=intake,
                )
            )
            # A backlog must not keep everybody else from their turn.
            await asyncio.sleep(0)

    async def _stop(self) -> None:
        if self._taking is not None:
            await self.cancel_task(self._taking)
            self._taking = None

    async def cleanup(self) -> None:
        await self._stop()
        await super().cleanup()  # type: ignore[no-untyped-call]  # pipecat does not annotate it
