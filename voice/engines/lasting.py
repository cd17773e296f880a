"""A remote engine with a local one behind it: the call goes on when nothing else is left (V13)."""

from __future__ import annotations

import asyncio
import itertools
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict, replace
from typing import Protocol

from pipecat.frames.frames import CancelFrame, EndFrame, Frame, StartFrame
from pipecat.processors.frame_processor import (
    FrameDirection,
    FrameProcessor,
    FrameProcessorSetup,
)

from memory.records import Turn
from voice.engines.protocol import Engine, Opening
from voice.engines.realtime_records import Question, Seen, Witness
from voice.engines.realtime_sessions import GaveUp, Struggles
from voice.errors import EngineUnavailable, VoiceFault
from voice.frames import HeardFrame, TypedFrame
from voice.records import EngineChanged, EngineDescription, Notice

log = logging.getLogger(__name__)


class RemoteEngine(Engine, Protocol):
    """An engine that can tell that it gave up, and that can be watched."""

    gave_up: GaveUp | None
    struggles: Struggles | None
    witness: Witness | None


class LastingEngine:
    """An `Engine`: the remote one, and from when that can't go on, what `spare` gives.

    `spare` may take its time and raises VoiceFault where there is nothing to answer with.
    """

    def __init__(self, remote: RemoteEngine, spare: Callable[[], Awaitable[Engine]]) -> None:
        self._remote = remote
        self._spare = spare
        self._present: Engine = remote
        self._deputy = Deputy()
        self._opening: Opening | None = None
        self._turns: list[Turn] = []
        self._getting_ready: asyncio.Task[Engine] | None = None

    @property
    def description(self) -> EngineDescription:
        return self._present.description

    def watched(self, witness: Witness) -> None:
        """From the opening on. It also sees who stands in."""
        self._remote.witness = witness

    async def open(self, opening: Opening) -> list[FrameProcessor]:
        self._opening = opening
        self._turns = list(opening.earlier)
        self._remote.gave_up = self._take_over
        self._remote.struggles = self._get_ready
        try:
            return [*await self._remote.open(opening), self._deputy]
        except EngineUnavailable as fault:
            try:
                spare = await self._spare()
                processors = await spare.open(opening)
            except VoiceFault:
                log.warning("there is no engine to stand in")
                raise fault from None
            self._goes_on_with(spare, str(fault))
            return processors

    def _get_ready(self) -> None:
        """Load beside the tries, so that nobody waits for it after them."""
        if self._getting_ready is None or self._getting_ready.done():
            self._getting_ready = asyncio.ensure_future(self._spare())
            self._getting_ready.add_done_callback(_seen)

    async def _take_over(
        self, reason: str, take_waiting: Callable[[], tuple[Question, ...]]
    ) -> bool:
        opening = self._opening
        assert opening is not None
        opening.notify(
            Notice(
                kind="handled",
                text="The voice service can't be reached any more. This computer takes over; it may "
                "need some seconds.",
            )
        )
        try:
            if self._getting_ready is None:
                self._get_ready()
            assert self._getting_ready is not None
            spare = await asyncio.shield(self._getting_ready)
            processors = await spare.open(replace(opening, earlier=answered(self._turns)))
        except VoiceFault as fault:
            log.warning("no engine stands in: %s", type(fault).__name__)
            self._getting_ready = None  # the next time may find it
            return False
        self._goes_on_with(spare, reason)
        waiting = [_frame_of(question) for question in take_waiting()]
        await self._deputy.take_over(processors, waiting)
        return True

    def _goes_on_with(self, spare: Engine, reason: str) -> None:
        self._present = spare
        about = spare.description
        log.warning("%s answers from now on", about.name)
        assert self._opening is not None
        self._opening.notify(EngineChanged(engine=about, reason=reason))
        if self._remote.witness is not None:
            now_s = asyncio.get_running_loop().time()
            self._remote.witness(Seen(at_s=now_s, what="engine", body=asdict(about)))

    def heard(self, turn: Turn) -> None:
        self._turns.append(turn)
        self._present.heard(turn)

    async def close(self) -> None:
        if self._getting_ready is not None:
            self._getting_ready.cancel()
        if self._present is not self._remote:
            await self._present.close()
        await self._remote.close()


def _seen(getting_ready: asyncio.Task[Engine]) -> None:
    """A fault is told when the engine is needed; till then it is nobody's business."""
    if not getting_ready.cancelled() and getting_ready.exception() is not None:
        log.info("no engine can stand in so far")


def answered(turns: Sequence[Turn]) -> tuple[Turn, ...]:
    """The turns up to the last answer: what the user said behind it still waits for one."""
    count = len(turns)
    while count and turns[count - 1].speaker == "user":
        count -= 1
    return tuple(turns[:count])


def _frame_of(question: Question) -> Frame:
    if question.to is not None:
        return HeardFrame(event=question.to, told=question.told)
    return TypedFrame(text=question.text, told=question.told)


class Deputy(FrameProcessor):
    """Passes frames on, and from `take_over` on leads them through other processors first.

    A pipeline's processors are fixed when it is built; these come later, between two of it.
    """

    takes_sound = False  # nor does an engine that stands in

    def __init__(self) -> None:
        super().__init__()
        self._set_up: FrameProcessorSetup | None = None
        self._started: StartFrame | None = None
        self._chain: list[FrameProcessor] = []

    async def setup(self, setup: FrameProcessorSetup) -> None:  # type: ignore[override]  # as pipecat's own
        await super().setup(setup)
        self._set_up = setup

    async def take_over(
        self, processors: Sequence[FrameProcessor], waiting: Sequence[Frame]
    ) -> None:
        """`waiting` are frames that the pipeline has seen and nobody answered yet."""
        assert self._set_up is not None and self._started is not None
        known = {self._started.id, *(frame.id for frame in waiting)}
        chain = [*processors, _Exit(self.push_frame, known)]
        for one, next_one in itertools.pairwise(chain):
            one.link(next_one)
        for processor in chain:
            await processor.setup(self._set_up)
        await chain[0].queue_frame(self._started)
        self._chain = chain
        for frame in waiting:
            await chain[0].queue_frame(frame)

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        await super().process_frame(frame, direction)
        if isinstance(frame, StartFrame):
            self._started = frame
        ends = isinstance(frame, StartFrame | EndFrame | CancelFrame)
        if not self._chain or ends or direction is FrameDirection.UPSTREAM:
            await self.push_frame(frame, direction)
        else:
            await self._chain[0].queue_frame(frame, direction)

    async def cleanup(self) -> None:
        for processor in self._chain:
            await processor.cleanup()  # type: ignore[no-untyped-call]  # pipecat's
        await super().cleanup()  # type: ignore[no-untyped-call]


class _Exit(FrameProcessor):
    """The end of the deputy's processors: what is new goes on in the pipeline."""

    def __init__(
        self, out: Callable[[Frame, FrameDirection], Awaitable[None]], known: set[int]
    ) -> None:
        super().__init__()
        self._out = out
        self._known = known

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        await super().process_frame(frame, direction)
        if direction is FrameDirection.UPSTREAM:
            await self.push_frame(frame, direction)
        elif frame.id not in self._known:
            await self._out(frame, direction)
