"""This machine's microphone and loudspeaker, as two callbacks.

miniaudio brings its own code for every platform's sound system and converts any rate, so no
system library is asked for (docs/decisions/0008).
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

import miniaudio

from voice.errors import SoundUnavailable

IN_HZ = 16_000
OUT_HZ = 24_000
PERIOD_MS = 20
_SPEAKER_BUFFER_MS = 40

Take = Callable[[bytes], None]
Give = Callable[[int], bytes]

_BACKENDS: dict[str, tuple[str, ...]] = {
    "win32": ("WASAPI", "DSOUND", "WINMM"),
    "darwin": ("COREAUDIO",),
    "linux": ("PULSEAUDIO", "ALSA"),
}


class Opened(Protocol):
    """A device at work. `latency_s` is how much later than it is taken sound is heard."""

    @property
    def latency_s(self) -> float: ...

    @property
    def running(self) -> bool:
        """False once the system took the device away. Not every system tells."""
        ...

    def close(self) -> None: ...


class SoundCard(Protocol):
    """Opening may take a tenth of a second, and raises SoundUnavailable. The callbacks are
    called from a thread of the device's own: 16-bit mono, about 20 ms at a time."""

    def listen(self, take: Take) -> Opened:
        """The microphone, at 16 kHz."""
        ...

    def speak(self, give: Give) -> Opened:
        """The loudspeaker, at 24 kHz; `give` is asked for that many samples."""
        ...


class MiniaudioCard:
    """The system's default devices, or those whose names hold these words."""

    def __init__(self, microphone: str = "", speaker: str = "") -> None:
        self._microphone = microphone
        self._speaker = speaker

    def listen(self, take: Take) -> Opened:
        def taking() -> Generator[bytes, bytes, None]:
            while True:
                take(bytes((yield b"")))

        with _opening("microphone", self._microphone), _buffers(PERIOD_MS):
            device = miniaudio.CaptureDevice(
                **_config("input_format"),
                sample_rate=IN_HZ,
                device_id=_found(self._microphone, "get_captures"),
            )
            return _Device(device, taking(), PERIOD_MS / 1000)

    def speak(self, give: Give) -> Opened:
        def giving() -> Generator[bytes, int, None]:
            samples = yield b""
            while True:
                samples = yield give(samples)

        with _opening("loudspeaker", self._speaker), _buffers(_SPEAKER_BUFFER_MS):
            device = miniaudio.PlaybackDevice(
                **_config("output_format"),
                sample_rate=OUT_HZ,
                device_id=_found(self._speaker, "get_playbacks"),
            )
            return _Device(device, giving(), _SPEAKER_BUFFER_MS / 1000)


class _Device:
    def __init__(
        self, device: Any, callbacks: Generator[bytes, Any, None], latency_s: float
    ) -> None:
        self.latency_s = latency_s
        self._device = device
        self._gone = threading.Event()
        next(callbacks)
        device.stop_callback = self._gone.set
        device.start(callbacks)

    @property
    def running(self) -> bool:
        return not self._gone.is_set()

    def close(self) -> None:
        self._device.close()


def _config(format_name: str) -> dict[str, Any]:
    return {
        format_name: miniaudio.SampleFormat.SIGNED16,
        "nchannels": 1,
        "buffersize_msec": PERIOD_MS,
        "backends": _backends(),
        "app_name": "Jarvis",
    }


def _backends() -> list[Any]:
    names = _BACKENDS.get(sys.platform, ("PULSEAUDIO", "ALSA", "SNDIO", "AUDIO4", "OSS"))
    if sys.platform == "linux" and not Path("/dev/snd").exists():
        # Without a card ALSA fails as well, but prints fifty lines about it first.
        names = tuple(name for name in names if name != "ALSA")
    return [miniaudio.Backend[name] for name in names]


def _found(name: str, kind: str) -> Any:
    """The device whose name holds these words; None is the system's default."""
    if not name:
        return None
    devices = getattr(miniaudio.Devices(_backends()), kind)()
    for device in devices:
        if name.casefold() in device["name"].casefold():
            return device["id"]
    known = ", ".join(device["name"] for device in devices) or "none"
    raise SoundUnavailable(f'There is no sound device "{name}". There are: {known}.')


@contextmanager
def _buffers(length_ms: int) -> Iterator[None]:
    """PulseAudio buffers two seconds unless it is told otherwise, and only its own variable
    reaches it. It is read while a stream is made."""
    name = "PULSE_LATENCY_MSEC"
    before = os.environ.get(name)
    os.environ[name] = before or str(length_ms)
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]


@contextmanager
def _opening(what: str, name: str) -> Iterator[None]:
    try:
        yield
    except miniaudio.MiniaudioError as fault:
        named = f' "{name}"' if name else ""
        raise SoundUnavailable(
            f"The {what}{named} can't be opened. Plug one in and see that no other program holds "
            "it, or talk in the browser instead: jarvis serve."
        ) from fault
