"""The transcript of one conversation, from speech events."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from memory.records import Extract, Turn
from voice.records import (
    CallEvent,
    ExtractsShown,
    LatencyMeasured,
    NothingSaid,
    PartialText,
    StateChanged,
    TokensCounted,
    TurnAdded,
    UserSaid,
)
from voice.turns import AnswerBegan, Transcript

START = datetime(2026, 12, 2, 10, 0, tzinfo=UTC)


def at(seconds: float) -> datetime:
    return START + timedelta(seconds=seconds)


def said(text: str = "when is it", *, ended_s: float = 3.0) -> UserSaid:
    return UserSaid(
        text=text,
        language="en",
        began_ms=1_000,
        ended_ms=3_000,
        guess=None,
        ended_s=ended_s,
        decided_s=ended_s + 0.25,
        transcribed_s=ended_s + 0.4,
    )


def turns(events: list[CallEvent]) -> list[Turn]:
    return [event.turn for event in events if isinstance(event, TurnAdded)]


def states(events: list[CallEvent]) -> list[str]:
    return [event.state for event in events if isinstance(event, StateChanged)]


def answering(transcript: Transcript) -> list[CallEvent]:
    """One question, and an answer of two pieces of which the first begins to play."""
    question = said()
    return [
        *transcript.opened(),
        *transcript.speech_began(),
        *transcript.partial("when is"),
        *transcript.user_said(question, at=at(3.4), now_s=3.4),
        *transcript.answer_began(
            AnswerBegan(to=question, first_token_s=3.6, prompt_tokens=90, cached_tokens=80),
            at=at(3.8),
        ),
        *transcript.piece("On the third", 300, "en"),
        *transcript.given(20, at=at(3.9), now_s=3.9),
    ]


@pytest.fixture
def transcript() -> Transcript:
    return Transcript("c1", prefix_sha256="ab")


def test_a_question_and_its_answer(transcript: Transcript) -> None:
    """Turns carry the times of their sound, not of their messages."""
    events = answering(transcript)
    events += transcript.piece("of May.", 200, "en")
    events += transcript.given(480, at=at(4.5), now_s=4.5)
    events += transcript.answer_done(at=at(4.6))
    question, answer = turns(events)
    assert (question.index, question.text, question.origin) == (0, "when is it", "spoken")
    assert (question.began_at, question.ended_at) == (at(1), at(3))
    assert (answer.index, answer.text, answer.language) == (1, "On the third of May.", "en")
    assert (answer.began_at, answer.ended_at, answer.interrupted) == (at(3.9), at(4.6), False)
    assert states(events) == ["listening", "hearing", "thinking", "speaking", "listening"]


def test_the_stages_of_a_latency_add_up(transcript: Transcript) -> None:
    """Zero is the last sound of the question, the end the first sample of the answer."""
    (latency,) = [e for e in answering(transcript) if isinstance(e, LatencyMeasured)]
    assert latency.stages_ms == {
        "pause": 250,
        "transcript": 150,
        "first_word": 200,
        "first_sound": 300,
    }
    assert latency.total_ms == 900
    assert latency.index == 1


@pytest.mark.parametrize(("told_last", "cached"), [(None, 80), (95, 60)])
def test_tokens_are_counted_once_an_answer(
    transcript: Transcript, told_last: int | None, cached: int
) -> None:
    """With the prefix they rode behind; what is told at the end is the truer count."""
    answering(transcript)
    events = transcript.answer_done(
        at=at(5), prompt_tokens=told_last, cached_tokens=told_last and 60
    )
    assert [event for event in events if isinstance(event, TokensCounted)] == [
        TokensCounted(
            index=1, prompt_tokens=told_last or 90, cached_tokens=cached, prefix_sha256="ab"
        )
    ]


def test_a_stage_that_was_overlapped_counts_nothing(transcript: Transcript) -> None:
    """A first word that was there before the turn was over costs no time."""
    question = said()
    transcript.user_said(question, at=at(3.4), now_s=3.4)
    transcript.answer_began(AnswerBegan(to=question, first_token_s=3.2), at=at(3.4))
    transcript.piece("Yes.", 100, "en")
    (latency,) = [
        event
        for event in transcript.given(20, at=at(3.5), now_s=3.5)
        if isinstance(event, LatencyMeasured)
    ]
    assert latency.stages_ms["first_word"] == 0
    assert latency.total_ms == 500


def test_barge_in_keeps_only_what_was_heard(transcript: Transcript) -> None:
    """Barge-in ends the answer at the last word played, and the next turn follows it."""
    answering(transcript)
    transcript.piece("of May, the whole day.", 900, "en")
    transcript.given(400, at=at(4.2), now_s=4.2)
    events = transcript.barged_in(at=at(4.2))
    events += transcript.interrupted(at=at(4.2))
    events += transcript.given(999, at=at(4.3), now_s=4.3)
    events += transcript.answer_done(at=at(4.3))
    events += transcript.user_said(said("stop", ended_s=5.0), at=at(5.2), now_s=5.2)
    cut, stop = turns(events)
    assert (cut.text, cut.interrupted, cut.index) == ("On the third of", True, 1)
    assert (stop.text, stop.index) == ("stop", 2)
    assert states(events) == ["hearing", "thinking"]


def test_an_answer_of_which_nothing_was_played_was_never_said(transcript: Transcript) -> None:
    """Interrupted before its first sample, an answer leaves no turn and takes no index."""
    question = said()
    transcript.user_said(question, at=at(3.4), now_s=3.4)
    transcript.answer_began(AnswerBegan(to=question, first_token_s=3.5), at=at(3.6))
    transcript.piece("On the third", 300, "en")
    assert turns(transcript.interrupted(at=at(3.7))) == []
    (again,) = turns(transcript.user_said(said("hello"), at=at(6), now_s=6.0))
    assert again.index == 1


def test_noise_takes_the_partial_text_away(transcript: Transcript) -> None:
    """What turned out to be no turn leaves nothing on the page."""
    transcript.opened()
    transcript.speech_began()
    assert transcript.partial("") == []
    assert transcript.partial("uh") == [PartialText(speaker="user", text="uh")]
    assert transcript.nothing_said() == [NothingSaid(), StateChanged(state="listening")]
    assert transcript.nothing_said() == []


def test_noise_during_an_answer_leaves_the_answer(transcript: Transcript) -> None:
    """Speech that begins and comes to nothing changes no state while Jarvis speaks."""
    answering(transcript)
    assert transcript.speech_began() == []
    assert transcript.nothing_said() == []
    assert transcript.state == "speaking"


@pytest.mark.parametrize(("pasted", "origin"), [(False, "typed"), (True, "pasted")])
def test_a_typed_turn_cuts_the_answer_first(
    transcript: Transcript, pasted: bool, origin: str
) -> None:
    """Typing into an answer ends it; how the text was entered is kept."""
    answering(transcript)
    transcript.given(300, at=at(4), now_s=4.0)
    cut, typed = turns(transcript.typed("and his?", pasted=pasted, at=at(4.5)))
    assert (cut.speaker, cut.interrupted) == ("assistant", True)
    assert (typed.origin, typed.index) == (origin, 2)


def test_a_failed_answer_is_no_turn(transcript: Transcript) -> None:
    """After a failure the call listens again."""
    transcript.opened()
    transcript.user_said(said(), at=at(3.4), now_s=3.4)
    assert transcript.failed() == [StateChanged(state="listening")]


def test_after_a_turn_that_nobody_answers_the_call_listens(transcript: Transcript) -> None:
    """ "Stop" is kept, and nothing is waited for."""
    transcript.opened()
    transcript.user_said(said(), at=at(3.4), now_s=3.4)
    assert transcript.unanswered() == [StateChanged(state="listening")]


def test_the_end_cuts_and_is_final(transcript: Transcript) -> None:
    """A hang-up in mid-answer keeps what was heard; nothing follows it."""
    answering(transcript)
    transcript.given(300, at=at(4), now_s=4.0)
    events = transcript.ended(at=at(4))
    assert [turn.text for turn in turns(events)] == ["On the third"]
    assert states(events) == ["ended"]
    assert transcript.speech_began() == []


def test_what_of_the_notes_was_shown_is_kept_in_front_of_the_answer() -> None:
    """Extracts take an index of their own, with the origin that proves nothing (a7)."""
    extract = Extract(
        file="garden.md", first_line=3, last_line=4, heading="Pump", text="It stands in the shed."
    )
    transcript = Transcript("c1")
    question = said()
    transcript.opened()
    transcript.user_said(question, at=at(3.4), now_s=3.4)
    began = AnswerBegan(to=question, first_token_s=3.6, extracts=(extract,))
    [shown] = transcript.answer_began(began, at=at(3.8))
    assert isinstance(shown, ExtractsShown)
    assert (shown.turn.index, shown.turn.origin, shown.turn.text) == (1, "note", extract.text)
    transcript.piece("In the shed.", 24_000, "en")
    transcript.given(24_000, at=at(4.0), now_s=4.0)
    [answer] = turns(transcript.answer_done(at=at(5.0)))
    assert answer.index == shown.index == 2
