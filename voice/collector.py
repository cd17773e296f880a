"""Python's collector of cycles, kept away from what stays."""

from __future__ import annotations

import gc


def settle() -> None:
    """Leave what is loaded by now out of all later collections. A full one that looks through
    rules, libraries and models holds every thread for 75 ms, in the middle of a call. Takes as
    long itself, once."""
    gc.collect()
    gc.freeze()
