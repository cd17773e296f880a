"""pipecat's WebRTC and aiortc's, with what a call needs changed."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

from aiortc import MediaStreamTrack
from aiortc.jitterbuffer import JitterFrame
from aiortc.mediastreams import MediaStreamError
from aiortc.rtp import RtpPacket
from aiortc.utils import uint16_gt
from av import AudioFrame, AudioResampler
from pipecat.frames.frames import Frame, InterruptionFrame, OutputAudioRawFrame
from pipecat.processors.frame_processor import FrameDirection
from pipecat.transports.base_transport import TransportParams
from pipecat.transports.smallwebrtc.connection import SmallWebRTCConnection
from pipecat.transports.smallwebrtc.transport import (
    SmallWebRTCOutputTransport,
    SmallWebRTCTransport,
)

from voice.intake import Intake
from voice.transports.page_voice import PagePlayback, VoiceTrack

IN_HZ = 16_000


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


class Connection(SmallWebRTCConnection):
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
    connection: Connection
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


class WebRTC(SmallWebRTCTransport):
    def __init__(self, connection: Connection, params: TransportParams) -> None:
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
