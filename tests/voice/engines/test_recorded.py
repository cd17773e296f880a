"""The recorded engine behind the ears: a turn stays open as long as it did in the call."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import cast

import numpy as np
import pytest
from pipecat.frames.frames import EndFrame, Frame, InputAudioRawFrame
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineParams, PipelineWorker
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor
from pipecat.workers.runner import WorkerRunner

from voice.audio import RATE_HZ, decode
from voice.engines.protocol import Opening
from voice.engines.recorded import RecordedEngine
from voice.frames import HeardFrame
from voice.hearing.ears import Ears
from voice.hearing.listener import HearingSettings
from voice.hearing.scripted import ScriptedHearing
from voice.recording import Piece, RecordedAnswer
from voice.records import EngineDescription, UserSaid
from voice.virtual_time import run_virtual
from voice.workers import Worker

SPOKEN = Path(__file__).parents[3] / "fixtures" / "hearing"
ENGINE = EngineDescription(
    name="Recorded", hears="", thinks="", speaks="", words_go_to="", costs=""
)


class Behind(FrameProcessor):
    def __init__(self) -> None:
        super().__init__()
        self.turns: list[UserSaid] = []

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        await super().process_frame(frame, direction)
        if isinstance(frame, HeardFrame) and isinstance(frame.event, UserSaid):
            self.turns.append(frame.event)
        await self.push_frame(frame, direction)


@pytest.mark.parametrize(("ready_ms", "turns"), [(None, 2), (300, 2), (700, 1)])
def test_a_turn_stays_open_as_in_the_call(ready_ms: int | None, turns: int) -> None:
    """The answer of the call was ready 0.7 s after the last sound, so the same half second of
    silence ends no turn in the replay either; where it was ready sooner, it does."""
    answer = RecordedAnswer(
        turn=0,
        language="en",
        delay_ms=100,
        first_word_ms=None,
        pieces=(Piece(text="At ten.", duration_ms=400),),
        ready_ms=ready_ms,
    )
    museum = decode(SPOKEN / "museum.flac")
    silence = np.zeros(RATE_HZ // 2, np.int16)
    sound = np.concatenate([museum, silence, museum, silence, silence])
    opening = cast("Opening", type("Opening", (), {"earlier": ()}))

    async def call() -> list[UserSaid]:
        hearing = ScriptedHearing(["We meet at the museum."])
        ears = Ears(cast("Worker", hearing), HearingSettings(partial_every_ms=0), ("en",), "en")
        behind = Behind()
        engine = RecordedEngine((answer,), ENGINE)
        worker = PipelineWorker(
            Pipeline([ears, *await engine.open(opening), behind]),
            idle_timeout_secs=None,
            enable_rtvi=False,
            params=PipelineParams(audio_in_sample_rate=RATE_HZ),
        )
        runner = WorkerRunner(handle_sigint=False)
        await runner.add_workers(worker)
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(runner.run())
            for start in range(0, len(sound), RATE_HZ // 50):
                await asyncio.sleep(0.02)
                pcm = sound[start : start + RATE_HZ // 50].tobytes()
                await worker.queue_frame(
                    InputAudioRawFrame(audio=pcm, sample_rate=RATE_HZ, num_channels=1)
                )
            await worker.queue_frame(EndFrame())
        return behind.turns

    assert len(run_virtual(call, epoch_s=1_796_000_000.0)) == turns
