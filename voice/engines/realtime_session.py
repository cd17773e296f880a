"""The processor of a call with a realtime service: sockets come and go under it.

It carries out what the core decides and knows nothing of the protocol: frames in, frames and
events out, timers, the opening, renewing and replacing of sessions.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

from pipecat.frames.frames import (
    CancelFrame,
    EndFrame,
    Frame,
    InputAudioRawFrame,
    InterruptionFrame,
    StartFrame,
)
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor

from memory.records import Prefix, Turn
from voice.engines.protocol import Opening
from voice.engines.realtime_core import RealtimeCore
from voice.engines.realtime_errors import Judgement, SessionRefused
from voice.engines.realtime_frames import frames_of, used
from voice.engines.realtime_liveness import Liveness
from voice.engines.realtime_lookups import Lookups
from voice.engines.realtime_records import (
    Arm,
    Began,
    Effect,
    Ended,
    Failed,
    GiveUp,
    Lose,
    Note,
    Question,
    Renew,
    RunTool,
    Send,
    Silence,
    Sound,
    Spoke,
    Timer,
    Want,
)
from voice.engines.realtime_socket import Link, Service, open_link
from voice.engines.realtime_sound import MICROPHONE_HZ
from voice.engines.realtime_times import (
    CONNECTS,
    CONNECTS_WITH_SPARE,
    DEAD_S,
    LASTING_S,
    Renewal,
    pause_s,
    pulse_s,
)
from voice.frames import (
    AnswerFailedFrame,
    HeardFrame,
    MicrophoneFrame,
    TypedFrame,
)
from voice.records import (
    BargedIn,
    Guess,
    Heard,
    Notice,
    NoTurn,
    Partial,
    SpeechBegan,
    UserSaid,
)
from voice.tools import Tool

log = logging.getLogger(__name__)

_CANCELLING_S = 0.5
_WHAT_TO_DO = "Say something to try again, or choose the local engine."

GaveUp = Callable[[str, Callable[[], tuple[Question, ...]]], Awaitable[bool]]
Struggles = Callable[[], None]


class RealtimeSession(FrameProcessor):
    """`gave_up` is asked, when no session can be had any more, whether somebody else answers from
    now on: with the reason, and with what gives the turns that wait for an answer. From when that
    was called this one only passes frames on. `struggles` is told when a session was lost and the
    first try for another came to nothing: time to get ready."""

    def __init__(
        self,
        service: Service,
        core: RealtimeCore,
        opening: Opening,
        *,
        gave_up: GaveUp | None = None,
        struggles: Struggles | None = None,
    ) -> None:
        super().__init__(name=f"{service.name} session")
        self._service = service
        self._core = core
        self._opening = opening
        self._gave_up = gave_up
        self._struggles = struggles
        self._tools: dict[str, Tool] = {tool.name: tool for tool in opening.tools}
        self._link: Link | None = None
        self._standby: Link | None = None
        self._renewal = Renewal()
        self._liveness = Liveness(service.pongs, lambda: core.is_owed)
        self._strikes = 0
        self._told_lost = False
        self._fatal = ""
        self._closing = False
        self._retired = False
        self.passes_sound_on = True
        self._handing_over = False
        self._wanted = asyncio.Event()
        self._wake = asyncio.Event()
        self._running: asyncio.Task[None] | None = None
        self._receiving: asyncio.Task[None] | None = None
        self._beside: set[asyncio.Task[None]] = set()
        self._timers: dict[Timer, asyncio.TimerHandle] = {}
        self._frames: deque[Frame] = deque()
        self._emission = asyncio.Lock()
        self._lookups = Lookups(opening)

    # Life ---------------------------------------------------------------------------------

    async def begin(self) -> None:
        """The first session, before there is a pipeline. Raises SessionRefused."""
        self._adopt(await self._open(self._core.prefix, self._core.handle), None)

    async def end(self) -> None:
        """At once, whatever is under way; more than once does no harm."""
        self._closing = True
        for handle in self._timers.values():
            handle.cancel()
        looking = self._lookups.end()
        tasks = [task for task in (self._running, self._receiving, *self._beside, looking) if task]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=_CANCELLING_S)
        links = [link for link in (self._link, self._standby) if link is not None]
        self._link = self._standby = None
        await asyncio.gather(*(link.close() for link in links))

    async def cleanup(self) -> None:
        await self.end()
        await super().cleanup()  # type: ignore[no-untyped-call]  # pipecat does not annotate it

    def heard(self, turn: Turn) -> None:
        self._core.heard(turn)
        self._carry_out_now()

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._beside.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._beside.discard(task)
        if not task.cancelled() and (bug := task.exception()) is not None:
            log.error("a bug in the realtime session", exc_info=bug)

    # Sessions -----------------------------------------------------------------------------

    async def _run(self) -> None:
        while not self._closing and not self._retired:
            link = self._link
            if link is None:
                if not await self._reconnect():
                    await self._wanted.wait()
                continue
            await self._live(link)
            if self._link is link and not self._closing:
                await self._lost(link)

    async def _live(self, link: Link) -> None:
        """Until the session is gone, or another has taken its place."""
        self._receiving = asyncio.create_task(self._receive(link))
        pulse = asyncio.create_task(self._pulse(link))
        try:
            await asyncio.wait({self._receiving})
        finally:
            pulse.cancel()
            self._receiving.cancel()
            await asyncio.wait({pulse, self._receiving})
        for task in (pulse, self._receiving):
            if not task.cancelled() and (bug := task.exception()) is not None:
                log.error("a bug in the realtime session", exc_info=bug)

    async def _open(self, prefix: Prefix, handle: str | None) -> Link:
        service = self._service
        link = await open_link(service.address, service.greeting(prefix, handle), service.connected)
        link.start()
        return link

    def _adopt(self, link: Link, prefix: Prefix | None) -> None:
        self._link = link
        loop_s = asyncio.get_running_loop().time()
        lifetime_s = self._service.lifetime_s
        if link.expires_at is not None:
            lifetime_s = link.expires_at - self._opening.now().timestamp()
        self._renewal = Renewal.of(loop_s, lifetime_s)
        self._core.adopt(self._opening.now(), prefix)
        self._carry_out_now()

    async def _fresh_prefix(self) -> Prefix | None:
        """The notebooks as they are, for the next session's instructions."""
        if self._opening.fresh_prefix is not None:
            return await self._opening.fresh_prefix()
        news = await self._opening.news()
        if news:
            self._core.news(news)
        return None

    async def _lost(self, link: Link) -> None:
        self._link = None
        log.warning("the session was lost: %s", link.end.text)
        if asyncio.get_running_loop().time() - link.began_s >= LASTING_S:
            self._strikes = 0
        if link.end.verdict == "fatal":
            self._fatal = self._fatal or link.end.text
        link.abort()
        self._core.lost()
        await self._carry_out()

    async def _reconnect(self) -> bool:
        """Bounded tries with growing pauses. False: given up, and the user was told."""
        judgement = Judgement("reconnect")
        while not self._fatal and self._strikes < self._tries:
            if self._strikes:
                self._tell_lost()
                await asyncio.sleep(pause_s(self._strikes) * self._service.spread())
            self._strikes += 1
            standby, self._standby = self._standby, None
            try:
                prefix = None if standby else await self._fresh_prefix()
                link = standby or await self._open(prefix or self._core.prefix, self._core.handle)
            except SessionRefused as refused:
                judgement = refused.judgement
                if judgement.verdict == "fatal":
                    self._fatal = judgement.text
                elif self._core.forget_resumption():
                    self._strikes -= 1  # at once, without what it refused
                continue
            await self._resumed(link, prefix)
            return True
        await self._give_up(self._fatal or judgement.text)
        return False

    @property
    def _tries(self) -> int:
        waits = self._gave_up is not None and self._core.unanswered
        return CONNECTS_WITH_SPARE if waits else CONNECTS

    async def _resumed(self, link: Link, prefix: Prefix | None) -> None:
        if self._told_lost:
            self._told_lost = False
            self._notify("handled", "Connected again; the conversation goes on.")
        if self._core.unanswered and not self._core.count_ask():
            self._core.fail("The voice service broke off each time it should answer this.")
        self._adopt(link, prefix)
        await self._carry_out()

    async def _give_up(self, reason: str) -> None:
        self._strikes = 0
        self._wanted.clear()
        if self._gave_up is not None and not self._closing:
            self._handing_over = True
            taken = await self._gave_up(reason, self._retire)
            self._handing_over = False
            if taken:
                return
        self._notify(
            "stop", f"The voice service can't be reached any more. {reason} {_WHAT_TO_DO}".strip()
        )
        self._core.gave_up("This was not answered: there is no connection to the voice service.")
        await self._carry_out()

    def _retire(self) -> tuple[Question, ...]:
        waiting = self._core.unanswered
        self._core.interrupted_for_good()
        self._spawn(self._carry_out())
        self._retired = True
        return waiting

    def _tell_lost(self) -> None:
        if not self._told_lost and not self._fatal:
            self._told_lost = True
            if self._struggles is not None:
                self._struggles()
            self._notify(
                "handled",
                "The connection to the voice service was lost. Reconnecting; what you say "
                "meanwhile is kept.",
            )

    def _notify(self, kind: str, text: str) -> None:
        self._opening.notify(Notice(kind="stop" if kind == "stop" else "handled", text=text))

    # Renewing and replacing ---------------------------------------------------------------

    async def _pulse(self, link: Link) -> None:
        """Looks after a session: its end that comes nearer, and whether it lives."""
        loop = asyncio.get_running_loop()
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(pulse_s(waiting=self._core.is_waiting)):
                    await self._wake.wait()
            self._wake.clear()
            if self._renewal.is_due(
                loop.time(),
                quiet=self._core.is_quiet,
                between_answers=self._core.is_between_answers,
            ):
                await self._renew(link)
            elif not await self._liveness.of(link):
                await self._replace_silent(link)

    async def _renew(self, link: Link) -> None:
        """The next session before the service ends this one. Where two may stand side by side, the
        old one stays until the new one is ready."""
        log.info("a session is renewed before its end")
        if not self._service.overlaps:
            self._let_go(link)  # whoever receives sees it closed, and the next one is opened
            return
        prefix = await self._fresh_prefix()
        try:
            fresh = await self._open(prefix or self._core.prefix, self._core.handle)
        except SessionRefused as refused:
            log.warning("no session to renew with: %s", refused.judgement.text)
            self._renewal = self._renewal.later(asyncio.get_running_loop().time())
            return
        if self._core.is_between_answers and self._link is link:
            self._let_go(link)
            self._adopt(fresh, prefix)
            await self._carry_out()
        else:
            # An answer began meanwhile: this one waits until that is over, or lost.
            await fresh.close()

    async def _replace_silent(self, link: Link) -> None:
        """A session that does not answer pings gets a successor, that is told everything; it stays
        if it wakes up first."""
        asked_s = asyncio.get_running_loop().time()
        try:
            fresh = await self._open(self._core.prefix, None)
        except SessionRefused:
            if asyncio.get_running_loop().time() - link.heard_s > DEAD_S:
                link.abort()
            return
        if link.heard_s > asked_s or self._link is not link:
            self._liveness.was_wrong()
            await fresh.close()
            return
        log.warning("a session is silent and is left for another")
        self._core.forget_resumption()
        self._standby = fresh
        link.abort()

    def _let_go(self, link: Link) -> None:
        self._core.renewed()
        self._link = None
        self._strikes = 0
        if self._receiving is not None and self._service.overlaps:
            self._receiving.cancel()
        self._spawn(link.close())

    # What the service says ----------------------------------------------------------------

    async def _receive(self, link: Link) -> None:
        """Until the socket is closed."""
        while (event := await link.receive()) is not None:
            try:
                self._core.received(event, asyncio.get_running_loop().time())
            except (KeyError, TypeError, ValueError, AttributeError) as fault:
                # One event that is not as agreed must not make the rest of the call deaf.
                log.warning("an event was broken: %s", type(fault).__name__)
            except Exception:
                # Nor must a mistake of ours.
                log.exception("an event was not handled")
            await self._carry_out()

    # Carrying out -------------------------------------------------------------------------

    async def _carry_out(self) -> None:
        self._carry_out_now()
        while self._frames:
            async with self._emission:
                if self._frames:
                    await self.push_frame(self._frames.popleft())

    def _carry_out_now(self) -> None:
        """All but the pushing of frames, which wait in order."""
        for effect in self._core.take():
            self._carry(effect)

    def _carry(self, effect: Effect) -> None:
        match effect:
            case Send(event):
                if self._link is not None:
                    self._link.send(event)
            case Began() | Spoke() | Sound() | Ended() | Failed():
                self._frames += frames_of(effect, self._core.prefix.sha256)
                if isinstance(effect, Ended):
                    self._strikes = 0
            case Silence():
                self._frames = deque(
                    frame for frame in self._frames if isinstance(frame, AnswerFailedFrame)
                )
            case Arm(timer, after_s):
                self._set(timer, after_s)
            case Lose():
                if self._link is not None:
                    self._link.abort()
            case GiveUp(text):
                self._fatal = text
                if self._link is not None:
                    self._link.abort()
            case Renew(within_s):
                now_s = asyncio.get_running_loop().time()
                self._renewal = self._renewal.announced(now_s, within_s)
                self._wake.set()
            case RunTool():
                self._spawn(self._run_tool(effect))
            case Want():
                self._wanted.set()
            case Note(text):
                log.info("%s", text)

    def _set(self, timer: Timer, after_s: float | None) -> None:
        if timer in self._timers:
            self._timers.pop(timer).cancel()
        if after_s is not None:
            loop = asyncio.get_running_loop()
            self._timers[timer] = loop.call_later(after_s, self._fired, timer)

    def _fired(self, timer: Timer) -> None:
        self._timers.pop(timer, None)
        self._core.fired(timer)
        self._spawn(self._carry_out())

    async def _run_tool(self, asked: RunTool) -> None:
        output = await used(self._tools.get(asked.name), asked)
        self._core.tool_done(asked.call_id, output)
        await self._carry_out()

    # What the user does -------------------------------------------------------------------

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        await super().process_frame(frame, direction)
        if isinstance(frame, StartFrame) and self._running is None:
            self._running = asyncio.create_task(self._run())
        elif isinstance(frame, EndFrame | CancelFrame):
            await self.end()
        elif isinstance(frame, MicrophoneFrame) and not self.passes_sound_on:
            if not self._retired:
                self._hear(frame)
            frame.intake.delivered()
            return
        if self._retired or direction is not FrameDirection.DOWNSTREAM:
            if isinstance(frame, InterruptionFrame) and not self._retired:
                await self._interrupt()
            await self.push_frame(frame, direction)
            return
        if isinstance(frame, InputAudioRawFrame):
            self._hear(frame)
        elif isinstance(frame, InterruptionFrame) or (
            isinstance(frame, HeardFrame) and isinstance(frame.event, BargedIn)
        ):
            await self._interrupt()
        await self.push_frame(frame, direction)
        if isinstance(frame, HeardFrame):
            await self._on_heard(frame.event, frame)
        elif isinstance(frame, TypedFrame):
            await self._on_question(Question(to=None, text=frame.text, told=frame.told))

    def _hear(self, frame: InputAudioRawFrame) -> None:
        assert frame.sample_rate == MICROPHONE_HZ and frame.num_channels == 1
        self._core.audio(frame.audio)
        self._carry_out_now()

    async def _on_heard(self, heard: Heard, frame: HeardFrame) -> None:
        match heard:
            case SpeechBegan(began_ms=began_ms):
                self._core.speech_began(began_ms)
                self._wake.set()
            case Partial(text=text) if text:
                self._core.worth()
            case Guess(text=text):
                self._core.worth()
                self._lookups.look_ahead(text)
            case NoTurn():
                self._core.no_turn()
            case UserSaid(text=text) if not frame.answered:
                await self._interrupt()
                self._core.hushed(text)
            case UserSaid(text=text):
                await self._on_question(Question(to=heard, text=text, told=frame.told))
            case _:
                return
        self._carry_out_now()

    async def _on_question(self, question: Question) -> None:
        news, notes = await asyncio.gather(
            self._lookups.news(connected=self._core.connected), self._lookups.notes_to(question)
        )
        # Nothing is awaited from here to the asking, or a lost session could come between.
        question = Question(to=question.to, text=question.text, told=question.told, notes=notes)
        self._core.asked(question, self._opening.now(), news)
        if self._fatal and not self._core.connected and not self._handing_over:
            self._core.fail(f"This was not answered. {self._fatal} {_WHAT_TO_DO}")
        await self._carry_out()
        self._wake.set()

    async def _interrupt(self) -> None:
        """The answer stops here, and the service learns what was heard of it."""
        async with self._emission:
            stopped = self._core.interrupted(self._opening.played_samples())
            self._carry_out_now()
        if stopped:
            # What was pushed in this very moment lies in the next processor's inbox, where
            # an interruption overtakes it; let it be taken in, to be thrown away with the rest.
            await asyncio.sleep(0)
