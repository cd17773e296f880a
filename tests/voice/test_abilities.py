"""What a remote model may do, and what it may not because of a note that says so."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from memory import Memory
from memory.records import Extract
from voice.abilities import abilities
from voice.records import CallEvent, MemoryForgotten
from voice.requests import WORDS_THAT_COUNT, Requests
from voice.tools import Tool

AT = datetime(2026, 12, 2, 10, 0, tzinfo=UTC)


class Talk:
    def __init__(self, folder: Path) -> None:
        self.events: list[CallEvent] = []
        self.parted: list[bool] = []
        self.shown: list[Extract] = []
        self.page = folder / "vault/society/jarvis/USER.md"
        self.memory = Memory.open(folder / "vault", folder / "state", lambda: AT, create=True)
        self.page.write_text("- I'm vegan.\n- My dog is Rex.\n- My sister's dog is Max.\n")
        (folder / "vault" / "house.md").write_text("# Heating\n\nThe boiler is from 2019.\n")
        self.requests = Requests(
            self.memory,
            self.memory.session(),
            "c1",
            now=lambda: AT,
            emit=self.events.append,
            part=self._part,
            shown=self.shown.extend,
        )
        self.used: list[tuple[str, str]] = []
        tools = abilities(self.requests, lambda name, what, _: self.used.append((name, what)))
        self.tools: dict[str, Tool] = {tool.name: tool for tool in tools}

    def _part(self, *, added: bool) -> None:
        self.parted.append(added)

    async def uses(self, name: str, **arguments: Any) -> str:
        return await self.tools[name](arguments)


@pytest.fixture
def talk(tmp_path: Path) -> Iterator[Talk]:
    made = Talk(tmp_path)
    yield made
    made.memory.close()


def test_the_tools_of_every_call_are_the_same(talk: Talk) -> None:
    """Sorted and told in the same words, or a service's cache would begin anew."""
    again = abilities(talk.requests, lambda *_: None)
    told = [(tool.name, tool.description, tool.parameters) for tool in again]
    assert told == [(t.name, t.description, t.parameters) for t in talk.tools.values()]
    assert [name for name, *_ in told] == sorted(talk.tools)
    assert all(re.fullmatch(r"[a-z_]{1,64}", name) for name in talk.tools)


async def test_an_entry_is_forgotten_for_a_user_who_asks(talk: Talk) -> None:
    """In whatever words; the model is told what to read back."""
    await talk.requests.turn("I'd rather you delete what it says on my diet", "spoken")
    said = await talk.uses("forget", entry="I'm vegan.")
    assert '"I\'m vegan."' in said
    assert [e.entry for e in talk.events if isinstance(e, MemoryForgotten)] == ["I'm vegan."]
    assert "vegan" not in talk.page.read_text()


async def test_a_note_can_not_have_anything_forgotten(talk: Talk) -> None:
    """What a model asks for by itself is no wish of the user's."""
    await talk.requests.turn("Read me the note about the boiler.", "spoken")
    assert "Refused" in await talk.uses("forget", entry="I'm vegan.")
    await talk.requests.turn("Please delete the entry about my diet.", "pasted")
    assert "Refused" in await talk.uses("forget", entry="I'm vegan.")
    assert "vegan" in talk.page.read_text() and talk.events == []
    assert talk.used == [("forget", "refused")] * 2


async def test_a_wish_counts_for_the_next_turn_and_no_longer(talk: Talk) -> None:
    """A model may ask which one; later its time is over."""
    await talk.requests.turn("You can delete the thing on my dog", "spoken")
    for _ in range(WORDS_THAT_COUNT - 1):
        await talk.requests.turn("I mean mine.", "spoken")
    assert "Refused" not in await talk.uses("forget", entry="My dog is Rex.")
    await talk.requests.turn("Good. What's next?", "spoken")
    assert "Refused" in await talk.uses("forget", entry="I'm vegan.")


async def test_several_are_left_to_the_user(talk: Talk) -> None:
    """And what stands nowhere is said so."""
    await talk.requests.turn("could you delete that about dogs there", "spoken")
    assert "Several entries" in await talk.uses("forget", entry="dog")
    assert "nothing was changed" in await talk.uses("forget", entry="the cat")


async def test_the_call_ends_for_a_user_who_says_so(talk: Talk) -> None:
    """The turn that says it is in the transcript by then."""
    await talk.requests.turn("What's the weather?", "spoken")
    assert "Refused" in await talk.uses("hang_up")
    await talk.requests.turn("well then goodbye, I'll be off", "spoken")
    assert "call ends" in await talk.uses("hang_up")
    assert talk.parted == [True]


async def test_what_was_searched_for_is_shown(talk: Talk) -> None:
    """Wrapped as a note, and told on so that it proves nothing about the user."""
    found = await talk.uses("search_notes", words="boiler")
    assert "The boiler is from 2019." in found
    assert [extract.file for extract in talk.shown] == ["house.md"]
    assert await talk.uses("search_journal", words="boiler") == "Nothing was found."
    assert talk.used == [("search_notes", "done"), ("search_journal", "nothing")]


async def test_what_is_known_is_all_of_it(talk: Talk) -> None:
    """To the letter."""
    said = await talk.uses("what_is_known")
    assert all(entry in said for entry in ("I'm vegan.", "My dog is Rex."))


@pytest.mark.parametrize("given", [{}, {"words": ""}, {"words": 7}, {"words": None}, {"word": "x"}])
async def test_what_a_model_writes_is_checked(talk: Talk, given: dict[str, Any]) -> None:
    """A bad argument is answered with a sentence."""
    assert await talk.uses("search_notes", **given) == (
        "The argument words must be a text. Ask again with one."
    )
    assert talk.used == [("search_notes", "bad argument")]
