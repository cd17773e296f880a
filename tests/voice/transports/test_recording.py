"""A recorded call as a transport, its engine, and the recording of a live call."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from pipecat.frames.frames import Frame, InputAudioRawFrame, InterruptionFrame, TTSAudioRawFrame
from pipecat.processors.filters.identity_filter import IdentityFilter
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor
from pipecat.workers.runner import WorkerRunner

from memory.records import Prefix
from voice import pipeline
from voice.engines.protocol import Opening
from voice.engines.recorded import RecordedEngine
from voice.frames import (
    AnswerBeganFrame,
    AnswerDoneFrame,
    HeardFrame,
    MicrophoneFrame,
    SpokenFrame,
    TypedFrame,
)
from voice.recorder import Recorder
from voice.recording import (
    RATE_HZ,
    Piece,
    RecordedAnswer,
    RecordedCall,
    RecordedTyped,
    read_recording,
)
from voice.records import EndReason, EngineDescription, UserSaid
from voice.transports.recording import RecordingProcessor, RecordingTransport
from voice.virtual_time import run_virtual

BEGAN_AT = datetime(2026, 12, 1, 9, tzinfo=UTC)
ENGINE = EngineDescription(
    name="recorded", hears="", thinks="", speaks="", words_go_to="", costs=""
)
ANSWERS = (
    RecordedAnswer(
        turn=0,
        language="en",
        delay_ms=500,
        first_word_ms=300,
        pieces=(
            Piece(text="On the twelfth", duration_ms=1000),
            Piece(text="of March.", duration_ms=500),
        ),
    ),
    RecordedAnswer(
        turn=1,
        language="en",
        delay_ms=200,
        first_word_ms=None,
        pieces=(Piece(text="Any time.", duration_ms=400),),
    ),
)


def recorded(
    seconds: float = 5.0, typed: tuple[RecordedTyped, ...] = (), ended: EndReason | None = "hang-up"
) -> RecordedCall:
    samples = int(seconds * RATE_HZ)
    return RecordedCall(
        conversation="c1",
        began_at=BEGAN_AT,
        language="en",
        languages=("en",),
        engine=ENGINE,
        note="",
        ended=ended,
        microphone=b"".join((n % 30_000).to_bytes(2, "little") for n in range(samples)),
        answers=ANSWERS,
        typed=typed,
        expected=None,
    )


class Script(FrameProcessor):
    """Stands where the ears do and pushes frames at milliseconds of the microphone."""

    def __init__(self, script: dict[int, Callable[[], Frame]]) -> None:
        super().__init__(name="Script")
        self._script = dict(script)
        self._heard_ms = 0
        self.microphone = bytearray()

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        await super().process_frame(frame, direction)
        await self.push_frame(frame, direction)
        if isinstance(frame, InputAudioRawFrame):
            self.microphone += frame.audio
            self._heard_ms += 20
            assert isinstance(frame, MicrophoneFrame)
            frame.intake.heard()
            if make := self._script.pop(self._heard_ms, None):
                frame = make()
                if isinstance(frame, InterruptionFrame):
                    await self.broadcast_interruption()  # type: ignore[no-untyped-call]
                else:
                    await self.push_frame(frame)


class Log(FrameProcessor):
    """Stands where the tap does: what came, and at which millisecond."""

    def __init__(self, began_s: float) -> None:
        super().__init__(name="Log")
        self._began_s = began_s
        self.frames: list[tuple[int, str]] = []
        self.samples = 0

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        await super().process_frame(frame, direction)
        at_ms = round((asyncio.get_running_loop().time() - self._began_s) * 1000)
        match frame:
            case SpokenFrame():
                self.frames.append((at_ms, frame.text))
            case AnswerBeganFrame() | AnswerDoneFrame() | InterruptionFrame() | TypedFrame():
                self.frames.append((at_ms, type(frame).__name__.removesuffix("Frame")))
            case TTSAudioRawFrame():
                self.samples += len(frame.audio) // 2
            case MicrophoneFrame():
                frame.intake.delivered()
        await self.push_frame(frame, direction)


def said() -> Frame:
    now_s = asyncio.get_running_loop().time()
    return HeardFrame(
        event=UserSaid(
            text="When is it?",
            language="en",
            began_ms=0,
            ended_ms=700,
            guess=None,
            ended_s=now_s - 0.3,
            decided_s=now_s,
            transcribed_s=now_s,
        )
    )


class Played:
    """One call on a virtual clock: what came out of it."""

    def __init__(
        self,
        call: RecordedCall,
        script: dict[int, Callable[[], Frame]],
        folder: Path | None = None,
        latency_s: float = 0.0,
    ) -> None:
        self.call = call
        self.latency_s = latency_s
        self.script = Script(script)
        self.folder = folder
        run_virtual(self._run, epoch_s=BEGAN_AT.timestamp(), grace_s=0)

    async def _run(self) -> None:
        began_s = asyncio.get_running_loop().time()
        transport = RecordingTransport(self.call, collect=True, latency_s=self.latency_s)
        engine = RecordedEngine(self.call.answers, ENGINE)
        processors = await engine.open(
            Opening(
                prefix=Prefix(text="", sha256=""),
                language="en",
                now=lambda: BEGAN_AT,
                news=lambda: asyncio.sleep(0, None),
                notify=lambda _: None,
            )
        )
        recorder = None
        if self.folder is not None:
            recorder = Recorder(
                self.folder,
                conversation="c1",
                began_at=BEGAN_AT,
                began_s=began_s,
                language="en",
                languages=("en",),
                engine=ENGINE,
                notify=lambda _: None,
            )
        log = Log(began_s)
        worker = pipeline.build(
            transport.input(),
            self.script,
            IdentityFilter(),  # type: ignore[no-untyped-call]  # pipecat's
            processors,
            transport.output(),
            log,
            RecordingProcessor(recorder, transport.playback) if recorder else None,
        )

        async def keyboard(turn: RecordedTyped) -> None:
            await worker.queue_frame(TypedFrame(text=turn.text, pasted=turn.pasted))

        transport.connect_keyboard(keyboard)
        runner = WorkerRunner(handle_sigint=False)
        await runner.add_workers(worker)
        running = asyncio.create_task(runner.run())
        self.reason = await transport.gone
        self.gone_ms = round((asyncio.get_running_loop().time() - began_s) * 1000)
        await worker.cancel()
        await running
        if recorder is not None:
            await recorder.close()
        self.log = log
        self.played = transport.played


def test_the_microphone_arrives_whole_and_on_time() -> None:
    """Every sample comes once, and the recording's end is a hang-up."""
    call = recorded(5.01)
    played = Played(call, {})
    assert bytes(played.script.microphone[: len(call.microphone)]) == call.microphone
    assert played.reason == "hang-up"
    assert 5_020 <= played.gone_ms <= 5_060


def test_a_call_that_ended_by_a_rule_goes_on_with_silence() -> None:
    """The rule itself may end it; if it does not, the recording's end does."""
    played = Played(recorded(1.0, ended="silence"), {})
    assert 11_000 <= played.gone_ms <= 11_050
    assert not any(played.script.microphone[2 * RATE_HZ :])


def test_the_answer_comes_after_its_delay_and_is_paced() -> None:
    """Each piece arrives behind the output at the moment at which it begins to sound."""
    log = Played(recorded(), {1000: said}).log
    times = [at_ms for at_ms, _ in log.frames]
    assert [name for _, name in log.frames] == [
        "AnswerBegan", "On the twelfth", "of March.", "AnswerDone",
    ]  # fmt: skip
    wanted = [1500, 1500, 2500, 3000]
    assert all(0 <= at - want <= 60 for at, want in zip(times, wanted, strict=True)), times
    assert log.samples == 24_000 * 3 // 2


def test_an_interrupted_answer_stops_at_once() -> None:
    """After the interruption no sample of the old answer is played."""
    log = Played(recorded(), {1000: said, 2000: InterruptionFrame}).log
    assert [name for _, name in log.frames] == ["AnswerBegan", "On the twelfth", "Interruption"]
    assert abs(log.samples - 12_000) <= 24_000 * 60 // 1000


def test_an_answer_that_waits_is_dropped_by_an_interruption() -> None:
    """What was not yet said is not said any more; the next turn gets its own answer."""
    log = Played(recorded(), {1000: said, 1200: InterruptionFrame, 2000: said}).log
    assert [name for _, name in log.frames] == [
        "Interruption", "AnswerBegan", "Any time.", "AnswerDone",
    ]  # fmt: skip


def test_a_turn_without_a_recorded_answer_gets_none() -> None:
    """The third turn was not answered then, nor is it now."""
    log = Played(recorded(8.0), {1000: said, 4000: said, 6000: said}).log
    assert [name for _, name in log.frames].count("AnswerBegan") == 2


def test_a_typed_turn_comes_at_its_position_and_is_answered() -> None:
    """Turns by keyboard count among the user's turns."""
    call = recorded(typed=(RecordedTyped(at_ms=1500, text="When?", pasted=False),))
    log = Played(call, {}).log
    assert [name for _, name in log.frames][:3] == ["Typed", "AnswerBegan", "On the twelfth"]
    assert 1500 <= log.frames[0][0] <= 1560


def test_what_was_played_can_be_listened_to() -> None:
    """The collected samples hold a tone where the answer was, and silence between."""
    played = Played(recorded(8.0), {1000: said, 4000: said}).played
    half_s = 24_000
    assert any(played[:half_s])
    assert not any(played[2 * half_s * 2 : 2 * half_s * 2 + half_s // 2])


def test_a_live_call_is_recorded_as_it_was_played(tmp_path: Path) -> None:
    """Recording a replay gives the recording again, with how late its device was heard."""
    call = recorded(8.0, typed=(RecordedTyped(at_ms=4000, text="Thanks.", pasted=True),))
    Played(call, {1000: said}, tmp_path / "call", latency_s=0.12)
    again = read_recording(tmp_path / "call")
    assert isinstance(again, RecordedCall)
    assert again.late_ms == 120
    assert again.answers == (
        replace(ANSWERS[0], late_ms=120),
        RecordedAnswer(
            turn=1,
            language="en",
            delay_ms=200,
            first_word_ms=None,
            pieces=ANSWERS[1].pieces,
            late_ms=120,
        ),
    )
    assert [(each.text, each.pasted) for each in again.typed] == [("Thanks.", True)]
    assert again.microphone.startswith(call.microphone[: 2 * RATE_HZ])


def test_an_interrupted_answer_is_recorded_with_what_was_to_come(tmp_path: Path) -> None:
    """A replay of the recording can be interrupted at the same place."""
    Played(recorded(), {1000: said, 1700: InterruptionFrame}, tmp_path / "call")
    again = read_recording(tmp_path / "call")
    assert isinstance(again, RecordedCall)
    assert again.answers[0].text == "On the twelfth of March."
