"""What a remote model may ask for in mid-answer (V16): each ends where a turn's own words end.

A model reads notes and pages that others wrote, so what it asks for proves no wish of the user's:
nothing is forgotten and no call ended unless the user's last words speak of it.
"""

from __future__ import annotations

import tomllib
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from string import Template
from typing import Any

from memory import prompt
from voice.requests import Requests
from voice.tools import Tool, frozen

_WORDS = tomllib.loads(prompt("tools.toml"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Ability:
    """A Tool with at most one argument, a text."""

    name: str
    argument: str | None
    act: Callable[[str], Awaitable[str]]

    @property
    def description(self) -> str:
        return str(_WORDS[self.name]["description"])

    @property
    def parameters(self) -> Mapping[str, Any]:
        if self.argument is None:
            return {"type": "object", "properties": {}, "additionalProperties": False}
        told = {"type": "string", "description": _WORDS[self.name][self.argument]}
        return {
            "type": "object",
            "properties": {self.argument: told},
            "required": [self.argument],
            "additionalProperties": False,
        }

    async def __call__(self, arguments: Mapping[str, Any]) -> str:
        if self.argument is None:
            return await self.act("")
        given = arguments.get(self.argument)
        if not isinstance(given, str) or not given.strip():
            return answer("bad", name=self.argument)
        return await self.act(given)


def answer(kind: str, **filled: str) -> str:
    return Template(_WORDS["answers"][kind]).substitute(filled)


def abilities(requests: Requests) -> tuple[Tool, ...]:
    """Of one conversation, in the order in which every session is told them."""

    async def forget(entry: str) -> str:
        return await requests.forget_for_model(entry) or answer("not_asked_to_forget")

    async def hang_up(_: str) -> str:
        return answer("parting" if requests.part_for_model() else "not_asked_to_part")

    async def search_journal(words: str) -> str:
        return await requests.find_for_model(words, "search journal") or answer("nothing_found")

    async def search_notes(words: str) -> str:
        return await requests.find_for_model(words, "search notes") or answer("nothing_found")

    async def what_is_known(_: str) -> str:
        return await requests.known_for_model()

    return frozen(
        (
            Ability(name="forget", argument="entry", act=forget),
            Ability(name="hang_up", argument=None, act=hang_up),
            Ability(name="search_journal", argument="words", act=search_journal),
            Ability(name="search_notes", argument="words", act=search_notes),
            Ability(name="what_is_known", argument=None, act=what_is_known),
        )
    )
