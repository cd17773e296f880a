"""Keys and tokens in a text, known by their form alone: the published kinds, in `secrets.toml`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from memory.languages import packaged
from memory.notebooks.secret import Secret, compiled, group, mixed

_NO_LANGUAGE = "."


@dataclass(frozen=True, slots=True)
class _Key:
    kind: str
    pattern: Any
    mixed: bool


@lru_cache(maxsize=1)
def _key_kinds() -> tuple[_Key, ...]:
    return tuple(
        _Key(each["name"], compiled(each["pattern"]), each.get("mixed", False))
        for each in packaged.load(_NO_LANGUAGE, "secrets")["kind"]
    )


_KEY_LIKE = compiled(r"[!-~]{12}|-----BEGIN|://|=")
"""No key is without one of these, and few sentences are with one."""


def keys(plain: str) -> Iterator[Secret]:
    if not _KEY_LIKE.search(plain):
        return
    for key in _key_kinds():
        for match in key.pattern.finditer(plain):
            place = group(match)
            if not key.mixed or mixed(match[place]):
                yield Secret(key.kind, *match.span(place))
