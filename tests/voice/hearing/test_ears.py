"""The ears in a pipeline, on a virtual clock, with the real worker where its weights are here."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from pipecat.frames.frames import (
    BotStartedSpeakingFrame,
    EndFrame,
    ErrorFrame,
    Frame,
    InputAudioRawFrame,
    InterruptionFrame,
)
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineParams, PipelineWorker
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor
from pipecat.workers.runner import WorkerRunner

from memory.records import LANGUAGES
from voice.audio import RATE_HZ, Samples, decode
from voice.errors import WeightsMissing
from voice.frames import HeardFrame, TypedFrame
from voice.hearing.ears import Ears
from voice.hearing.listen import hear
from voice.hearing.listener import HearingSettings
from voice.hearing.scripted import ScriptedHearing
from voice.records import Heard, NoTurn, Partial, UserSaid
from voice.virtual_time import run_virtual
from voice.weights import path_of
from voice.workers import Worker

SPOKEN = Path(__file__).parents[3] / "fixtures" / "hearing"
FRAME_SAMPLES = RATE_HZ // 50


class Behind(FrameProcessor):
    """Stands behind the ears and keeps what comes out."""

    def __init__(self) -> None:
        super().__init__()
        self.events: list[Heard] = []
        self.frames: list[Frame] = []
        self.sound = bytearray()

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        await super().process_frame(frame, direction)
        if isinstance(frame, HeardFrame):
            self.events.append(frame.event)
        if isinstance(frame, InputAudioRawFrame):
            self.sound += frame.audio
        else:
            self.frames.append(frame)
        await self.push_frame(frame, direction)


class Before(FrameProcessor):
    """Stands in front of the ears and keeps what comes back."""

    def __init__(self) -> None:
        super().__init__()
        self.back: list[Frame] = []

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        await super().process_frame(frame, direction)
        if direction is FrameDirection.UPSTREAM:
            self.back.append(frame)
        await self.push_frame(frame, direction)


Feed = Callable[[PipelineWorker, Ears], Coroutine[Any, Any, None]]


def through_ears(hearing: Any, feed: Feed) -> tuple[Behind, Before]:
    """Run `feed` against ears in a pipeline, on a virtual clock."""

    async def call() -> tuple[Behind, Before]:
        ears = Ears(cast("Worker", hearing), HearingSettings(), LANGUAGES, "en")
        behind, before = Behind(), Before()
        pipeline = PipelineWorker(
            Pipeline([before, ears, behind]),
            idle_timeout_secs=None,
            enable_rtvi=False,
            params=PipelineParams(audio_in_sample_rate=RATE_HZ),
        )
        runner = WorkerRunner(handle_sigint=False)
        await runner.add_workers(pipeline)
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(runner.run())
            await feed(pipeline, ears)
            await pipeline.queue_frame(EndFrame())
        if isinstance(hearing, Worker):
            await hearing.close()
        return behind, before

    return run_virtual(call, epoch_s=1_796_000_000.0)


async def play(pipeline: PipelineWorker, samples: Samples, chunk: int = FRAME_SAMPLES) -> None:
    """At the pace of the clock, in chunks of any size."""
    for start in range(0, len(samples), chunk):
        piece = samples[start : start + chunk]
        await asyncio.sleep(len(piece) / RATE_HZ)
        await pipeline.queue_frame(
            InputAudioRawFrame(audio=piece.tobytes(), sample_rate=RATE_HZ, num_channels=1)
        )


def spoken(name: str, before_s: float = 0.0, after_s: float = 2.0) -> Samples:
    def room(seconds: float) -> Samples:
        noise = np.random.default_rng(5).normal(0, 6, int(seconds * RATE_HZ))
        samples: Samples = noise.astype(np.int16)
        return samples

    parts: Samples = np.concatenate(
        [room(before_s), decode(SPOKEN / f"{name}.flac"), room(after_s)]
    )
    return parts


@pytest.mark.parametrize("chunk", [160, 320, 333, 1024])
def test_audio_passes_whole_in_any_chunks(chunk: int) -> None:
    """Whatever the size of the chunks: all sound comes out, and the same turn is heard."""
    samples = spoken("museum")

    async def feed(pipeline: PipelineWorker, _: Ears) -> None:
        await play(pipeline, samples, chunk)

    behind, _ = through_ears(ScriptedHearing(["What time?"]), feed)
    assert bytes(behind.sound) == samples.tobytes()
    (said,) = (event for event in behind.events if isinstance(event, UserSaid))
    assert said.began_ms == 0
    assert said.ended_s <= said.decided_s <= said.transcribed_s


def test_barge_in_is_told_and_broadcast() -> None:
    """ "Stop" into an answer: BargedIn, then pipecat's interruption both ways."""

    async def feed(pipeline: PipelineWorker, _: Ears) -> None:
        await pipeline.queue_frame(BotStartedSpeakingFrame())
        await play(pipeline, spoken("stop", before_s=0.4))

    behind, before = through_ears(ScriptedHearing(["Stop."], partials=["Stop"]), feed)
    order = [
        type(frame.event).__name__ if isinstance(frame, HeardFrame) else type(frame).__name__
        for frame in behind.frames
        if isinstance(frame, (HeardFrame, InterruptionFrame))
    ]
    at = order.index("BargedIn")
    assert order[at + 1] == "InterruptionFrame"
    assert order[0] == "SpeechBegan" and order[-1] == "UserSaid"
    assert any(isinstance(frame, InterruptionFrame) for frame in before.back)


def test_muted_is_silence() -> None:
    """Muted, nothing is heard and nothing goes on downstream; unmuted, it is."""

    async def feed(pipeline: PipelineWorker, ears: Ears) -> None:
        ears.set_muted(True)
        await play(pipeline, spoken("museum"))
        await asyncio.sleep(0.1)
        ears.set_muted(False)
        await play(pipeline, spoken("stop"))

    behind, _ = through_ears(ScriptedHearing(["Stop."]), feed)
    turns = [event for event in behind.events if isinstance(event, UserSaid)]
    assert len(turns) == 1 and turns[0].began_ms >= 3900
    assert not any(behind.sound[: RATE_HZ * 2])


def test_wrong_rate_raises_the_alarm_once() -> None:
    """Sound at 48 kHz isn't heard at the wrong speed: one error that says what to set."""

    async def feed(pipeline: PipelineWorker, _: Ears) -> None:
        for _number in range(5):
            await pipeline.queue_frame(
                InputAudioRawFrame(audio=bytes(1920), sample_rate=48_000, num_channels=1)
            )

    behind, before = through_ears(ScriptedHearing([""]), feed)
    faults = [frame.error for frame in before.back if isinstance(frame, ErrorFrame)]
    assert len(faults) == 1 and "48000 Hz" in faults[0] and "16000 Hz mono" in faults[0]
    assert not behind.sound


def test_hang_up_in_mid_sentence_keeps_the_words() -> None:
    """The call ends while somebody speaks: the turn is told before the end passes."""

    async def feed(pipeline: PipelineWorker, _: Ears) -> None:
        await play(pipeline, spoken("museum", after_s=0.0)[: int(1.2 * RATE_HZ)])

    behind, _ = through_ears(ScriptedHearing(["What time does the museum"]), feed)
    names = [type(frame).__name__ for frame in behind.frames]
    assert isinstance(behind.events[-1], UserSaid)
    assert names.index("EndFrame") > max(i for i, n in enumerate(names) if n == "HeardFrame")


def test_typed_turns_pass() -> None:
    """What is typed goes by the ears as it is."""

    async def feed(pipeline: PipelineWorker, _: Ears) -> None:
        await pipeline.queue_frame(TypedFrame(text="hello"))
        await asyncio.sleep(0.1)

    behind, _ = through_ears(ScriptedHearing([""]), feed)
    assert [frame.text for frame in behind.frames if isinstance(frame, TypedFrame)] == ["hello"]


# With the real worker -----------------------------------------------------------------


@pytest.fixture(name="whisper")
def fixture_whisper() -> Path:
    try:
        return path_of("whisper-base")
    except WeightsMissing as fault:
        pytest.skip(f"Whisper's weights are not here: {fault}")


def real(whisper: Path) -> Worker:
    return Worker("voice.hearing.worker", str(whisper), title="Hearing")


@pytest.mark.weights
def test_a_call_is_heard_the_same_each_time(whisper: Path) -> None:
    """Words, partial results, guesses and times of a question: the same in two runs."""

    async def feed(pipeline: PipelineWorker, _: Ears) -> None:
        await play(pipeline, spoken("museum", before_s=0.5))

    runs = [through_ears(real(whisper), feed)[0].events for _ in range(2)]
    assert runs[0] == runs[1]
    said = runs[0][-1]
    assert isinstance(said, UserSaid)
    assert said.text == "What time does the museum open tomorrow?"
    assert said.language == "en" and said.guess is not None
    assert any(isinstance(event, Partial) for event in runs[0])


@pytest.mark.weights
def test_a_worker_killed_in_mid_turn_costs_no_words(whisper: Path) -> None:
    """The worker is killed while somebody speaks: it is started again and the turn is whole."""
    worker = real(whisper)

    async def feed(pipeline: PipelineWorker, _: Ears) -> None:
        samples = spoken("museum")
        await play(pipeline, samples[: RATE_HZ // 2])
        await worker.start()
        assert worker.pid is not None
        os.kill(worker.pid, signal.SIGKILL)
        await play(pipeline, samples[RATE_HZ // 2 :])

    behind, _ = through_ears(worker, feed)
    (said,) = (event for event in behind.events if isinstance(event, UserSaid))
    assert said.text == "What time does the museum open tomorrow?"


@pytest.mark.weights
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("museum", ["What time does the museum open tomorrow?"]),
        ("stop", ["Stop."]),
        ("goodbye", ["Thank you.", "Goodbye."]),
    ],
)
async def test_recordings(whisper: Path, name: str, expected: list[str]) -> None:
    """Files give their turns, the soft goodbye among them."""
    worker = real(whisper)
    try:
        turns = await hear(SPOKEN / f"{name}.flac", worker)
    finally:
        await worker.close()
    assert [turn.text.lower() for turn in turns] == [text.lower() for text in expected]


@pytest.mark.weights
async def test_thinking_pause_is_one_turn(whisper: Path) -> None:
    """ "I would like to book a table for", 1.3 s, "four people": one turn."""
    worker = real(whisper)
    try:
        (turn,) = await hear(SPOKEN / "table_for_four.flac", worker)
    finally:
        await worker.close()
    assert "table" in turn.text and "people tomorrow evening" in turn.text


@pytest.mark.weights
async def test_silence_is_no_words(whisper: Path) -> None:
    """Ten seconds of zeros and of hiss, handed straight to Whisper, are dropped by the guards."""
    worker = real(whisper)
    try:
        header = {"languages": LANGUAGES, "language": "en"}
        for sound in (bytes(RATE_HZ * 20), spoken("stop", 0, 10)[-RATE_HZ * 10 :].tobytes()):
            reply, _ = await worker.call("words", header, sound)
            assert len(reply["text"]) < 12
            assert reply["no_speech"] > 0.3 or not reply["text"]
    finally:
        await worker.close()


@pytest.mark.weights
async def test_words_of_a_part_are_given_up_for_those_of_more(whisper: Path) -> None:
    """Once more of a turn has been sent, what it began with is not transcribed any more."""
    worker = real(whisper)
    try:
        header = {"languages": ["en"], "language": "en"}
        whole = spoken("museum").tobytes()
        told, _ = await worker.call("words", header, whole)
        assert "museum" in told["text"]
        part, _ = await worker.call("partial", header, whole[: len(whole) // 2])
        assert part["superseded"] is True
        other, _ = await worker.call("partial", header, spoken("stop").tobytes())
        assert other["text"] == "Stop."
    finally:
        await worker.close()


@pytest.mark.weights
async def test_pieces_of_a_long_turn_are_its_own(whisper: Path) -> None:
    """What was kept of a minute's talk is not found in the next one, of whatever call it is."""
    worker = real(whisper)
    museum, table = (decode(SPOKEN / f"{name}.flac") for name in ("museum", "table_for_four"))
    try:
        header = {"languages": ["en"], "language": "en", "turn": 3}
        first, _ = await worker.call("words", header, np.tile(museum, 14).tobytes())
        assert "museum" in first["text"]
        longer, _ = await worker.call("words", header, np.tile(museum, 15).tobytes())
        assert longer["text"].count("museum") > 6
        second, _ = await worker.call("words", header, np.tile(table, 9).tobytes())
        assert "table" in second["text"] and "museum" not in second["text"]
    finally:
        await worker.close()


def test_nothing_is_said_of_a_blip() -> None:
    """A sound too short for a word is no turn, and nobody is asked about it."""
    blip = spoken("museum")[: int(0.1 * RATE_HZ)]
    samples: Samples = np.concatenate([blip, np.zeros(RATE_HZ, np.int16)])
    worker = ScriptedHearing(["you"])

    async def feed(pipeline: PipelineWorker, _: Ears) -> None:
        await play(pipeline, samples)

    behind, _ = through_ears(worker, feed)
    assert all(not isinstance(event, UserSaid) for event in behind.events)
    assert [kind for kind, _ in worker.asked if kind == "words"] == []
    assert all(event.reason for event in behind.events if isinstance(event, NoTurn))
