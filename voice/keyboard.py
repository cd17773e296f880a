"""`jarvis chat`: lines from the terminal or a pipe, answers to standard output."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing

from memory.records import Extract
from voice.chat import Chat
from voice.config import Config
from voice.house import House
from voice.records import (
    CallEvent,
    ExtractsShown,
    HandedOver,
    MemoryForgotten,
    MemoryWritten,
    Notice,
    PartialText,
    TurnAdded,
    event_json,
)

REVIEW_S = 60.0


async def run(config: Config, *, as_json: bool) -> None:
    """Lines from standard input, answers to standard output, until the input ends."""
    house = House(config)
    asked = sys.stdin.isatty()
    try:
        if asked:
            print("Getting ready ...", file=sys.stderr)
        chat = await house.new_chat(emit=lambda event: _told(event, as_json=as_json))
        if asked:
            for line in house.introduction():
                print(line, file=sys.stderr)
        async with asyncio.TaskGroup() as group:
            running = group.create_task(chat.run())
            try:
                async for line in _lines(prompt="> " if asked else ""):
                    await _one(chat, line, as_json=as_json)
            finally:
                await chat.end()
                running.cancel()
        await _review(house, asked=asked)
    finally:
        await house.close()


async def _review(house: House, *, asked: bool) -> None:
    """Look at once at what was said, where somebody sits and waits; else it waits on disk. What
    holds nothing for the model costs no call: it is journaled and done with either way."""
    waiting = await asyncio.to_thread(house.memory.reviews_waiting)
    marked = {each.hand_over.conversation for each in waiting if each.marked}
    for conversation in dict.fromkeys(each.hand_over.conversation for each in waiting):
        if conversation not in marked:
            await house.review(conversation)
    if not asked or not marked:
        return
    print(
        "Looking at what you said about yourself (Ctrl-C leaves it for later) ...", file=sys.stderr
    )
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(REVIEW_S):
            report = await house.review()
            for change in (change for each in report.reviewed for change in each.changes):
                print(
                    f"{change.notebook}: {change.new or f'taken out: {change.old}'}",
                    file=sys.stderr,
                )
            for fault in report.faults:
                print(fault, file=sys.stderr)


async def _lines(prompt: str) -> AsyncIterator[str]:
    read = await _reader()
    while True:
        if prompt:
            print(prompt, end="", flush=True, file=sys.stderr)
        line = await read()
        if not line:
            return
        if line.strip():
            yield line.strip()


async def _reader() -> Callable[[], Awaitable[str]]:
    """Lines of standard input. A terminal or a pipe is read on the loop, so that Ctrl-C ends
    the wait; a file can't be, and never makes one wait."""
    stream = asyncio.StreamReader(limit=1 << 20)
    try:
        await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(stream), sys.stdin
        )
    except (ValueError, NotImplementedError):
        return lambda: asyncio.to_thread(sys.stdin.readline)

    async def line() -> str:
        return (await stream.readline()).decode(errors="replace")

    return line


async def _one(chat: Chat, line: str, *, as_json: bool) -> None:
    shown = ""
    async with aclosing(chat.say(line)) as events:
        async for event in events:
            if as_json:
                if isinstance(
                    event, TurnAdded | Notice | MemoryWritten | MemoryForgotten | ExtractsShown
                ):
                    print(json.dumps(event_json(event), ensure_ascii=False), flush=True)
            elif isinstance(event, PartialText):
                print(event.text[len(shown) :], end="", flush=True)
                shown = event.text
            elif isinstance(event, Notice):
                print(event.text, file=sys.stderr)
            elif isinstance(event, MemoryWritten):
                print(_written(event), file=sys.stderr)
            elif isinstance(event, MemoryForgotten):
                taken_out = f"[taken out of {event.notebook}: {event.entry}]"
                print(f"{taken_out} `jarvis undo {event.change}` brings it back", file=sys.stderr)
            elif isinstance(event, ExtractsShown):
                for extract in event.extracts:
                    print(_place(extract), file=sys.stderr)
    if not as_json:
        print()


def _place(extract: Extract) -> str:
    heading = f", {extract.heading}" if extract.heading else ""
    first, last = extract.first_line, extract.last_line
    lines = f"line {first}" if first == last else f"lines {first} to {last}"
    return f"[from {extract.file}, {lines}{heading}]"


def _written(event: MemoryWritten) -> str:
    if event.saved:
        return f"[saved in {event.notebook}: {event.entry}]"
    return f"[not saved: {event.reason}]"


def _told(event: CallEvent, *, as_json: bool) -> None:
    if as_json and isinstance(event, HandedOver):
        print(json.dumps(event_json(event), ensure_ascii=False), flush=True)
    elif isinstance(event, Notice):
        print(event.text, file=sys.stderr)
