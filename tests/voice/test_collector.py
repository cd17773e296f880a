"""Python's collector, kept away from what stays."""

from __future__ import annotations

import gc

from voice.collector import settle


def test_what_was_loaded_is_not_looked_through_again() -> None:
    kept = [object() for _ in range(100)]
    settle()
    try:
        assert gc.get_freeze_count() > 1_000
        assert not any(each is kept for each in gc.get_objects())
    finally:
        gc.unfreeze()
