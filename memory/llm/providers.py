"""The table of providers, as packaged."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources

from memory.llm.choose import Provider


@cache
def providers() -> Mapping[str, Provider]:
    """By name, in the order of the table."""
    table = tomllib.loads((resources.files("memory.llm") / "models.toml").read_text("utf-8"))
    return {name: Provider(name=name, **row) for name, row in table.items()}
