"""What became of each frame: tables, and any order of events at all."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from voice.microphone import FRAME_BYTES, RATE_HZ, Cutter, Ledger, Span

Step = tuple[str, int]


def after(steps: list[Step]) -> Ledger:
    ledger = Ledger()
    doings: dict[str, Callable[[int], None]] = {
        "arrived": ledger.arrived,
        "missing": lambda n: ledger.missing(n, "unplugged"),
        "refused": lambda n: ledger.refused(n, "late"),
        "delivered": ledger.delivered,
        "dropped": lambda n: ledger.dropped(n, "full"),
        "dropped behind 2": lambda n: ledger.dropped(n, "full", behind=2),
    }
    for name, frames in steps:
        doings[name](frames)
    return ledger


@pytest.mark.parametrize(
    ("steps", "spans"),
    [
        ([], ""),
        ([("arrived", 3)], "0-3 waiting"),
        ([("arrived", 3), ("delivered", 2)], "0-2 delivered, 2-3 waiting"),
        ([("arrived", 3), ("delivered", 3)], "0-3 delivered"),
        (
            [("arrived", 1), ("missing", 2), ("arrived", 1), ("delivered", 4)],
            "0-1 delivered, 1-3 missing unplugged, 3-4 delivered",
        ),
        ([("arrived", 4), ("dropped", 3)], "0-3 dropped full, 3-4 waiting"),
        (
            [("arrived", 5), ("dropped behind 2", 2), ("delivered", 2)],
            "0-2 delivered, 2-4 dropped full, 4-5 waiting",
        ),
        (
            [("arrived", 5), ("dropped behind 2", 2), ("arrived", 1), ("delivered", 4)],
            "0-2 delivered, 2-4 dropped full, 4-6 delivered",
        ),
        (
            [("arrived", 1), ("missing", 3), ("dropped", 3)],
            "0-1 dropped full, 1-3 dropped unplugged, 3-4 waiting",
        ),
        (
            [("arrived", 2), ("refused", 2), ("delivered", 2)],
            "0-2 delivered, 2-4 dropped late",
        ),
    ],
)
def test_each_position_has_one_fate(steps: list[Step], spans: str) -> None:
    """Delivered, waiting, missing or dropped, with the reason, in the order of positions."""

    def told(span: Span) -> str:
        return f"{span.first}-{span.end} {span.fate} {span.reason}".strip()

    assert ", ".join(map(told, after(steps).spans())) == spans


@given(
    st.lists(
        st.tuples(
            st.sampled_from(
                ["arrived", "missing", "refused", "delivered", "dropped", "dropped behind 2"]
            ),
            st.integers(0, 6),
        ),
        max_size=40,
    )
)
def test_nothing_vanishes(steps: list[Step]) -> None:
    """Whatever happens, the fates add up to what came, and the spans cover it without a gap."""
    came, waiting, possible = 0, 0, []
    for name, frames in steps:
        if name in ("arrived", "missing", "refused"):
            came += frames
            waiting += frames if name != "refused" else 0
        elif frames + (2 if "behind" in name else 0) <= waiting:
            waiting -= frames
        else:
            continue
        possible.append((name, frames))
    ledger = after(possible)
    found = ledger.summary()
    assert found.frames == ledger.position == came
    assert found.waiting == ledger.waiting == waiting
    assert found.delivered + found.waiting + found.missing + found.dropped == came
    assert sum(found.reasons.values()) == found.missing + found.dropped
    spans = ledger.spans()
    assert [span.first for span in spans] == [0, *(span.end for span in spans)][: len(spans)]
    assert (spans[-1].end if spans else 0) == came


def test_a_device_that_stutters_for_hours_costs_no_memory() -> None:
    """Spans are told up to a bound; the counts go on."""
    ledger = Ledger()
    for _ in range(20_000):
        ledger.arrived()
        ledger.missing(1, "stutter")
        ledger.delivered(2)
    assert len(ledger.spans()) == 1_000
    assert ledger.summary().missing == ledger.summary().delivered == 20_000


@given(st.lists(st.binary(max_size=2_000).map(lambda b: b[: len(b) // 2 * 2]), max_size=20))
def test_frames_of_20_ms_whatever_the_portions(portions: list[bytes]) -> None:
    """Samples come out in their order, each once; only the last frame is filled up."""
    cutter = Cutter()
    frames = [frame for portion in portions for frame in cutter.cut(portion, RATE_HZ)]
    frames += cutter.flush()
    whole = b"".join(portions)
    assert all(len(frame) == FRAME_BYTES for frame in frames)
    assert b"".join(frames)[: len(whole)] == whole
    assert len(frames) == -(-len(whole) // FRAME_BYTES)


@pytest.mark.parametrize(("rate_hz", "channels"), [(48_000, 1), (16_000, 2), (8_000, 1)])
def test_the_rate_is_checked_at_the_boundary(rate_hz: int, channels: int) -> None:
    """Sound at the wrong speed is our mistake, and is not let in (v15)."""
    with pytest.raises(AssertionError, match=str(rate_hz)):
        Cutter().cut(np.zeros(320, np.int16).tobytes(), rate_hz, channels)
