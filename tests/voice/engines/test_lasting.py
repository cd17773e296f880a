"""A call that loses its service for good and goes on with the local engine."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
from pipecat.frames.frames import InterruptionFrame

from memory.records import Turn
from tests.fakes.realtime_server import RealtimeServer
from tests.fakes.remote_call import BEGAN_AT, Caller, calling
from tests.fakes.service import Abort, Answer, Error, Fault
from tests.fakes.tone_voice import ToneVoice
from voice.engines.lasting import LastingEngine, answered
from voice.engines.local import LocalEngine
from voice.engines.openai_realtime import OPENAI_REALTIME
from voice.engines.protocol import Engine
from voice.engines.realtime_engine import RealtimeEngine
from voice.engines.scripted import ScriptedModel
from voice.errors import EngineUnavailable
from voice.frames import AnswerFailedFrame
from voice.records import EngineDescription
from voice.virtual_time import run_virtual

LOCAL = EngineDescription(
    name="Built-in", hears="", thinks="a script", speaks="", words_go_to="", costs="nothing"
)


class LastingCaller(Caller[RealtimeServer]):
    """Its local engine needs `spare_s` to get ready; None: there is none."""

    spare_s: float | None = 2.0
    model: ScriptedModel

    def make_engine(self, url: str, key: str) -> LastingEngine:
        async def spare() -> Engine:
            if self.spare_s is None:
                raise EngineUnavailable("The built-in model is not on this computer.")
            await asyncio.sleep(self.spare_s)
            return LocalEngine(self.model, ToneVoice(), languages=("en",), description=LOCAL)

        self.model = ScriptedModel(lambda _: "It is in May.")
        return LastingEngine(RealtimeEngine(OPENAI_REALTIME, url=url, key=key), spare)


def play(
    scenario: Callable[[LastingCaller], Coroutine[Any, Any, None]],
    server: RealtimeServer | None = None,
    **settings: Any,
) -> None:
    async def main() -> None:
        async with (
            asyncio.timeout(20_000),
            server or RealtimeServer() as listening,
            calling(LastingCaller(listening), **settings) as caller,
        ):
            await scenario(caller)

    run_virtual(main, epoch_s=BEGAN_AT.timestamp())


def test_when_nothing_else_is_left_the_local_engine_goes_on() -> None:
    """The turn that waited is answered by it, with the conversation so far; the user is told."""

    async def scenario(caller: LastingCaller) -> None:
        await caller.ask("One?")
        await caller.server.stop()
        assert await caller.ask("Two?") == "It is in May."
        texts = [message.content for message in caller.model.requests[-1]]
        assert texts.count("One?") == texts.count("Two?") == 1
        assert [event.engine.name for event in caller.changes] == ["Built-in"]
        assert caller.engine.description.name == "Built-in"
        assert any("takes over" in notice.text for notice in caller.notices)
        assert await caller.ask("Three?") == "It is in May."
        assert [turn.text for turn in caller.turns[::2]] == ["One?", "Two?", "Three?"]
        assert not caller.of(AnswerFailedFrame)

    play(scenario)


def test_a_refusal_that_no_try_mends_hands_over_at_once() -> None:
    """Credit that is used up in mid-call: nobody waits for tries in vain."""

    async def scenario(caller: LastingCaller) -> None:
        assert await caller.ask("One?") == "It is in May."
        assert len(caller.server.connections) == 1

    fault = Fault("response.create", Error("insufficient_quota", instead=True))
    play(scenario, RealtimeServer(faults=[fault]))


def test_the_local_engine_gets_ready_while_the_service_is_still_tried_for() -> None:
    """Somebody who waits hears it after some eight seconds, though it needs six to load."""

    async def scenario(caller: LastingCaller) -> None:
        caller.spare_s = 6
        await caller.ask("One?")
        await caller.server.stop()
        began_s = asyncio.get_running_loop().time()
        await caller.say("Two?")
        await caller.until(lambda: caller.spoken.endswith("May."))
        assert asyncio.get_running_loop().time() - began_s < 13

    play(scenario)


def test_a_service_that_comes_back_keeps_the_call() -> None:
    """What got ready meanwhile is not used."""

    async def scenario(caller: LastingCaller) -> None:
        await caller.ask("One?")
        await caller.server.stop()
        await asyncio.sleep(3)
        await caller.server.restart()
        assert await caller.ask("Two?") == Answer().text
        assert not caller.changes

    play(scenario)


def test_what_is_said_while_the_local_engine_gets_ready_is_answered_too() -> None:
    """It may take a minute to load; no turn of that time is lost."""

    async def scenario(caller: LastingCaller) -> None:
        caller.spare_s = 60
        await caller.say("One?")
        await asyncio.sleep(20)
        await caller.say("Two?")
        await caller.answers(1)
        await asyncio.sleep(5)
        said = " ".join(message.content for message in caller.model.requests[-1])
        assert "One?" in said and "Two?" in said

    fault = Fault("response.create", Error("insufficient_quota", instead=True))
    play(scenario, RealtimeServer(faults=[fault]))


def test_an_interruption_reaches_the_local_engine_and_comes_out_once() -> None:
    """Frames pass the deputy in their order."""

    async def scenario(caller: LastingCaller) -> None:
        await caller.ask("One?")
        await caller.say("Two?")
        await caller.until(lambda: caller.spoken.count("May") == 2)
        await caller.barge_in()
        await caller.until(lambda: caller.of(InterruptionFrame))
        await caller.ask("Three?")
        assert len(caller.of(InterruptionFrame)) == 1
        assert [turn.interrupted for turn in caller.turns].count(True) <= 1

    fault = Fault("response.create", Error("insufficient_quota", instead=True))
    play(scenario, RealtimeServer(faults=[fault]))


def test_a_service_that_can_not_be_opened_at_all_is_replaced_from_the_start() -> None:
    """The call begins with what is here, and says why."""

    async def scenario(caller: LastingCaller) -> None:
        assert await caller.ask("One?") == "It is in May."
        assert "refused the key" in caller.changes[0].reason

    play(scenario, RealtimeServer(key="right"), key="wrong")


def test_without_a_local_engine_the_user_is_told() -> None:
    """A stop, a turn without an answer; and the next turn tries the service again."""

    async def scenario(caller: LastingCaller) -> None:
        caller.spare_s = None
        await caller.ask("One?")
        await caller.server.stop()
        await caller.say("Two?")
        await caller.until(lambda: caller.of(AnswerFailedFrame))
        assert caller.notices[-1].kind == "stop"
        await caller.server.restart()
        await caller.ask("Three?")

    play(scenario)


def test_without_any_engine_the_call_does_not_begin() -> None:
    """What is told is what is wrong with the engine that was chosen."""

    async def main() -> None:
        async with asyncio.timeout(100), RealtimeServer(key="right") as server:
            caller = LastingCaller(server)
            caller.spare_s = None
            engine = caller.make_engine(server.url, "wrong")
            with pytest.raises(EngineUnavailable, match="refused the key"):
                await engine.open(caller.opening())
            await engine.close()

    run_virtual(main, epoch_s=BEGAN_AT.timestamp())


def test_a_loss_in_the_middle_of_an_answer_ends_it_before_the_next() -> None:
    """What was said of it stays; the local engine begins with the next turn."""

    async def scenario(caller: LastingCaller) -> None:
        await caller.say("Tell me a story")
        await caller.server.until(lambda: caller.server.sent("response.output_audio.delta"))
        await caller.server.stop()
        await caller.answers(1)
        assert await caller.ask("And then?") == "It is in May."
        assert [turn.speaker for turn in caller.turns] == ["user", "assistant"] * 2

    long = Answer(text=" ".join(f"word{n}" for n in range(40)), audio_ms=10_000, speed=2)
    play(scenario, RealtimeServer(answers=[long], faults=[Fault("nothing", Abort())]))


@pytest.mark.parametrize(("speakers", "count"), [("", 0), ("u", 0), ("ua", 2), ("uauu", 2)])
def test_what_waits_for_an_answer_is_no_history_yet(speakers: str, count: int) -> None:
    """It is handed over as a turn, not told as one that is past."""
    turns = [
        Turn(
            conversation="c", index=number, speaker="user" if each == "u" else "assistant",
            text="x", language=None, began_at=BEGAN_AT, ended_at=BEGAN_AT, origin="spoken",
        )
        for number, each in enumerate(speakers)
    ]  # fmt: skip
    assert len(answered(turns)) == count
