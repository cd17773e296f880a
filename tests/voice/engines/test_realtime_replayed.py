"""A recorded service: its sockets, and what the call gave then."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import replace
from typing import Any

import pytest

from memory.records import Prefix, Turn
from tests.fakes.remote_call import BEGAN_AT, OpenAICaller, calling
from voice.engines.lasting import LastingEngine
from voice.engines.protocol import Engine, Opening
from voice.engines.realtime_records import Given, Happened, Passed
from voice.engines.realtime_replayed import ReplayedEngine, _given_again
from voice.errors import EngineUnavailable
from voice.recorded_service import RecordedService
from voice.records import NotesFound
from voice.virtual_time import run_virtual

Row = tuple[float, Happened, Any]
US = {"by": "us", "code": None, "reason": ""}
CREATED = {"type": "session.created", "session": {}}
UPDATED = {"type": "session.updated"}
GREETED: list[Row] = [
    (0, "opening", True),
    (150, "opened", True),
    (160, "got", CREATED),
    (160, "sent", {"type": "session.update", "session": {}}),
    (170, "got", UPDATED),
]


def service(*sockets: list[Row], given: tuple[Given, ...] = ()) -> RecordedService:
    rows = [
        Passed(at_ms, number, what, body)
        for number, socket in enumerate(sockets)
        for at_ms, what, body in socket
    ]
    return RecordedService(
        name="openai",
        url="wss://api.openai.com/v1/realtime",
        model="m",
        voice="v",
        passed=tuple(sorted(rows, key=lambda each: each.at_ms)),
        given=given,
        spare=None,
        texts={},
        sound=b"",
    )


def refused(**body: Any) -> list[Row]:
    whole = {"status": None, "code": None, "errno": None, "text": None, "waited": False, **body}
    return [(0, "opening", True), (100, "refused", whole)]


class ReplayedCaller(OpenAICaller):
    def __init__(self, recorded: RecordedService) -> None:
        super().__init__(None)  # type: ignore[arg-type]  # there is no server
        self.recorded = recorded
        self.remote: ReplayedEngine

    def make_engine(self, url: str, key: str) -> Engine:  # type: ignore[override]
        del url, key
        self.remote = ReplayedEngine(self.recorded)
        return LastingEngine(self.remote, _nobody)

    @property
    def about_sockets(self) -> list[str]:
        """What was opened and closed otherwise than in the recording."""
        told = [str(each) for each in self.remote.differences()]
        return [each for each in told if "opens" in each or "closes" in each]


async def _nobody() -> Engine:
    raise EngineUnavailable("Nobody stands in.")


def replayed(
    recorded: RecordedService, act: Callable[[ReplayedCaller], Coroutine[Any, Any, None]]
) -> ReplayedCaller:
    async def main() -> ReplayedCaller:
        caller = ReplayedCaller(recorded)
        async with calling(caller, url="recorded"):
            await act(caller)
        return caller

    return run_virtual(main, epoch_s=BEGAN_AT.timestamp(), grace_s=0)


REFUSALS = [
    ("a key that is wrong", refused(status=401, code="invalid_api_key"), "key"),
    ("nobody there", refused(errno=111, text="Connection refused"), "Connection refused"),
    ("no such host", refused(errno=-2, text="Name or service not known"), "Name or service"),
    ("no answer", refused(text="TimeoutError"), "did not answer in time"),
    ("another protocol", refused(text="InvalidMessage"), "does not speak the protocol"),
    ("an opening that never ended", refused(waited=True), "did not answer in time"),
    ("an opening cut off by a kill", [(0, "opening", True)], "did not answer in time"),
    ("no socket at all", [], "opened no further socket"),
]


@pytest.mark.parametrize(
    ("socket", "told"), [row[1:] for row in REFUSALS], ids=[row[0] for row in REFUSALS]
)
def test_a_refusal_is_the_one_that_the_call_met(socket: list[Row], told: str) -> None:
    """So it is judged as it was, and named."""
    recorded = service(socket)

    async def nothing(_: ReplayedCaller) -> None:
        return

    with pytest.raises(EngineUnavailable, match=told):
        replayed(recorded, nothing)


def test_a_socket_opens_when_it_did() -> None:
    """Not before its time in the call."""

    async def main() -> float:
        engine = ReplayedEngine(service(GREETED))
        began_s = asyncio.get_running_loop().time()
        await engine.open(ReplayedCaller(service()).opening())
        opened_s = asyncio.get_running_loop().time()
        await engine.close()
        return opened_s - began_s

    assert run_virtual(main, epoch_s=0.0, grace_s=0) == pytest.approx(0.17)


def test_a_line_that_died_in_the_call_dies_again() -> None:
    """A pong that never came opens another socket, as it did."""
    half_open = [*GREETED, (2_000.0, "pong", None), (4_420.0, "ended", US)]
    another = [(at_ms + 4_000.0, what, body) for at_ms, what, body in GREETED]

    async def wait(_: ReplayedCaller) -> None:
        await asyncio.sleep(10)

    caller = replayed(service(half_open, another), wait)
    assert caller.about_sockets == []


@pytest.mark.parametrize(
    ("code", "reason", "tried"),
    [(1011, "", True), (1006, "", True), (None, "", True), (3000, "error.invalid_api_key", False)],
)
def test_a_close_of_the_service_comes_with_its_code(
    code: int | None, reason: str, tried: bool
) -> None:
    """What it means decides whether another session is tried for."""
    gone: Row = (1_000, "ended", {"by": "service", "code": code, "reason": reason})

    async def wait(_: ReplayedCaller) -> None:
        await asyncio.sleep(5)

    caller = replayed(service([*GREETED, gone], [(4_000, "opening", True)]), wait)
    assert (
        bool([each for each in caller.about_sockets if "opens a socket no more" in each])
        is not tried
    )


# What the call gave -------------------------------------------------------------------


class Search:
    name = "search"
    description = ""
    parameters = {"type": "object"}  # noqa: RUF012

    def __init__(self) -> None:
        self.used = 0

    async def __call__(self, arguments: Any) -> str:
        self.used += 1
        return f"nothing for {arguments['words']}"


def opening(tool: Search) -> Opening:
    async def news() -> str | None:
        return "the replay's own news"

    return replace(ReplayedCaller(service()).opening(prefix="today's"), news=news, tools=(tool,))


SAID = Turn(
    conversation="c0", index=0, speaker="user", text="Hello.", language="en",
    began_at=BEGAN_AT, ended_at=BEGAN_AT, origin="spoken",
)  # fmt: skip
FOUND = {"block": "From your notes", "extracts": [
    {"file": "a.md", "first_line": 1, "last_line": 2, "heading": "", "text": "Ana"}]}  # fmt: skip
GIVEN = (
    Given("prefix", None, "then's", 0.0),
    Given("earlier", None, [SAID.as_json()], 0.0),
    Given("news", None, None, 1.0),
    Given("news", None, "Ana was added.", 1.0),
    Given("notes", "Ana?", FOUND, 40.0),
    Given("tool", ["search", {"words": "Ana"}], "three places", 700.0),
    Given("prefix", None, "then's, later", 2.0),
)


def test_an_engine_is_given_what_it_was_given() -> None:
    """In order, and as late; a tool does its work again, and answers as it did."""
    tool = Search()

    async def main() -> list[Any]:
        again = _given_again(opening(tool), GIVEN)
        loop = asyncio.get_running_loop()
        began_s = loop.time()
        [search] = again.tools
        assert again.fresh_prefix is not None
        found = await again.notes("Ana?")
        given: list[Any] = [again.prefix.text, await again.news(), await again.news(), found]
        given += [await search({"words": "Ana"}), (await again.fresh_prefix()).text]
        return [*given, loop.time() - began_s]

    prefix, nothing, news, found, output, later, took_s = run_virtual(main, epoch_s=0.0)
    assert _given_again(opening(tool), GIVEN).earlier == (SAID,)
    assert (prefix, nothing, news, later) == ("then's", None, "Ana was added.", "then's, later")
    assert isinstance(found, NotesFound) and found.extracts[0].text == "Ana"
    assert (output, tool.used) == ("three places", 1)
    assert took_s == pytest.approx(0.74)


async def test_what_was_not_asked_then_is_asked_now() -> None:
    """By an engine that was changed since."""
    tool = Search()
    again = _given_again(opening(tool), ())
    [search] = again.tools
    assert again.prefix.text == "today's"
    assert await again.news() == "the replay's own news"
    assert await again.notes("Ben?") is None
    assert await search({"words": "Ben"}) == "nothing for Ben"
    assert again.fresh_prefix is not None
    assert isinstance(await again.fresh_prefix(), Prefix)
