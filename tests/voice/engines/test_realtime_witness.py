"""What is seen of a session's sockets, and of what the call gave it."""

from __future__ import annotations

import asyncio
import errno
import json
from typing import Any, ClassVar

import pytest

from memory.records import Extract, Turn
from tests.fakes.realtime_server import RealtimeServer
from tests.fakes.remote_call import BEGAN_AT, OpenAICaller, calling
from tests.fakes.service import Abort, Answer, Fault, HalfOpen
from voice.engines.realtime_records import Seen
from voice.errors import EngineUnavailable
from voice.records import NotesFound
from voice.virtual_time import run_virtual

SAID = Turn(
    conversation="c0", index=0, speaker="user", text="Hello.", language="en",
    began_at=BEGAN_AT, ended_at=BEGAN_AT, origin="spoken",
)  # fmt: skip
KEY = "sk-never-written"
EXTRACT = Extract(file="a.md", first_line=1, last_line=2, heading="", text="Ana, 3 May")


def watched(server: RealtimeServer, *said: str, earlier: tuple[Turn, ...] = ()) -> list[Seen]:
    """Everything that was seen of a call in which this was said."""

    async def main() -> list[Seen]:
        seen: list[Seen] = []

        def watch(caller: OpenAICaller) -> None:
            caller.engine.witness = seen.append  # type: ignore[attr-defined]

        async with server:
            caller = OpenAICaller(server)
            caller.tools = (Weather(),)
            caller.notes = _notes
            async with calling(caller, key=KEY, set_up=watch, earlier=earlier):
                for text in said:
                    await caller.ask(text)
        return seen

    return run_virtual(main, epoch_s=BEGAN_AT.timestamp())


async def _notes(words: str) -> NotesFound | None:
    return (
        NotesFound(block="From your notes: Ana.", extracts=(EXTRACT,)) if "Ana" in words else None
    )


class Weather:
    name = "weather"
    description = "The weather."
    parameters: ClassVar[dict[str, Any]] = {"type": "object", "properties": {}}

    async def __call__(self, arguments: Any) -> str:
        await asyncio.sleep(0.5)
        return f"sunny in {arguments['town']}"


def of(seen: list[Seen], what: str, socket: int | None = None) -> list[Any]:
    return [each.body for each in seen if each.what == what and socket in (None, each.socket)]


def test_every_event_of_both_sides_is_seen_in_order() -> None:
    """As they were on the wire, from the greeting on."""
    server = RealtimeServer()
    seen = watched(server, "When was Ana born?")
    assert [each.what for each in seen[:3]] == ["service", "given", "opening"]
    assert list(map(json.loads, of(seen, "sent"))) == server.received()
    ids = [json.loads(text)["event_id"] for text in of(seen, "got")]
    assert ids == [event["event_id"] for event in server.sent()]
    times = [each.at_s for each in seen if each.what != "pong"]
    assert times == sorted(times)
    assert of(seen, "ended") == [{"by": "us", "code": None, "reason": ""}]


def test_the_key_is_not_seen() -> None:
    """Neither in a header nor where a server says it again."""
    server = RealtimeServer(answers=[Answer(text=f"Your key is {KEY} .")])
    seen = watched(server, "Hello")
    assert KEY not in repr(seen)
    assert "Your key is" not in repr(of(seen, "sent"))
    assert of(seen, "service")[0]["name"] == "openai"


def test_what_the_call_gave_is_seen() -> None:
    """Notebooks, notes and tools with their answers: a replay has none of them at hand."""
    server = RealtimeServer(
        answers=[Answer(audio_ms=0, calls=(("weather", '{"town": "Rome"}'),)), Answer()]
    )
    given = of(watched(server, "How is Ana's weather?", earlier=(SAID,)), "given")
    assert {each["kind"] for each in given} == {"prefix", "earlier", "news", "notes", "tool"}
    assert given[1]["answer"] == [SAID.as_json()]
    [tool] = [each for each in given if each["kind"] == "tool"]
    assert tool["question"] == ["weather", {"town": "Rome"}]
    assert (tool["answer"], tool["took_ms"]) == ("sunny in Rome", 500)
    [notes] = [each for each in given if each["kind"] == "notes"]
    assert notes["answer"]["extracts"][0]["text"] == EXTRACT.text


def test_sockets_that_come_and_go_are_numbered() -> None:
    """The end of one is seen with who ended it, and a refused one with the status."""
    server = RealtimeServer(faults=[Fault("response.output_audio.delta", Abort(), nth=3)])
    server.refuse = [None, 503]
    seen = watched(server, "Hello")
    assert of(seen, "ended", 0) == [{"by": "service", "code": 1006, "reason": ""}]
    assert of(seen, "refused", 1) == [{"status": 503, "code": None}]
    assert of(seen, "opened", 2) == [True]


def test_a_pong_that_never_comes_is_seen() -> None:
    """It is why another socket is opened."""
    server = RealtimeServer(faults=[Fault("response.output_audio.delta", HalfOpen(), nth=3)])
    seen = watched(server, "Hello")
    assert None in of(seen, "pong", 0)
    assert all(took_s is not None and took_s < 0.1 for took_s in of(seen, "pong", 1)[:-1])


def test_nobody_there_is_seen() -> None:
    """With the system's own number for it."""
    seen: list[Seen] = []

    async def main() -> None:
        server = RealtimeServer()
        async with server:
            url = server.url

        def watch(caller: OpenAICaller) -> None:
            caller.engine.witness = seen.append  # type: ignore[attr-defined]

        with pytest.raises(EngineUnavailable):
            async with calling(OpenAICaller(server), url=url, set_up=watch):
                pass

    run_virtual(main, epoch_s=BEGAN_AT.timestamp())
    [refused] = of(seen, "refused")
    assert refused["errno"] == errno.ECONNREFUSED
