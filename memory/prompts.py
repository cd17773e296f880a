"""The prompts as they are packaged: text with $variables, no logic."""

from __future__ import annotations

from functools import cache
from importlib import resources


@cache
def prompt(name: str) -> str:
    """`prompts/<name>`, as in "review.md"."""
    return (resources.files("prompts") / name).read_text(encoding="utf-8")
