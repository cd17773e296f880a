"""A call with a realtime engine, from the user's side: speaks, types, interrupts, sees and hears."""

from __future__ import annotations

import asyncio
import hashlib
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any, Generic, Protocol, TypeVar

from pipecat.frames.frames import (
    Frame,
    InputAudioRawFrame,
    InterruptionFrame,
    TTSAudioRawFrame,
    TTSStartedFrame,
    TTSStoppedFrame,
)
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineParams, PipelineWorker
from pipecat.processors.frame_processor import FrameCallback, FrameDirection, FrameProcessor
from pipecat.workers.runner import WorkerRunner

from memory.records import Prefix, Turn
from tests.fakes.gemini_server import GeminiServer
from tests.fakes.realtime_server import RealtimeServer
from voice.engines.gemini_live import GEMINI_LIVE
from voice.engines.openai_realtime import OPENAI_REALTIME
from voice.engines.protocol import Engine, Opening, no_notes
from voice.engines.realtime_engine import RealtimeEngine
from voice.frames import (
    AnswerBeganFrame,
    AnswerDoneFrame,
    HeardFrame,
    SpokenFrame,
)
from voice.records import (
    BargedIn,
    CallEvent,
    EngineChanged,
    Heard,
    NotesFound,
    Notice,
    SpeechBegan,
    Told,
    TurnAdded,
    UserSaid,
)
from voice.tap import Tap
from voice.tools import Tool
from voice.turns import Transcript

BEGAN_AT = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)
NOTEBOOK = "# USER.md\n- Her sister Ana was born on the third of May. ¡Ñandú! Größe 3\n" * 200
FRAME = 320
ANSWERING = (
    AnswerBeganFrame, TTSStartedFrame, SpokenFrame, TTSAudioRawFrame, TTSStoppedFrame,
    AnswerDoneFrame,
)  # fmt: skip


class Speaker(FrameProcessor):
    """An output: plays at the pace of sound in steps of 20 ms; an interruption empties it."""

    def __init__(self) -> None:
        super().__init__()
        self.played_samples = 0

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        await super().process_frame(frame, direction)
        if not isinstance(frame, TTSAudioRawFrame):
            if isinstance(frame, AnswerBeganFrame):
                self.played_samples = 0
            await self.push_frame(frame, direction)
            return
        for at in range(0, len(frame.audio), 960):
            sound = frame.audio[at : at + 960]
            await asyncio.sleep(len(sound) / 2 / 24_000)
            self.played_samples += len(sound) // 2
            await self.push_frame(TTSAudioRawFrame(sound, frame.sample_rate, 1))


class Collector(FrameProcessor):
    """Keeps what comes out of the engine. `ambush` runs as the engine hands sound on."""

    def __init__(self, changed: asyncio.Event) -> None:
        super().__init__()
        self.ambush: Callable[[], Awaitable[None]] | None = None
        self.sounds_until_ambush = 0
        self.frames: list[Frame] = []
        self._changed = changed

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        await super().process_frame(frame, direction)
        if direction is FrameDirection.DOWNSTREAM and not isinstance(frame, InputAudioRawFrame):
            self.frames.append(frame)
            self._changed.set()
        await self.push_frame(frame, direction)

    async def queue_frame(
        self,
        frame: Frame,
        direction: FrameDirection = FrameDirection.DOWNSTREAM,
        callback: FrameCallback | None = None,
    ) -> None:
        await super().queue_frame(frame, direction, callback)
        if isinstance(frame, TTSAudioRawFrame) and self.ambush is not None:
            self.sounds_until_ambush -= 1
            if self.sounds_until_ambush == 0:
                await self.ambush()


class Remote(Protocol):
    """A fake of a service."""

    @property
    def url(self) -> str: ...


S = TypeVar("S", bound=Remote)


class Caller(ABC, Generic[S]):
    """A call from the user's side: speaks, types, interrupts, and sees what came out."""

    def __init__(self, server: S) -> None:
        self.server = server
        self.notices: list[Notice] = []
        self.changes: list[EngineChanged] = []
        self.events: list[CallEvent] = []
        self.changed = asyncio.Event()
        self.news: list[str | None] = []
        self.wait_for_news: asyncio.Event | None = None
        self.asked_s: list[float] = []
        self.hook = True
        self.tools: tuple[Tool, ...] = ()
        self.notes: Callable[[str], Awaitable[NotesFound | None]] = no_notes
        self.fresh_prefix: Callable[[], Awaitable[Prefix]] | None = None
        self.speaker = Speaker()
        self.out = Collector(self.changed)
        self.position_ms = 0
        self.frames_sent = 0
        self.transcript = Transcript("call")
        self.engine: Engine
        self.worker: PipelineWorker
        self.processor: FrameProcessor

    rate_hz = 24_000
    """In which the service gets the microphone."""

    def bytes_of_a_turn(self, ms: int) -> int:
        return 2 * ms * self.rate_hz // 1000

    @abstractmethod
    def make_engine(self, url: str, key: str) -> Engine: ...

    def now(self) -> datetime:
        return BEGAN_AT + timedelta(seconds=asyncio.get_running_loop().time() - 1_000_000)

    def opening(self, prefix: str = NOTEBOOK, earlier: tuple[Turn, ...] = ()) -> Opening:
        async def news() -> str | None:
            if self.wait_for_news is not None:
                await self.wait_for_news.wait()
            return self.news.pop(0) if self.news else None

        def notify(notice: Notice | EngineChanged) -> None:
            if isinstance(notice, Notice):
                self.notices.append(notice)
            else:
                self.changes.append(notice)
            self.changed.set()

        return Opening(
            prefix=Prefix(text=prefix, sha256=hashlib.sha256(prefix.encode()).hexdigest()),
            language="en",
            now=self.now,
            news=news,
            notify=notify,
            earlier=earlier,
            tools=self.tools,
            notes=self.notes,
            fresh_prefix=self.fresh_prefix,
            played_samples=self.played,
        )

    def played(self) -> int | None:
        return self.speaker.played_samples if self.hook else None

    def emit(self, event: CallEvent) -> None:
        self.events.append(event)
        if isinstance(event, TurnAdded):
            self.engine.heard(event.turn)
        self.changed.set()

    @property
    def turns(self) -> list[Turn]:
        return [event.turn for event in self.events if isinstance(event, TurnAdded)]

    # Doing ------------------------------------------------------------------------------

    async def send(self, frame: Frame) -> None:
        await self.worker.queue_frame(frame)

    async def tell(self, event: Heard) -> None:
        await self.send(HeardFrame(event=event))

    async def sound(self, ms: int, level: int = 0) -> None:
        for _ in range(ms // 20):
            audio = level.to_bytes(2, "little", signed=True) * FRAME
            await self.send(InputAudioRawFrame(audio, 16_000, 1))
            self.position_ms += 20

    async def begin(self, ms: int = 1000, *, late_ms: int = 200) -> int:
        """Speak; the ears notice it `late_ms` after the first sound."""
        began_ms = self.position_ms
        await self.sound(late_ms, 4000)
        await self.tell(SpeechBegan(began_ms=began_ms))
        await self.sound(ms - late_ms, 4000)
        return began_ms

    async def end(
        self, began_ms: int, text: str, *, told: Told | None = None, answered: bool = True
    ) -> UserSaid:
        now_s = asyncio.get_running_loop().time()
        said = UserSaid(
            text=text,
            language="en",
            began_ms=began_ms,
            ended_ms=self.position_ms,
            guess=None,
            ended_s=now_s,
            decided_s=now_s,
            transcribed_s=now_s,
        )
        await self.send(HeardFrame(event=said, told=told, answered=answered))
        return said

    async def say(self, text: str, ms: int = 1000) -> UserSaid:
        await self.sound(200)
        return await self.end(await self.begin(ms), text)

    async def barge_in(self) -> None:
        """As the ears do it: the event, then pipecat's interruption."""
        await self.tell(BargedIn(began_ms=self.position_ms))
        await self.send(InterruptionFrame())

    def ambush_at(self, at_frame: int, *, with_event: bool) -> None:
        async def ambush() -> None:
            if with_event:
                event = BargedIn(began_ms=self.position_ms)
                await self.processor.queue_frame(HeardFrame(event=event))
            await self.processor.queue_frame(InterruptionFrame())

        self.out.sounds_until_ambush = at_frame
        self.out.ambush = ambush

    async def ask(self, text: str) -> str:
        """Say it, and wait until the answer has been played."""
        done = len(self.of(AnswerDoneFrame))
        await self.say(text)
        await self.answers(done + 1)
        return self.turns[-1].text

    async def answers(self, count: int) -> None:
        await self.until(lambda: len(self.of(AnswerDoneFrame)) >= count)

    async def until(self, true: Callable[[], object]) -> None:
        while not true():
            self.changed.clear()
            await self.changed.wait()

    # Seeing -----------------------------------------------------------------------------

    def of(self, *kinds: type[Frame]) -> list[Frame]:
        return [frame for frame in self.out.frames if isinstance(frame, kinds)]

    @property
    def samples(self) -> int:
        return sum(
            len(frame.audio) // 2
            for frame in self.out.frames
            if isinstance(frame, TTSAudioRawFrame)
        )

    @property
    def spoken(self) -> str:
        return " ".join(frame.text for frame in self.out.frames if isinstance(frame, SpokenFrame))


class OpenAICaller(Caller[RealtimeServer]):
    rate_hz = 24_000

    def make_engine(self, url: str, key: str) -> RealtimeEngine:
        return RealtimeEngine(OPENAI_REALTIME, url=url, key=key)

    async def second_session(self) -> None:
        """Until the call goes on in a second session."""
        await self.server.until(lambda: self.server.received("session.update", connection=1))
        await self.server.until(lambda: self.told("system", 1))

    def told(self, role: str, connection: int | None = None) -> list[str]:
        """The texts that the server was told as items."""
        created = self.server.received("conversation.item.create", connection=connection)
        return [
            event["item"]["content"][0]["text"]
            for event in created
            if event["item"]["role"] == role
        ]


class GeminiCaller(Caller[GeminiServer]):
    rate_hz = 16_000

    def make_engine(self, url: str, key: str) -> RealtimeEngine:
        return RealtimeEngine(GEMINI_LIVE, url=url, key=key)

    def contents(self, role: str, connection: int | None = None) -> list[str]:
        """The texts that the server was told as content of the client."""
        return [
            part["text"]
            for event in self.server.received("clientContent", connection=connection)
            for turn in event["clientContent"].get("turns", [])
            if turn["role"] == role
            for part in turn["parts"]
        ]

    def texts(self, connection: int | None = None) -> list[str]:
        """The texts that went into activities."""
        given = self.server.received("realtimeInput.text", connection=connection)
        return [event["realtimeInput"]["text"] for event in given]


C = TypeVar("C", bound=Caller[Any])


@asynccontextmanager
async def calling(
    caller: C,
    *,
    hook: bool = True,
    url: str | None = None,
    key: str = "",
    earlier: tuple[Turn, ...] = (),
    listen: bool = True,
    set_up: Callable[[C], None] | None = None,
) -> AsyncIterator[C]:
    """A pipeline with the engine in it. `listen`: behind an output that plays in real time."""
    caller.engine = caller.make_engine(url or caller.server.url, key)
    caller.hook = hook
    if set_up is not None:
        set_up(caller)
    processors = await caller.engine.open(caller.opening(earlier=earlier))
    caller.processor = processors[0]
    tap = Tap(caller.transcript, now=caller.now, emit=caller.emit)
    rest: list[FrameProcessor] = [caller.speaker, tap, caller.out] if listen else [caller.out]
    caller.worker = PipelineWorker(
        Pipeline([*processors, *rest]),
        idle_timeout_secs=None,
        enable_rtvi=False,
        enable_turn_tracking=False,
        params=PipelineParams(audio_in_sample_rate=16_000, audio_out_sample_rate=24_000),
    )
    runner = WorkerRunner(handle_sigint=False)
    await runner.add_workers(caller.worker)
    running = asyncio.create_task(runner.run())
    try:
        yield caller
    finally:
        await caller.worker.cancel(reason="over")
        await running
        await caller.engine.close()
