"""`jarvis replay --month`: a month of transcripts under two policies, side by side (L6.4)."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

from voice.errors import RecordingInvalid


def compared(folder: Path) -> Any:
    """The report of `bench.month`. The first version's policy lives only there, so this needs
    the project's folder and not just its package.

    Raises RecordingInvalid.
    """
    try:
        month = importlib.import_module("bench.month")
    except ModuleNotFoundError as fault:
        raise RecordingInvalid(
            "The first version's policy, which this compares with, is part of the project's "
            "folder (bench/). Run this from there, as `.venv/bin/jarvis replay --month ...`."
        ) from fault
    if not folder.is_dir():
        raise RecordingInvalid(f"{folder} is not a folder. Name one that holds transcripts.")
    try:
        return month.compared(folder)
    except (OSError, ValueError) as fault:
        raise RecordingInvalid(f"{folder} can't be read as a month: {fault}") from fault
