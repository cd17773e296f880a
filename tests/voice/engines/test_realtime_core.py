"""What every protocol shares: whose sound, whose words, whose turn it is. By way of OpenAI's."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.voice.engines.test_openai_core import FRAME, NOW, Session
from voice.engines.realtime_records import Began, Ended, Failed, Question, Sound

STEPS = ("ask", "created", "sound", "done", "interrupt", "lose", "speak", "noise", "type", "frame")


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(STEPS), max_size=40))
def test_no_order_of_events_leaves_an_answer_open_or_says_one_twice(steps: list[str]) -> None:
    """Whatever happens when, each answer begins once, ends at most once, sounds only while it is
    open, and a session that comes back afterwards gets an answer to the next question."""
    session = Session()
    responses = 0
    for step in steps:
        match step:
            case "ask":
                session.ask()
            case "created":
                responses += 1
                session.created(f"r{responses}")
            case "sound":
                session.sound(f"r{responses}", f"i{responses}")
            case "done":
                session.done(f"r{responses}")
            case "interrupt":
                session.core.interrupted(0)
            case "lose":
                session.core.lost()
                session.core.adopt(NOW)
            case "speak":
                session.core.speech_began(0)
            case "noise":
                session.core.no_turn()
            case "type":
                session.core.asked(Question(to=None, text="Hi"), NOW)
            case _:
                session.core.audio(FRAME)
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
    session.core.lost()
    session.core.interrupted(0)
    session.core.adopt(NOW)
    session.sent()
    session.effects.clear()
    session.ask()
    assert session.kinds()[-1] == "response.create"
    session.created("last")
    session.sound("last", "last")
    session.done("last")
    assert len(session.of(Began)) == len(session.of(Ended)) == 1
    assert not session.of(Failed)


def test_a_quiet_moment_is_when_nobody_speaks_waits_or_is_being_heard() -> None:
    """A session is exchanged there; between two answers only when it must be."""
    session = Session()
    core = session.core
    assert core.is_quiet
    core.speech_began(0)
    assert not core.is_quiet and core.is_between_answers
    core.asked(Question(to=None, text="Hi"), NOW)
    core.no_turn()
    assert not core.is_between_answers
    session.created()
    session.sound()
    session.done()
    assert core.is_between_answers and not core.is_quiet  # its sound is still being played
    core.interrupted(0)
    assert core.is_quiet
