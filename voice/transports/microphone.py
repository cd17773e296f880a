"""A call over this machine's own microphone and loudspeaker (`jarvis talk`)."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Final, TypeVar

import numpy as np
from pipecat.frames.frames import (
    Frame,
    InterruptionFrame,
    OutputAudioRawFrame,
    StartFrame,
)
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor
from pipecat.transports.base_output import BaseOutputTransport
from pipecat.transports.base_transport import TransportParams

from voice.cancelling import Cancelling
from voice.errors import SoundUnavailable
from voice.intake import Intake
from voice.microphone import FRAME_MS, RATE_HZ, Cutter
from voice.playback import RATE_HZ as OUT_HZ
from voice.playback import Loudspeaker, pts_of
from voice.records import CallEvent, EndReason, Level, Notice
from voice.sound_card import Opened, SoundCard
from voice.transports.intake import MicrophoneInput
from voice.transports.page_messages import FromPage

log = logging.getLogger(__name__)

T = TypeVar("T")
R = TypeVar("R")

WATCH_S: Final = 0.1
STALLED_S: Final = 0.5
"""A device that gave or took nothing for so long is gone, whatever the system says."""
STARTS_WITHIN_S: Final = 3.0
"""PulseAudio lets a new stream wait for a second before it asks for sound."""
TOLD_AFTER_S: Final = 2.0
HALF_DUPLEX_AFTER_S: Final = 0.3
GONE: Final = "the device was gone"
NOT_PRESSED: Final = "the key was not pressed"
SPEAKING: Final = "Jarvis was speaking (half duplex)"

_LEVEL_EVERY = 5
_QUIETEST_DB = 60.0
_UNTIL_TAKEN_S = 3_600.0


class DevicePlayback:
    """The loudspeaker's own position: the device's thread takes, the loop asks.

    What the device takes now is heard a fixed while later, as the device says.
    """

    def __init__(self, took: Callable[[bytes], None] = lambda _: None) -> None:
        self._loudspeaker = Loudspeaker()
        self._lock = threading.Lock()
        self._took = took
        self._latency_s = 0.0
        self._taken_s: float | None = None
        self._last_samples = 0
        self.level = 0.0

    # The device's side ---------------------------------------------------------------

    def take(self, samples: int) -> bytes:
        with self._lock:
            pcm = self._loudspeaker.take(samples)
            self._taken_s, self._last_samples = time.monotonic(), samples
        self._took(pcm)
        self.level = level_of(pcm)
        return pcm

    def opened(self, latency_s: float) -> None:
        self._latency_s = latency_s

    @property
    def taken_s(self) -> float | None:
        """When the device last took something, on the loop's clock."""
        return self._taken_s

    # The call's side -----------------------------------------------------------------

    def give(self, pcm: bytes) -> int:
        with self._lock:
            return self._loudspeaker.give(pcm)

    def next(self) -> int:
        with self._lock:
            return self._loudspeaker.next

    def played(self) -> int:
        with self._lock:
            return self._loudspeaker.heard(self._heard_at())

    def sounding(self) -> bool:
        with self._lock:
            return self._loudspeaker.sounding(self._heard_at())

    def late_s(self) -> float:
        return self._latency_s

    def envelope(self) -> list[float]:
        with self._lock:
            return self._loudspeaker.envelope()

    def cancelled(self) -> bool:
        return False  # ours needs a while to learn the room

    def lower(self) -> None:
        with self._lock:
            self._loudspeaker.lower()

    def hold(self) -> None:
        with self._lock:
            self._loudspeaker.hold()

    def go_on(self) -> None:
        with self._lock:
            self._loudspeaker.go_on()

    def flush(self) -> None:
        with self._lock:
            self._loudspeaker.flush(self._heard_at())

    def _heard_at(self) -> int:
        """The device's position that is heard now."""
        if self._taken_s is None:
            return 0
        taken = self._loudspeaker.taken
        since = (time.monotonic() - self._taken_s - self._latency_s) * OUT_HZ
        return min(taken, taken - self._last_samples + round(since))


def level_of(pcm: bytes) -> float:
    """0 to 1 over 60 dB, as a meter shows it."""
    sound = np.frombuffer(pcm, np.int16).astype(np.float32)
    power = float(np.mean(sound * sound)) / 32768**2 if len(sound) else 0.0
    return max(0.0, 1.0 + 10 * float(np.log10(power + 1e-12)) / _QUIETEST_DB)


class MicrophoneTransport:
    """Made on the running loop; `open` once, `close` once.

    `cancelling` None is half duplex: while Jarvis is to be heard, the microphone is silent.
    `show` gets every event of the call. A device that goes away is opened again as soon as it
    can be; what the microphone missed meanwhile is known.
    """

    def __init__(
        self,
        card: SoundCard,
        *,
        cancelling: Cancelling | None,
        half_duplex: bool,
        show: Callable[[CallEvent], None],
        folder: Path | None = None,
        push_to_talk: bool = False,
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self.gone: asyncio.Future[EndReason] = self._loop.create_future()
        self.microphone = Intake(folder, notify=show)
        self.playback = DevicePlayback(cancelling.played if cancelling else lambda _: None)
        self._card = card
        self._cancelling = cancelling
        self._half_duplex = half_duplex
        self._show = show
        self._pressed = not push_to_talk
        self._cutter = Cutter()
        self._listening: Opened | None = None
        self._speaking: Opened | None = None
        self._opened_s = 0.0
        self._came_s: float | None = None
        self._gone_s: float | None = None
        self._sounded_s = -HALF_DUPLEX_AFTER_S
        self._frames = 0
        self._told = False
        self._watching: asyncio.Task[None] | None = None
        self._messages: asyncio.Queue[FromPage | None] = asyncio.Queue()
        self._output = _Output(self.playback)

    def input(self) -> FrameProcessor:
        return MicrophoneInput(self.microphone)

    def output(self) -> FrameProcessor:
        return self._output

    def publish(self, event: CallEvent) -> None:
        self._show(event)

    async def messages(self) -> AsyncIterator[FromPage]:
        while (message := await self._messages.get()) is not None:
            yield message

    def say(self, message: FromPage) -> None:
        """What somebody typed or pressed."""
        self._messages.put_nowait(message)

    def press(self, pressed: bool) -> None:
        """Push to talk: the microphone is silent unless the key is down."""
        self._pressed = pressed

    @property
    def pressed(self) -> bool:
        return self._pressed

    def leave(self) -> None:
        if not self.gone.done():
            self.gone.set_result("hang-up")

    # The devices -----------------------------------------------------------------------

    async def open(self) -> None:
        """Raises SoundUnavailable where there is no microphone or no loudspeaker."""
        await self._open_devices()
        self._watching = asyncio.create_task(self._watch())

    async def close(self) -> None:
        self.microphone.shut()
        self._messages.put_nowait(None)
        if self._watching is not None:
            self._watching.cancel()
            await asyncio.wait({self._watching})
        await self._close_devices()
        await self.microphone.close()

    async def _open_devices(self) -> None:
        def take(pcm: bytes) -> None:
            with contextlib.suppress(RuntimeError):  # the loop is closed: nobody listens
                self._loop.call_soon_threadsafe(self._came, pcm)

        self._opened_s = self._loop.time()
        self._listening = await _in_a_thread(self._card.listen, take)
        try:
            self._speaking = await _in_a_thread(self._card.speak, self.playback.take)
        except SoundUnavailable:
            await self._close_devices()
            raise
        self.playback.opened(self._speaking.latency_s)

    async def _close_devices(self) -> None:
        for device in (self._listening, self._speaking):
            if device is not None:
                await _in_a_thread(lambda each: each.close(), device)
        self._listening = self._speaking = None

    async def _watch(self) -> None:
        while True:
            due_s = self._loop.time() + WATCH_S
            await asyncio.sleep(WATCH_S)
            late = self._loop.time() - due_s > WATCH_S
            if late or self._all_well():
                continue  # late: this process stood still, and what came waits for its turn
            if self._gone_s is None:
                self._gone_s = self._loop.time()
            await self._reopen()

    def _all_well(self) -> bool:
        if self._listening is None or self._speaking is None:
            return False
        now_s = self._loop.time()
        taken_s = self.playback.taken_s
        return all(
            device.running
            and (now_s - self._opened_s < STARTS_WITHIN_S or now_s - last_s < STALLED_S)
            for device, last_s in (
                (self._listening, self._came_s or self._opened_s),
                (self._speaking, taken_s or self._opened_s),
            )
        )

    async def _reopen(self) -> None:
        """Both: whoever unplugs a headset takes the two away."""
        await self._close_devices()
        try:
            await self._open_devices()
        except SoundUnavailable:
            assert self._gone_s is not None
            if not self._told and self._loop.time() - self._gone_s >= TOLD_AFTER_S:
                self._told = True
                self._show(
                    Notice(
                        kind="stop",
                        text="The microphone or the loudspeaker is gone. Plug one in: the call "
                        "goes on with it.",
                    )
                )
            return
        log.info("the sound devices were opened again")

    # What comes from the microphone ----------------------------------------------------

    def _came(self, pcm: bytes) -> None:
        now_s = self._loop.time()
        if self._gone_s is not None and self._came_s is not None:
            missing_ms = (now_s - self._came_s) * 1000 - len(pcm) * 1000 / (2 * RATE_HZ)
            self.microphone.missing(missing_ms, GONE)
        self._gone_s, self._came_s, self._told = None, now_s, False
        if self.playback.sounding():
            self._sounded_s = now_s
        for frame in self._cutter.cut(pcm, RATE_HZ):
            # Also while it is silent: the canceller has to follow what is played.
            clean = self._cancelling.clean(frame) if self._cancelling else frame
            self._put(clean, now_s)
            self._meter(clean)

    def _put(self, frame: bytes, now_s: float) -> None:
        if not self._pressed:
            self.microphone.missing(FRAME_MS, NOT_PRESSED)
        elif self._half_duplex and now_s - self._sounded_s < HALF_DUPLEX_AFTER_S:
            self.microphone.missing(FRAME_MS, SPEAKING)
        else:
            self.microphone.put(frame, RATE_HZ)

    def _meter(self, frame: bytes) -> None:
        self._frames += 1
        if self._frames % _LEVEL_EVERY == 0:
            level = level_of(frame) if self._pressed else 0.0
            self._show(Level(user=level, assistant=self.playback.level))


async def _in_a_thread(work: Callable[[T], R], argument: T) -> R:
    return await asyncio.to_thread(work, argument)


class _Output(BaseOutputTransport):
    """A chunk is out once the device took its last sample; a device that is gone is waited for."""

    def __init__(self, playback: DevicePlayback) -> None:
        super().__init__(
            TransportParams(
                audio_out_enabled=True,
                audio_out_sample_rate=OUT_HZ,
                audio_out_10ms_chunks=FRAME_MS // 10,
                audio_out_end_silence_secs=0,
                audio_out_write_timeout_secs=_UNTIL_TAKEN_S,
            )
        )
        self._playback = playback
        self._flushes = 0

    async def start(self, frame: StartFrame) -> None:
        await super().start(frame)
        await self.set_transport_ready(frame)

    async def write_audio_frame(self, frame: OutputAudioRawFrame) -> bool:
        """False where it was thrown away unplayed."""
        first = self._playback.give(frame.audio)
        end = first + len(frame.audio) // 2
        frame.pts = pts_of(first)
        flushed = self._flushes
        while (ahead := end - self._playback.next()) > OUT_HZ * FRAME_MS // 1000:  # noqa: ASYNC110 - the device tells nobody
            await asyncio.sleep(ahead / OUT_HZ - FRAME_MS / 2000)
        return flushed == self._flushes

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        if isinstance(frame, InterruptionFrame):
            self._flushes += 1
            self._playback.flush()
        await super().process_frame(frame, direction)
