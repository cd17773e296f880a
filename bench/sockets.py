"""Sockets killed in a call: what survives, and what it costs.

A call of an hour on the virtual clock, with the engine as it ships and a fake of the service.
The user asks every few seconds; at random instants the newest socket is killed, in every way
in turn. The same call without a kill is what the times are compared with. The service's
n-th answer names how many turns of the user it knows, so a turn that it lost or doubled shows.
A session takes `--handshake-ms` to open, as over a network.

    python -m bench.sockets [--service openai|gemini] [--kills 200] [--minutes 60]
        [--handshake-ms 150] [--seed 1]
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import logging
import random
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import cycle
from typing import Any

from loguru import logger
from pipecat.frames.frames import TTSAudioRawFrame

from tests.fakes.gemini_server import GeminiServer
from tests.fakes.realtime_server import RealtimeServer
from tests.fakes.remote_call import BEGAN_AT, Caller, GeminiCaller, OpenAICaller, calling
from tests.fakes.service import Answer
from voice.frames import AnswerDoneFrame, AnswerFailedFrame
from voice.records import Partial, SpeechBegan
from voice.virtual_time import run_virtual

SPEECH_MS = 2_000
PAUSE_S = (1.0, 6.0)
THINKS_S = 0.3
KILLS = ("1006", "1000", "1001", "1007", "1011", "session_expired", "half-open")
PROMISED_MS = 300


@dataclass
class Outcome:
    """Of one call. Times are ms from a turn's last word to the first sound of its answer."""

    first_sound_ms: list[float] = field(default_factory=list)
    hit: set[int] = field(default_factory=set)
    wrong: list[str] = field(default_factory=list)
    turns: int = 0
    killed: Counter[str] = field(default_factory=Counter)
    sessions: int = 0
    samples_off: int = 0
    failed: int = 0


class Call:
    def __init__(self, caller: Caller[Any], kills: Iterator[float], seed: int) -> None:
        self._caller = caller
        self._kills = kills
        self._ways = cycle(KILLS)
        self._pauses = random.Random(seed)  # noqa: S311
        self._turn = 0
        self.outcome = Outcome()

    async def run(self, minutes: float) -> None:
        ends_s = _now_s() + 60 * minutes
        killing = asyncio.create_task(self._kill())
        while _now_s() < ends_s:
            await asyncio.sleep(self._pauses.uniform(*PAUSE_S))
            self._turn += 1
            await self._ask(self._turn)
        killing.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await killing
        self._check()

    async def _ask(self, number: int) -> None:
        caller = self._caller
        began_ms = caller.position_ms
        for frame in range(SPEECH_MS // 20):
            await caller.sound(20, 4000)
            if frame == 20:
                await caller.tell(SpeechBegan(began_ms=began_ms))
            if frame == 50:
                await caller.tell(Partial(text="Turn", language="en", began_ms=began_ms))
            await asyncio.sleep(0.02)
        await caller.end(began_ms, f"Turn {number}")
        asked_s = _now_s()
        await caller.until(lambda: caller.of(TTSAudioRawFrame, AnswerFailedFrame))
        self.outcome.first_sound_ms.append(1000 * (_now_s() - asked_s))
        await caller.until(lambda: caller.of(AnswerDoneFrame, AnswerFailedFrame))
        self.outcome.failed += len(caller.of(AnswerFailedFrame))
        caller.out.frames.clear()  # or each look at them would take longer than the last
        caller.server.log.clear()

    async def _kill(self) -> None:
        for at_s in self._kills:
            await asyncio.sleep(max(0.0, at_s - (_now_s() - 1_000_000)))
            connection = self._caller.server.connections[-1]
            way = next(self._ways)
            self.outcome.killed[way] += 1
            self.outcome.hit.add(self._turn)
            await connection.kill(way)

    def _check(self) -> None:
        outcome, caller = self.outcome, self._caller
        said = [turn.text for turn in caller.turns if turn.speaker == "user"]
        answers = [turn.text for turn in caller.turns if turn.speaker == "assistant"]
        outcome.turns = len(said)
        outcome.sessions = len(caller.server.connections)
        if said != [f"Turn {number}" for number in range(1, self._turn + 1)]:
            outcome.wrong.append("the user's turns are not what was said")
        if len(answers) != len(said):
            outcome.wrong.append(f"{len(said)} turns, {len(answers)} answers")
        for number, text in enumerate(answers, start=1):
            if text != _text(number):
                outcome.wrong.append(f"answer {number}: {text!r}")
        whole = caller.bytes_of_a_turn(SPEECH_MS)
        lengths = [length for each in caller.server.connections for length in each.turns_bytes]
        outcome.samples_off = max(
            (abs(length - whole) // 2 for length in lengths if length), default=0
        )


def _now_s() -> float:
    return asyncio.get_running_loop().time()


def _text(number: int) -> str:
    return f"You said {number} things so far and this is what I think of it."


def script(items: list[dict[str, Any]]) -> Answer:
    """An answer that shows how many turns the session knows; its rest, where a part was told."""
    said = [item for item in items if item.get("role") == "user" and _is_turn(item)]
    number = _left_out(said) + len(said)
    answer = Answer(text=_text(number), audio_ms=2400, speed=3.0, think_s=THINKS_S)
    last = next((i for i in reversed(items) if i.get("role") != "system" and not _is_note(i)), None)
    told = _told(last) if last is not None else ""
    return answer.rest(told) if told and answer.text.startswith(told) else answer


def _left_out(said: list[dict[str, Any]]) -> int:
    """A long conversation is told from its latest part on: the first turn says how many went
    before."""
    first = _words(said[0]) if said else ""
    return int(first.removeprefix("Turn ")) - 1 if first.startswith("Turn ") else 0


def _is_turn(item: dict[str, Any]) -> bool:
    if item.get("audio_ms"):
        return True
    text = _words(item)
    return "_audio_ms" in item or text.startswith("Turn ")


def _is_note(item: dict[str, Any]) -> bool:
    text = _words(item)
    return text.startswith("[Not said") or text == "Go on."


def _told(item: dict[str, Any]) -> str:
    """What the client told as said by the model, which the service did not say itself."""
    if item.get("role") == "model":
        return str(item["text"]) if item.get("told") else ""
    if item.get("role") == "assistant" and "_audio_ms" not in item:
        return _words(item)
    return ""


def _words(item: dict[str, Any]) -> str:
    if "text" in item:
        return str(item["text"])
    return "".join(part.get("text") or "" for part in item.get("content") or [])


def play(
    service: str, kills: list[float], minutes: float, seed: int, handshake_s: float
) -> Outcome:
    async def main() -> Outcome:
        async with contextlib.AsyncExitStack() as stack:
            if service == "gemini":
                gemini = await stack.enter_async_context(
                    GeminiServer(script=script, handshake_s=handshake_s)
                )
                caller: Caller[Any] = GeminiCaller(gemini)
            else:
                openai = await stack.enter_async_context(
                    RealtimeServer(script=script, handshake_s=handshake_s)
                )
                caller = OpenAICaller(openai)
            await stack.enter_async_context(calling(caller))
            call = Call(caller, iter(kills), seed)
            await call.run(minutes)
            return call.outcome

    return run_virtual(main, epoch_s=BEGAN_AT.timestamp(), grace_s=0.0002)


def percentile(values: list[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(share * len(values)))] if values else 0.0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--service", choices=("openai", "gemini"), default="openai")
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--handshake-ms", type=float, default=150)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    logger.remove()
    logging.disable(logging.WARNING)
    chance = random.Random(given.seed)  # noqa: S311
    kills = sorted(chance.uniform(1, 60 * given.minutes - 5) for _ in range(given.kills))
    handshake_s = given.handshake_ms / 1000
    plain = play(given.service, [], min(given.minutes, 2), given.seed, handshake_s)
    usual_ms = percentile(plain.first_sound_ms, 0.5)
    outcome = play(given.service, kills, given.minutes, given.seed, handshake_s)
    added = [each - usual_ms for each in outcome.first_sound_ms]
    hit = [added[turn - 1] for turn in sorted(outcome.hit) if 0 < turn <= len(added)]
    p95_ms = percentile(added, 0.95)
    print(f"{given.service}, {given.minutes:g} minutes, {outcome.turns} turns")
    print(f"  sockets killed                {sum(outcome.killed.values())}: {dict(outcome.killed)}")
    print(f"  sessions                      {outcome.sessions}")
    print(f"  turns lost or doubled         {len(outcome.wrong)}")
    print(f"  turns without an answer       {outcome.failed}")
    print(f"  samples missing in a turn     {outcome.samples_off}")
    print(
        f"  first sound, undisturbed      {usual_ms:.0f} ms (the service thinks {1000 * THINKS_S:.0f})"
    )
    print(
        f"  added, p50 / p95 / worst      {percentile(added, 0.5):.0f} / {p95_ms:.0f} / {max(added):.0f} ms"
    )
    print(
        f"  ... of {len(hit)} turns with a kill    {percentile(hit, 0.5):.0f} / {percentile(hit, 0.95):.0f} / {max(hit, default=0):.0f} ms"
    )
    for line in outcome.wrong[:10]:
        print(f"  ! {line}")
    good = not outcome.wrong and not outcome.failed and p95_ms <= PROMISED_MS
    return 0 if good and outcome.samples_off <= 1 else 1


if __name__ == "__main__":
    sys.exit(main())
