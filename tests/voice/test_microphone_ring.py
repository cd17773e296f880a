"""The ring on disk: first in, first out, bounded, and nothing left behind."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voice.microphone import FRAME_BYTES
from voice.microphone_ring import Ring


def frame(number: int) -> bytes:
    return number.to_bytes(2, "little") * (FRAME_BYTES // 2)


@given(st.lists(st.tuples(st.booleans(), st.integers(1, 7)), max_size=30))
def test_what_went_in_comes_out_in_order(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[bool, int]]
) -> None:
    """Also around the end of the file; what is too much costs the oldest, and is counted."""
    ring = Ring(tmp_path_factory.getbasetemp(), 7)
    number, kept = 0, list[int]()
    for goes_in, count in steps:
        if goes_in:
            new = list(range(number, number + count))
            number += count
            forgotten = ring.append(b"".join(map(frame, new)))
            kept += new
            assert forgotten == max(0, len(kept) - 7)
            del kept[:forgotten]
        else:
            assert ring.take(count) == [frame(each) for each in kept[:count]]
            del kept[:count]
        assert len(ring) == len(kept)
    ring.close()


def test_nothing_is_left_behind(tmp_path: Path) -> None:
    """The folder is made for it, and the file has no name in it, even before it is closed."""
    folder = tmp_path / "state"
    ring = Ring(folder, 5)
    assert not folder.exists()
    ring.append(frame(1))
    assert list(folder.iterdir()) == []
    ring.close()
    assert ring.take(1) == []


def test_a_folder_that_can_not_be_made(tmp_path: Path) -> None:
    """The disk's own fault comes through."""
    (tmp_path / "state").write_text("a file")
    with pytest.raises(OSError, match="state"):
        Ring(tmp_path / "state", 5).append(frame(1))
