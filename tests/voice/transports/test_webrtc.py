from __future__ import annotations

from typing import Any, cast

import numpy as np
import pytest
from aiortc.mediastreams import MediaStreamError
from aiortc.rtp import RtpPacket
from av import AudioFrame

from voice.intake import Intake
from voice.transports.webrtc import Hearing, InOrder


@pytest.mark.parametrize(
    ("numbers", "gone_on"),
    [
        ([7, 8, 9], [7, 8, 9]),
        ([7, 9, 10], [7, 9, 10]),
        ([7, 8, 8, 9], [7, 8, 9]),
        ([7, 9, 8, 10], [7, 9, 10]),
        ([65534, 65535, 0, 1], [65534, 65535, 0, 1]),
    ],
)
def test_sound_goes_on_as_it_comes(numbers: list[int], gone_on: list[int]) -> None:
    """A lost packet holds nothing back; one that comes twice or too late is dropped."""
    buffer = InOrder()
    frames = []
    for number in numbers:
        packet = RtpPacket(sequence_number=number, timestamp=number * 960)
        packet._data = b"sound"  # type: ignore[attr-defined]  # as aiortc's receiver sets it
        loss, frame = buffer.add(packet)
        assert not loss
        if frame is not None:
            assert frame.data == b"sound"
            frames.append(frame.timestamp // 960)
    assert frames == gone_on


async def test_nothing_is_lost_between_page_and_line() -> None:
    """200 ms of speech and 300 ms of pause, a hundred times, at 48 kHz in stereo: samples out are
    samples in by the ratio, and a frame that was lost on the way is a hole that is known (v6)."""
    intake = Intake()
    hearing = Hearing(intake, lambda: None)
    rng = np.random.default_rng(6)

    class Track:
        def __init__(self, lost: int | None) -> None:
            self._sent = 0
            self._lost = lost

        async def recv(self) -> AudioFrame:
            self._sent += 1
            if self._sent > 2_500:
                raise MediaStreamError
            if self._sent == self._lost:
                self._sent += 1
            loud = 6_000 if self._sent % 25 < 10 else 0
            sound = (rng.normal(size=(1, 1_920)) * loud).clip(-32_000, 32_000).astype(np.int16)
            frame = AudioFrame.from_ndarray(sound, format="s16", layout="stereo")
            frame.sample_rate, frame.pts = 48_000, self._sent * 960 % (1 << 32)
            return frame

    await hearing.run(cast("Any", Track(lost=None)))
    came = intake.summary()
    assert came.frames * 320 == pytest.approx(2_500 * 960 / 3, abs=320)
    assert came.missing == 0
    await intake.close()
    second = Intake()
    await Hearing(second, lambda: None).run(cast("Any", Track(lost=1_000)))
    second.shut()
    assert (await second.close()).reasons["lost on the way from the page"] == 1
