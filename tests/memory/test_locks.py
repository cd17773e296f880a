from __future__ import annotations

from pathlib import Path

import pytest

from memory import locks
from memory.errors import StateUnwritable


def test_a_lock_that_is_never_freed_is_told(tmp_path: Path) -> None:
    """Waiting for another process ends with a sentence."""
    holder = locks.try_lock(tmp_path / "x.lock")
    assert holder is not None
    assert locks.try_lock(tmp_path / "x.lock") is None
    with (
        pytest.raises(StateUnwritable, match="Another process has held"),
        locks.locked(tmp_path / "x.lock", timeout_s=0),
    ):
        pass
    locks.drop_lock(holder)
    assert list(tmp_path.iterdir()) == []
