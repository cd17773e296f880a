"""What a model is told beside the prefix and what was said, as `prompts/told.toml` words it."""

from __future__ import annotations

import tomllib
from datetime import datetime
from functools import cache
from string import Template
from typing import Any

from memory import prompt


def told(table: str, name: str, **values: str) -> str:
    """A variable that is missing raises KeyError: the prompt and the code disagree."""
    return Template(_wordings()[table][name]).substitute(values)


def time_told(table: str, now: datetime) -> str:
    """Date and time of `now`, an aware datetime in the user's own zone."""
    offset = now.strftime("%z")
    return told(
        table,
        "time",
        weekday=_wordings()["days"][now.weekday()],
        day=str(now.day),
        month=_wordings()["months"][now.month - 1],
        year=str(now.year),
        time=f"{now:%H:%M}",
        offset=f"{offset[:3]}:{offset[3:5]}",
    )


@cache
def _wordings() -> dict[str, Any]:
    return tomllib.loads(prompt("told.toml"))
