"""The service of a recorded call: its sockets, and what the call gave its engine then.

The engine, its cores and its links are those of a live call; only the wire is a recording.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from hashlib import sha256
from typing import Any

from pipecat.processors.frame_processor import FrameProcessor
from websockets.datastructures import Headers
from websockets.exceptions import (
    ConnectionClosed,
    ConnectionClosedError,
    InvalidHandshake,
    InvalidStatus,
)
from websockets.frames import Close
from websockets.http11 import Response

from memory.records import Extract, Prefix, Turn
from voice.engines.gemini_live import GEMINI_LIVE
from voice.engines.openai_realtime import OPENAI_REALTIME
from voice.engines.protocol import Opening
from voice.engines.realtime_compared import Difference, differences
from voice.engines.realtime_engine import RealtimeEngine
from voice.engines.realtime_lines import Lines, sent_samples
from voice.engines.realtime_records import Given, Passed, Seen
from voice.engines.realtime_script import BEGINNING, Place, cues, kind_of, pong_ms
from voice.engines.realtime_socket import Address, Socket
from voice.recorded_service import RecordedService
from voice.records import NotesFound
from voice.tools import ToolAround

_SOON_S = 1e-6
"""Timers fire so much too early at most."""
_SOONEST = 0.75
"""Of a pause before a try; the try itself then waits for its time."""


class ReplayedEngine(RealtimeEngine):
    """The engine of the recorded service. Made on the running loop, when the call begins."""

    def __init__(self, recorded: RecordedService) -> None:
        super().__init__(
            OPENAI_REALTIME if recorded.name == "openai" else GEMINI_LIVE,
            url=recorded.url,
            model=recorded.model,
            voice=recorded.voice,
        )
        self._recorded = recorded
        self._began_s = asyncio.get_running_loop().time()
        self._lines = Lines(self._began_s, lambda _: 0)
        self._written: list[dict[str, Any]] = []
        self._sockets = 0
        self.connected = self._connect
        self.spread = lambda: _SOONEST
        self.witness = self._see

    async def open(self, opening: Opening) -> list[FrameProcessor]:
        return await super().open(_given_again(opening, self._recorded.given))

    def _see(self, seen: Seen) -> None:
        if seen.what in ("opening", "sent", "ended"):
            self._written += self._lines.of(seen)

    def differences(self) -> tuple[Difference, ...]:
        """What was sent otherwise than in the call, so far."""
        self._written += self._lines.rest()
        texts = {
            line["text"]["name"]: line["text"]["is"] for line in self._written if "text" in line
        }
        now = sorted(
            (_passed(line) for line in self._written if "socket" in line),
            key=lambda each: each.at_ms,
        )
        recorded = self._recorded
        return differences(
            recorded.passed, now, {**recorded.texts, **texts}, self._provider.core.rate_hz
        )

    async def _connect(self, address: Address) -> Socket:
        del address
        number, self._sockets = self._sockets, self._sockets + 1
        passed = [each for each in self._recorded.passed if each.socket == number]
        if not passed:
            raise OSError(None, "the recorded call opened no further socket")
        outcome = next((each for each in passed if each.what in ("opened", "refused")), None)
        if outcome is None or (outcome.what == "refused" and outcome.body["waited"]):
            await asyncio.Event().wait()
        assert outcome is not None
        await asyncio.sleep(
            self._began_s + outcome.at_ms / 1000 - asyncio.get_running_loop().time()
        )
        if outcome.what == "refused":
            raise _refused(outcome.body)
        return _ReplayedSocket(passed, self._recorded.whole, self._began_s)


def _passed(line: dict[str, Any]) -> Passed:
    what = next(name for name in line if name not in ("at_ms", "socket"))
    return Passed(line["at_ms"], line["socket"], what, line[what])  # type: ignore[arg-type]


def _refused(body: Mapping[str, Any]) -> Exception:
    """The fault that the call met."""
    if body["status"] is not None:
        error = json.dumps({"error": {"code": body["code"]}}).encode()
        return InvalidStatus(Response(body["status"], "", Headers(), error))
    if body["text"] == "TimeoutError":
        return TimeoutError()
    if body["errno"] is not None or body["text"] == "OSError":
        return OSError(body["errno"], body["text"])
    return InvalidHandshake(body["text"])


class _ReplayedSocket:
    """A `Socket`. `passed` is what happened on it, `whole` makes bodies of it."""

    def __init__(self, passed: list[Passed], whole: Callable[[Any], Any], began_s: float) -> None:
        self._passed = passed
        self._whole = whole
        self._began_s = began_s
        self._cues = deque(cues(passed))
        self._counts: Counter[str] = Counter()
        self._sent_ms: dict[Place, float] = {BEGINNING: self._now_ms()}
        self._changed = asyncio.Event()
        self._over = False
        self.close_code: int | None = None
        self.close_reason: str | None = None

    def _now_ms(self) -> float:
        return 1000 * (asyncio.get_running_loop().time() - self._began_s)

    async def send(self, text: str, /) -> None:
        if self._over:
            raise self._closed()
        event = json.loads(text)
        if sent_samples(event) is not None:
            return
        kind = kind_of(event)
        self._sent_ms[kind, self._counts[kind]] = self._now_ms()
        self._counts[kind] += 1
        self._changed.set()

    async def recv(self) -> str:
        while not self._over:
            due_ms = self._cues[0].due_ms(self._sent_ms) if self._cues else None
            if due_ms is not None and due_ms <= self._now_ms() + 1000 * _SOON_S:
                cue = self._cues.popleft()
                if cue.what == "got":
                    body = self._whole(cue.body)
                    return body if isinstance(body, str) else json.dumps(body)
                self._end(cue.body["code"], cue.body["reason"])
                break
            self._changed.clear()
            until_s = None if due_ms is None else self._began_s + due_ms / 1000
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout_at(until_s):
                    await self._changed.wait()
        raise self._closed()

    async def ping(self) -> Awaitable[float]:
        if self._over:
            raise self._closed()
        pong: asyncio.Future[float] = asyncio.get_running_loop().create_future()
        took_ms = pong_ms(self._passed, self._now_ms())
        if took_ms is not None:
            loop = asyncio.get_running_loop()
            loop.call_later(took_ms / 1000, _answer, pong, took_ms / 1000)
        return pong

    async def close(self) -> None:
        self._end(1000, "")

    def abort(self) -> None:
        self._end(1006, "")

    def _end(self, code: int | None, reason: str) -> None:
        if not self._over:
            self._over = True
            self.close_code, self.close_reason = code, reason
            self._changed.set()

    def _closed(self) -> ConnectionClosed:
        code, reason = self.close_code, self.close_reason
        frame = None if code in (None, 1005, 1006) else Close(code, reason or "")
        return ConnectionClosedError(frame, None)


def _answer(pong: asyncio.Future[float], took_s: float) -> None:
    if not pong.done():
        pong.set_result(took_s)


# What the call gave -------------------------------------------------------------------


class _Answers:
    """What was given to each question, in order."""

    def __init__(self, given: tuple[Given, ...]) -> None:
        self._waiting: dict[str, deque[Given]] = {}
        for each in given:
            self._waiting.setdefault(_key(each.kind, each.question), deque()).append(each)

    def next(self, kind: str, question: Any = None) -> Given | None:
        waiting = self._waiting.get(_key(kind, question))
        return waiting.popleft() if waiting else None


def _key(kind: str, question: Any) -> str:
    return json.dumps([kind, question], sort_keys=True)


def _given_again(opening: Opening, given: tuple[Given, ...]) -> Opening:
    """What was asked in the call too is answered as it was; the rest by the replay's own memory."""
    answers = _Answers(given)
    first, earlier = answers.next("prefix"), answers.next("earlier")

    async def news() -> str | None:
        was = answers.next("news")
        return await opening.news() if was is None else was.answer

    async def notes(words: str) -> NotesFound | None:
        was = answers.next("notes", words)
        if was is None:
            return await opening.notes(words)
        await asyncio.sleep(was.took_ms / 1000)
        return _notes(was.answer)

    async def fresh_prefix() -> Prefix:
        was = answers.next("prefix")
        if was is not None:
            return _prefix(was.answer)
        return opening.prefix if opening.fresh_prefix is None else await opening.fresh_prefix()

    return replace(
        opening,
        prefix=opening.prefix if first is None else _prefix(first.answer),
        earlier=opening.earlier if earlier is None else tuple(map(_turn, earlier.answer)),
        news=news,
        notes=notes,
        fresh_prefix=fresh_prefix,
        tools=tuple(_ToolAgain(tool, answers) for tool in opening.tools),
    )


def _prefix(text: str) -> Prefix:
    return Prefix(text=text, sha256=sha256(text.encode()).hexdigest())


def _turn(kept: Mapping[str, Any]) -> Turn:
    began_at, ended_at = (datetime.fromisoformat(kept[name]) for name in ("began_at", "ended_at"))
    return Turn(**{**kept, "began_at": began_at, "ended_at": ended_at})


def _notes(answer: Any) -> NotesFound | None:
    if answer is None:
        return None
    extracts = tuple(Extract(**each) for each in answer["extracts"])
    return NotesFound(block=answer["block"], extracts=extracts)


@dataclass(frozen=True, slots=True)
class _ToolAgain(ToolAround):
    """A Tool that is used again, for what it does to the call, and answers what it answered."""

    answers: _Answers

    async def __call__(self, arguments: Mapping[str, Any]) -> str:
        output = await self.tool(arguments)
        was = self.answers.next("tool", [self.name, dict(arguments)])
        if was is None:
            return output
        await asyncio.sleep(was.took_ms / 1000)
        return str(was.answer)
