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
from pathlib import Path
from typing import Any, Literal

from pipecat.processors.frame_processor import FrameProcessor
from pipecat.transports.base_transport import TransportParams

from voice.errors import OfferInvalid
from voice.intake import Intake
from voice.records import CallEvent, EndReason, Level, event_json
from voice.transports.intake import MicrophoneInput
from voice.transports.page_messages import FromPage, Ping, Played, read
from voice.transports.page_voice import PagePlayback
from voice.transports.webrtc import IN_HZ, Connection, Hearing, InOrder, WebRTC

log = logging.getLogger(__name__)

OUT_HZ = 24_000
_FRAME_MS = 20
_WAITING_EVENTS = 256
_LEVELS_BEHIND_BYTES = 4_096
_PAGE_BEHIND_BYTES = 1_000_000

_GOODBYE_S = 1.0
_LAST_CONNECT_S = 3.0

GoneBecause = Literal["closed", "no microphone", "failed"]


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
        self._connection = Connection(self.playback)
        self._transport = WebRTC(
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
        match read(text):
            case None:
                pass
            case Played() as played:
                self.played_ms = int(played.ms)
                self.playback.cancels = played.cancels
                if played.rtp is not None:
                    self.playback.reported(played.rtp, played.at_ms, played.latency_ms)
            case Ping():
                if self._channel.readyState == "open":
                    self._channel.send('{"type": "pong"}')
            case message:
                self._messages.put_nowait(message)
