"""Tools in their one order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from voice.tools import arguments_of, frozen


@dataclass(frozen=True)
class Named:
    name: str
    description: str = "does nothing"
    parameters: Mapping[str, Any] = field(default_factory=lambda: {"type": "object"})

    async def __call__(self, arguments: Mapping[str, Any]) -> str:
        return ""


@pytest.mark.parametrize("order", [("b", "a", "c"), ("c", "b", "a"), ("a", "b", "c")])
def test_the_order_is_always_the_same(order: tuple[str, ...]) -> None:
    """However tools are gathered, they are told sorted by name."""
    assert [tool.name for tool in frozen(map(Named, order))] == ["a", "b", "c"]


def test_a_name_stands_for_one_tool() -> None:
    """Two tools of one name are a mistake that shows at the start."""
    with pytest.raises(AssertionError, match="one name"):
        frozen([Named("a"), Named("a")])


def test_arguments_are_an_object_or_nothing() -> None:
    """What a model writes as arguments is checked before a tool sees it."""
    assert arguments_of('{"a": 1}') == {"a": 1}
    assert arguments_of("") == {}
    assert arguments_of("[1]") is arguments_of("{") is arguments_of('"a"') is None
