"""The terminal of a spoken call: what it shows, and what its keys do."""

from __future__ import annotations

import asyncio
import io
import json
from datetime import UTC, datetime
from typing import Any

import pytest

from memory.records import Turn
from voice.records import (
    CallEnded,
    CallEvent,
    EngineChanged,
    EngineDescription,
    Level,
    MemoryForgotten,
    MemoryWritten,
    Notice,
    PartialText,
    StateChanged,
    TurnAdded,
)
from voice.scripted_card import ScriptedCard
from voice.talk import Keyboard, TalkWishes, Terminal
from voice.transports.microphone import MicrophoneTransport
from voice.transports.page_messages import FromPage, HangUp, Stop, Typed
from voice.virtual_time import run_virtual

AT = datetime(2026, 12, 2, 10, tzinfo=UTC)


class Screen(io.StringIO):
    def __init__(self, *, live: bool) -> None:
        super().__init__()
        self._live = live

    def isatty(self) -> bool:
        return self._live


def turn(speaker: Any, text: str, *, interrupted: bool = False) -> TurnAdded:
    return TurnAdded(
        turn=Turn(
            conversation="c1", index=0, speaker=speaker, text=text, language="en", began_at=AT,
            ended_at=AT, origin="spoken", interrupted=interrupted,
        )
    )  # fmt: skip


BUILT_IN = EngineDescription(
    name="Built-in",
    hears="",
    thinks="",
    speaks="",
    words_go_to="",
    costs="",
    warning="It is small.",
)
EVENTS: list[CallEvent] = [
    StateChanged(state="listening"),
    Level(user=0.9, assistant=0.0),
    PartialText(speaker="user", text="when is"),
    turn("user", "When is it?"),
    turn("assistant", "On the third", interrupted=True),
    Notice(kind="handled", text="The model was slow."),
    MemoryWritten(saved=True, notebook="USER.md", entry="Likes tea.", reason=None, change="x1"),
    MemoryWritten(saved=False, notebook=None, entry=None, reason="a password", change=None),
    MemoryForgotten(notebook="USER.md", entry="Likes tea.", change="x2"),
    EngineChanged(engine=BUILT_IN, reason="The service is away."),
    CallEnded(reason="hang-up"),
]


def test_what_is_shown() -> None:
    """Turns on standard output, everything else beside it, and no status line in a pipe."""
    out, err = Screen(live=False), Screen(live=False)
    terminal = Terminal(out, err, TalkWishes())
    for event in EVENTS:
        terminal.show(event)
    terminal.done()
    assert out.getvalue() == "You     When is it?\nJarvis  On the third /\n"
    assert err.getvalue() == (
        "The model was slow.\n[saved in USER.md: Likes tea.]\n[not saved: a password]\n"
        "[taken out of USER.md: Likes tea.]\n"
        "The service is away. Built-in answers from now on. It is small.\n"
        "The call ended: hang-up.\n"
    )


def test_a_terminal_has_a_status_line() -> None:
    """State, level, what is understood so far; a typed line takes its place, the end clears it."""
    err = Screen(live=True)
    terminal = Terminal(Screen(live=True), err, TalkWishes(push_to_talk=True))
    for event in EVENTS[:3]:
        terminal.show(event)
    assert err.getvalue().endswith("█ listening · Space to talk  when is")
    terminal.typed = "hello"
    terminal.refresh()
    assert err.getvalue().endswith("\x1b[K> hello")
    terminal.done()
    assert err.getvalue().endswith("\r\x1b[K")


def test_json_lines() -> None:
    """One event a line on standard output; levels and partial text are left out."""
    out, err = Screen(live=True), Screen(live=True)
    terminal = Terminal(out, err, TalkWishes(as_json=True))
    for event in EVENTS:
        terminal.show(event)
    terminal.tell("Engine  local")
    assert [json.loads(line)["type"] for line in out.getvalue().splitlines()] == [
        "state", "turn", "turn", "notice", "remembered", "remembered", "forgotten",
        "engine", "ended",
    ]  # fmt: skip
    assert err.getvalue() == ""


def test_a_call_that_never_began_has_failed() -> None:
    """So that the command's exit says it too."""
    terminal = Terminal(Screen(live=False), Screen(live=False), TalkWishes())
    terminal.show(Notice(kind="stop", text="No model is here."))
    assert terminal.failed


@pytest.mark.parametrize(
    ("keys", "messages", "pressed"),
    [
        (["h", "i", "\n"], [Typed("hi", pasted=False)], False),
        (["h", "o", "\x7f", "i", "\r"], [Typed("hi", pasted=False)], False),
        (["x", "\x15", "n", "o", "\n"], [Typed("no", pasted=False)], False),
        (
            ["a whole line from elsewhere\n"],
            [Typed("a whole line from elsewhere", pasted=True)],
            False,
        ),
        (["\x1b"], [Stop()], False),
        (["\x1b[A"], [], False),
        (["\n"], [], False),
        ([" "], [], True),
        ([" ", " "], [], False),
        (["a", " ", "b", "\n"], [Typed("a b", pasted=False)], False),
        (["\x04"], [HangUp()], False),
    ],
)
def test_keys(keys: list[str], messages: list[FromPage], pressed: bool) -> None:
    """Letters, Return, Backspace, Escape, Space and Ctrl-D, with push to talk."""

    async def main() -> tuple[list[FromPage], bool]:
        terminal = Terminal(Screen(live=True), Screen(live=True), TalkWishes(push_to_talk=True))
        transport = MicrophoneTransport(
            ScriptedCard(), cancelling=None, half_duplex=False, show=terminal.show,
            push_to_talk=True,
        )  # fmt: skip
        keyboard = Keyboard(terminal, transport)
        for key in keys:
            keyboard.keys(key)
        await transport.close()
        return [message async for message in transport.messages()], transport.pressed

    assert run_virtual(main, epoch_s=0) == (messages, pressed)


def test_lines_of_a_pipe() -> None:
    """A line is a typed turn; an empty one presses the talk key."""

    async def main() -> list[FromPage]:
        terminal = Terminal(Screen(live=False), Screen(live=False), TalkWishes(push_to_talk=True))
        transport = MicrophoneTransport(
            ScriptedCard(), cancelling=None, half_duplex=False, show=terminal.show,
            push_to_talk=True,
        )  # fmt: skip
        keyboard = Keyboard(terminal, transport)
        keyboard.line("When is it? ")
        keyboard.line("")
        assert transport.pressed
        keyboard.end()
        await transport.close()
        await asyncio.sleep(0)
        return [message async for message in transport.messages()]

    assert run_virtual(main, epoch_s=0) == [Typed("When is it?", pasted=False), HangUp()]
