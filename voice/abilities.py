"""What a remote model may ask for in mid-answer (V16): each ends where a turn's own words end.

A model reads notes and pages that others wrote, so what it asks for proves no wish of the user's:
nothing is forgotten and no call ended unless the user's last words speak of it.
"""

from __future__ import annotations

import asyncio
import tomllib
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import partial
from string import Template
from typing import Any, Literal

from memory import RequestKind, prompt
from voice.requests import Requests
from voice.tools import Tool, frozen

Outcome = Literal["done", "nothing", "refused", "bad argument"]
Act = Callable[[str], Awaitable[tuple[Outcome, str]]]
Used = Callable[[str, Outcome, int], None]

_WORDS = tomllib.loads(prompt("tools.toml"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Ability:
    """A Tool with at most one argument, a text."""

    name: str
    argument: str | None
    act: Act
    used: Used

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
        loop = asyncio.get_running_loop()
        began_s = loop.time()
        outcome, told = await self._asked(arguments)
        self.used(self.name, outcome, round((loop.time() - began_s) * 1000))
        return told

    async def _asked(self, arguments: Mapping[str, Any]) -> tuple[Outcome, str]:
        given = "" if self.argument is None else arguments.get(self.argument)
        if not isinstance(given, str) or (self.argument is not None and not given.strip()):
            return "bad argument", answer("bad", name=self.argument or "")
        return await self.act(given)


def answer(kind: str, **filled: str) -> str:
    return Template(_WORDS["answers"][kind]).substitute(filled)


def abilities(requests: Requests, used: Used) -> tuple[Tool, ...]:
    """Of one conversation, in the order in which every session is told them. `used` gets the
    name, what came of it, and milliseconds."""

    async def forget(entry: str) -> tuple[Outcome, str]:
        told = await requests.forget_for_model(entry)
        return ("done", told) if told else ("refused", answer("not_asked_to_forget"))

    async def hang_up(_: str) -> tuple[Outcome, str]:
        if requests.part_for_model():
            return "done", answer("parting")
        return "refused", answer("not_asked_to_part")

    async def search(kind: RequestKind, words: str) -> tuple[Outcome, str]:
        found = await requests.find_for_model(words, kind)
        return ("done", found) if found else ("nothing", answer("nothing_found"))

    async def what_is_known(_: str) -> tuple[Outcome, str]:
        return "done", await requests.known_for_model()

    acts: tuple[tuple[str, str | None, Act], ...] = (
        ("forget", "entry", forget),
        ("hang_up", None, hang_up),
        ("search_journal", "words", partial(search, "search journal")),
        ("search_notes", "words", partial(search, "search notes")),
        ("what_is_known", None, what_is_known),
    )
    return frozen(
        Ability(name=name, argument=argument, act=act, used=used) for name, argument, act in acts
    )
