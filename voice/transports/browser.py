"""A call with the page over WebRTC: sound both ways, and a data channel for all else.

    transport = BrowserTransport()
    answer = await transport.answer(sdp, "offer")
    Pipeline([transport.input(), ..., transport.output()])
    async for message in transport.messages(): ...
    reason = await transport.gone
    await transport.close()

The end of the pipeline is not the end of the line: what a call tells last, that it ended
and why, still goes out. `close` ends the line.

Sound comes in as 20 ms of 16 kHz mono and goes out as 20 ms of 24 kHz mono. Only the
machine's own addresses are offered as candidates; nobody outside is asked.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
from collections import deque
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from aiortc import MediaStreamTrack
from aiortc.jitterbuffer import JitterFrame
from aiortc.mediastreams import MediaStreamError
from aiortc.rtp import RtpPacket
from aiortc.utils import uint16_gt
from av import AudioFrame, AudioResampler
from pipecat.frames.frames import (
    Frame,
    InterruptionFrame,
    OutputAudioRawFrame,
)
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor
from pipecat.transports.base_transport import TransportParams
from pipecat.transports.smallwebrtc.connection import SmallWebRTCConnection
from pipecat.transports.smallwebrtc.transport import (
    SmallWebRTCOutputTransport,
    SmallWebRTCTransport,
)
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from voice.errors import OfferInvalid
from voice.intake import Intake
from voice.records import CallEvent, EndReason, Level, event_json
from voice.transports.intake import MicrophoneInput
from voice.transports.page_voice import PagePlayback, VoiceTrack

log = logging.getLogger(__name__)

IN_HZ = 16_000
OUT_HZ = 24_000
TYPED_CHARS = 8_000
_FRAME_MS = 20
_WAITING_EVENTS = 256
_LEVELS_BEHIND_BYTES = 4_096
_PAGE_BEHIND_BYTES = 1_000_000
_MESSAGE_CHARS = 65_536

_GOODBYE_S = 1.0
_LAST_CONNECT_S = 3.0

GoneBecause = Literal["closed", "no microphone", "failed"]


# What the page sends ------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Typed:
    """A turn typed in mid-call; `pasted` when it was put in from the clipboard."""

    text: str
    pasted: bool


@dataclass(frozen=True, slots=True)
class HangUp:
    pass


@dataclass(frozen=True, slots=True)
class Stop:
    """Be quiet now: the answer ends here, as after a barge-in."""


@dataclass(frozen=True, slots=True)
class Muted:
    """The page sends silence from now on, or the microphone again."""

    on: bool


FromPage = Typed | HangUp | Stop | Muted


class _Message(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", str_strip_whitespace=True)


class _Typed(_Message):
    type: Literal["typed"]
    text: str = Field(min_length=1, max_length=TYPED_CHARS)
    pasted: bool = False


class _HangUp(_Message):
    type: Literal["hang_up"]


class _Stop(_Message):
    type: Literal["stop"]


class _Mute(_Message):
    type: Literal["mute"]
    on: bool


class _Played(_Message):
    """`rtp` is the RTP timestamp that plays at `at_ms` of the page's clock; `latency_ms` is what
    the device adds behind it. `cancels`: the microphone's echo cancellation is on."""

    type: Literal["played"]
    ms: float = Field(ge=0, allow_inf_nan=False)
    rtp: int | None = Field(default=None, ge=0, lt=1 << 32)
    at_ms: float = Field(default=0, ge=0, allow_inf_nan=False)
    latency_ms: float = Field(default=0, ge=0, le=5_000, allow_inf_nan=False)
    cancels: bool = False


class _Ping(_Message):
    type: Literal["ping"]


_inbound: TypeAdapter[_Typed | _HangUp | _Stop | _Mute | _Played | _Ping] = TypeAdapter(
    Annotated[
        _Typed | _HangUp | _Stop | _Mute | _Played | _Ping,
        Field(discriminator="type"),
    ]
)


# Is anybody there? --------------------------------------------------------------------


class FrameWatch:
    """Calls `missed` once when no frame came for `after_s` seconds of the loop's clock.

    It begins with the first frame. A timer that fires late says that this process stood
    still, not the browser: then the frames that wait get another second to arrive.
    """

    _LATE_S = 0.5
    _GRACE_S = 1.0

    def __init__(self, after_s: float, missed: Callable[[], None]) -> None:
        self._after_s = after_s
        self._missed = missed
        self._last_s = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._stopped = False

    def frame(self) -> None:
        loop = asyncio.get_running_loop()
        self._last_s = loop.time()
        if self._timer is None and not self._stopped:
            self._timer = loop.call_later(self._after_s, self._look, self._last_s + self._after_s)

    def stop(self) -> None:
        self._stopped = True
        if self._timer is not None:
            self._timer.cancel()

    def _look(self, due_s: float) -> None:
        loop = asyncio.get_running_loop()
        again_s = self._last_s + self._after_s
        if loop.time() - due_s > self._LATE_S:
            again_s = max(again_s, loop.time() + self._GRACE_S)
        if again_s > loop.time():
            self._timer = loop.call_at(again_s, self._look, again_s)
        else:
            self._stopped = True
            self._missed()


# pipecat's parts, with what a call needs changed ---------------------------------------


class InOrder:
    """In place of aiortc's jitter buffer for sound: each packet goes on as it comes.

    The page is on this machine, where no packet overtakes another. aiortc's holds four of
    them back (80 ms), and after a single lost one it stays full for the rest of the call:
    320 ms.
    """

    def __init__(self) -> None:
        self._last: int | None = None

    def add(self, packet: RtpPacket) -> tuple[bool, JitterFrame | None]:
        """The frame that can go on, if the packet is not older than what went before."""
        if self._last is not None and not uint16_gt(packet.sequence_number, self._last):
            return False, None
        self._last = packet.sequence_number
        # aiortc fills `_data` in when it takes the packet's payload apart.
        data: bytes = packet._data  # type: ignore[attr-defined]
        return False, JitterFrame(data=data, timestamp=packet.timestamp)


class _Connection(SmallWebRTCConnection):
    """Leaves the data channel to us: pipecat's listener logs what it can't parse.

    The pipeline disconnects when it ends; only `hang_up` does it.
    """

    def __init__(self, playback: PagePlayback) -> None:
        super().__init__()
        self.playback = playback
        self.voice: VoiceTrack | None = None

    def _setup_listeners(self) -> None:
        super()._setup_listeners()  # type: ignore[no-untyped-call]  # pipecat's is untyped
        self._pc.remove_all_listeners("datachannel")

    async def disconnect(self) -> None:
        pass

    async def hang_up(self) -> None:
        await super().disconnect()  # type: ignore[no-untyped-call]  # pipecat's is untyped

    def replace_audio_track(self, _: MediaStreamTrack) -> None:
        """pipecat brings a track that knows no position: ours goes out in its place."""
        if self.voice is None:
            sender = self._pc.getTransceivers()[0].sender
            self.voice = VoiceTrack(self.playback, lambda: _rtp_timestamp(sender))
            super().replace_audio_track(self.voice)  # type: ignore[no-untyped-call]

    def audio_input_track(self) -> None:
        return None

    def video_input_track(self) -> None:
        return None

    def screen_video_input_track(self) -> None:
        return None


class Hearing:
    """Takes the page's sound from the connection's first moment, whatever the call is doing.

    pipecat reads only while its pipeline runs, and has the receiver throw away what comes
    before. Sound that was lost on the way shows as a jump in the frames' own clock.
    """

    _RATE_HZ = 48_000
    _WRAP = 1 << 32

    def __init__(self, intake: Intake, arrived: Callable[[], None]) -> None:
        self._intake = intake
        self._arrived = arrived
        self._resampler = AudioResampler("s16", "mono", IN_HZ)
        self._due: int | None = None

    async def run(self, track: MediaStreamTrack) -> None:
        """Until the track ends."""
        with contextlib.suppress(MediaStreamError):
            while True:
                frame = await track.recv()
                assert isinstance(frame, AudioFrame)
                self._take(frame)

    def _take(self, frame: AudioFrame) -> None:
        self._arrived()
        if self._due is not None and frame.pts is not None:
            late = (frame.pts - self._due) % self._WRAP
            if frame.samples <= late < self._WRAP // 2:
                self._intake.missing(late * 1000 / self._RATE_HZ, "lost on the way from the page")
        if frame.pts is not None:
            self._due = frame.pts + frame.samples
        frame.pts = None  # the resampler would fill jumps with sound of its own
        for part in self._resampler.resample(frame):
            self._intake.put(part.to_ndarray().tobytes(), part.sample_rate)


class _Output(SmallWebRTCOutputTransport):
    connection: _Connection
    _interrupting = False

    async def write_audio_frame(self, frame: OutputAudioRawFrame) -> bool:
        """True once the frame went out, False when it was thrown away before."""
        voice = self.connection.voice
        if voice is None or self._client.is_closing or not self._client.is_connected:
            return False
        if self._interrupting:
            return False
        frame.pts, gone_out = voice.give(frame.audio)
        return await gone_out

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        if isinstance(frame, InterruptionFrame) and self.connection.voice is not None:
            # First of all: the base waits for its own tasks, and until it has ended them they would
            # go on with the next piece of the same answer.
            self._interrupting = True
            self.connection.voice.flush()
        try:
            await super().process_frame(frame, direction)
        finally:
            self._interrupting = False


class _Transport(SmallWebRTCTransport):
    def __init__(self, connection: _Connection, params: TransportParams) -> None:
        super().__init__(connection, params)
        self._our_connection = connection

    def output(self) -> SmallWebRTCOutputTransport:
        if self._output is None:
            self._output = _Output(self._client, self._params)
            self._output.connection = self._our_connection
        return self._output


def _rtp_timestamp(sender: Any) -> int:
    """Of the last packet that went out; 0 before the first."""
    timestamp: int = sender._RTCRtpSender__rtp_timestamp
    return timestamp


# The call's end of the line -----------------------------------------------------------


class BrowserTransport:
    """One page, one call. Made on the running loop, closed once.

    `gone` is done when the page left without our doing, and `because` says why: it closed
    the connection ("closed"), sent no microphone frame for `frames_within_s` ("no
    microphone": the browser was killed or froze; a muted one still sends), or the
    connection did not come up within `connect_within_s` or broke ("failed").
    `microphone` takes what the page sends, from the first moment; `folder` is where it may
    keep what nobody takes yet. `played_ms` is what the browser's own clock of the sound last said.
    """

    def __init__(
        self,
        folder: Path | None = None,
        *,
        frames_within_s: float = 5.0,
        connect_within_s: float = 15.0,
    ) -> None:
        self.gone: asyncio.Future[EndReason] = asyncio.get_running_loop().create_future()
        self.because: GoneBecause | None = None
        self.played_ms = 0
        self.microphone = Intake(folder, notify=self.publish)
        self._hearing: asyncio.Task[None] | None = None
        self._watch = FrameWatch(frames_within_s, lambda: self._left("no microphone"))
        self._connect_within_s = connect_within_s
        self._connecting: asyncio.TimerHandle | None = None
        self._closing = False
        self._channel: Any = None
        self._answered = False
        self._open = asyncio.Event()
        self._closed = asyncio.Event()
        self._waiting: deque[str] = deque(maxlen=_WAITING_EVENTS)
        self._messages: asyncio.Queue[FromPage | None] = asyncio.Queue()
        self.playback = PagePlayback(self._tell_voice)
        self._connection = _Connection(self.playback)
        self._transport = _Transport(
            self._connection,
            TransportParams(
                audio_in_sample_rate=IN_HZ,
                audio_in_channels=1,
                audio_out_enabled=True,
                audio_out_sample_rate=OUT_HZ,
                audio_out_channels=1,
                audio_out_10ms_chunks=_FRAME_MS // 10,
                audio_out_end_silence_secs=0,
            ),
        )

    def input(self) -> FrameProcessor:
        return MicrophoneInput(self.microphone)

    def output(self) -> FrameProcessor:
        return self._transport.output()

    async def answer(self, sdp: str, kind: str) -> dict[str, str]:
        """The answer to a page's offer, with all candidates in it.

        Raises OfferInvalid where the offer is none, or has no audio or no data channel.
        """
        if kind != "offer" or "m=audio" not in sdp or "m=application" not in sdp:
            raise OfferInvalid(
                "The page's offer holds no sound and data channel. Load the page again."
            )
        pc = self._connection.pc
        pc.on("datachannel", self._opened)
        pc.on("connectionstatechange", self._state_changed)
        try:
            await self._connection.initialize(sdp, kind)
        except Exception as fault:
            # aiortc raises whatever its parser trips over: no list of types is whole.
            log.exception("an offer could not be answered")
            await self.close()
            raise OfferInvalid("The page's offer can't be read. Load the page again.") from fault
        for transceiver in pc.getTransceivers():
            if transceiver.kind == "audio":
                receiver: Any = transceiver.receiver
                receiver._RTCRtpReceiver__jitter_buffer = InOrder()
                hearing = Hearing(self.microphone, self._watch.frame)
                self._hearing = asyncio.create_task(hearing.run(receiver.track))
        answer = self._connection.get_answer()  # type: ignore[no-untyped-call]
        assert answer is not None
        self._answered = True
        if pc.connectionState != "connected":
            self._connecting = asyncio.get_running_loop().call_later(
                self._connect_within_s, self._left, "failed"
            )
        return {"sdp": answer["sdp"], "type": answer["type"]}

    def publish(self, event: CallEvent) -> None:
        """Tell the page. Kept until its channel is open; levels are dropped when it is behind."""
        text = json.dumps(event_json(event), ensure_ascii=False)
        if self._channel is None:
            if not isinstance(event, Level):
                self._waiting.append(text)
            return
        if self._channel.readyState != "open":
            return
        behind = self._channel.bufferedAmount
        if behind > (_LEVELS_BEHIND_BYTES if isinstance(event, Level) else _PAGE_BEHIND_BYTES):
            return
        self._channel.send(text)

    def _tell_voice(self, gain: float) -> None:
        """How loud the page plays from now on: sooner there than through the line of sound."""
        if self._channel is not None and self._channel.readyState == "open":
            self._channel.send(json.dumps({"type": "voice", "gain": gain}))

    async def messages(self) -> AsyncIterator[FromPage]:
        """What the page asks for, in order, until it is gone or the transport closes."""
        while (message := await self._messages.get()) is not None:
            yield message

    async def close(self) -> None:
        """Hang up on our side; `gone` stays as it is. An open page gets a second to take
        its leave, so that what was told last arrives; one that still connects, three."""
        if self._closing:
            return
        self._closing = True
        self._settle()
        self.playback.close()
        with contextlib.suppress(TimeoutError):
            if self._waiting and self._answered:
                async with asyncio.timeout(_LAST_CONNECT_S):
                    await self._open.wait()
            if self._channel is not None and self._channel.readyState == "open":
                async with asyncio.timeout(_GOODBYE_S):
                    await self._closed.wait()
        if self._hearing is not None:
            self._hearing.cancel()
            await asyncio.wait({self._hearing})
        await self.microphone.close()
        await self._connection.hang_up()

    def _settle(self) -> None:
        self.microphone.shut()
        self._watch.stop()
        if self._connecting is not None:
            self._connecting.cancel()
        self._messages.put_nowait(None)

    def _left(self, because: GoneBecause) -> None:
        if self._closing or self.gone.done():
            return
        log.info("the page is gone: %s", because)
        self._settle()
        self.because = because
        self.gone.set_result("page gone")

    def _state_changed(self) -> None:
        state = self._connection.pc.connectionState
        if state == "connected" and self._connecting is not None:
            self._connecting.cancel()
        elif state == "closed":
            self._channel_closed()
        elif state == "failed":
            self._left("failed")

    def _channel_closed(self) -> None:
        self._closed.set()
        self._open.set()
        self._left("closed")

    def _opened(self, channel: Any) -> None:
        self._channel = channel
        # pipecat counts a connection without a channel as half open.
        self._connection._data_channel = channel
        channel.on("message", self._received)
        channel.on("close", self._channel_closed)
        while self._waiting:
            channel.send(self._waiting.popleft())
        self._open.set()

    def _received(self, text: str | bytes) -> None:
        if not isinstance(text, str) or len(text) > _MESSAGE_CHARS:
            log.warning("the page sent what is no message of ours (%d long)", len(text))
            return
        try:
            message = _inbound.validate_json(text)
        except ValidationError as fault:
            # Without the input: a message may hold what was typed.
            kinds = ", ".join(error["type"] for error in fault.errors(include_input=False))
            log.warning("the page sent a message that is not understood: %s", kinds)
            return
        match message:
            case _Typed():
                self._messages.put_nowait(Typed(message.text, message.pasted))
            case _HangUp():
                self._messages.put_nowait(HangUp())
            case _Stop():
                self._messages.put_nowait(Stop())
            case _Mute():
                self._messages.put_nowait(Muted(message.on))
            case _Played():
                self.played_ms = int(message.ms)
                self.playback.cancels = message.cancels
                if message.rtp is not None:
                    self.playback.reported(message.rtp, message.at_ms, message.latency_ms)
            case _Ping():
                if self._channel.readyState == "open":
                    self._channel.send('{"type": "pong"}')
