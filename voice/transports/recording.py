"""A recorded call as a transport, and the processor that records a live one.

Both keep to the loop's clock, so that a replay costs no time on a virtual one.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from functools import partial

from pipecat.frames.frames import (
    Frame,
    InterruptionFrame,
    OutputAudioRawFrame,
    StartFrame,
)
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor
from pipecat.transports.base_output import BaseOutputTransport
from pipecat.transports.base_transport import TransportParams

from voice.frames import (
    AnswerBeganFrame,
    AnswerDoneFrame,
    HeardFrame,
    MicrophoneFrame,
    SpokenFrame,
    TypedFrame,
)
from voice.intake import Intake
from voice.playback import RATE_HZ as PLAYED_HZ
from voice.playback import Loudspeaker, Playback, pts_of
from voice.recorder import Recorder
from voice.recording import RATE_HZ, RecordedCall, RecordedTyped
from voice.records import CallEvent, EndReason
from voice.transports.intake import MicrophoneInput

FRAME_MS = 20
_FRAME_BYTES = 2 * RATE_HZ * FRAME_MS // 1000
_OVERTIME_MS = 10_000
_STEP_SAMPLES = PLAYED_HZ * FRAME_MS // 1000


class RecordingTransport:
    """Plays a recorded call's microphone into a call, and takes what the call says.

    `gone` resolves to "hang-up" when the recording is over; a recording that ended by
    another rule than the user's goes on with silence for up to ten seconds more, so that
    the rule itself may end the call. Typed turns go to the keyboard that
    is connected, and stops to the button, at their times.
    `played` holds the output's samples if asked for. `latency_s` is how long the device takes
    to be heard. The microphone is open since `began_s` of the loop's time, or else since the
    call's pipeline began. Made inside a running loop.
    """

    def __init__(
        self,
        call: RecordedCall,
        *,
        collect: bool = False,
        latency_s: float = 0.0,
        began_s: float | None = None,
    ) -> None:
        self.gone: asyncio.Future[EndReason] = asyncio.get_running_loop().create_future()
        self.events: list[CallEvent] = []
        self.microphone = Intake(notify=self.publish)
        params = TransportParams(
            audio_out_enabled=True,
            audio_out_10ms_chunks=2,
            audio_out_end_silence_secs=0,
        )
        self._input = _Input(call, self.microphone, self.gone, began_s)
        self.playback = SinkPlayback(latency_s=latency_s)
        self._output = _Output(params, self.playback, collect=collect)

    def input(self) -> FrameProcessor:
        return self._input

    def output(self) -> FrameProcessor:
        return self._output

    def connect_keyboard(self, keyboard: Callable[[RecordedTyped], Awaitable[None]]) -> None:
        """Where typed turns go; the call takes them as it does from the page."""
        self._input.keyboard = keyboard

    def connect_button(self, button: Callable[[], Awaitable[None]]) -> None:
        """What stops an answer."""
        self._input.button = button

    @property
    def played(self) -> bytes:
        """What the output played, 16-bit mono at its own rate, with the silence between."""
        return bytes(self.playback.collected or b"")

    def publish(self, event: CallEvent) -> None:
        self.events.append(event)


class _Input(MicrophoneInput):
    def __init__(
        self,
        call: RecordedCall,
        intake: Intake,
        gone: asyncio.Future[EndReason],
        began_s: float | None,
    ) -> None:
        super().__init__(intake)
        self._began_s = began_s
        self._call = call
        self._microphone = intake
        self._gone = gone
        self.keyboard: Callable[[RecordedTyped], Awaitable[None]] | None = None
        self.button: Callable[[], Awaitable[None]] | None = None
        self._feeder: asyncio.Task[None] | None = None

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        await super().process_frame(frame, direction)
        if isinstance(frame, StartFrame):
            self._feeder = self.create_task(self._feed())

    async def cleanup(self) -> None:
        if self._feeder is not None:
            await self.cancel_task(self._feeder)
            self._feeder = None
        await super().cleanup()

    async def _feed(self) -> None:
        """One frame each 20 ms, when its last sample was there; a typed turn at its time."""
        loop = asyncio.get_running_loop()
        began_s = loop.time() if self._began_s is None else self._began_s
        call = self._call
        pressed = self._pressed()
        length_ms = call.duration_ms
        if call.ended not in (None, "hang-up", "page gone"):
            length_ms += _OVERTIME_MS
        silence = bytes(_FRAME_BYTES)
        for end_ms in range(FRAME_MS, length_ms + FRAME_MS, FRAME_MS):
            due_ms = end_ms + call.late_at(end_ms - FRAME_MS)
            while pressed and pressed[0][0] <= due_ms:
                at_ms, press = pressed.popleft()
                await asyncio.sleep(began_s + at_ms / 1000 - loop.time())
                await press()
            await asyncio.sleep(began_s + due_ms / 1000 - loop.time())
            if call.microphone:
                at = (end_ms // FRAME_MS - 1) * _FRAME_BYTES
                samples = call.microphone[at : at + _FRAME_BYTES]
                self._microphone.put(samples + silence[len(samples) :], RATE_HZ)
        if not self._gone.done():
            self._gone.set_result("hang-up")

    def _pressed(self) -> deque[tuple[int, Callable[[], Awaitable[None]]]]:
        """Turns that were typed and answers that were stopped, in order of time."""
        keyboard, button = self.keyboard, self.button
        assert keyboard is not None or not self._call.typed, "the recording holds typed turns"
        assert button is not None or not self._call.stops_ms, "answers are stopped in the recording"
        pressed: list[tuple[int, Callable[[], Awaitable[None]]]] = []
        if keyboard is not None:
            pressed += [(each.at_ms, partial(keyboard, each)) for each in self._call.typed]
        if button is not None:
            pressed += [(at_ms, button) for at_ms in self._call.stops_ms]
        return deque(sorted(pressed, key=lambda each: each[0]))


class SinkPlayback:
    """A device that takes its samples by the loop's clock, and is heard `latency_s` later."""

    def __init__(self, *, latency_s: float = 0.0) -> None:
        self.loudspeaker = Loudspeaker()
        self.collected: bytearray | None = None
        self._latency_s = latency_s
        self._began_s: float | None = None

    def played(self) -> int:
        return self.loudspeaker.heard(self._heard_at())

    def sounding(self) -> bool:
        return self.loudspeaker.sounding(self._heard_at())

    def late_s(self) -> float:
        return self._latency_s

    def envelope(self) -> list[float]:
        self.advance()
        return self.loudspeaker.envelope()

    def cancelled(self) -> bool:
        return False

    def lower(self) -> None:
        self.advance()
        self.loudspeaker.lower()

    def hold(self) -> None:
        self.advance()
        self.loudspeaker.hold()

    def go_on(self) -> None:
        self.advance()
        self.loudspeaker.go_on()

    def flush(self) -> None:
        self.advance()
        self.loudspeaker.flush(self._heard_at())

    def begin(self) -> None:
        """With the first sound the device starts; what it takes before is not counted."""
        if self._began_s is None:
            self._began_s = asyncio.get_running_loop().time()

    def advance(self) -> None:
        """The device takes what was due by now, in steps of the envelope."""
        if self._began_s is None:
            return
        due = round((asyncio.get_running_loop().time() - self._began_s) * PLAYED_HZ)
        while (left := due - self.loudspeaker.taken) > 0:
            pcm = self.loudspeaker.take(min(left, _STEP_SAMPLES))
            if self.collected is not None:
                self.collected += pcm

    def due_s(self, position: int) -> float:
        """When the device will have taken what was given up to `position`, as far as is known."""
        assert self._began_s is not None
        ahead = max(position - self.loudspeaker.next, 0)
        return self._began_s + (self.loudspeaker.taken + ahead) / PLAYED_HZ

    def _heard_at(self) -> int:
        self.advance()
        return self.loudspeaker.taken - round(self._latency_s * PLAYED_HZ)


class _Output(BaseOutputTransport):
    """Takes each chunk for as long as a sound card would need to play it."""

    def __init__(self, params: TransportParams, playback: SinkPlayback, *, collect: bool) -> None:
        super().__init__(params)
        self._playback = playback
        if collect:
            playback.collected = bytearray()
        self._flushes = 0

    async def start(self, frame: StartFrame) -> None:
        await super().start(frame)
        await self.set_transport_ready(frame)

    async def write_audio_frame(self, frame: OutputAudioRawFrame) -> bool:
        """False where it was thrown away unplayed."""
        loop, playback = asyncio.get_running_loop(), self._playback
        loudspeaker = playback.loudspeaker
        playback.begin()
        playback.advance()
        first = loudspeaker.give(frame.audio)
        end = first + len(frame.audio) // 2
        frame.pts = pts_of(first)
        flushed = self._flushes
        while loudspeaker.next < end:
            await asyncio.sleep(max(playback.due_s(end) - loop.time(), FRAME_MS / 1000))
            playback.advance()
        return flushed == self._flushes

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        await super().process_frame(frame, direction)
        if isinstance(frame, InterruptionFrame):
            self._flushes += 1
            self._playback.flush()


class RecordingProcessor(FrameProcessor):
    """Stands between the engine and the output and writes what passes to a `Recorder`.

    It must stand in front of the output: behind it, an answer that was interrupted would
    be recorded only as far as it was heard, and could not be interrupted again.
    """

    def __init__(self, recorder: Recorder, playback: Playback) -> None:
        super().__init__()
        self._recorder = recorder
        self._playback = playback

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        await super().process_frame(frame, direction)
        if direction is FrameDirection.DOWNSTREAM:
            self._record(frame)
        await self.push_frame(frame, direction)

    def _record(self, frame: Frame) -> None:
        recorder, now_s = self._recorder, asyncio.get_running_loop().time()
        match frame:
            case MicrophoneFrame():
                recorder.microphone(frame.audio, frame.arrived_s)
            case HeardFrame():
                recorder.heard(frame.event)
            case TypedFrame():
                recorder.typed(frame.text, frame.pasted, now_s)
            case AnswerBeganFrame():
                recorder.answer_began(
                    frame.to, frame.first_token_s, frame.first_audio_s, frame.ready_s
                )
            case SpokenFrame():
                recorder.spoken(frame.text, frame.samples, frame.sample_rate_hz, frame.language)
            case AnswerDoneFrame() | InterruptionFrame():
                recorder.answer_ended(self._playback.late_s())
            case _:
                pass
