"""A call's line over a sound card: positions, holes, echo, keys; the card is a scripted one."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import numpy as np
import pytest
from pipecat.frames.frames import InterruptionFrame, TTSAudioRawFrame, TTSStoppedFrame
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor
from pipecat.workers.runner import WorkerRunner

from voice import pipeline
from voice.frames import MicrophoneFrame
from voice.microphone import FRAME_BYTES
from voice.records import CallEvent, Level, Notice
from voice.scripted_card import ScriptedCard
from voice.transports.microphone import (
    GONE,
    NOT_PRESSED,
    SPEAKING,
    MicrophoneTransport,
    level_of,
)
from voice.transports.page_messages import Stop
from voice.virtual_time import run_virtual

T = TypeVar("T")


def on_virtual_time(main: Callable[[], Awaitable[T]]) -> T:
    async def run() -> T:
        return await main()

    return run_virtual(run, epoch_s=0, grace_s=0.0005)


def tone(hz: float, rate_hz: int, seconds: float) -> bytes:
    times_s = np.arange(int(rate_hz * seconds)) / rate_hz
    return (np.sin(2 * np.pi * hz * times_s) * 12_000).astype("<i2").tobytes()


def pitch_of(sound: bytes, rate_hz: int) -> float:
    spectrum = np.abs(np.fft.rfft(np.frombuffer(sound, np.int16)))
    return float(np.argmax(spectrum)) * rate_hz / (len(sound) // 2)


def transport_on(card: ScriptedCard, shown: list[CallEvent], **wishes: Any) -> MicrophoneTransport:
    return MicrophoneTransport(
        card, **{"cancelling": None, "half_duplex": False, "show": shown.append, **wishes}
    )


async def heard(transport: MicrophoneTransport, frames: int) -> bytes:
    sound = bytearray()
    for _ in range(frames):
        arrived = await transport.microphone.take()
        assert arrived is not None
        sound += arrived.samples
        transport.microphone.heard()
        transport.microphone.delivered()
    return bytes(sound)


class Listener(FrameProcessor):
    """Where the ears, the engine and the tap are: takes the microphone, and says what it is told."""

    def __init__(self) -> None:
        super().__init__()
        self.microphone = bytearray()
        self.started = asyncio.Event()

    async def process_frame(self, frame: Any, direction: FrameDirection) -> None:
        await super().process_frame(frame, direction)
        self.started.set()
        if isinstance(frame, MicrophoneFrame):
            frame.intake.heard()
            frame.intake.delivered()
            self.microphone += frame.audio
            return
        await self.push_frame(frame, direction)

    async def say(self, sound: bytes) -> None:
        await self.push_frame(TTSAudioRawFrame(audio=sound, sample_rate=24_000, num_channels=1))
        await self.push_frame(TTSStoppedFrame())


class _Pass(FrameProcessor):
    async def process_frame(self, frame: Any, direction: FrameDirection) -> None:
        await super().process_frame(frame, direction)
        await self.push_frame(frame, direction)


async def in_a_pipeline(
    transport: MicrophoneTransport, act: Callable[[Listener], Awaitable[None]]
) -> Listener:
    listener = Listener()
    worker = pipeline.build(transport.input(), listener, _Pass(), [], transport.output(), _Pass())
    runner = WorkerRunner(handle_sigint=False)
    await runner.add_workers(worker)
    running = asyncio.create_task(runner.run())
    await listener.started.wait()
    await act(listener)
    await worker.cancel()
    await running
    return listener


def test_a_tone_through_both_ways_is_the_same_tone() -> None:
    """440 Hz in, 440 Hz out: the rate is checked at each boundary (v15)."""

    async def main() -> tuple[bytes, bytes]:
        card, shown = ScriptedCard(tone(440, 16_000, 3)), list[CallEvent]()
        transport = transport_on(card, shown)
        await transport.open()

        async def act(listener: Listener) -> None:
            await listener.say(tone(440, 24_000, 2))
            await asyncio.sleep(3)

        listener = await in_a_pipeline(transport, act)
        await transport.close()
        assert any(isinstance(event, Level) and event.user > 0.5 for event in shown)
        return bytes(listener.microphone[:64_000]), bytes(card.spoken)

    microphone, spoken = on_virtual_time(main)
    assert pitch_of(microphone, 16_000) == pytest.approx(440, abs=1)
    voiced = np.flatnonzero(np.frombuffer(spoken, np.int16))
    sound = spoken[2 * voiced[0] : 2 * voiced[-1]]
    assert pitch_of(sound, 24_000) == pytest.approx(440, abs=1)
    assert len(sound) == pytest.approx(2 * 24_000 * 2, abs=100)


def test_what_was_heard_is_what_the_device_played() -> None:
    """Interrupted, the position stands where the loudspeaker is, and nothing plays on (V8)."""

    async def main() -> None:
        card = ScriptedCard(latency_s=0.2)
        transport = transport_on(card, [])
        await transport.open()

        async def act(listener: Listener) -> None:
            await listener.say(tone(300, 24_000, 5))
            await asyncio.sleep(2)
            assert transport.playback.sounding()
            before = transport.playback.played()
            assert before == pytest.approx((2 - 0.2) * 24_000, abs=0.05 * 24_000)
            await listener.push_frame(InterruptionFrame())
            spoken = len(card.spoken)
            await asyncio.sleep(1)
            assert not any(card.spoken[spoken + 2 * 960 :])
            assert not transport.playback.sounding()
            assert transport.playback.played() == pytest.approx(before, abs=0.04 * 24_000)

        await in_a_pipeline(transport, act)
        await transport.close()

    on_virtual_time(main)


@pytest.mark.parametrize("tells", [True, False])
def test_a_device_that_is_unplugged(tells: bool) -> None:
    """It is opened again within two seconds of being back, and the hole is known (v14)."""

    async def main() -> None:
        card, shown = ScriptedCard(), list[CallEvent]()
        transport = transport_on(card, shown)
        await transport.open()
        await asyncio.sleep(4)
        card.unplug(tells=tells)
        await asyncio.sleep(3)
        assert [event.kind for event in shown if isinstance(event, Notice)] == ["stop"]
        card.plug()
        opened = card.opened
        await asyncio.sleep(2)
        assert card.opened == opened + 2
        found = await transport.microphone.close()
        assert found.reasons[GONE] * 0.02 == pytest.approx(3, abs=0.7)
        assert found.frames * 0.02 == pytest.approx(9, abs=0.1)
        await transport.close()

    on_virtual_time(main)


def test_push_to_talk() -> None:
    """Between two presses there is sound, and around them silence that the ledger explains."""

    async def main() -> None:
        card = ScriptedCard(tone(440, 16_000, 9))
        transport = transport_on(card, [], push_to_talk=True)
        await transport.open()
        await asyncio.sleep(1)
        transport.press(True)
        await asyncio.sleep(1)
        transport.press(False)
        await asyncio.sleep(1)
        sound = await heard(transport, 140)
        loud = [any(sound[at : at + FRAME_BYTES]) for at in range(0, len(sound), FRAME_BYTES)]
        assert sum(loud) == pytest.approx(50, abs=3)
        assert not any(loud[:45]) and not any(loud[105:])
        assert transport.microphone.summary().reasons[NOT_PRESSED] > 85
        await transport.close()

    on_virtual_time(main)


def test_half_duplex() -> None:
    """While Jarvis is to be heard, and a little longer, the microphone is silent."""

    async def main() -> None:
        card = ScriptedCard(tone(440, 16_000, 9))
        transport = transport_on(card, [], half_duplex=True)
        await transport.open()

        async def act(listener: Listener) -> None:
            await asyncio.sleep(1)
            await listener.say(tone(300, 24_000, 2))
            await asyncio.sleep(4)

        await in_a_pipeline(transport, act)
        deaf = transport.microphone.summary().reasons[SPEAKING]
        assert 2.2 < deaf * 0.02 < 2.8
        await transport.close()

    on_virtual_time(main)


def test_what_is_pressed_comes_out_in_order() -> None:
    """Messages go to the call until the line is closed."""

    async def main() -> list[object]:
        transport = transport_on(ScriptedCard(), [])
        await transport.open()
        transport.say(Stop())
        transport.leave()
        transport.leave()
        assert transport.gone.result() == "hang-up"
        await transport.close()
        return [message async for message in transport.messages()]

    assert on_virtual_time(main) == [Stop()]


@pytest.mark.parametrize(
    ("sound", "level"), [(b"", 0.0), (bytes(640), 0.0), (b"\xff\x7f" * 320, 1.0)]
)
def test_the_meter(sound: bytes, level: float) -> None:
    """From silence to the loudest there is."""
    assert level_of(sound) == pytest.approx(level, abs=0.01)
