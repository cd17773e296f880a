"""The output's own position: what of the sound that it was given was heard.

Two positions, both in samples of 24 kHz. `given` counts what the call handed to the output;
a frame that comes out behind the output carries its own in `pts` (`pts_of`). The device's
counts what was taken to be played, silence included. They part when an answer is held back
or thrown away, so the loudspeaker keeps what was played where.
"""

from __future__ import annotations

from collections import deque
from typing import Final, Protocol

import numpy as np
import numpy.typing as npt

RATE_HZ: Final = 24_000
ENVELOPE_MS: Final = 20
ENVELOPE_FRAMES: Final = 200
SILENT_DBFS: Final = -96.0

_BYTES: Final = 2
_LOWERED: Final = 0.2
"""-14 dB: clearly softer, still to be followed."""
_RAMP_SAMPLES: Final = RATE_HZ // 100
_STEP_SAMPLES: Final = RATE_HZ * ENVELOPE_MS // 1000
_GAP_SAMPLES: Final = RATE_HZ * 40 // 1000
"""Between two portions of an answer the next one may be on its way: it still sounds."""
_KEPT_SAMPLES: Final = RATE_HZ * 2
_SPANS_KEPT_SAMPLES: Final = RATE_HZ * 10


class Playback(Protocol):
    """What a call asks of its output, and tells it, while an answer plays."""

    def played(self) -> int:
        """The position in what was given up to which it was heard by now."""
        ...

    def sounding(self) -> bool:
        """Whether something given is still to be heard: it waits, or is on its way."""
        ...

    def late_s(self) -> float:
        """How long what the device takes now needs to be heard, as far as is known."""
        ...

    def envelope(self) -> list[float]:
        """The level in dBFS of what went to the device, per 20 ms, the latest last."""
        ...

    def cancelled(self) -> bool:
        """Whether the microphone's device says that it takes this sound out of what it hears."""
        ...

    def lower(self) -> None:
        """Somebody may be speaking: go on softly."""
        ...

    def hold(self) -> None:
        """Somebody seems to speak: be silent, and keep the place."""
        ...

    def go_on(self) -> None:
        """It was nothing: go on where the sound stopped, at full voice."""
        ...


def pts_of(position: int) -> int:
    """A position in what was given as pipecat counts time, in nanoseconds."""
    return position * 1_000_000_000 // RATE_HZ


def position_of(pts: int) -> int:
    return round(pts * RATE_HZ / 1_000_000_000)


class Loudspeaker:
    """Sound given in, sound for a device out: 16-bit mono, 24 kHz. No clock and no device.

    An output gives what the call says, and takes what its device asks for, in any portions.
    """

    def __init__(self) -> None:
        self._sound = bytearray()
        self._sound_from = 0
        self._given = 0
        self._next = 0
        self._taken = 0
        self._spans: deque[tuple[int, int, int]] = deque()
        self.outside_gain = 1.0
        """With which the device itself plays what it takes."""
        self._gain = 1.0
        self._wanted_gain = 1.0
        self._envelope: deque[float] = deque(maxlen=ENVELOPE_FRAMES)
        self._power = 0.0
        self._power_samples = 0
        self._gap = 0

    @property
    def given(self) -> int:
        return self._given

    @property
    def taken(self) -> int:
        """The device's position: how much it took, silence included."""
        return self._taken

    @property
    def next(self) -> int:
        """The position in what was given from which the device takes next."""
        return self._next

    @property
    def waiting(self) -> int:
        """How many samples the device did not take yet."""
        return self._given - self._next

    @property
    def held(self) -> bool:
        return self._wanted_gain == 0.0

    def give(self, pcm: bytes) -> int:
        """Whole samples. Returns the position of the first one."""
        begin, self._gap = self._given, _GAP_SAMPLES
        self._sound += pcm
        self._given += len(pcm) // _BYTES
        return begin

    def take(self, samples: int) -> bytes:
        """The device's next samples: silence where there is nothing to play."""
        out = np.zeros(samples, np.int16)
        count = 0 if self.held and self._gain == 0.0 else min(samples, self.waiting)
        if self.held:
            count = min(count, self._fading_samples())
        if count:
            out[:count] = self._louder(self._at(self._next, count))
            self._note(count)
            self._next += count
            self._forget()
        if self.held and not count:
            self._gain = 0.0
        self._taken += samples
        self._measure(out)
        return out.tobytes()

    def heard(self, device: int) -> int:
        """The position in what was given that plays at the device's position `device`."""
        for device_from, given_from, count in reversed(self._spans):
            if device_from <= device:
                return given_from + min(device - device_from, count)
        return self._spans[0][1] if self._spans else 0

    def device_of(self, position: int) -> int:
        """Where the device played the sample given at `position`, when it last did."""
        for device_from, given_from, count in reversed(self._spans):
            if given_from <= position <= given_from + count:
                return device_from + position - given_from
        return self._taken

    def sounding(self, device: int) -> bool:
        """Whether something given plays at `device` or later."""
        return bool(self.waiting) or device < self.sounds_until + self._gap

    @property
    def sounds_until(self) -> int:
        """The device's position behind the last sample that it took of what was given."""
        if not self._spans:
            return 0
        device_from, _, count = self._spans[-1]
        return device_from + count

    def envelope(self) -> list[float]:
        return list(self._envelope)

    def lower(self) -> None:
        if not self.held:
            self._wanted_gain = _LOWERED

    def hold(self, *, at_once: bool = False) -> None:
        """Silent within 10 ms, or without a fade where the device makes its own; nothing is
        taken until `go_on` or `flush`."""
        self._wanted_gain = 0.0
        if at_once:
            self._gain = 0.0

    def go_on(self, at: int | None = None) -> None:
        """At full voice; from position `at`, where what was taken since was not heard."""
        if at is not None and self._sound_from <= at < self._next:
            self._next = at
        self._wanted_gain = 1.0

    def flush(self, device: int | None = None) -> None:
        """What the device did not take is dropped, and what plays behind `device` unheard."""
        self._next = self._sound_from = self._given
        self._sound.clear()
        self._gain = self._wanted_gain = 1.0
        self._gap = 0
        if device is not None:
            self.unheard_from(device)

    def unheard_from(self, device: int) -> None:
        """What the device took to play at `device` or later is not let be heard."""
        while self._spans and self._spans[-1][0] >= device:
            if len(self._spans) == 1:
                self._spans[0] = (*self._spans[0][:2], 0)
                return
            self._spans.pop()
        if self._spans:
            device_from, given_from, count = self._spans[-1]
            self._spans[-1] = (device_from, given_from, min(count, device - device_from))

    # ------------------------------------------------------------------------------

    def _fading_samples(self) -> int:
        return int(np.ceil(self._gain * _RAMP_SAMPLES))

    def _at(self, position: int, count: int) -> npt.NDArray[np.int16]:
        begin = (position - self._sound_from) * _BYTES
        return np.frombuffer(bytes(self._sound[begin : begin + count * _BYTES]), np.int16)

    def _louder(self, sound: npt.NDArray[np.int16]) -> npt.NDArray[np.int16]:
        if self._gain == self._wanted_gain == 1.0:
            return sound
        step = 1 / _RAMP_SAMPLES
        steps = np.arange(1, len(sound) + 1) * step
        if self._wanted_gain < self._gain:
            gains = np.maximum(self._gain - steps, self._wanted_gain)
        else:
            gains = np.minimum(self._gain + steps, self._wanted_gain)
        self._gain = float(gains[-1])
        louder: npt.NDArray[np.int16] = (sound * gains).astype(np.int16)
        return louder

    def _note(self, count: int) -> None:
        if self._spans:
            device_from, given_from, length = self._spans[-1]
            if device_from + length == self._taken and given_from + length == self._next:
                self._spans[-1] = (device_from, given_from, length + count)
                return
        self._spans.append((self._taken, self._next, count))
        while len(self._spans) > 1 and self._spans[1][0] < self._taken - _SPANS_KEPT_SAMPLES:
            self._spans.popleft()

    def _forget(self) -> None:
        surplus = self._next - _KEPT_SAMPLES - self._sound_from
        if surplus > _KEPT_SAMPLES:
            del self._sound[: surplus * _BYTES]
            self._sound_from += surplus

    def _measure(self, out: npt.NDArray[np.int16]) -> None:
        values = out.astype(np.float64) * (self.outside_gain / 32768.0)
        while len(values):
            part = values[: _STEP_SAMPLES - self._power_samples]
            self._power += float(np.dot(part, part))
            self._power_samples += len(part)
            values = values[len(part) :]
            if self._power_samples == _STEP_SAMPLES:
                mean = self._power / _STEP_SAMPLES
                level = 10 * np.log10(mean) if mean > 0 else SILENT_DBFS
                self._envelope.append(max(SILENT_DBFS, float(level)))
                self._power, self._power_samples = 0.0, 0
