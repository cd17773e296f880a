"""The Gemini Live engine in a pipeline, against the server of ours, on a virtual clock."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any

import pytest
from pipecat.frames.frames import TTSAudioRawFrame

from tests.fakes.gemini_server import GeminiServer
from tests.fakes.remote_call import BEGAN_AT, GeminiCaller, calling
from tests.fakes.service import Abort, Answer, Behind, Close, Fault, HalfOpen, Say, Twice
from voice.engines.gemini_live import GEMINI_LIVE
from voice.engines.realtime_engine import RealtimeEngine
from voice.errors import EngineUnavailable
from voice.frames import AnswerBeganFrame, AnswerDoneFrame, AnswerFailedFrame, TypedFrame
from voice.records import NoTurn, Partial, Told
from voice.virtual_time import run_virtual


def serving(
    *answers: Answer, faults: Sequence[Fault] = (), **more: Any
) -> Callable[[], GeminiServer]:
    return lambda: GeminiServer(answers=list(answers) or [Answer()], faults=list(faults), **more)


def play(
    scenario: Callable[[GeminiCaller], Coroutine[Any, Any, None]],
    server: Callable[[], GeminiServer] = GeminiServer,
    **settings: Any,
) -> None:
    async def main() -> None:
        async with (
            asyncio.timeout(20_000),
            server() as listening,
            calling(GeminiCaller(listening), **settings) as caller,
        ):
            await scenario(caller)

    run_virtual(main, epoch_s=BEGAN_AT.timestamp())


LONG = Answer(text=" ".join(f"word{number}" for number in range(40)), audio_ms=10_000, speed=2)


def test_a_spoken_turn_is_an_activity_and_is_answered_once() -> None:
    """Start, every sample at 16 kHz, end; the answer is one turn with its counts."""

    async def scenario(caller: GeminiCaller) -> None:
        assert await caller.ask("When is it?") == Answer().text
        (setup,) = caller.server.received("setup")
        given = setup["setup"]
        assert given["realtimeInputConfig"] == {"automaticActivityDetection": {"disabled": True}}
        assert (
            given["sessionResumption"] == {}
            and "slidingWindow" in given["contextWindowCompression"]
        )
        kinds = [event["type"] for event in caller.server.received()]
        assert kinds[:2] == ["setup", "clientContent"]
        assert kinds[2] == "realtimeInput.activityStart"
        assert kinds[-1] == "realtimeInput.activityEnd"
        assert caller.server.connections[0].turns_bytes == [2 * 16_000]
        assert caller.samples == 2 * 24_000
        (done,) = caller.of(AnswerDoneFrame)
        assert isinstance(done, AnswerDoneFrame)
        assert done.prompt_tokens and done.cached_tokens == 0

    play(scenario)


def test_the_answer_ends_when_it_was_played_not_when_the_service_thinks_so() -> None:
    """A turnComplete that comes with the playback's end does not hold the answer open."""

    async def scenario(caller: GeminiCaller) -> None:
        for number in range(3):
            await caller.ask(f"Question {number}")
            await asyncio.sleep(1)
        assert len(caller.of(AnswerBeganFrame)) == 3

    play(scenario, serving(plays=True))


def test_noise_begins_no_activity_and_words_that_came_to_nothing_are_not_answered() -> None:
    """An activity can't be taken back, so it begins with words; what is said to none is not heard."""

    async def scenario(caller: GeminiCaller) -> None:
        began_ms = await caller.begin(600)
        await caller.tell(NoTurn(reason="noise", began_ms=began_ms, ended_ms=caller.position_ms))
        await asyncio.sleep(1)
        assert not caller.server.received("realtimeInput.activityStart")
        began_ms = await caller.begin(600)
        await caller.tell(Partial(text="you", language="en", began_ms=began_ms))
        await caller.tell(NoTurn(reason="invented", began_ms=began_ms, ended_ms=caller.position_ms))
        await asyncio.sleep(5)
        assert not caller.of(AnswerBeganFrame)
        assert await caller.ask("And now?") == "Two."

    play(scenario, serving(Answer(), Answer(text="Two.")))


def test_words_stream_while_they_are_spoken() -> None:
    """From the first words on the sound goes out as it comes."""

    async def scenario(caller: GeminiCaller) -> None:
        began_ms = await caller.begin(600)
        await caller.tell(Partial(text="When is", language="en", began_ms=began_ms))
        await caller.sound(400, 4000)
        await caller.server.until(lambda: caller.server.received("realtimeInput.audio"))
        await caller.end(began_ms, "When is it?")
        await caller.answers(1)
        assert caller.server.connections[0].turns_bytes == [2 * 16_000]

    play(scenario)


def test_a_typed_turn_is_an_activity_of_words() -> None:
    """Typed words are answered as spoken ones are."""

    async def scenario(caller: GeminiCaller) -> None:
        await caller.send(TypedFrame(text="When is it?"))
        await caller.answers(1)
        assert caller.texts() == ["When is it?"]

    play(scenario)


def test_the_prefix_and_what_changes() -> None:
    """News and an outcome stand with the turn that they came with; the setup is sent once."""

    async def scenario(caller: GeminiCaller) -> None:
        caller.news = ["Ana moved to Lima."]
        await caller.ask("Where is she?")
        told = Told(note="This was saved: vegan.", said={"en": "Saved."}, whole=True)
        await caller.send(TypedFrame(text="Remember that I'm vegan.", told=told))
        await caller.answers(2)
        assert len(caller.server.received("setup")) == 1
        said = caller.contents("user") + caller.texts()
        assert sum("Lima" in text for text in said) == 1
        assert sum("vegan" in text for text in said) == 2  # the outcome and the turn itself
        assert any("It is Sunday, 1 March 2026" in text for text in said)

    play(scenario)


@pytest.mark.parametrize("after_ms", [30, 310, 2345])
def test_an_interrupted_answer_ends_and_the_service_hears_what_was_heard(after_ms: int) -> None:
    """Nothing of it comes out behind, the next turn's answer is the next one, and both agree on
    the words that were heard."""

    async def scenario(caller: GeminiCaller) -> None:
        await caller.say("Tell me a story")
        await caller.until(lambda: caller.of(TTSAudioRawFrame))
        await asyncio.sleep(after_ms / 1000)
        await caller.barge_in()
        samples = caller.samples
        assert await caller.ask("Stop. What time is it?") == "It is nine."
        assert abs(caller.samples - samples - 2 * 24_000) <= 480
        kept = [turn for turn in caller.turns if turn.interrupted]
        told = [text for text in caller.contents("user") if "interrupted" in text]
        assert len(told) == 1
        assert all(turn.text in told[0] for turn in kept)

    play(scenario, serving(LONG, Answer(text="It is nine.")))


class Clock:
    name = "look_at_the_clock"
    description = "What time it is."
    parameters: Mapping[str, Any] = {"type": "object", "properties": {}}

    async def __call__(self, arguments: Mapping[str, Any]) -> str:
        return f"nine, {arguments['zone']}"


CALLING = Answer(text="It is nine.", calls=(("look_at_the_clock", '{"zone": "UTC"}'),))


def with_clock(caller: GeminiCaller) -> None:
    caller.tools = (Clock(),)


@pytest.mark.parametrize("fault", [None, Abort(), Close(1011)], ids=str)
def test_a_tool_is_used_also_where_the_session_is_lost_meanwhile(fault: Any) -> None:
    """The result reaches the session that asked, or the next one in words; one answer comes."""

    async def scenario(caller: GeminiCaller) -> None:
        assert await caller.ask("What time is it?") == "It is nine."
        declared = caller.server.connections[0].setup["tools"][0]["functionDeclarations"]
        assert [tool["name"] for tool in declared] == ["look_at_the_clock"]
        await asyncio.sleep(15)
        assert len(caller.of(AnswerBeganFrame)) == 1

    faults = [Fault("toolResponse", fault)] if fault else []
    play(scenario, serving(CALLING, Answer(text="It is nine."), faults=faults), set_up=with_clock)


# Sessions ---------------------------------------------------------------------------------

THINKS_S = 1.0
DROPS = [Abort(), Close(1000), Close(1001), Close(1006), Close(1007), Close(1011), HalfOpen()]
PLACES = [
    "realtimeInput.activityStart",
    "realtimeInput.audio",
    "realtimeInput.activityEnd",
    "serverContent.inputTranscription",
    "serverContent.modelTurn",
    "serverContent.turnComplete",
]


@pytest.mark.parametrize("drop", DROPS, ids=str)
@pytest.mark.parametrize("place", PLACES)
def test_a_lost_socket_costs_no_answer(drop: Any, place: str) -> None:
    """Wherever the socket goes in a turn: one answer to each of two turns, whole."""
    if isinstance(drop, Close) and drop.code == 1006:
        drop = Abort()  # 1006 is never sent

    async def scenario(caller: GeminiCaller) -> None:
        assert await caller.ask("When is her birthday?") == Answer().text
        await caller.ask("And his?")
        await asyncio.sleep(15)
        assert [turn.speaker for turn in caller.turns] == ["user", "assistant"] * 2
        assert not caller.of(AnswerFailedFrame)
        assert 2 <= len(caller.server.connections) <= 3

    play(scenario, serving(faults=[Fault(place, drop)]))


def test_a_dead_line_is_found_by_its_pongs_once_the_service_gave_them_in_time() -> None:
    """The next session is asked within a second, and is told what the handle would have held."""

    async def scenario(caller: GeminiCaller) -> None:
        await caller.ask("One?")
        await caller.say("Two?")
        await asyncio.sleep(0.1)
        await caller.server.connections[0].kill("half-open")
        asked_s = asyncio.get_running_loop().time()
        await caller.until(lambda: len(caller.of(AnswerBeganFrame)) == 2)
        assert asyncio.get_running_loop().time() - asked_s <= 1.0 + THINKS_S
        assert len(caller.server.connections) == 2
        assert not caller.server.connections[1].resumed
        assert caller.contents("model", 1) == [Answer().text]
        assert not caller.notices

    play(scenario, serving(Answer(think_s=THINKS_S)))


def test_a_line_without_pongs_is_not_left() -> None:
    """A service that answers no ping, and thinks for long, keeps its session."""

    async def scenario(caller: GeminiCaller) -> None:
        for number in range(3):
            await caller.ask(f"Question {number}")
        assert len(caller.server.connections) == 1

    play(scenario, serving(Answer(think_s=5), pongs=False))


def test_a_session_is_resumed_by_its_handle() -> None:
    """The next socket carries on where the last one stopped: nothing is told twice."""

    async def scenario(caller: GeminiCaller) -> None:
        await caller.ask("One?")
        caller.server.connections[0].abort()
        await caller.server.until(lambda: caller.server.received("setup", connection=1))
        await caller.ask("Two?")
        second = caller.server.connections[1]
        assert second.resumed
        assert caller.contents("model", 1) == []
        assert not any("One?" in text for text in caller.contents("user", 1))

    play(scenario)


def test_a_handle_that_is_refused_gives_way_to_the_text() -> None:
    """The conversation is told as text at once, and goes on."""

    async def scenario(caller: GeminiCaller) -> None:
        await caller.ask("One?")
        caller.server.connections[0].abort()
        await caller.ask("Two?")
        last = caller.server.connections[-1]
        assert not last.resumed and len(caller.server.connections) == 3
        number = len(caller.server.connections) - 1
        assert "One?" in caller.contents("user", number)
        assert caller.contents("model", number) == [Answer().text]

    play(scenario, serving(knows_handles=False))


def test_ten_connections_in_a_row_lose_no_sample_and_double_no_turn() -> None:
    """With a GoAway ahead each is left at a quiet moment, and every turn is there once."""

    async def scenario(caller: GeminiCaller) -> None:
        for number in range(40):
            await caller.ask(f"Question {number}")
            await asyncio.sleep(5)
        assert [turn.text for turn in caller.turns[::2]] == [f"Question {n}" for n in range(40)]
        assert [turn.text for turn in caller.turns[1::2]] == [Answer().text] * 40
        assert len(caller.server.connections) >= 10
        sent = [length for each in caller.server.connections for length in each.turns_bytes]
        assert sent == [32_000] * 40
        assert not caller.notices

    play(scenario, serving(Answer(audio_ms=200), cap_s=20, go_away_s=8))


def test_a_turn_in_which_the_connection_ends_is_whole_in_the_next() -> None:
    """Without a warning: every sample of it is sent again."""

    async def scenario(caller: GeminiCaller) -> None:
        began_ms = await caller.begin(600)
        await caller.tell(Partial(text="When is", language="en", began_ms=began_ms))
        await caller.server.until(lambda: len(caller.server.connections) == 2)
        await caller.sound(400, 4000)
        await caller.end(began_ms, "When is it?")
        await caller.answers(1)
        assert caller.server.connections[1].turns_bytes == [2 * 16_000]

    play(scenario, serving(faults=[Fault("realtimeInput.audio", Abort())]))


ODD = [
    Fault("serverContent.turnComplete", Twice()),
    Fault("serverContent.generationComplete", Behind()),
    Fault("serverContent.outputTranscription", Behind()),
    Fault("serverContent.inputTranscription", Say("this is no JSON")),
    Fault("serverContent.inputTranscription", Say('{"serverContent": {"modelTurn": 3}}')),
    Fault("serverContent.inputTranscription", Say('{"somethingNew": {}}')),
    Fault("sessionResumptionUpdate", Twice(), nth=2),
]


@pytest.mark.parametrize("fault", ODD, ids=str)
def test_odd_messages_cost_no_turn(fault: Fault) -> None:
    """Doubled, late, broken or unknown: each turn has its answer once."""

    async def scenario(caller: GeminiCaller) -> None:
        await caller.ask("One?")
        await caller.ask("Two?")
        await asyncio.sleep(15)
        assert [turn.speaker for turn in caller.turns] == ["user", "assistant"] * 2

    play(scenario, serving(faults=[fault]))


def test_a_service_that_says_nothing_is_asked_anew_in_another_session() -> None:
    """Six silent seconds count as lost; the words are said again there."""

    async def scenario(caller: GeminiCaller) -> None:
        await caller.ask("One?")
        assert len(caller.server.connections) == 2
        assert caller.texts(1) == ["One?"]

    play(scenario, serving(Answer(silent=True), Answer()))


UNAVAILABLE: list[tuple[Callable[[], GeminiServer], dict[str, Any], str]] = [
    (serving(key="right"), {"key": "wrong"}, "refused the key"),
    (serving(refuse=[503]), {}, "busy"),
    (serving(refuse=[401]), {}, "key"),
    (serving(faults=[Fault("setup", Close(1011, "Internal error encountered."))]), {}, "1011"),
    (serving(), {"url": "wss://generativelanguage.googleapis.com/ws/x"}, "needs a key"),
    (serving(), {"url": "http://127.0.0.1/ws"}, "no address"),
    (serving(), {"url": "ws://127.0.0.1:9/ws"}, "Nobody answers"),
]


@pytest.mark.parametrize(
    ("server", "settings", "words"), UNAVAILABLE, ids=[str(row[1:]) for row in UNAVAILABLE]
)
def test_a_session_that_cannot_be_opened_says_why(
    server: Callable[[], GeminiServer], settings: dict[str, Any], words: str
) -> None:
    """EngineUnavailable names the cause and the setting to look at."""

    async def main() -> str:
        async with asyncio.timeout(100), server() as listening:
            engine = RealtimeEngine(GEMINI_LIVE, **{"url": listening.url, **settings})
            with pytest.raises(EngineUnavailable) as fault:
                await engine.open(GeminiCaller(listening).opening())
            await engine.close()
            return str(fault.value)

    assert words in run_virtual(main, epoch_s=BEGAN_AT.timestamp())


def test_neither_key_nor_words_are_logged(caplog: pytest.LogCaptureFixture) -> None:
    """The key is in the address, as the service wants it, and nowhere else; at DEBUG neither."""

    async def scenario(caller: GeminiCaller) -> None:
        await caller.ask("A question about quokkas?")
        assert "key=s3cret" in caller.server.requests[0].path

    caplog.set_level("DEBUG")
    play(scenario, serving(Answer(text="Quokkas are small."), key="s3cret"), key="s3cret")
    ours = [each for each in caplog.records if each.name != "websockets.server"]  # not the fake's
    text = "\n".join(each.getMessage() for each in ours)
    assert "prompt tokens cached" in text
    assert "s3cret" not in text and "uokka" not in text


def test_what_the_engine_is_stands_in_words() -> None:
    """The description names the model, where the words go and who pays."""
    far = RealtimeEngine(GEMINI_LIVE, key="k").description
    assert far.words_go_to == "generativelanguage.googleapis.com"
    assert far.thinks == "gemini-3.8-live" and "billed to your key" in far.costs
    assert RealtimeEngine(GEMINI_LIVE, url="ws://127.0.0.1:9/x").description.words_go_to.endswith(
        "machine"
    )
