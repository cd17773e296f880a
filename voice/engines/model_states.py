"""What the embedded model leaves on disk: its state after a prefix, and how fast it was.

A state tells what stands in the notebooks, so its folder is made for the user alone.
"""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

STATES_KEPT = 3
STATES_KEPT_BYTES = 200_000_000
_SAMPLE_BYTES = 1 << 20
_SPEED_FILE = "speed.json"


def model_identity(path: Path) -> str:
    """Hex digest that tells model files apart: size, first and last mebibyte."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        digest.update(f"{size}\n".encode())
        for offset in (0, max(0, size - _SAMPLE_BYTES)):
            file.seek(offset)
            digest.update(file.read(_SAMPLE_BYTES))
    return digest.hexdigest()


def state_name(identity: str, prefix: str, settings: str) -> str:
    """The file name of the state after `prefix`, for this model, these settings only."""
    text = "\0".join((identity, hashlib.sha256(prefix.encode()).hexdigest(), settings))
    return f"{hashlib.sha256(text.encode()).hexdigest()[:32]}.kv"


def seal(state: Path) -> None:
    """Write the state's digest beside it: only a sealed state is ever restored."""
    seal_path = state.with_suffix(".sha256")
    draft = seal_path.with_suffix(".tmp")
    draft.write_text(_digest(state))
    draft.replace(seal_path)


def is_whole(state: Path) -> bool:
    """llama.cpp aborts the process on a damaged state, so it must never see one."""
    try:
        return state.with_suffix(".sha256").read_text() == _digest(state)
    except OSError:
        return False


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def prune(folder: Path, *, keep: int = STATES_KEPT, keep_bytes: int = STATES_KEPT_BYTES) -> None:
    """Delete all but the states used last; what has no seal is a leftover and goes too."""
    states = sorted(folder.glob("*.kv"), key=lambda path: path.stat().st_mtime, reverse=True)
    kept_bytes = 0
    for place, state in enumerate(states):
        kept_bytes += state.stat().st_size
        seal_path = state.with_suffix(".sha256")
        if place >= keep or (place > 0 and kept_bytes > keep_bytes) or not seal_path.exists():
            state.unlink(missing_ok=True)
            seal_path.unlink(missing_ok=True)


def measured_speed(folder: Path, model: str) -> float | None:
    """Tokens a second that this model gave on this machine at its last answer, if it did."""
    try:
        speed = json.loads((folder / _SPEED_FILE).read_text())[model]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return float(speed) if isinstance(speed, int | float) else None


def keep_speed(folder: Path, model: str, tokens_per_s: float) -> None:
    path = folder / _SPEED_FILE
    try:
        speeds = json.loads(path.read_text())
    except (OSError, ValueError):
        speeds = {}
    speeds[model] = round(tokens_per_s, 1)
    draft = path.with_suffix(".tmp")
    draft.write_text(json.dumps(speeds))
    draft.replace(path)
