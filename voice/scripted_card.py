"""A sound card that is written down: for tests, where there is none. It keeps the loop's time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

from voice.errors import SoundUnavailable
from voice.sound_card import IN_HZ, OUT_HZ, PERIOD_MS, Give, Opened, Take

_IN_BYTES = 2 * IN_HZ * PERIOD_MS // 1000
_OUT_SAMPLES = OUT_HZ * PERIOD_MS // 1000


@dataclass(eq=False)
class _Scripted:
    """Calls back every 20 ms until it is closed or unplugged."""

    loop: asyncio.AbstractEventLoop
    step: Callable[[], None]
    latency_s: float
    running: bool = True
    tells: bool = True
    timer: asyncio.TimerHandle | None = field(default=None)

    closed: bool = False

    def begin(self) -> None:
        if not self.closed:
            self._next(self.loop.time() + PERIOD_MS / 1000)

    def _next(self, at_s: float) -> None:
        self.timer = self.loop.call_at(at_s, self._work, at_s)

    def _work(self, at_s: float) -> None:
        self._next(at_s + PERIOD_MS / 1000)
        self.step()

    def unplug(self) -> None:
        self.close()
        self.running = not self.tells

    def close(self) -> None:
        self.closed = True
        if self.timer is not None:
            self.timer.cancel()


class ScriptedCard:
    """Gives `microphone` (16 kHz) and then silence, collects what was `spoken` (24 kHz).

    `unplug` takes the devices away, with or without a word (`tells`); until `plug` nothing can
    be opened. Made on the loop; opened, as any card, from a thread.
    """

    def __init__(self, microphone: bytes = b"", *, latency_s: float = 0.04) -> None:
        self._loop = asyncio.get_running_loop()
        self.spoken = bytearray()
        self.opened = 0
        self._microphone = microphone
        self._given = 0
        self._latency_s = latency_s
        self._there = True
        self._devices: list[_Scripted] = []

    def listen(self, take: Take) -> Opened:
        def step() -> None:
            sound = self._microphone[self._given : self._given + _IN_BYTES]
            self._given += _IN_BYTES
            take(sound.ljust(_IN_BYTES, b"\0"))

        return self._open(step, 0.0)

    def speak(self, give: Give) -> Opened:
        return self._open(lambda: self.spoken.extend(give(_OUT_SAMPLES)), self._latency_s)

    def _open(self, step: Callable[[], None], latency_s: float) -> Opened:
        if not self._there:
            raise SoundUnavailable("The microphone can't be opened.")
        self.opened += 1
        device = _Scripted(self._loop, step, latency_s)
        self._devices.append(device)
        self._loop.call_soon_threadsafe(device.begin)
        return device

    def unplug(self, *, tells: bool = True) -> None:
        self._there = False
        for device in self._devices:
            device.tells = tells
            device.unplug()
        self._devices.clear()

    def plug(self) -> None:
        self._there = True
