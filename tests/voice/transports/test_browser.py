"""The call's line to a page, with a peer of aiortc in the same process as the browser."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import numpy as np
import pytest
from aiortc import RTCConfiguration, RTCPeerConnection, RTCSessionDescription
from aiortc.mediastreams import AudioStreamTrack, MediaStreamError
from pipecat.frames.frames import InterruptionFrame

from tests.fakes.house import FakeCall, turn
from voice.errors import OfferInvalid
from voice.records import Level, StateChanged, TurnAdded
from voice.transports.browser import BrowserTransport, FrameWatch
from voice.transports.page_messages import FromPage, HangUp, Muted, Stop, Typed
from voice.virtual_time import run_virtual


class Microphone(AudioStreamTrack):
    """Silence in real time, until it is unplugged: then nothing comes any more."""

    def __init__(self) -> None:
        super().__init__()
        self.unplugged = asyncio.Event()

    async def recv(self) -> Any:
        if self.unplugged.is_set():
            await asyncio.get_running_loop().create_future()
        return await super().recv()


class Peer:
    """What the page's call.js does, in Python."""

    def __init__(self) -> None:
        self.pc = RTCPeerConnection(RTCConfiguration(iceServers=[]))
        self.microphone = Microphone()
        self.received: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self.opened = asyncio.Event()
        self.voice: asyncio.Queue[np.ndarray[Any, Any]] = asyncio.Queue()
        self._tasks: list[asyncio.Task[None]] = []
        self.pc.addTrack(self.microphone)
        self.channel = self.pc.createDataChannel("events")
        self.channel.on("open", self.opened.set)
        self.channel.on("message", lambda text: self.received.put_nowait(json.loads(text)))
        self.pc.on("track", self._track)

    def _track(self, track: Any) -> None:
        self._tasks.append(asyncio.create_task(self._play(track)))

    async def _play(self, track: Any) -> None:
        try:
            while True:
                frame = await track.recv()
                self.voice.put_nowait(frame.to_ndarray()[0, ::2])
        except MediaStreamError:
            return

    async def offer(self) -> str:
        await self.pc.setLocalDescription(await self.pc.createOffer())
        return str(self.pc.localDescription.sdp)

    async def take(self, answer: dict[str, str]) -> None:
        await self.pc.setRemoteDescription(RTCSessionDescription(**answer))

    def send(self, message: object) -> None:
        self.channel.send(message if isinstance(message, str) else json.dumps(message))

    async def next(self, kind: str) -> dict[str, Any]:
        while (message := await self.received.get())["type"] != kind:
            pass
        return message

    async def close(self) -> None:
        await self.pc.close()
        await asyncio.gather(*self._tasks)


@asynccontextmanager
async def calling(**options: Any) -> AsyncIterator[tuple[Peer, FakeCall]]:
    async with asyncio.timeout(20):
        peer, call = Peer(), FakeCall(**options)
        await peer.take(await call.answer(await peer.offer(), "offer"))
        await peer.opened.wait()
        try:
            yield peer, call
        finally:
            call.hang_up("hang-up")
            await peer.close()
            await call.ended()


async def test_answer() -> None:
    """The answer holds every candidate, all of them this machine's own, and no video."""
    async with asyncio.timeout(20):
        peer, transport = Peer(), BrowserTransport()
        answer = await transport.answer(await peer.offer(), "offer")
        lines = answer["sdp"].splitlines()
        candidates = [line for line in lines if line.startswith("a=candidate")]
        assert answer["type"] == "answer"
        assert candidates
        assert all(" typ host" in line for line in candidates)
        assert not any(line.startswith("m=video") for line in lines)
        await transport.close()
        await peer.close()
        assert not transport.gone.done()


@pytest.mark.parametrize(
    ("sdp", "kind"),
    [
        ("", "offer"),
        ("hello", "offer"),
        ("v=0\r\nm=audio nonsense\r\nm=application nonsense\r\n", "offer"),
        ("v=0\r\nm=audio 9 RTP 0\r\nm=application 9 x y\r\n", "answer"),
    ],
)
async def test_broken_offers(sdp: str, kind: str, caplog: pytest.LogCaptureFixture) -> None:
    """An offer that is none is refused with a sentence."""
    with pytest.raises(OfferInvalid, match=r"Load the page again\.$"):
        await BrowserTransport().answer(sdp, kind)


async def test_sound_in() -> None:
    """The microphone comes in as whole frames: 20 ms of 16 kHz mono."""
    async with calling() as (_, call):
        while len(call.beep.heard) < 10:
            call.beep.hears.clear()
            await call.beep.hears.wait()
        assert {len(audio) for audio in call.beep.heard} == {2 * 16_000 * 20 // 1000}


async def test_sound_out() -> None:
    """The voice reaches the page at its own pitch and level."""
    async with calling(tone_s=5) as (peer, _):
        heard = np.zeros(0, np.int16)
        while np.abs(heard[-9600:].astype(int)).max(initial=0) < 8000 or len(heard) < 24_000:
            heard = np.append(heard, await peer.voice.get())
        spectrum = np.abs(np.fft.rfft(heard[-9600:] * np.hanning(9600)))
        assert abs(np.argmax(spectrum) * 48_000 / 9600 - 440) <= 5


async def test_interruption_empties_the_output() -> None:
    """After an interruption at most 20 ms more go out (v18), and the page is told to be silent."""
    async with calling(tone_s=10) as (peer, call):
        while np.abs((await peer.voice.get()).astype(int)).max() < 8000:
            pass
        voice: Any = call.transport._connection.voice
        play = voice.recv
        after: list[bool] = []

        async def watched() -> Any:
            frame = await play()
            if call.beep.interrupted:
                after.append(bool(frame.to_ndarray().any()))
            return frame

        voice.recv = watched
        await call.worker.queue_frame(InterruptionFrame())
        while len(after) < 50:
            await peer.voice.get()
        assert not any(after[2:])
        assert (await peer.next("voice"))["gain"] == 0.0


async def test_messages() -> None:
    """What the page asks for arrives in order; what is no message of ours is left out."""
    async with calling() as (peer, call):
        for message in (
            {"type": "typed", "text": " When is lunch? "},
            {"type": "typed", "text": "a\nb", "pasted": True},
            "ping: 17",
            {"type": "typed", "text": 7},
            {"type": "stop"},
            {"type": "mute", "on": True},
            {"type": "mute", "on": False},
            {"type": "played", "ms": 1234.5, "cancels": True},
            {"type": "ping"},
        ):
            peer.send(message)
        await peer.next("pong")
        assert call.transport.played_ms == 1234
        assert call.transport.playback.cancelled()
        peer.send({"type": "hang_up"})
        assert await call.over == "hang-up"
        expected: list[FromPage] = [
            Typed("When is lunch?", pasted=False),
            Typed("a\nb", pasted=True),
            Stop(),
            Muted(on=True),
            Muted(on=False),
            HangUp(),
        ]
        assert call.said == expected


async def test_early_events_are_kept() -> None:
    """Events from before the channel is open come first and in order, levels don't."""
    async with asyncio.timeout(20):
        peer, transport = Peer(), BrowserTransport()
        transport.publish(StateChanged(state="connecting"))
        transport.publish(Level(user=0.1, assistant=0.2))
        transport.publish(TurnAdded(turn=turn(0, "user", "Grüß dich")))
        await peer.take(await transport.answer(await peer.offer(), "offer"))
        await peer.opened.wait()
        assert await peer.received.get() == {"type": "state", "state": "connecting"}
        assert (await peer.received.get())["turn"]["text"] == "Grüß dich"
        transport.publish(Level(user=0.5, assistant=0.25))
        assert await peer.received.get() == {"type": "level", "user": 0.5, "assistant": 0.25}
        await peer.close()
        await transport.close()


async def test_levels_are_dropped_when_the_page_is_behind() -> None:
    """With words waiting to go out, a level is not worth sending."""
    async with calling() as (peer, call):
        for index in range(100):
            call.transport.publish(TurnAdded(turn=turn(index, "user", "word " * 100)))
            call.transport.publish(Level(user=0.1, assistant=0.0))
        call.transport.publish(StateChanged(state="thinking"))
        kinds: list[str] = []
        while (message := await peer.received.get()) != {"type": "state", "state": "thinking"}:
            kinds.append(message["type"])
        assert kinds.count("turn") == 100
        assert kinds.count("level") < 50


async def test_the_last_event_arrives() -> None:
    """The pipeline is over before the call says so, and the page still hears it."""
    async with calling() as (peer, call):
        peer.send({"type": "hang_up"})
        assert await peer.next("ended") == {"type": "ended", "reason": "hang-up"}
        await peer.close()
        await call.ended()
        assert not call.transport.gone.done()


async def test_a_closed_page_is_gone() -> None:
    """A tab that closes its connection is noticed at once."""
    async with calling() as (peer, call):
        began_s = time.monotonic()
        await peer.close()
        assert await call.transport.gone == "page gone"
        assert call.transport.because == "closed"
        assert time.monotonic() - began_s < 2


async def test_a_frozen_page_is_gone() -> None:
    """No microphone frame means no browser, though the connection still stands."""
    async with calling(frames_within_s=0.3) as (peer, call):
        await call.beep.hears.wait()
        peer.microphone.unplugged.set()
        assert await call.transport.gone == "page gone"
        assert call.transport.because == "no microphone"


async def test_a_page_that_never_connects_is_gone() -> None:
    """An answer that is never used ends by itself."""
    async with asyncio.timeout(20):
        peer, transport = Peer(), BrowserTransport(connect_within_s=0.05)
        await transport.answer(await peer.offer(), "offer")
        assert await transport.gone == "page gone"
        assert transport.because == "failed"
        assert [message async for message in transport.messages()] == []
        await transport.close()
        await peer.close()


@pytest.mark.parametrize(
    ("frames_s", "missed_s"),
    [
        ([], None),
        ([0.0], 5.0),
        ([0.0, 2.0, 4.0], 9.0),
        ([0.0, 4.99, 9.98], 14.98),
        ([i * 0.02 for i in range(501)], 15.0),
    ],
)
def test_frame_watch(frames_s: list[float], missed_s: float | None) -> None:
    """Five seconds without a frame, counted from the last one, and only after a first one."""

    async def watch() -> float | None:
        loop = asyncio.get_running_loop()
        began_s = loop.time()
        missed: list[float] = []
        watched = FrameWatch(5.0, lambda: missed.append(loop.time() - began_s))
        for at_s in frames_s:
            loop.call_at(began_s + at_s, watched.frame)
        over = loop.create_future()
        loop.call_at(began_s + 60, over.set_result, None)
        await over
        assert len(missed) <= 1
        return round(missed[0], 3) if missed else None

    assert run_virtual(watch, epoch_s=0.0) == missed_s


def test_a_stopped_watch_says_nothing() -> None:
    """After the end nobody is missed."""

    async def watch() -> bool:
        loop = asyncio.get_running_loop()
        missed: list[bool] = []
        watched = FrameWatch(5.0, lambda: missed.append(True))
        watched.frame()
        watched.stop()
        watched.frame()
        over = loop.create_future()
        loop.call_later(60, over.set_result, None)
        await over
        return bool(missed)

    assert run_virtual(watch, epoch_s=0.0) is False


def test_a_process_that_stood_still_waits_for_the_frames() -> None:
    """A late timer says that we stood still: the frames that wait are let in first."""

    async def watch() -> bool:
        loop: Any = asyncio.get_running_loop()
        missed: list[bool] = []
        watched = FrameWatch(5.0, lambda: missed.append(True))
        watched.frame()
        loop.call_later(1.0, lambda: setattr(loop, "now_s", loop.now_s + 20))
        loop.call_later(21.5, watched.frame)
        over = loop.create_future()
        loop.call_later(24.0, over.set_result, None)
        await over
        return bool(missed)

    assert run_virtual(watch, epoch_s=0.0) is False
