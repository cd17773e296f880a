"""Gemini's protocol without a socket: what happens, and which messages are sent about it."""

from __future__ import annotations

import base64
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.records import Prefix
from tests.voice.engines.test_openai_core import FRAME, NOTES, Tool, said
from voice.engines.gemini_core import GeminiCore, GeminiSetup
from voice.engines.realtime_records import Began, Ended, Failed, Question, Renew, Send, Sound
from voice.records import NotesFound
from voice.tools import frozen

NOW = datetime(2026, 12, 2, 10, tzinfo=UTC)
PREFIX = Prefix(text="You are Jarvis.", sha256="p")


class Session:
    """A core, and what a server would say to it."""

    def __init__(self) -> None:
        self.core = GeminiCore(prefix=PREFIX, language="en")
        self.effects: list[Any] = []
        self.core.adopt(NOW)
        self.kinds()

    def sent(self) -> list[Any]:
        effects = self.core.take()
        self.effects += effects
        return [effect.event for effect in effects if isinstance(effect, Send)]

    def kinds(self) -> list[str]:
        return [
            f"{kind}.{next(iter(event[kind]))}" if kind == "realtimeInput" else kind
            for event in self.sent()
            for kind in event
        ]

    def ask(self, text: str = "How old is the boiler?", notes: NotesFound | None = None) -> None:
        self.core.speech_began(0)
        for _ in range(20):
            self.core.audio(FRAME)
        self.core.asked(Question(to=said(text), text=text, notes=notes), NOW)

    def content(self, **content: Any) -> None:
        self.core.received({"serverContent": content}, 2.0)

    def sound(self, ms: int = 400, rate: int = 24_000) -> None:
        data = base64.b64encode(bytes(2 * 24 * ms)).decode()
        blob = {"mimeType": f"audio/pcm;rate={rate}", "data": data}
        self.content(modelTurn={"parts": [{"inlineData": blob}]})
        self.content(outputTranscription={"text": "It is from 2019. "})

    def over(self) -> None:
        self.content(generationComplete=True)
        self.content(turnComplete=True)

    def of(self, *kinds: type) -> list[Any]:
        self.sent()
        return [effect for effect in self.effects if isinstance(effect, kinds)]


def test_the_setup_is_the_same_bytes_while_the_notebooks_are() -> None:
    """Tools in their one order, waiting for their results; a handle where there is one."""
    tools = frozen([Tool("b"), Tool("a")])
    first = GeminiSetup(PREFIX, model="m", voice="v", tools=tools).first()
    again = GeminiSetup(PREFIX, model="models/m", voice="v", tools=tools).first()
    assert first == again
    setup = first[0]["setup"]
    declared = setup["tools"][0]["functionDeclarations"]
    assert [(tool["name"], tool["behavior"]) for tool in declared] == [
        ("a", "BLOCKING"),
        ("b", "BLOCKING"),
    ]
    assert setup["systemInstruction"]["parts"] == [{"text": PREFIX.text}]
    resumed = GeminiSetup(PREFIX, model="m", voice="v", tools=(), handle="h").first()
    assert resumed[0]["setup"]["sessionResumption"] == {"handle": "h"}


def test_notes_come_within_the_activity_that_asks() -> None:
    """Behind the sound, before its end: with this answer, and once."""
    session = Session()
    session.ask(notes=NOTES)
    kinds = session.kinds()
    assert kinds[-2:] == ["realtimeInput.text", "realtimeInput.activityEnd"]
    session.sound()
    session.over()
    (began,) = session.of(Began)
    assert began.extracts == NOTES.extracts


def test_what_ends_late_belongs_to_the_answer_before() -> None:
    """Sound that comes after the next turn was handed in is the old answer's until it is over."""
    session = Session()
    session.ask()
    session.sound()
    session.core.interrupted(0)
    session.ask("Stop. What time is it?")
    session.sound()  # still of the first
    assert len(session.of(Began)) == 1
    session.content(interrupted=True)
    session.content(turnComplete=True)
    session.sound()
    session.over()
    assert len(session.of(Began)) == 2 and len(session.of(Ended)) == 1


@pytest.mark.parametrize("together", [True, False])
def test_an_interruption_may_end_with_or_without_a_turn_complete(together: bool) -> None:
    """In one message, in two, or never: the next answer is heard whole."""
    session = Session()
    session.ask()
    session.sound()
    session.core.interrupted(0)
    session.ask("Stop")
    if together:
        session.content(interrupted=True, turnComplete=True)
    else:
        session.content(interrupted=True)
    session.sound()
    session.over()
    assert len(session.of(Began)) == 2 and len(session.of(Ended)) == 1


def test_a_backchannel_does_not_stop_the_service() -> None:
    """ "Mhm" with words while an answer is heard begins no activity."""
    session = Session()
    session.ask()
    session.sound()
    session.sent()
    session.core.speech_began(400)
    session.core.audio(FRAME)
    session.core.worth()
    session.core.no_turn()
    assert session.sent() == []


@pytest.mark.parametrize(
    ("left", "seconds"), [("50s", 50), ("9.5s", 9.5), (None, 10), ("soon", 10)]
)
def test_a_go_away_is_a_wish_to_renew(left: object, seconds: float) -> None:
    """However its time is written."""
    session = Session()
    session.core.received({"goAway": {"timeLeft": left}}, 2.0)
    assert session.of(Renew) == [Renew(seconds)]


def test_sound_at_another_rate_is_not_played_at_the_wrong_speed() -> None:
    """The rate is checked where sound comes in."""
    session = Session()
    session.ask()
    with pytest.raises(ValueError, match="16000"):
        session.sound(rate=16_000)


def test_a_handle_that_led_nowhere_is_forgotten() -> None:
    """A resumed session that ended before it said anything is opened by text the next time."""
    session = Session()
    update = {"sessionResumptionUpdate": {"newHandle": "h", "resumable": True}}
    session.core.received(update, 2.0)
    session.core.received({"sessionResumptionUpdate": {"resumable": False}}, 2.0)
    session.core.lost()
    assert session.core.handle == "h"
    session.core.adopt(NOW)
    session.core.lost()
    assert session.core.handle is None
    assert session.core.forget_resumption() is False


STEPS = (
    "ask",
    "sound",
    "over",
    "interrupt",
    "interrupted",
    "lose",
    "speak",
    "worth",
    "noise",
    "type",
)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(STEPS), max_size=40))
def test_no_order_of_messages_leaves_an_answer_open_or_says_one_twice(steps: list[str]) -> None:
    """As with the other service; and a session that comes back answers the next question."""
    session = Session()
    for step in steps:
        match step:
            case "ask":
                session.ask()
            case "sound":
                session.sound()
            case "over":
                session.over()
            case "interrupt":
                session.core.interrupted(0)
            case "interrupted":
                session.content(interrupted=True)
            case "lose":
                session.core.lost()
                session.core.adopt(NOW)
            case "speak":
                session.core.speech_began(0)
            case "worth":
                session.core.worth()
            case "noise":
                session.core.no_turn()
            case _:
                session.core.asked(Question(to=None, text="Hi"), NOW)
    is_open = False
    for effect in session.of(Began, Ended, Sound):
        match effect:
            case Began():
                is_open = True
            case Sound():
                assert is_open
            case Ended():
                assert is_open
                is_open = False
    session.core.no_turn()
    session.core.lost()
    session.core.interrupted(0)
    session.core.adopt(NOW)
    session.sent()
    session.effects.clear()
    session.ask()
    assert session.kinds()[-1] == "realtimeInput.activityEnd"
    session.sound()
    session.over()
    assert len(session.of(Began)) == len(session.of(Ended)) == 1
    assert not session.of(Failed)
