"""The OpenAI Realtime engine in a pipeline, against the server of ours, on a virtual clock."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections import Counter
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import pytest
from pipecat.frames.frames import (
    Frame,
    InterruptionFrame,
    TTSAudioRawFrame,
    TTSStartedFrame,
    TTSStoppedFrame,
)
from pipecat.processors.frame_processor import FrameDirection

from memory.records import Prefix, Turn
from tests.fakes.prompt_cache import DOCUMENTED, SEEN, Rule
from tests.fakes.realtime_server import RealtimeServer
from tests.fakes.remote_call import ANSWERING, BEGAN_AT, NOTEBOOK, Speaker, calling
from tests.fakes.remote_call import OpenAICaller as Caller
from tests.fakes.service import Abort, Answer, Close, Error, Event, Fault, HalfOpen, Say
from voice.engines.openai_core import OpenAICore, settings
from voice.engines.openai_realtime import OPENAI_REALTIME
from voice.engines.protocol import TakesSound
from voice.engines.realtime_engine import RealtimeEngine
from voice.engines.realtime_records import Question, Send
from voice.errors import EngineUnavailable
from voice.frames import (
    AnswerBeganFrame,
    AnswerDoneFrame,
    AnswerFailedFrame,
    MicrophoneFrame,
    SpokenFrame,
    TypedFrame,
)
from voice.intake import Intake
from voice.records import (
    Guess,
    NotesFound,
    NoTurn,
    Partial,
    SpeechBegan,
    TokensCounted,
    Told,
)
from voice.virtual_time import run_virtual


@asynccontextmanager
async def call(server: RealtimeServer, **settings: Any) -> AsyncIterator[Caller]:
    async with calling(Caller(server), **settings) as caller:
        yield caller


def play(
    scenario: Callable[[Caller], Coroutine[Any, Any, None]],
    server: Callable[[], RealtimeServer] = RealtimeServer,
    **settings: Any,
) -> None:
    async def main() -> None:
        async with (
            asyncio.timeout(20_000),
            server() as listening,
            call(listening, **settings) as caller,
        ):
            await scenario(caller)

    run_virtual(main, epoch_s=BEGAN_AT.timestamp())


def serving(
    *answers: Answer, faults: Sequence[Fault] = (), **more: Any
) -> Callable[[], RealtimeServer]:
    return lambda: RealtimeServer(answers=list(answers) or [Answer()], faults=list(faults), **more)


def types(events: Sequence[Event]) -> list[str]:
    """Event types in order, runs of sound taken together."""
    seen: list[str] = []
    for event in events:
        if not seen or seen[-1] != event["type"]:
            seen.append(event["type"])
    return seen


def answer_text(count: int) -> str:
    return " ".join(f"word{number}" for number in range(count))


# A plain turn ---------------------------------------------------------------------------


def test_a_spoken_turn_is_committed_and_answered_once() -> None:
    """One turn gives one commit, one response, and the frames in the promised order."""

    async def scenario(caller: Caller) -> None:
        said = await caller.say("When is my sister's birthday?")
        await caller.until(lambda: caller.of(AnswerDoneFrame))
        began = caller.of(AnswerBeganFrame)
        assert [frame.to for frame in began if isinstance(frame, AnswerBeganFrame)] == [said]
        order = [
            type(frame)
            for frame in caller.of(
                AnswerBeganFrame, TTSStartedFrame, SpokenFrame, TTSAudioRawFrame,
                TTSStoppedFrame, AnswerDoneFrame,
            )
        ]  # fmt: skip
        assert order[:4] == [AnswerBeganFrame, TTSStartedFrame, SpokenFrame, TTSAudioRawFrame]
        assert order[-2:] == [TTSStoppedFrame, AnswerDoneFrame]
        assert caller.samples == 2 * 24_000
        assert [turn.text for turn in caller.turns] == [
            "When is my sister's birthday?",
            "Her birthday is on the third of May.",
        ]
        assert types(caller.server.received()) == [
            "session.update",
            "conversation.item.create",
            "input_audio_buffer.append",
            "input_audio_buffer.commit",
            "response.create",
        ]

    play(scenario)


async def test_a_call_on_the_real_clock() -> None:
    """The same turn on an ordinary event loop."""
    async with RealtimeServer() as server, call(server, listen=False) as caller:
        await caller.say("When is my sister's birthday?")
        await caller.answers(1)
        assert caller.spoken == Answer().text


def test_an_answer_that_is_received_at_once_is_not_asked_for_again() -> None:
    """The first answer comes once, however fast it was received, also a minute later."""

    async def scenario(caller: Caller) -> None:
        await caller.ask("Hello?")
        await asyncio.sleep(60)
        assert len(caller.server.received("response.create")) == 1
        assert len(caller.of(AnswerBeganFrame)) == 1

    play(scenario)


def test_every_sample_of_a_turn_reaches_the_server() -> None:
    """Sound from before the turn was noticed is sent; samples out are in times 1.5, within one."""

    async def scenario(caller: Caller) -> None:
        for number, ms in enumerate((500, 1000, 2340, 4000), start=1):
            await caller.sound(3000)
            began_ms = await caller.begin(ms, late_ms=400)
            await caller.sound(300)
            await caller.end(began_ms, "Hello")
            await caller.answers(number)
            sent = caller.server.connections[0].turns_bytes[-1] // 2
            assert abs(sent - (ms + 300) * 24) <= 1

    play(scenario, listen=False)


def test_what_is_said_between_turns_stays_on_this_machine() -> None:
    """Sound outside of a turn is never sent."""

    async def scenario(caller: Caller) -> None:
        await caller.sound(5000, 900)
        await caller.ask("Hello?")
        await caller.sound(5000, 900)
        await caller.send(TypedFrame(text="and this"))
        await caller.server.until(lambda: len(caller.server.received("response.create")) == 2)
        assert len(caller.server.connections[0].audio) == 2 * 24_000

    play(scenario)


def test_a_turn_that_comes_as_the_answer_to_the_last_begins_is_answered_too() -> None:
    """While the notebooks are looked at the older answer may begin; neither turn is lost."""

    async def scenario(caller: Caller) -> None:
        began = asyncio.Event()
        caller.wait_for_news = began
        began.set()
        await caller.say("One?")
        await caller.server.until(lambda: caller.server.received("response.create"))
        began.clear()
        await caller.send(TypedFrame(text="Two?"))
        await caller.until(lambda: caller.of(AnswerBeganFrame))
        began.set()
        await caller.answers(2)
        await asyncio.sleep(30)
        assert len(caller.server.received("response.create")) == 2
        assert not caller.server.sent("error")

    play(scenario, serving(Answer(think_s=2), Answer(text="Two.")), listen=False)


def test_noise_is_cleared_and_gets_no_answer() -> None:
    """A NoTurn clears the server's buffer; nothing is committed and nothing asked."""

    async def scenario(caller: Caller) -> None:
        began_ms = await caller.begin(600)
        await caller.tell(Partial(text="you", language="en", began_ms=began_ms))
        await caller.tell(NoTurn(reason="noise", began_ms=began_ms, ended_ms=caller.position_ms))
        await caller.server.until(lambda: caller.server.received("input_audio_buffer.clear"))
        await caller.ask("Hello?")
        received = caller.server.received("input_audio_buffer.commit", "response.create")
        assert types(received) == ["input_audio_buffer.commit", "response.create"]
        assert caller.server.connections[0].turns_bytes == [2 * 24_000]

    play(scenario)


def test_who_wants_silence_is_not_answered() -> None:
    """The service learns the words of a "stop", which it could answer, and is asked for nothing."""

    async def scenario(caller: Caller) -> None:
        began_ms = await caller.begin(600)
        await caller.end(began_ms, "Stop.", answered=False)
        await caller.server.until(lambda: caller.server.received("conversation.item.create"))
        await caller.ask("Hello?")
        await caller.answers(1)
        assert len(caller.server.received("response.create")) == 1
        assert len(caller.server.received("input_audio_buffer.commit")) == 1

    play(scenario)


def test_guesses_and_partials_send_nothing() -> None:
    """A guess is for engines that can take it back; this one waits for the turn's end."""

    async def scenario(caller: Caller) -> None:
        began_ms = await caller.begin(600)
        await caller.tell(
            Guess(number=1, text="Hi", language="en", began_ms=began_ms, ended_ms=600, ended_s=0.6)
        )
        await asyncio.sleep(5)
        assert not caller.server.received("input_audio_buffer.commit", "response.create")

    play(scenario)


def test_a_turn_too_short_to_commit_is_sent_as_words() -> None:
    """The server refuses less than 100 ms of sound, so the words of such a turn go as text."""

    async def scenario(caller: Caller) -> None:
        began_ms = await caller.begin(80, late_ms=40)
        await caller.end(began_ms, "Yes")
        await caller.until(lambda: caller.of(AnswerDoneFrame))
        assert caller.told("user") == ["Yes"]
        assert not caller.server.sent("error")

    play(scenario)


def test_a_typed_turn_is_an_item_and_a_response() -> None:
    """Typed words go as input_text, and the answer belongs to no spoken turn."""

    async def scenario(caller: Caller) -> None:
        await caller.send(TypedFrame(text="When is it?"))
        await caller.until(lambda: caller.of(AnswerDoneFrame))
        assert caller.told("user") == ["When is it?"]
        (began,) = caller.of(AnswerBeganFrame)
        assert isinstance(began, AnswerBeganFrame) and began.to is None
        assert not caller.server.received("input_audio_buffer.commit")

    play(scenario)


def test_words_added_before_a_sound_came_get_one_answer_with_the_first() -> None:
    """The first response is cancelled and forgotten, and the second answers both turns."""
    late = Answer(silent=True)

    async def scenario(caller: Caller) -> None:
        await caller.say("What is the weather")
        await caller.server.until(lambda: caller.server.received("response.create"))
        await caller.say("in Lima?")
        await caller.until(lambda: caller.of(AnswerDoneFrame))
        assert types(caller.server.received("response.create", "response.cancel")) == [
            "response.create",
            "response.cancel",
            "response.create",
        ]
        assert len(caller.of(AnswerBeganFrame)) == 1

    play(scenario, serving(late, Answer()))


# The prefix -------------------------------------------------------------------------------


def test_the_prefix_is_sent_byte_for_byte_and_never_again() -> None:
    """In 30 turns with news and an hour passing, instructions and tools are sent once, unchanged."""

    async def scenario(caller: Caller) -> None:
        for number in range(30):
            caller.news = [f"USER.md now says {number}."] if number % 3 == 0 else []
            await caller.send(TypedFrame(text=f"Question {number}"))
            await caller.answers(number + 1)
            await asyncio.sleep(95)
        (update,) = caller.server.received("session.update")
        assert update["session"]["instructions"].encode() == NOTEBOOK.encode()
        assert update["session"]["tools"] == []
        assert update["session"]["audio"]["input"]["turn_detection"] is None
        told = caller.told("system")
        assert [text for text in told if "USER.md" in text] == [
            f"USER.md now says {number}." for number in range(0, 30, 3)
        ]
        times = [text for text in told if text.startswith("It is ")]
        assert times[0] == "It is Sunday, 1 March 2026, 09:00 (UTC+00:00)."
        assert len(times) == 2
        cached = [
            frame.cached_tokens
            for frame in caller.of(AnswerDoneFrame)
            if isinstance(frame, AnswerDoneFrame)
        ]
        prompts = [
            frame.prompt_tokens
            for frame in caller.of(AnswerDoneFrame)
            if isinstance(frame, AnswerDoneFrame)
        ]
        assert cached[0] == 0
        for before, now in zip(prompts, cached[1:], strict=False):
            assert before is not None and now is not None and now > before - 128

    play(scenario, listen=False)


def test_news_stands_in_front_of_the_turn_it_came_with() -> None:
    """The item with the news precedes the commit of the turn that asks about it."""

    async def scenario(caller: Caller) -> None:
        caller.news = ["Ana's birthday is now in June."]
        await caller.ask("When is it?")
        kinds = [
            event["type"]
            for event in caller.server.received(
                "conversation.item.create", "input_audio_buffer.commit", "response.create"
            )
        ]
        assert kinds == [
            "conversation.item.create",
            "conversation.item.create",
            "input_audio_buffer.commit",
            "response.create",
        ]

    play(scenario)


SAVED = 'Just now this was written into USER.md: "I\'m vegan."'
TOLD = Told(note=SAVED, said={"en": "Saved."}, whole=True)


async def ask_to_remember(caller: Caller, *, typed: bool) -> None:
    done = len(caller.of(AnswerDoneFrame))
    if typed:
        await caller.send(TypedFrame(text="Remember that I'm vegan.", pasted=False, told=TOLD))
    else:
        await caller.sound(200)
        began_ms = await caller.begin(1000)
        await caller.end(began_ms, "Remember that I'm vegan.", told=TOLD)
    await caller.answers(done + 1)


@pytest.mark.parametrize("typed", [False, True], ids=["spoken", "typed"])
def test_what_became_of_a_wish_to_remember_is_told_before_the_answer(typed: bool) -> None:
    """The outcome is an item before `response.create`, and is not told with later turns (V12)."""

    async def scenario(caller: Caller) -> None:
        await ask_to_remember(caller, typed=typed)
        events = caller.server.received("conversation.item.create", "response.create")
        outcome = next(
            at
            for at, event in enumerate(events)
            if event["type"] == "conversation.item.create"
            and event["item"]["content"][0]["text"] == SAVED
        )
        assert outcome < [event["type"] for event in events].index("response.create")
        await caller.ask("And when is it?")
        assert caller.told("system").count(SAVED) == 1

    play(scenario)


def test_a_new_session_does_not_announce_what_the_user_has_heard() -> None:
    """Once the turn is answered its outcome is history."""

    async def scenario(caller: Caller) -> None:
        await ask_to_remember(caller, typed=True)
        caller.server.connections[0].abort()
        await caller.second_session()
        await caller.ask("And where?")
        assert SAVED not in caller.told("system", 1)

    play(scenario)


def test_a_new_session_hears_of_the_outcome_of_a_turn_without_an_answer() -> None:
    """A session lost before the answer leaves the wish, and its outcome, to the next."""

    async def scenario(caller: Caller) -> None:
        await ask_to_remember(caller, typed=True)
        assert SAVED in caller.told("system", 1)

    play(scenario, serving(faults=[Fault("response.create", Abort())]))


# Interruptions ----------------------------------------------------------------------------

LONG = Answer(text=answer_text(40), audio_ms=10_000, chunk_ms=200, speed=5)


@pytest.mark.parametrize("after_ms", [30, 310, 2345])
@pytest.mark.parametrize("speed", [None, 1.5, 5])
def test_an_interrupted_answer_is_truncated_where_it_was_heard(
    after_ms: int, speed: float | None
) -> None:
    """The server's history ends within 40 ms of the last sample that was played."""

    async def scenario(caller: Caller) -> None:
        await caller.say("Tell me a story")
        await caller.until(lambda: caller.of(TTSAudioRawFrame))
        await asyncio.sleep(after_ms / 1000)
        await caller.barge_in()
        await caller.server.until(lambda: caller.server.received("conversation.item.truncate"))
        (cut,) = caller.server.received("conversation.item.truncate")
        assert abs(cut["audio_end_ms"] - caller.samples // 24) <= 40
        samples = caller.samples
        await caller.ask("Stop. What time is it?")
        after = caller.out.frames[caller.out.frames.index(caller.of(InterruptionFrame)[0]) :]
        first = next(frame for frame in after if isinstance(frame, ANSWERING))
        assert isinstance(first, AnswerBeganFrame)
        assert caller.samples == samples + 10_000 * 24
        assert not caller.server.sent("error")
        cancels = caller.server.received("response.cancel")
        still_sending = speed is not None and after_ms * speed < 10_000
        assert len(cancels) == still_sending

    quick = Answer(text=LONG.text, audio_ms=LONG.audio_ms, speed=speed)
    play(scenario, serving(quick))


@pytest.mark.parametrize("at_frame", range(1, 12))
@pytest.mark.parametrize("with_event", [True, False])
def test_nothing_of_an_answer_comes_out_behind_its_interruption(
    at_frame: int, with_event: bool
) -> None:
    """Also when sound is handed on in the very moment in which the interruption comes."""

    async def scenario(caller: Caller) -> None:
        caller.ambush_at(at_frame, with_event=with_event)
        await caller.say("Tell me a story")
        await caller.until(lambda: caller.of(InterruptionFrame))
        await asyncio.sleep(5)
        after = caller.out.frames.index(caller.of(InterruptionFrame)[0])
        assert not [frame for frame in caller.out.frames[after:] if isinstance(frame, ANSWERING)]

    play(scenario, serving(Answer(text=LONG.text, audio_ms=10_000, speed=None)), listen=False)


def test_without_a_playback_position_the_kept_words_decide() -> None:
    """The transcript's last word is where the server's history is cut, within a word."""

    async def scenario(caller: Caller) -> None:
        await caller.say("Tell me a story")
        await caller.until(lambda: caller.of(TTSAudioRawFrame))
        await asyncio.sleep(2.5)
        await caller.barge_in()
        await caller.server.until(lambda: caller.server.received("conversation.item.truncate"))
        (cut,) = caller.server.received("conversation.item.truncate")
        played_ms = caller.samples // 24
        assert played_ms - 700 <= cut["audio_end_ms"] <= played_ms
        assert caller.turns[-1].interrupted

    play(scenario, serving(LONG), hook=False)


def test_words_that_end_an_answer_without_a_barge_in_cut_it_as_well() -> None:
    """A turn that the transcript cuts an answer for is cut at the server, and answered after it."""

    async def scenario(caller: Caller) -> None:
        await caller.say("Tell me a story")
        await caller.until(lambda: caller.of(TTSAudioRawFrame))
        await asyncio.sleep(1)
        await caller.say("Yes")
        await caller.answers(1)
        (cut,) = caller.server.received("conversation.item.truncate")
        assert 0 < cut["audio_end_ms"] <= 2000
        assert [turn.interrupted for turn in caller.turns] == [False, True, False, False]
        assert len(caller.server.received("response.create")) == 2
        assert not caller.server.sent("error")

    play(scenario, serving(LONG, Answer()))


@pytest.mark.parametrize("hook", [True, False])
def test_an_answer_of_which_nothing_was_played_is_deleted(hook: bool) -> None:
    """Interrupted before the first sample, the answer leaves the server's history whole."""

    async def scenario(caller: Caller) -> None:
        await caller.say("Tell me a story")
        await caller.server.until(lambda: caller.server.sent("response.output_audio.delta"))
        await caller.barge_in()
        await caller.say("Never mind. Hello?")
        await caller.until(lambda: caller.of(AnswerDoneFrame))
        (deleted,) = caller.server.received("conversation.item.delete")
        kept = [item["id"] for item in caller.server.connections[0].items]
        assert deleted["item_id"] not in kept
        assert not caller.server.received("conversation.item.truncate")
        assert not caller.server.sent("error")

    play(scenario, serving(LONG, Answer()), hook=hook)


def test_an_interruption_before_any_sound_came_removes_the_answer() -> None:
    """Cancelled while the server still thinks, its item is deleted when the server names it."""
    slow = Answer(text=answer_text(5), audio_ms=1000, lead=9, speed=0.1)

    async def scenario(caller: Caller) -> None:
        await caller.say("Tell me a story")
        await caller.server.until(
            lambda: caller.server.sent("response.output_audio_transcript.delta")
        )
        await caller.barge_in()
        await caller.ask("Hello?")
        assistant = [
            item for item in caller.server.connections[0].items if item["role"] == "assistant"
        ]
        assert len(assistant) == 1
        assert not caller.server.sent("error")

    play(scenario, serving(slow, Answer()))


def test_an_answer_in_several_items_is_cut_in_the_right_one() -> None:
    """The item that was heard stays whole, the one being played is cut, later ones are deleted."""

    async def scenario(caller: Caller) -> None:
        await caller.say("Tell me a story")
        await caller.until(lambda: caller.of(TTSAudioRawFrame))
        await asyncio.sleep(3)
        await caller.barge_in()
        await caller.server.until(lambda: caller.server.received("conversation.item.delete"))
        (cut,) = caller.server.received("conversation.item.truncate")
        assert abs(2000 + cut["audio_end_ms"] - caller.samples // 24) <= 40
        assert len(caller.server.received("conversation.item.delete")) == 3

    play(scenario, serving(Answer(text=answer_text(40), audio_ms=10_000, items=5)))


def test_a_server_that_ignores_the_cancel_is_not_heard() -> None:
    """Late sound of a cancelled answer never comes out, and the next turn waits for its end."""

    async def scenario(caller: Caller) -> None:
        await caller.say("Tell me a story")
        await caller.until(lambda: caller.of(TTSAudioRawFrame))
        await caller.barge_in()
        await caller.say("What time is it?")
        await caller.until(lambda: caller.of(AnswerDoneFrame))
        assert caller.turns[-1].text == "It is nine."
        assert not caller.server.sent("error")
        assert len(caller.of(AnswerBeganFrame)) == 2

    play(scenario, serving(LONG, Answer(text="It is nine."), cancels=False))


# Faults -----------------------------------------------------------------------------------

DROPS = [Abort(), Close(1000), Close(1001), Close(1011), Close(1007), HalfOpen()]
PLACES = [
    "conversation.item.create",
    "input_audio_buffer.append",
    "input_audio_buffer.commit",
    "response.create",
    "response.created",
    "response.output_audio_transcript.delta",
]


@pytest.mark.parametrize("drop", DROPS, ids=str)
@pytest.mark.parametrize("place", PLACES)
def test_a_lost_socket_costs_no_answer(drop: Any, place: str) -> None:
    """Wherever the socket goes in a turn, the turn is answered once, in a new session."""

    async def scenario(caller: Caller) -> None:
        began_ms = await caller.begin(1000)
        await asyncio.sleep(1)
        await caller.sound(500, 4000)
        await caller.end(began_ms, "When is her birthday?")
        await caller.until(lambda: caller.of(AnswerDoneFrame))
        await asyncio.sleep(30)
        assert len(caller.of(AnswerBeganFrame)) == 1
        assert not caller.of(AnswerFailedFrame)
        assert [turn.speaker for turn in caller.turns] == ["user", "assistant"]
        assert len(caller.server.connections) == 2
        first, second = caller.server.received("session.update")
        assert first["session"] == second["session"]
        assert not caller.notices  # the user hardly noticed

    play(scenario, serving(faults=[Fault(place, drop)]))


def test_a_turn_that_is_being_spoken_is_sent_again_whole() -> None:
    """The new session gets every sample of the turn, and no text of it."""

    async def scenario(caller: Caller) -> None:
        began_ms = await caller.begin(1000)
        await caller.second_session()
        await caller.sound(500, 4000)
        await caller.end(began_ms, "When is her birthday?")
        await caller.until(lambda: caller.of(AnswerDoneFrame))
        assert caller.server.connections[1].turns_bytes == [2 * 36_000]
        assert caller.told("user") == []

    play(scenario, serving(faults=[Fault("input_audio_buffer.append", Abort(), nth=5)]))


def test_a_new_session_knows_the_conversation() -> None:
    """After a drop the turns so far and the news are told as text, under the same instructions."""

    async def scenario(caller: Caller) -> None:
        caller.news = ["Ana moved to Lima."]
        await caller.ask("When is it?")
        caller.server.connections[0].abort()
        await caller.second_session()
        await caller.ask("And where?")
        assert caller.told("system", 1)[1:] == ["Ana moved to Lima."]
        assert caller.told("user", 1) == ["When is it?"]
        assert caller.told("assistant", 1) == ["Her birthday is on the third of May."]
        done = caller.of(AnswerDoneFrame)[-1]
        assert isinstance(done, AnswerDoneFrame) and (done.cached_tokens or 0) > 1024

    play(scenario)


def test_an_answer_that_breaks_off_is_gone_on_with() -> None:
    """The new session hears how far it came; the rest is said once, as one turn."""

    async def scenario(caller: Caller) -> None:
        text = await caller.ask("Tell me a story")
        assert text == LONG.text
        assert [turn.speaker for turn in caller.turns] == ["user", "assistant"]
        (spoken,) = caller.told("assistant", 1)
        assert spoken and LONG.text.startswith(spoken)
        assert len(caller.of(AnswerBeganFrame)) == len(caller.of(AnswerDoneFrame)) == 1
        assert abs(caller.samples - 10_000 * 24) <= 2_000 * 24

    fault = Fault("response.output_audio.delta", Abort(), nth=20)
    play(scenario, serving(LONG, faults=[fault]))


def test_an_interruption_after_a_drop_tells_the_new_session_what_was_heard() -> None:
    """What the new session had been told as spoken gives way to the words that were heard."""

    async def scenario(caller: Caller) -> None:
        await caller.say("Tell me a story")
        await caller.second_session()
        await asyncio.sleep(1)
        await caller.barge_in()
        await caller.server.until(lambda: len(caller.told("assistant", 1)) == 2)
        kept = caller.turns[-1]
        assert kept.interrupted
        await caller.ask("And now?")
        words = [
            item["content"][0]["text"]
            for item in caller.server.connections[1].items
            if item.get("role") == "assistant" and "_audio_ms" not in item
        ]
        assert words == [kept.text]
        assert not caller.server.sent("error")

    fault = Fault("response.output_audio.delta", Abort(), nth=20)
    play(scenario, serving(LONG, Answer(), faults=[fault]))


@pytest.mark.parametrize("nth", range(1, 30, 4))
@pytest.mark.parametrize("place", ["response.output_audio.delta", "conversation.item.create"])
def test_wherever_the_socket_breaks_each_turn_has_one_answer(nth: int, place: str) -> None:
    """Three turns and a break: three answers, whole or broken off, in the order of the turns."""

    async def scenario(caller: Caller) -> None:
        for number in range(3):
            await caller.ask(f"Question {number}")
        await asyncio.sleep(30)
        assert [turn.speaker for turn in caller.turns] == ["user", "assistant"] * 3
        assert len(caller.of(AnswerBeganFrame)) == 3
        assert all(turn.text in Answer().text for turn in caller.turns[1::2])

    play(scenario, serving(Answer(speed=4), faults=[Fault(place, Abort(), nth=nth)]))


def test_a_conversation_that_another_session_began_is_told() -> None:
    """Turns that an earlier session had heard stand in the history from the start."""
    turn = Turn(
        conversation="call", index=0, speaker="user", text="I am Bo.", language="en",
        began_at=BEGAN_AT, ended_at=BEGAN_AT, origin="spoken",
    )  # fmt: skip

    async def scenario(caller: Caller) -> None:
        await caller.ask("Who am I?")
        assert caller.told("user") == ["I am Bo."]

    play(scenario, earlier=(turn,))


def test_ten_time_limits_in_a_row_lose_no_sample_and_double_no_turn() -> None:
    """Each session is exchanged before its end, at a quiet moment: nobody notices."""

    async def scenario(caller: Caller) -> None:
        for number in range(40):
            await caller.ask(f"Question {number}")
            await asyncio.sleep(5)
        assert [turn.text for turn in caller.turns[::2]] == [f"Question {n}" for n in range(40)]
        assert [turn.text for turn in caller.turns[1::2]] == [Answer().text] * 40
        assert len(caller.server.connections) > 10
        sent = [length for each in caller.server.connections for length in each.turns_bytes]
        assert sent == [2 * 24_000] * 40
        assert not caller.server.sent("error") and not caller.notices

    play(scenario, serving(Answer(audio_ms=200), cap_s=20))


def test_the_next_session_stands_before_the_last_is_left() -> None:
    """An hour's session is exchanged ten minutes ahead; the old one is closed, not dropped."""

    async def scenario(caller: Caller) -> None:
        await caller.ask("One?")
        await asyncio.sleep(3100)
        opened = next(
            entry.at_s
            for entry in caller.server.log
            if entry.connection == 1 and entry.type == "session.updated"
        )
        assert 2990 <= opened - 1_000_000 <= 3010
        await caller.ask("Two?")
        assert caller.told("user", 1) == ["One?"]
        assert len(caller.server.connections) == 2

    play(scenario, serving(cap_s=3600))


def test_a_turn_that_is_spoken_over_the_time_limit_is_whole() -> None:
    """Somebody who talks through every quiet moment is heard to the last sample."""

    async def scenario(caller: Caller) -> None:
        began_ms = await caller.begin(1000)
        for _ in range(30):
            await asyncio.sleep(1)
            await caller.sound(1000, 4000)
        await caller.end(began_ms, "A long story")
        await caller.answers(1)
        last = caller.server.connections[-1]
        assert len(caller.server.connections) >= 2
        assert abs(last.turns_bytes[-1] // 2 - 31_000 * 24) <= 1
        assert [turn.speaker for turn in caller.turns] == ["user", "assistant"]

    play(scenario, serving(cap_s=20))


def test_a_line_that_goes_dead_while_somebody_waits_is_left_within_half_a_second() -> None:
    """The pong that does not come opens another session, and the answer comes from there."""

    async def scenario(caller: Caller) -> None:
        await caller.ask("One?")
        said_s = asyncio.get_running_loop().time()
        await caller.say("Two?")
        await caller.until(lambda: len(caller.of(AnswerBeganFrame)) == 2)
        assert asyncio.get_running_loop().time() - said_s <= 0.5
        assert len(caller.server.connections) == 2

    play(scenario, serving(faults=[Fault("input_audio_buffer.commit", HalfOpen(), nth=2)]))


def test_a_slow_line_is_not_left() -> None:
    """A pong that comes late, but before another session is open, keeps the session."""

    async def scenario(caller: Caller) -> None:
        for number in range(3):
            await caller.ask(f"Question {number}")
        assert len({turn.text for turn in caller.turns[1::2]}) == 1
        assert len(caller.server.received("response.create")) == 3

    play(scenario, serving(Answer(think_s=8), handshake_s=0.4))


# What notes and tools add -----------------------------------------------------------------

FOUND = NotesFound(block="From your notes: the boiler is from 2019.", extracts=())


def test_notes_are_told_for_one_answer() -> None:
    """Behind the words, before the response, and deleted when it was given; looked up once."""
    asked: list[str] = []

    async def notes(words: str) -> NotesFound | None:
        asked.append(words)
        return FOUND if "boiler" in words else None

    def set_up(caller: Caller) -> None:
        caller.notes = notes

    async def scenario(caller: Caller) -> None:
        began_ms = await caller.begin(1000)
        text = "How old is the boiler?"
        guess = Guess(
            number=1, text=text, language="en", began_ms=began_ms, ended_ms=900, ended_s=0.9
        )
        await caller.tell(guess)
        await caller.end(began_ms, text)
        await caller.answers(1)
        await caller.ask("And her birthday?")
        assert asked == [text, "And her birthday?"]
        assert caller.told("system").count(FOUND.block) == 1
        (deleted,) = caller.server.received("conversation.item.delete")
        kept = [item["id"] for item in caller.server.connections[0].items]
        assert deleted["item_id"] not in kept
        assert not caller.server.sent("error")

    play(scenario, set_up=set_up)


def test_what_was_asked_to_be_searched_is_all_that_is_looked_up() -> None:
    """Plain code has searched already: its extracts go beside the request, and no others."""

    async def notes(words: str) -> NotesFound | None:
        raise AssertionError(words)

    def set_up(caller: Caller) -> None:
        caller.notes = notes

    async def scenario(caller: Caller) -> None:
        told = Told(note="Found this.", said={"en": "It says …"}, whole=True, found=FOUND)
        await caller.send(TypedFrame(text="Search my notes.", pasted=False, told=told))
        await caller.answers(1)
        assert caller.told("system").count(FOUND.block) == 1
        assert caller.server.received("conversation.item.delete")

    play(scenario, set_up=set_up)


def test_a_search_that_hangs_costs_a_moment_and_no_answer() -> None:
    """Notes that can't be read in time are left out."""

    async def notes(words: str) -> NotesFound | None:
        await asyncio.sleep(3600)
        return None

    def set_up(caller: Caller) -> None:
        caller.notes = notes

    async def scenario(caller: Caller) -> None:
        began_s = asyncio.get_running_loop().time()
        await caller.say("When?")
        await caller.until(lambda: caller.of(AnswerBeganFrame))
        assert asyncio.get_running_loop().time() - began_s < 0.5

    play(scenario, set_up=set_up)


class Searching:
    name = "search_notes"
    description = "Looks something up."
    parameters: Mapping[str, Any] = {"type": "object", "properties": {"words": {"type": "string"}}}

    def __init__(self, takes_s: float = 1.0) -> None:
        self.takes_s = takes_s
        self.asked: list[Mapping[str, Any]] = []

    async def __call__(self, arguments: Mapping[str, Any]) -> str:
        self.asked.append(arguments)
        await asyncio.sleep(self.takes_s)
        if "words" not in arguments:
            raise ValueError("no words")
        return "The boiler is from 2019."


SEARCHES = Answer(text="", audio_ms=0, calls=(("search_notes", '{"words": "boiler"}'),))
TOOL_FAULTS = [
    None,
    Fault("response.output_item.done", Abort()),
    Fault("response.done", Abort()),
    Fault("conversation.item.create", Abort(), nth=2),
    Fault("response.create", Abort(), nth=2),
    Fault("response.created", HalfOpen(), nth=2),
]


@pytest.mark.parametrize("fault", TOOL_FAULTS, ids=str)
def test_a_tool_s_result_is_told_once_wherever_the_socket_goes(fault: Fault | None) -> None:
    """One call of the tool, one answer, and the session that answers knows the result."""
    tool = Searching()

    def set_up(caller: Caller) -> None:
        caller.tools = (tool,)

    async def scenario(caller: Caller) -> None:
        assert await caller.ask("How old is the boiler?") == Answer().text
        await asyncio.sleep(30)
        items = caller.server.connections[-1].items
        outputs = [item["output"] for item in items if item["type"] == "function_call_output"]
        assert outputs == ["The boiler is from 2019."]
        assert len(tool.asked) == 1 and len(caller.of(AnswerBeganFrame)) == 1
        assert not caller.server.sent("error")

    play(scenario, serving(SEARCHES, Answer(), faults=[fault] if fault else []), set_up=set_up)


BAD_CALLS = [
    ("search_notes", "not json", "no JSON object"),
    ("search_notes", "{}", "failed"),
    ("unknown", "{}", "no tool unknown"),
]


@pytest.mark.parametrize(("name", "arguments", "told"), BAD_CALLS)
def test_a_model_that_calls_a_tool_wrongly_hears_of_it(
    name: str, arguments: str, told: str
) -> None:
    """And the user still gets an answer."""

    def set_up(caller: Caller) -> None:
        caller.tools = (Searching(),)

    async def scenario(caller: Caller) -> None:
        await caller.ask("How old is the boiler?")
        items = caller.server.connections[0].items
        (output,) = (item["output"] for item in items if item["type"] == "function_call_output")
        assert told in output

    calling_it = Answer(text="", audio_ms=0, calls=((name, arguments),))
    play(scenario, serving(calling_it, Answer()), set_up=set_up)


# The cache --------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", [DOCUMENTED, SEEN], ids=["documented", "seen"])
def test_the_prefix_is_cached_from_the_second_turn_on(rule: Rule) -> None:
    """With time passing, news, notes and tools: at least 95 % of it, in every later session too."""

    async def notes(words: str) -> NotesFound | None:
        return FOUND if "3" in words else None

    def set_up(caller: Caller) -> None:
        caller.notes = notes
        caller.tools = (Searching(),)

    async def scenario(caller: Caller) -> None:
        for number in range(24):
            caller.news = [f"USER.md now says {number}."] if number % 5 == 0 else []
            await caller.ask(f"Question {number}")
            await asyncio.sleep(50)
        assert len(caller.server.connections) >= 2
        hits = caller.server.cache.hits
        assert len(hits) == 24
        assert min(hit.prefix_share for hit in hits[1:]) >= 0.95

    play(scenario, serving(Answer(audio_ms=200), cap_s=600, cache_rule=rule), set_up=set_up)


def test_a_notebook_that_changed_stands_in_the_next_session_s_instructions() -> None:
    """Till then it is an item; each answer tells which prefix it rode behind (V7)."""
    fresh = Prefix(text=NOTEBOOK + "- Ana moved to Rome.\n", sha256="fresh")

    async def fresh_prefix() -> Prefix:
        return fresh

    def set_up(caller: Caller) -> None:
        caller.fresh_prefix = fresh_prefix

    async def scenario(caller: Caller) -> None:
        caller.news = ["Ana moved to Rome."]
        await caller.ask("Where is she?")
        await asyncio.sleep(30)
        await caller.ask("And now?")
        first, second = caller.server.received("session.update")
        assert "Rome" not in first["session"]["instructions"]
        assert second["session"]["instructions"] == fresh.text
        assert any("Rome" in text for text in caller.told("system", 0))
        assert not any("Rome" in text for text in caller.told("system", 1))
        hashes = [e.prefix_sha256 for e in caller.events if isinstance(e, TokensCounted)]
        assert len(set(hashes)) == 2 and hashes[-1] == "fresh"

    play(scenario, serving(cap_s=40), set_up=set_up)


def test_a_thousand_turns_have_one_prefix() -> None:
    """Time passes, notes are found, news come: tools and instructions stay the same bytes."""
    core = OpenAICore(prefix=Prefix(text=NOTEBOOK, sha256="p"), language="en")
    digests: Counter[str] = Counter()
    at = BEGAN_AT
    for number in range(1000):
        if number % 50 == 0:
            core.adopt(at)
        at += timedelta(minutes=7)
        question = Question(to=None, text=f"Question {number}", notes=FOUND)
        core.asked(question, at, "news" if number % 3 == 0 else None)
        core.received({"type": "response.created", "response": {"id": f"r{number}"}}, 0.0)
        core.received({"type": "response.done", "response": {"id": f"r{number}"}}, 0.0)
        update = json.dumps(settings(core.prefix, model="m", voice="v", tools=(Searching(),)))
        digests[hashlib.sha256(update.encode()).hexdigest()] += 1
        sent = [effect.event["type"] for effect in core.take() if isinstance(effect, Send)]
        assert "session.update" not in sent
    assert len(digests) == 1


ANSWERED = [
    Fault("response.create", Error("response_cancel_not_active")),
    Fault("input_audio_buffer.append", Error("invalid_value")),
    Fault("input_audio_buffer.append", Error("something_new", kind="a_new_kind")),
    Fault("input_audio_buffer.append", Error("rate_limit_exceeded", kind="rate_limit_error")),
    Fault("input_audio_buffer.append", Error("server_error", kind="server_error")),
    Fault("response.create", Error("server_error", kind="server_error", instead=True, about=True)),
    Fault("response.create", Error("rate_limit_exceeded", instead=True, about=True)),
    Fault("response.create", Error("rate_limit_exceeded", instead=True)),
    Fault("response.create", Error("something_new", instead=True, about=True)),
    Fault("response.create", Error("session_expired", instead=True)),
    Fault("response.created", Error("session_expired")),
    Fault("response.created", Say("this is no JSON")),
    Fault("response.created", Say('{"type": "response.output_audio.delta"}')),
    Fault("response.created", Say('{"type": "a.new.event", "event_id": "e"}')),
    Fault("input_audio_buffer.committed", Close(3000, "invalid_request_error.session_expired")),
]


@pytest.mark.parametrize("fault", ANSWERED, ids=str)
def test_an_error_event_does_not_deafen(fault: Fault) -> None:
    """After any error that is not fatal the turn and the next one are answered, once each."""

    async def scenario(caller: Caller) -> None:
        await caller.ask("One?")
        await caller.ask("Two?")
        await asyncio.sleep(30)
        assert len(caller.of(AnswerBeganFrame)) == 2
        assert not caller.of(AnswerFailedFrame)

    play(scenario, serving(faults=[fault]))


@pytest.mark.parametrize("code", ["rate_limit_exceeded", "server_error"])
def test_a_response_that_failed_is_asked_for_again(code: str) -> None:
    """A failed response without sound is tried again after a pause."""
    failed = Answer(audio_ms=0, status="failed", code=code)

    async def scenario(caller: Caller) -> None:
        await caller.ask("One?")
        assert len(caller.server.received("response.create")) == 3

    play(scenario, serving(failed, failed, Answer()))


def test_a_response_that_always_fails_is_given_up_with_a_sentence() -> None:
    """Three tries, then the turn fails, and the next turn is tried anew."""
    failed = Answer(audio_ms=0, status="failed", code="server_error")

    async def scenario(caller: Caller) -> None:
        await caller.say("One?")
        await caller.until(lambda: caller.of(AnswerFailedFrame))
        assert len(caller.server.received("response.create")) == 3
        await caller.ask("Two?")

    play(scenario, serving(failed, failed, failed, Answer()))


def test_a_server_that_never_answers_is_left_for_a_new_session() -> None:
    """Twenty silent seconds count as a lost connection; the question is asked anew there."""

    async def scenario(caller: Caller) -> None:
        await caller.ask("One?")
        assert len(caller.server.connections) == 2

    play(scenario, serving(Answer(silent=True), Answer()))


def test_a_server_that_never_answers_at_all_fails_the_turn() -> None:
    """Three sessions, no answer: the user is told, and the call still listens."""

    async def scenario(caller: Caller) -> None:
        await caller.say("One?")
        await caller.until(lambda: caller.of(AnswerFailedFrame))
        assert len(caller.server.received("response.create")) == 3
        await caller.ask("Two?")

    silent = Answer(silent=True)
    play(scenario, serving(silent, silent, silent, Answer()))


FATAL = ["insufficient_quota", "invalid_api_key", "account_deactivated", "model_not_found"]


@pytest.mark.parametrize("code", FATAL)
@pytest.mark.parametrize("how", ["event", "response", "close"])
def test_a_fatal_error_is_told_and_not_tried_again(code: str, how: str) -> None:
    """The user learns what happened and what to do; nothing is tried in vain."""
    answer = Answer(audio_ms=0, status="failed", code=code) if how == "response" else Answer()
    do = (
        Error(code, instead=True)
        if how == "event"
        else Close(3000, f"invalid_request_error.{code}")
    )
    faults = [] if how == "response" else [Fault("response.create", do)]

    async def scenario(caller: Caller) -> None:
        await caller.say("One?")
        await caller.until(lambda: caller.of(AnswerFailedFrame))
        (notice,) = caller.notices
        assert notice.kind == "stop" and "local engine" in notice.text
        await caller.say("Two?")
        await caller.until(lambda: len(caller.of(AnswerFailedFrame)) == 2)
        assert len(caller.server.connections) == 1

    play(scenario, serving(answer, faults=faults))


def test_a_network_that_is_gone_is_told_and_tried_again_with_the_next_turn() -> None:
    """Bounded tries, a sentence, an unanswered turn; the next turn finds the network back."""

    async def scenario(caller: Caller) -> None:
        await caller.ask("One?")
        await caller.server.stop()
        await caller.say("Two?")
        await caller.until(lambda: caller.of(AnswerFailedFrame))
        assert [notice.kind for notice in caller.notices] == ["handled", "stop"]
        assert len(caller.server.requests) == 1
        await caller.server.restart()
        await caller.ask("Three?")
        assert caller.told("user", 1) == ["One?", "Two?", "Three?"]

    play(scenario)


def test_a_server_that_refuses_for_a_while_is_tried_until_it_accepts() -> None:
    """HTTP 503 and 429 at reconnecting are tried again, with growing pauses."""

    async def scenario(caller: Caller) -> None:
        await caller.ask("One?")
        caller.server.refuse = [503, 429, 503]
        caller.server.connections[0].abort()
        await caller.ask("Two?")
        assert len(caller.server.requests) == 5

    play(scenario)


def test_a_server_that_turns_the_key_away_in_mid_call_is_not_asked_again() -> None:
    """HTTP 401 at reconnecting ends the tries at once."""

    async def scenario(caller: Caller) -> None:
        caller.server.refuse = [401]
        caller.server.connections[0].abort()
        await caller.until(lambda: any(notice.kind == "stop" for notice in caller.notices))
        assert len(caller.server.requests) == 2
        assert "key" in caller.notices[-1].text

    play(scenario)


@pytest.mark.parametrize("fault", [None, HalfOpen(), Abort()], ids=str)
def test_closing_takes_less_than_a_second(fault: Any) -> None:
    """Also with a peer that does not answer, and in the middle of reconnecting."""

    async def scenario(caller: Caller) -> None:
        if fault is not None:
            caller.server.refuse = [503] * 50
        await caller.say("One?")
        await caller.server.until(lambda: caller.server.received("input_audio_buffer.commit"))
        began_s = asyncio.get_running_loop().time()
        await caller.worker.cancel(reason="hang-up")
        await caller.engine.close()
        assert asyncio.get_running_loop().time() - began_s < 1

    faults = [Fault("input_audio_buffer.commit", fault)] if fault else []
    play(scenario, serving(faults=faults))


def test_news_that_came_while_the_line_was_down_reach_the_new_session() -> None:
    """The question that waited is answered with the notebooks as they are now."""

    async def scenario(caller: Caller) -> None:
        caller.server.connections[0].abort()
        caller.news = ["Ana moved to Lima."]
        await caller.ask("Where does she live?")
        assert caller.told("system", 1)[1:] == ["Ana moved to Lima."]

    play(scenario)


def test_nothing_that_is_said_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    """From INFO up the log holds ids and counts, no words and no notebooks."""

    async def scenario(caller: Caller) -> None:
        await caller.ask("A question about quokkas?")
        await caller.ask("Another about quokkas?")

    caplog.set_level("INFO")
    broken = Fault("response.created", Say('{"type": "response.done", "quokkas": 1}'))
    faults = [broken, Fault("response.create", Abort(), nth=2)]
    play(scenario, serving(Answer(text="Quokkas are small."), faults=faults))
    assert "prompt tokens cached" in caplog.text
    assert "uokka" not in caplog.text and "Ana" not in caplog.text


# Opening ----------------------------------------------------------------------------------


def refused(server: Callable[[], RealtimeServer], **settings: Any) -> str:
    async def main() -> str:
        async with asyncio.timeout(100), server() as listening:
            engine = RealtimeEngine(OPENAI_REALTIME, **{"url": listening.url, **settings})
            with pytest.raises(EngineUnavailable) as fault:
                await engine.open(Caller(listening).opening())
            await engine.close()
            return str(fault.value)

    return run_virtual(main, epoch_s=BEGAN_AT.timestamp())


UNAVAILABLE: list[tuple[Callable[[], RealtimeServer], dict[str, Any], str]] = [
    (serving(key="right"), {"key": "wrong"}, "refused the key"),
    (serving(refuse=[404]), {}, "openai_model"),
    (serving(refuse=[429]), {}, "busy"),
    (serving(refuse=[503]), {}, "503"),
    (
        serving(faults=[Fault("session.update", Error("model_not_found", instead=True))]),
        {},
        "model",
    ),
    (
        serving(faults=[Fault("session.update", Error("invalid_value", instead=True))]),
        {},
        "settings",
    ),
    (serving(faults=[Fault("session.created", HalfOpen())]), {}, "in time"),
    (serving(faults=[Fault("session.created", Abort())]), {}, "closed"),
    (serving(faults=[Fault("session.created", Close(3000, "x.invalid_api_key"))]), {}, "key"),
    (serving(), {"url": "ws://127.0.0.1:9/v1/realtime"}, "Nobody answers"),
    (serving(), {"url": "wss://api.openai.com/v1/realtime"}, "needs a key"),
    (serving(), {"url": "http://127.0.0.1/v1"}, "no address"),
    (serving(), {"url": "ws://192.0.2.7/v1", "key": "k"}, "unencrypted"),
]


@pytest.mark.parametrize(
    ("server", "settings", "words"), UNAVAILABLE, ids=[str(row[1:]) for row in UNAVAILABLE]
)
def test_a_session_that_cannot_be_opened_says_why(
    server: Callable[[], RealtimeServer], settings: dict[str, Any], words: str
) -> None:
    """EngineUnavailable names the cause and the setting to look at."""
    assert words in refused(server, **settings)


def test_an_address_with_a_query_of_its_own_works_without_a_key() -> None:
    """Any server that speaks the protocol is reached by its address alone."""

    async def main() -> None:
        async with (
            asyncio.timeout(100),
            RealtimeServer() as server,
            call(server, url=f"{server.url}?deployment=a%20b&model=mine") as caller,
        ):
            await caller.ask("One?")
            (request,) = server.requests
            assert request.path == "/v1/realtime?model=mine&deployment=a+b"
            assert "Authorization" not in request.headers

    run_virtual(main, epoch_s=BEGAN_AT.timestamp())


def test_notebooks_larger_than_the_socket_s_default_limit_are_no_fault() -> None:
    """A session whose echo is larger than 1 MiB opens."""

    async def main() -> None:
        async with asyncio.timeout(100), RealtimeServer() as server:
            engine = RealtimeEngine(OPENAI_REALTIME, url=server.url)
            await engine.open(Caller(server).opening(prefix="ñ" * 1_500_000))
            await engine.close()
            (update,) = server.received("session.update")
            assert len(json.dumps(update)) > 2**20

    run_virtual(main, epoch_s=BEGAN_AT.timestamp())


def test_what_the_engine_is_stands_in_words() -> None:
    """The description names the model and where the words go; an open line is warned of."""
    far = RealtimeEngine(OPENAI_REALTIME, key="k").description
    assert far.words_go_to == "api.openai.com" and far.thinks == "gpt-realtime-2.1"
    near = RealtimeEngine(OPENAI_REALTIME, url="ws://127.0.0.1:9000/v1/realtime").description
    assert near.words_go_to.endswith("on this machine") and not near.warning
    assert (
        "not encrypted"
        in RealtimeEngine(OPENAI_REALTIME, url="ws://192.0.2.7/v1").description.warning
    )


# The microphone's frames --------------------------------------------------------------


class CountingSpeaker(Speaker):
    def __init__(self) -> None:
        super().__init__()
        self.microphone_frames = 0

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        self.microphone_frames += isinstance(frame, MicrophoneFrame)
        await super().process_frame(frame, direction)


@pytest.mark.parametrize(("passes_on", "passed"), [(True, 50), (False, 0)])
def test_sound_that_nobody_behind_takes_ends_here(passes_on: bool, passed: int) -> None:
    """It counts as delivered either way, and the service gets all of it."""

    async def main() -> None:
        async with RealtimeServer() as server:
            caller = Caller(server)
            caller.speaker = speaker = CountingSpeaker()
            intake = Intake()
            async with calling(caller):
                assert isinstance(caller.processor, TakesSound)
                caller.processor.passes_sound_on = passes_on
                await caller.tell(SpeechBegan(began_ms=0))
                intake.put(bytes(2 * 16_000), 16_000)
                intake.shut()
                while (arrived := await intake.take()) is not None:
                    frame = MicrophoneFrame(
                        audio=arrived.samples,
                        sample_rate=16_000,
                        num_channels=1,
                        arrived_s=arrived.at_s,
                        intake=intake,
                    )
                    await caller.send(frame)
                    intake.heard()
                caller.position_ms = 1_000
                await caller.end(0, "Hello")
                await server.until(lambda: server.received("response.create"))
                await caller.answers(1)
            assert intake.summary().delivered == 50
            assert speaker.microphone_frames == passed
            [length] = server.connections[0].turns_bytes
            assert abs(length - 48_000) <= 200

    run_virtual(main, epoch_s=BEGAN_AT.timestamp())
