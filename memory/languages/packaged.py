"""Words and rules of a language, as they stand in `memory/languages/<language>/<name>.toml`."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any

_HERE = files(__package__ or "memory.languages")

LANGUAGES_HERE: tuple[str, ...] = tuple(
    sorted(folder.name for folder in _HERE.iterdir() if folder.is_dir() and len(folder.name) == 2)
)


def has(language: str, name: str) -> bool:
    return _HERE.joinpath(language, f"{name}.toml").is_file()


@cache
def load(language: str, name: str) -> dict[str, Any]:
    """Read once; callers share the result and leave it as it is.

    A file that is missing or no TOML raises: the package is broken.
    """
    return tomllib.loads(_HERE.joinpath(language, f"{name}.toml").read_text(encoding="utf-8"))
