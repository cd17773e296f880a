"""The user's own memory and clock; light enough for a command that only looks into a file."""

from __future__ import annotations

from datetime import datetime

from memory import Memory
from voice.config import DEFAULT_VAULT, Config


def now() -> datetime:
    """The user's wall clock."""
    return datetime.now().astimezone()


def open_memory(config: Config) -> Memory:
    """Memory over the vault; the default one is made where it is missing."""
    default = config.vault == DEFAULT_VAULT.expanduser().absolute()
    return Memory.open(config.vault, config.state, now, create=default)
