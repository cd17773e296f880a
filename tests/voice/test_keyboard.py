"""`jarvis chat` in a pipe: what comes out where."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memory import Alone, Llm, Memory, ReviewReport
from memory.records import LANGUAGES, Extract
from voice import keyboard
from voice.chat import Chat
from voice.engines.scripted import ScriptedModel
from voice.records import HandedOver, MemoryWritten, Notice

AT = datetime(2026, 12, 2, 10, 0, tzinfo=UTC)


async def typed(folder: Path, *lines: str, as_json: bool) -> None:
    """A chat over a scripted model in which these lines are typed."""
    (folder / "vault").mkdir()
    memory = Memory.open(folder / "vault", folder / "state", lambda: AT)
    chat = Chat(
        ScriptedModel(lambda _: "Very well.", first_s=0, word_s=0),
        memory,
        memory.session(),
        memory.begin("chat-1", "chat", AT),
        now=lambda: AT,
        languages=LANGUAGES,
        language="en",
        emit=lambda event: keyboard._told(event, as_json=as_json),
    )
    await chat.open()
    running = asyncio.create_task(chat.run())
    for line in lines:
        await keyboard._one(chat, line, as_json=as_json)
    await chat.end()
    running.cancel()
    memory.close()


async def test_what_was_saved_is_shown_beside_the_answer(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Answers go to standard output, what the code did to standard error."""
    await typed(
        tmp_path, "Remember that I'm vegan.", "Remember that my pin is 4711.", as_json=False
    )
    shown = capsys.readouterr()
    assert shown.out.count("Very well.") == 2
    assert "[saved in USER.md: I'm vegan.]" in shown.err
    assert "[not saved: it holds a PIN" in shown.err
    assert "4711" not in shown.err + shown.out


@dataclass
class Reviewed:
    """What of a house a chat's end needs, with no model in it."""

    memory: Memory

    async def review(self, conversation: str | None = None) -> ReviewReport:
        async def model() -> Llm:
            raise AssertionError("a model was asked")

        task = self.memory.task(model=model, quiet=Alone(), now=lambda: AT)
        return await task.review_now(conversation)


@pytest.mark.parametrize(
    ("line", "waiting"),
    [("Remember that my sister Ana moved to Lisbon.", 0), ("I am allergic to walnuts.", 1)],
)
async def test_a_chat_that_holds_nothing_to_learn_is_done_with_at_its_end(
    tmp_path: Path, line: str, waiting: int
) -> None:
    """It waits for no model and for no other command, and stands in the journal."""
    await typed(tmp_path, line, "And what does it cost there?", as_json=True)
    memory = Memory.open(tmp_path / "vault", tmp_path / "state", lambda: AT)
    await keyboard._review(Reviewed(memory), asked=False)  # type: ignore[arg-type]
    assert len(memory.reviews_waiting()) == waiting
    assert bool(memory.journal_days()) == (not waiting)
    memory.close()


async def test_in_json_each_line_is_an_event(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Turns, what was remembered, hand-overs; nothing else on standard output."""
    await typed(tmp_path, "Remember that I'm vegan.", as_json=True)
    events = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [event["type"] for event in events] == ["turn", "remembered", "turn", "handed_over"]
    assert events[1]["saved"] and events[1]["entry"] == "I'm vegan." and events[1]["change"]


def test_what_the_terminal_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    """Notices on standard error; a hand-over only where programs read."""
    keyboard._told(Notice(kind="stop", text="The disk is full."), as_json=False)
    keyboard._told(HandedOver(first_index=0, last_index=1, trigger="silence"), as_json=False)
    assert capsys.readouterr() == ("", "The disk is full.\n")


@pytest.mark.parametrize(
    ("saved", "shown"),
    [(True, "[saved in USER.md: Is vegan.]"), (False, "[not saved: no room.]")],
)
def test_the_line_for_a_wish(saved: bool, shown: str) -> None:
    """It comes from the code, not from the model."""
    event = MemoryWritten(
        saved=saved, notebook="USER.md", entry="Is vegan.", reason="no room.", change=None
    )
    assert keyboard._written(event) == shown


@pytest.mark.parametrize(
    ("heading", "last", "shown"),
    [
        ("", 3, "[from house.md, line 3]"),
        ("Boiler", 5, "[from house.md, lines 3 to 5, Boiler]"),
    ],
)
def test_where_an_extract_stands(heading: str, last: int, shown: str) -> None:
    """The terminal names file, lines and heading of what an answer rests on (N6)."""
    extract = Extract(file="house.md", first_line=3, last_line=last, heading=heading, text="x")
    assert keyboard._place(extract) == shown
