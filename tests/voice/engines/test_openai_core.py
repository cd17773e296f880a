"""OpenAI's protocol without a socket: what happens, and which events are sent about it."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import pytest

from memory.records import Extract, Prefix, Speaker, Turn
from voice.engines.openai_core import OpenAICore, OpenAIGreeting, settings
from voice.engines.realtime_errors import SessionRefused
from voice.engines.realtime_records import (
    Began,
    Ended,
    Failed,
    GiveUp,
    Lose,
    Question,
    RunTool,
    Send,
    Sound,
    Spoke,
)
from voice.records import NotesFound, UserSaid
from voice.tools import frozen

NOW = datetime(2026, 12, 2, 10, tzinfo=UTC)
PREFIX = Prefix(text="You are Jarvis.\n- Ana lives in Lima.", sha256="p")
NOTES = NotesFound(
    block="From the notes: the boiler is from 2019.",
    extracts=(Extract(file="house.md", first_line=1, last_line=1, heading="", text="boiler 2019"),),
)
FRAME = b"\x10\x00" * 320


class Tool:
    def __init__(self, name: str) -> None:
        self.name = name
        self.description = f"what {name} is for"
        self.parameters: Mapping[str, Any] = {"type": "object", "properties": {}}

    async def __call__(self, arguments: Mapping[str, Any]) -> str:
        return ""


def said(text: str = "How old is the boiler?") -> UserSaid:
    return UserSaid(
        text=text, language="en", began_ms=0, ended_ms=400, guess=None,
        ended_s=1.0, decided_s=1.1, transcribed_s=1.2,
    )  # fmt: skip


class Session:
    """A core, and what a server would say to it."""

    def __init__(self) -> None:
        self.core = OpenAICore(prefix=PREFIX, language="en")
        self.effects: list[Any] = []
        self.core.adopt(NOW)
        self.sent()

    def sent(self) -> list[dict[str, Any]]:
        """The events sent since last asked."""
        effects = self.core.take()
        self.effects += effects
        return [dict(effect.event) for effect in effects if isinstance(effect, Send)]

    def kinds(self) -> list[str]:
        return [event["type"] for event in self.sent()]

    def ask(self, text: str = "How old is the boiler?", notes: NotesFound | None = None) -> None:
        self.core.speech_began(0)
        for _ in range(20):
            self.core.audio(FRAME)
        self.core.asked(Question(to=said(text), text=text, notes=notes), NOW)

    def receive(self, kind: str, **fields: Any) -> None:
        self.core.received({"type": kind, **fields}, 2.0)

    def created(self, response: str = "r") -> None:
        self.receive("response.created", response={"id": response})

    def sound(self, response: str = "r", item: str = "i", ms: int = 400) -> None:
        where = {"response_id": response, "item_id": item, "content_index": 0}
        self.receive("response.output_audio_transcript.delta", **where, delta="It is from 2019. ")
        delta = base64.b64encode(b"\x01\x00" * (24 * ms)).decode()
        self.receive("response.output_audio.delta", **where, delta=delta)

    def call(self, call_id: str = "c", response: str = "r") -> None:
        item = {"type": "function_call", "call_id": call_id, "name": "n", "arguments": '{"a": 1}'}
        self.receive("response.output_item.done", response_id=response, item=item)

    def done(self, response: str = "r", **fields: Any) -> None:
        given = {"id": response, "status": "completed", "output": [], **fields}
        self.receive("response.done", response=given)

    def of(self, *kinds: type) -> list[Any]:
        self.sent()
        return [effect for effect in self.effects if isinstance(effect, kinds)]


def test_tools_stand_before_instructions_in_one_order() -> None:
    """Two sessions with the same notebooks are configured with the same bytes."""
    tools = frozen([Tool("b"), Tool("a")])
    first = settings(PREFIX, model="m", voice="v", tools=tools)
    assert first == settings(PREFIX, model="m", voice="v", tools=frozen([Tool("a"), Tool("b")]))
    session = first["session"]
    assert [tool["name"] for tool in session["tools"]] == ["a", "b"]
    assert session["instructions"] == PREFIX.text
    assert session["audio"]["input"]["turn_detection"] is None


def test_a_session_is_configured_once_the_server_spoke() -> None:
    """`session.created`, then our settings, then it is open; its end is known from the server."""
    greeting = OpenAIGreeting({"type": "session.update"})
    assert greeting.first() == []
    created = {"type": "session.created", "session": {"expires_at": 1_800_000_000}}
    assert greeting.answer(created) == [{"type": "session.update"}]
    assert greeting.answer({"type": "rate_limits.updated"}) == []
    assert greeting.answer({"type": "session.updated", "session": {}}) is None
    assert greeting.expires_at == 1_800_000_000
    with pytest.raises(SessionRefused, match="settings"):
        greeting.answer({"type": "error", "error": {"code": "invalid_value", "message": "no"}})


def test_notes_stand_beside_one_answer() -> None:
    """Their item comes behind the user's words, before the response, and goes when it is done."""
    session = Session()
    session.ask(notes=NOTES)
    events = session.sent()
    assert [event["type"] for event in events][-3:] == [
        "input_audio_buffer.commit", "conversation.item.create", "response.create",
    ]  # fmt: skip
    item = events[-2]["item"]
    assert item["content"][0]["text"] == NOTES.block
    session.created()
    session.sound()
    (began,) = session.of(Began)
    assert began.extracts == NOTES.extracts
    session.done()
    assert session.sent() == [{"type": "conversation.item.delete", "item_id": item["id"]}]


def test_a_tool_runs_while_the_response_ends_and_the_answer_goes_on() -> None:
    """One answer, two responses: its result is an item, and the second is asked for once."""
    session = Session()
    session.ask()
    session.created()
    session.call()
    assert session.of(RunTool) == [RunTool("c", "n", '{"a": 1}')]
    session.core.tool_done("c", "2019")
    (output,) = session.sent()[-1:]
    assert output["item"]["type"] == "function_call_output" and output["item"]["output"] == "2019"
    assert not session.of(Ended)
    session.done()
    assert session.kinds() == ["response.create"]
    session.created("r2")
    session.sound("r2", "i2")
    session.done("r2")
    assert len(session.of(Began)) == len(session.of(Ended)) == 1


@pytest.mark.parametrize("when", ["before the loss", "between", "after the next session"])
def test_a_tool_s_result_survives_the_session_that_asked_for_it(when: str) -> None:
    """The next session is told the call with its result, once, and then asked."""
    session = Session()
    session.ask()
    session.created()
    session.call()
    if when == "before the loss":
        session.core.tool_done("c", "2019")
    session.core.lost()
    if when == "between":
        session.core.tool_done("c", "2019")
    session.sent()
    session.core.adopt(NOW)
    if when == "after the next session":
        assert "response.create" not in session.kinds()
        session.core.tool_done("c", "2019")
    events = session.sent()
    items = [event["item"]["type"] for event in events if "item" in event]
    assert items.count("function_call") == items.count("function_call_output") == 1
    assert [event["type"] for event in events][-1] == "response.create"


def test_a_tool_that_is_asked_for_for_ever_ends_the_answer() -> None:
    """A model that only ever asks for tools is stopped, and the user told."""
    session = Session()
    session.ask()
    for number in range(20):
        session.created(f"r{number}")
        session.call(f"c{number}", f"r{number}")
        session.core.tool_done(f"c{number}", "no")
        session.done(f"r{number}")
        if session.of(Failed):
            break
    assert number < 10
    assert len(session.of(Failed)) == 1


def test_an_interruption_while_a_tool_works_frees_the_next_turn() -> None:
    """The tool's result is still told, and nothing waits for the answer that was stopped."""
    session = Session()
    session.ask()
    session.created()
    session.call()
    session.done()
    session.core.interrupted(0)
    session.sent()
    session.ask("Never mind")
    assert session.kinds()[-1] == "response.create"
    session.core.tool_done("c", "2019")
    assert [event["item"]["type"] for event in session.sent()] == ["function_call_output"]


EVENTS_AGAIN = ["response.created", "response.output_audio.delta", "response.done"]


@pytest.mark.parametrize("kind", EVENTS_AGAIN)
def test_an_event_that_comes_twice_is_applied_once(kind: str) -> None:
    """A doubled end ends one answer; doubled sound of a response that is over is not heard."""
    session = Session()
    session.ask()
    session.created()
    if kind == "response.created":
        session.created()
    session.sound()
    session.done()
    sounds = len(session.of(Sound))
    if kind == "response.output_audio.delta":
        session.sound()
    if kind == "response.done":
        session.done()
    assert len(session.of(Began)) == len(session.of(Ended)) == 1
    assert len(session.of(Sound)) == sounds


def test_words_behind_their_sound_are_spoken_all_the_same() -> None:
    """Whatever comes first, every word is told once, in order."""
    session = Session()
    session.ask()
    session.created()
    where = {"response_id": "r", "item_id": "i", "content_index": 0}
    sound = base64.b64encode(b"\x01\x00" * 24_000).decode()
    session.receive("response.output_audio.delta", **where, delta=sound)
    session.receive("response.output_audio_transcript.delta", **where, delta="It is from 2019.")
    session.done()
    assert " ".join(spoke.text for spoke in session.of(Spoke)) == "It is from 2019."


def test_a_broken_event_raises_what_the_edge_expects() -> None:
    """KeyError, TypeError or ValueError, and the session goes on behind it."""
    session = Session()
    session.ask()
    session.created()
    for broken in ({"response_id": "r"}, {"delta": "%%%"}, {"delta": 3, "item_id": "i"}):
        with pytest.raises((KeyError, TypeError, ValueError)):
            session.receive("response.output_audio.delta", **broken)
    session.sound()
    assert session.of(Began)


@pytest.mark.parametrize(
    ("code", "effect"), [("session_expired", Lose), ("invalid_api_key", GiveUp)]
)
def test_an_error_of_the_session_ends_it(code: str, effect: type) -> None:
    """What only a new session mends, and what none does."""
    session = Session()
    session.receive("error", error={"code": code, "type": "invalid_request_error"})
    assert len(session.of(effect)) == 1


def test_a_changed_notebook_moves_into_the_next_session_s_instructions() -> None:
    """It is an appended item while the session lasts, and no item any more when it is renewed."""
    session = Session()
    session.core.asked(Question(to=None, text="Hi"), NOW, "Ana moved to Rome.")
    assert any("Rome" in str(event) for event in session.sent())
    session.created()
    session.sound()
    session.done()
    session.core.renewed()
    fresh = Prefix(text="You are Jarvis.\n- Ana lives in Rome.", sha256="q")
    session.core.adopt(NOW, fresh)
    assert session.core.prefix is fresh
    assert not any("Rome" in str(event) for event in session.sent())


def test_a_turn_is_kept_for_every_session_that_follows() -> None:
    """After three losses the fourth session knows both sides, once."""
    session = Session()
    speakers: tuple[Speaker, ...] = ("user", "assistant")
    for number, speaker in enumerate(speakers):
        turn = Turn(
            conversation="c",
            index=number,
            speaker=speaker,
            text=f"text {number}",
            language="en",
            began_at=NOW,
            ended_at=NOW,
            origin="spoken",
        )
        session.core.heard(turn)
    for _ in range(3):
        session.core.lost()
        session.sent()
        session.core.adopt(NOW)
    told = [event["item"]["role"] for event in session.sent() if "item" in event]
    assert told == ["system", "user", "assistant"]
