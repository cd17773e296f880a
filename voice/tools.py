"""What Jarvis can do besides talking: one Protocol, and the one frozen order of it.

A service caches tools in front of everything else, so the same tools must always be told in
the same order and words.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol


class Tool(Protocol):
    """Something a model may ask for in mid-answer.

    `name`: letters, digits and underscores, at most 64. `description`: for the model, when to
    use it. `parameters`: a JSON schema of type object. The call gets arguments that a model
    wrote, checked by nobody, and returns text for the model; it answers a bad argument with a
    sentence that says so, and raises nothing that it expects.
    """

    @property
    def name(self) -> str: ...

    @property
    def description(self) -> str: ...

    @property
    def parameters(self) -> Mapping[str, Any]: ...

    def __call__(self, arguments: Mapping[str, Any]) -> Awaitable[str]: ...


@dataclass(frozen=True, slots=True)
class ToolAround:
    """To a model the tool that it holds; what a call does is its subclass's."""

    tool: Tool

    @property
    def name(self) -> str:
        return self.tool.name

    @property
    def description(self) -> str:
        return self.tool.description

    @property
    def parameters(self) -> Mapping[str, Any]:
        return self.tool.parameters


def frozen(tools: Iterable[Tool]) -> tuple[Tool, ...]:
    """Sorted by name. Two of one name are a mistake of ours."""
    ordered = tuple(sorted(tools, key=lambda tool: tool.name))
    names = [tool.name for tool in ordered]
    assert len(set(names)) == len(names), f"two tools of one name: {names}"
    return ordered


def arguments_of(text: str) -> dict[str, Any] | None:
    """A tool's arguments as the model wrote them; None when that is no JSON object."""
    try:
        arguments = json.loads(text or "{}")
    except ValueError:
        return None
    return arguments if isinstance(arguments, dict) else None
