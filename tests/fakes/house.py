"""A house without models: its calls are real WebRTC calls that echo and beep."""

from __future__ import annotations

import asyncio
import math
import struct
import tempfile
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
from pipecat.frames.frames import (
    Frame,
    InputAudioRawFrame,
    InterruptionFrame,
    TTSAudioRawFrame,
    TTSStartedFrame,
)
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineParams, PipelineWorker
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor
from pipecat.workers.runner import WorkerRunner

from memory import Memory, ReflectReport, WipeReport
from memory.records import Origin, Speaker, Turn
from voice.config import Config
from voice.errors import CallInProgress, VoiceFault
from voice.frames import MicrophoneFrame
from voice.records import (
    CallEnded,
    CallEvent,
    EndReason,
    Notice,
    StateChanged,
    TurnAdded,
    event_json,
)
from voice.transports.browser import OUT_HZ, BrowserTransport
from voice.transports.page_messages import FromPage, HangUp, Typed

BEGAN = datetime(2026, 12, 4, 9, 12, 4, tzinfo=UTC)

STATUS: dict[str, Any] = {
    "engine": {
        "name": "Built-in",
        "hears": "faster-whisper base",
        "thinks": "a very small language model on this computer (Qwen2.5 0.5B)",
        "speaks": "English, German, Spanish",
        "words_go_to": "this computer only",
        "costs": "nothing",
        "warning": "Don’t trust its facts: the model is very small.",
        "better": "Better in one step: install Ollama, then `ollama pull qwen3:4b`.",
    },
    "languages": ["en", "de", "es"],
    "language": "en",
    "vault": "~/Notes",
    "notebooks": {"USER.md": {"entries": 10, "chars": 552}, "MEMORY.md": None},
    "ready": True,
    "loading": "",
    "call": None,
    "notices": [],
    "hints": [],
}


def turn(
    index: int,
    speaker: Speaker,
    text: str,
    *,
    origin: Origin = "spoken",
    interrupted: bool = False,
    conversation: str = "call-1",
) -> Turn:
    """A turn that began two seconds after the one before."""
    began = BEGAN + timedelta(seconds=2 * index)
    return Turn(
        conversation=conversation,
        index=index,
        speaker=speaker,
        text=text,
        language="en",
        began_at=began,
        ended_at=began + timedelta(seconds=1),
        origin=origin,
        interrupted=interrupted,
    )


class Beep(FrameProcessor):
    """Counts what it hears and, where told to, answers with one long tone of 440 Hz."""

    def __init__(self, seconds: float = 0.0) -> None:
        super().__init__()
        self.seconds = seconds
        self.heard: list[bytes] = []
        self.hears = asyncio.Event()
        self.interrupted = False

    def loudest(self, first: int, last: int) -> float:
        """The largest sample in frames `first` to `last` heard; endless until all are there."""
        frames = self.heard[first:last]
        if len(frames) < last - first:
            return math.inf
        return float(np.abs(np.frombuffer(b"".join(frames), np.int16).astype(int)).max())

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        await super().process_frame(frame, direction)
        await self.push_frame(frame, direction)
        if isinstance(frame, InputAudioRawFrame):
            self.heard.append(frame.audio)
            self.hears.set()
            if isinstance(frame, MicrophoneFrame):  # in place of the ears, and of the tap
                frame.intake.heard()
                frame.intake.delivered()
            # Not before: what is said while the line comes up is lost.
            if self.seconds and len(self.heard) == 1:
                await self.push_frame(TTSStartedFrame())
                await self.push_frame(TTSAudioRawFrame(tone_bytes(self.seconds), OUT_HZ, 1))
        elif isinstance(frame, InterruptionFrame):
            self.interrupted = True


def tone_bytes(seconds: float, hz: float = 440.0, rate_hz: int = OUT_HZ) -> bytes:
    count = int(seconds * rate_hz)
    samples = (int(12_000 * math.sin(2 * math.pi * hz * i / rate_hz)) for i in range(count))
    return struct.pack(f"<{count}h", *samples)


class FakeCall:
    """A call's transport in a pipeline with nothing but a `Beep`."""

    def __init__(
        self,
        *,
        tone_s: float = 0.0,
        frames_within_s: float = 5.0,
        loaded: asyncio.Event | None = None,
    ) -> None:
        self._loaded = loaded
        self.transport = BrowserTransport(frames_within_s=frames_within_s)
        self.beep = Beep(tone_s)
        self.said: list[FromPage] = []
        self.over: asyncio.Future[EndReason] = asyncio.get_running_loop().create_future()
        self.worker = PipelineWorker(
            Pipeline([self.transport.input(), self.beep, self.transport.output()]),
            params=PipelineParams(audio_in_sample_rate=16_000, audio_out_sample_rate=OUT_HZ),
            idle_timeout_secs=None,
            enable_rtvi=False,
        )
        self._index = 0
        self._task: asyncio.Task[None] | None = None

    async def answer(self, sdp: str, kind: str) -> dict[str, str]:
        answer = await self.transport.answer(sdp, kind)
        self._task = asyncio.create_task(self._run())
        return answer

    def hang_up(self, reason: EndReason) -> None:
        if not self.over.done():
            self.over.set_result(reason)

    async def ended(self) -> None:
        assert self._task is not None
        await self._task

    async def _run(self) -> None:
        if self._loaded is not None:
            waits = asyncio.create_task(self._loaded.wait())
            until: set[asyncio.Future[Any]] = {waits, self.over}
            await asyncio.wait(until, return_when=asyncio.FIRST_COMPLETED)
            waits.cancel()
        if self.over.done():
            await self.transport.close()
            return
        runner = WorkerRunner(handle_sigint=False)
        await runner.add_workers(self.worker)
        pipeline = asyncio.create_task(runner.run())
        listening = asyncio.create_task(self._listen())
        gone = asyncio.create_task(self._watch())
        self.transport.publish(StateChanged(state="listening"))
        reason = await self.over
        await self.worker.cancel(reason=reason)
        await pipeline
        self.transport.publish(CallEnded(reason=reason))
        await self.transport.close()
        for task in (listening, gone):
            task.cancel()
        await asyncio.gather(listening, gone, return_exceptions=True)

    async def _watch(self) -> None:
        self.hang_up(await asyncio.shield(self.transport.gone))

    async def _listen(self) -> None:
        async for message in self.transport.messages():
            self.said.append(message)
            if isinstance(message, HangUp):
                self.hang_up("hang-up")
            elif isinstance(message, Typed):
                origin: Origin = "pasted" if message.pasted else "typed"
                self._add(turn(self._index, "user", message.text, origin=origin))
                self._add(turn(self._index, "assistant", f"You wrote: {message.text}"))

    def _add(self, added: Turn) -> None:
        self._index += 1
        self.transport.publish(TurnAdded(turn=added))


class FakeHouse:
    """Implements voice.web.house.House, over a memory of its own that is as real as any.

    `chat_events` and `fault` are what it gives and raises.
    """

    def __init__(self, *, tone_s: float = 0.0, **status: Any) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="jarvis-house-")
        folder = Path(self._folder.name)
        self.config = Config(vault=folder / "Notes", state=folder / "state")
        self.memory = Memory.open(
            self.config.vault, self.config.state, lambda: datetime.now(UTC), create=True
        )
        self.shown: dict[str, Any] = {**STATUS, **status}
        self.tone_s = tone_s
        self.calls: list[FakeCall] = []
        self.gone_on: list[datetime | None] = []
        self.chats: list[tuple[str, bool]] = []
        self.chat_events: list[CallEvent] | None = None
        self.fault: VoiceFault | None = None
        self.late_fault: VoiceFault | None = None
        self.failing = ""
        self.hang_ups = 0
        self._loaded = asyncio.Event()
        if self.shown["ready"]:
            self._loaded.set()

    def loaded(self) -> None:
        """A house that was made with `ready=False` has its models now."""
        self.shown.update(ready=True, loading="")
        self._loaded.set()

    @property
    def running(self) -> FakeCall | None:
        last = self.calls[-1] if self.calls else None
        return None if last is None or last.over.done() else last

    def status(self) -> dict[str, Any]:
        recorded = self.shown.get("recorded", False)
        call = {"began_at": BEGAN.isoformat(), "recorded": recorded} if self.running else None
        return {**self.shown, "call": call}

    async def offer(
        self, sdp: str, type: str, take_over: bool, goes_on: datetime | None
    ) -> dict[str, str]:
        if self.fault is not None:
            raise self.fault
        if self.running is not None:
            if not take_over and goes_on != BEGAN:
                raise CallInProgress("A call runs in another window.")
            taken = self.running
            taken.hang_up("page gone")
            await taken.ended()
        call = FakeCall(tone_s=self.tone_s, loaded=self._loaded)
        answer = await call.answer(sdp, type)
        self.calls.append(call)
        self.gone_on.append(goes_on)
        if self.failing:
            call.transport.publish(Notice(kind="stop", text=self.failing))
            call.hang_up("engine failed")
        return answer

    async def chat(self, text: str, pasted: bool) -> AsyncIterator[dict[str, Any]]:
        if self.fault is not None:
            raise self.fault
        index = 2 * len(self.chats)
        self.chats.append((text, pasted))
        events = self.chat_events
        if events is None:
            origin: Origin = "pasted" if pasted else "typed"
            mine = turn(index, "user", text, origin=origin, conversation="chat-1")
            answer = turn(index + 1, "assistant", f"You wrote: {text}", conversation="chat-1")
            events = [TurnAdded(turn=mine), TurnAdded(turn=answer)]
        for event in events:
            yield event_json(event)
        if self.late_fault is not None:
            raise self.late_fault

    def take(self, config: Config) -> None:
        self.config = config

    async def reflect(self) -> ReflectReport:
        return ReflectReport(outcome="nothing new")

    async def wipe(self) -> WipeReport:
        return await asyncio.to_thread(self.memory.wipe, datetime.now(UTC))

    async def think(self) -> str:
        return "Nothing new happened."

    async def hang_up(self) -> None:
        self.hang_ups += 1
        if self.running is not None:
            self.running.hang_up("hang-up")

    async def close(self) -> None:
        for call in self.calls:
            call.hang_up("hang-up")
            await call.ended()
        self.memory.close()
        self._folder.cleanup()
