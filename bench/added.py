"""What do we add between the microphone and the session, and between the session and the speaker?

    python -m bench.added [--seconds 30]

In one run, in real time and with nothing else at work: our line (intake, ears with a scripted
transcriber, an engine's place) beside stock pipecat's (its input and output transports with
their defaults and its 16 to 24 kHz resampler, as its OpenAI service uses it). *In* is from the
hand-over of 20 ms by the device to its arrival where a session's socket is written; *out* from
the session's audio to the device's write. Milliseconds; 24 kHz costs the resampler's delay.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from pipecat.audio.utils import create_stream_resampler
from pipecat.frames.frames import (
    InputAudioRawFrame,
    OutputAudioRawFrame,
    StartFrame,
    TTSAudioRawFrame,
)
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineParams, PipelineWorker
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor
from pipecat.transports.base_input import BaseInputTransport
from pipecat.transports.base_output import BaseOutputTransport
from pipecat.transports.base_transport import TransportParams
from pipecat.workers.runner import WorkerRunner

from memory.records import LANGUAGES
from voice import pipeline
from voice.frames import MicrophoneFrame
from voice.hearing.ears import Ears
from voice.hearing.listener import HearingSettings
from voice.hearing.scripted import ScriptedHearing
from voice.intake import Intake
from voice.logs import forward_loguru, set_up
from voice.transports.intake import MicrophoneInput

FRAME_S = 0.02
MARK = 12_000
SECOND = 50


class Session(FrameProcessor):
    """Where a realtime service stands: notes when sound arrives, and gives sound of its own.

    Where sound becomes loud is recognised behind a resampler too, so that its delay counts.
    """

    def __init__(self, resampler: Any | None) -> None:
        super().__init__()
        self._resampler = resampler
        self._rate_hz = 16_000 if resampler is None else 24_000
        self.loud_s: list[float] = []
        self._samples = self._last_loud = 0

    async def process_frame(self, frame: Any, direction: FrameDirection) -> None:
        await super().process_frame(frame, direction)
        if isinstance(frame, InputAudioRawFrame):
            sound = frame.audio
            if self._resampler is not None:
                sound = await self._resampler.resample(sound, 16_000, 24_000)
            self._look(np.frombuffer(sound, np.int16))
        await self.push_frame(frame, direction)

    def _look(self, sound: Any) -> None:
        """`sound` may be several frames, or none: a resampler keeps some back."""
        loud = np.flatnonzero(np.abs(sound) > MARK // 4) + self._samples
        since = np.diff(loud, prepend=self._last_loud - self._rate_hz * (not self.loud_s))
        begun = int(np.count_nonzero(since > self._rate_hz * FRAME_S))
        self.loud_s += [time.perf_counter()] * begun
        self._samples += len(sound)
        self._last_loud = int(loud[-1]) if len(loud) else self._last_loud

    async def speak(self) -> float:
        """100 ms of the session's voice at once; when it was handed on."""
        at_s = time.perf_counter()
        sound = (np.ones(2_400, np.int16) * 1_000).tobytes()
        await self.push_frame(TTSAudioRawFrame(audio=sound, sample_rate=24_000, num_channels=1))
        return at_s


class Speaker(BaseOutputTransport):
    """Notes when a chunk is written, and takes it for as long as it plays."""

    def __init__(self, **params: Any) -> None:
        super().__init__(TransportParams(audio_out_enabled=True, **params))
        self.written_s: list[float] = []

    async def start(self, frame: StartFrame) -> None:
        await super().start(frame)
        await self.set_transport_ready(frame)

    async def write_audio_frame(self, frame: OutputAudioRawFrame) -> bool:
        self.written_s.append(time.perf_counter())
        await asyncio.sleep(len(frame.audio) / (2 * frame.sample_rate))
        return True


class Stock(BaseInputTransport):
    async def start(self, frame: StartFrame) -> None:
        await super().start(frame)
        await self.set_transport_ready(frame)


class Receipts(FrameProcessor):
    async def process_frame(self, frame: Any, direction: FrameDirection) -> None:
        await super().process_frame(frame, direction)
        if isinstance(frame, MicrophoneFrame):
            frame.intake.delivered()
        await self.push_frame(frame, direction)


class Pass(FrameProcessor):
    async def process_frame(self, frame: Any, direction: FrameDirection) -> None:
        await super().process_frame(frame, direction)
        await self.push_frame(frame, direction)


async def drive(
    worker: PipelineWorker,
    session: Session,
    speaker: Speaker,
    put: Callable[[bytes], Any],
    seconds: float,
) -> tuple[list[float], list[float]]:
    """Milliseconds in, milliseconds out. The sound becomes loud every 100 ms, and the session
    speaks every 300."""
    runner = WorkerRunner(handle_sigint=False)
    await runner.add_workers(worker)
    running = asyncio.create_task(runner.run())
    await asyncio.sleep(0.5)
    given_s, spoken_s = [], []
    loop = asyncio.get_running_loop()
    began_s = loop.time()
    for number in range(int(seconds * SECOND)):
        loud = number % 5 < 2
        value = MARK * (1 if number % 2 else -1) if loud else 0
        frame = (np.ones(320, np.int16) * value).tobytes()
        if number % 5 == 0:
            given_s.append(time.perf_counter())
        result = put(frame)
        if result is not None:
            await result
        if number % 15 == 12:
            await asyncio.sleep(began_s + (number + 0.5) * FRAME_S - loop.time())
            spoken_s.append(await session.speak())
        await asyncio.sleep(began_s + (number + 1) * FRAME_S - loop.time())
    await asyncio.sleep(0.3)
    await worker.cancel()
    await running
    came_in = [1000 * (b - a) for a, b in zip(given_s, session.loud_s, strict=True)]
    went_out = [
        1000 * (min((w for w in speaker.written_s if w >= at_s), default=at_s) - at_s)
        for at_s in spoken_s
    ]
    return came_in, went_out


async def ours(seconds: float) -> tuple[list[float], list[float]]:
    intake, session = Intake(), Session(None)
    speaker = Speaker(audio_out_10ms_chunks=2, audio_out_end_silence_secs=0)
    ears = Ears(ScriptedHearing(["mhm"]), HearingSettings(), LANGUAGES, "en")
    worker = pipeline.build(MicrophoneInput(intake), ears, Pass(), [session], speaker, Receipts())
    found = await drive(worker, session, speaker, lambda sound: intake.put(sound, 16_000), seconds)
    await intake.close()
    return found


async def stock(seconds: float) -> tuple[list[float], list[float]]:
    source = Stock(TransportParams(audio_in_enabled=True, audio_in_sample_rate=16_000))
    session, speaker = Session(create_stream_resampler()), Speaker()
    worker = PipelineWorker(
        Pipeline([source, session, speaker]),
        idle_timeout_secs=None,
        params=PipelineParams(audio_in_sample_rate=16_000, audio_out_sample_rate=24_000),
    )

    def put(sound: bytes) -> Any:
        return source.push_audio_frame(
            InputAudioRawFrame(audio=sound, sample_rate=16_000, num_channels=1)
        )

    return await drive(worker, session, speaker, put, seconds)


def row(name: str, found_ms: list[float]) -> str:
    ordered = sorted(found_ms)
    p99 = ordered[min(len(ordered) - 1, int(0.99 * len(ordered)))]
    return f"{name:14}{len(ordered):6}{statistics.median(ordered):9.1f}{p99:9.1f}"


def main() -> None:
    arguments = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    arguments.add_argument("--seconds", type=float, default=30.0)
    seconds = arguments.parse_args().seconds
    set_up(40)
    forward_loguru()
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    print(f"{'':14}{'':6}{'p50':>9}{'p99':>9}")
    for name, way in (("ours", ours), ("stock pipecat", stock)):
        came_in, went_out = asyncio.run(way(seconds))
        print(row(f"{name} in", came_in))
        print(row(f"{name} out", went_out))


if __name__ == "__main__":
    main()
