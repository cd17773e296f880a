"""The sessions of one call with a realtime service: opened, looked after, renewed, given up."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Literal, Protocol

from memory.records import Prefix
from voice.engines.protocol import Opening
from voice.engines.realtime_core import RealtimeCore
from voice.engines.realtime_errors import Judgement, SessionRefused
from voice.engines.realtime_liveness import Liveness
from voice.engines.realtime_records import Event, Question
from voice.engines.realtime_socket import Link, Service, open_link
from voice.engines.realtime_times import (
    CONNECTS,
    CONNECTS_WITH_SPARE,
    DEAD_S,
    LASTING_S,
    Renewal,
    pause_s,
    pulse_s,
)
from voice.records import Notice

log = logging.getLogger(__name__)

WHAT_TO_DO = "Say something to try again, or choose the local engine."

GaveUp = Callable[[str, Callable[[], tuple[Question, ...]]], Awaitable[bool]]
Struggles = Callable[[], None]


class Carrying(Protocol):
    """Whoever carries out what the core wants."""

    async def carry_out(self) -> None: ...

    def carry_out_now(self) -> None:
        """All but what has to wait."""
        ...

    def spawn(self, work: Coroutine[Any, Any, None], /) -> None:
        """Beside all else."""
        ...


class Sessions:
    """`gave_up` is asked, when no session can be had any more, whether somebody else answers from
    now on: with the reason, and with what gives the turns that wait for an answer. From when that
    was called this one is `retired`. `struggles` is told when a session was lost and the first try
    for another came to nothing: time to get ready."""

    def __init__(
        self,
        service: Service,
        core: RealtimeCore,
        opening: Opening,
        carrying: Carrying,
        *,
        gave_up: GaveUp | None = None,
        struggles: Struggles | None = None,
    ) -> None:
        self.retired = False
        self._service = service
        self._core = core
        self._opening = opening
        self._carrying = carrying
        self._gave_up = gave_up
        self._struggles = struggles
        self._link: Link | None = None
        self._standby: Link | None = None
        self._renewal = Renewal()
        self._liveness = Liveness(service.pongs, lambda: core.is_owed)
        self._strikes = 0
        self._told_lost = False
        self._fatal = ""
        self._closing = False
        self._handing_over = False
        self._wanted = asyncio.Event()
        self._wake = asyncio.Event()
        self._running: asyncio.Task[None] | None = None
        self._receiving: asyncio.Task[None] | None = None

    # For the processor --------------------------------------------------------------------

    async def begin(self) -> None:
        """The first session, before there is a pipeline. Raises SessionRefused."""
        self._adopt(await self._open(self._core.prefix, self._core.handle), None)

    def start(self) -> None:
        if self._running is None:
            self._running = asyncio.create_task(self._run())

    def stop(self) -> list[asyncio.Task[None]]:
        """No session from now on; these tasks are to be cancelled before `close`."""
        self._closing = True
        return [task for task in (self._running, self._receiving) if task]

    async def close(self) -> None:
        links = [link for link in (self._link, self._standby) if link is not None]
        self._link = self._standby = None
        await asyncio.gather(*(link.close() for link in links))

    @property
    def no_answer(self) -> str:
        """Why a turn gets no answer now; "" where it may get one."""
        if self._fatal and not self._core.connected and not self._handing_over:
            return f"This was not answered. {self._fatal} {WHAT_TO_DO}"
        return ""

    def send(self, event: Event) -> None:
        if self._link is not None:
            self._link.send(event)

    def lose(self) -> None:
        """The session is of no use any more."""
        if self._link is not None:
            self._link.abort()

    def give_up(self, reason: str) -> None:
        """Neither is any other."""
        self._fatal = reason
        self.lose()

    def want(self) -> None:
        """Somebody waits for an answer."""
        self._wanted.set()

    def wake(self) -> None:
        """Time to look whether the session lives."""
        self._wake.set()

    def answered(self) -> None:
        self._strikes = 0

    def ends_within(self, within_s: float) -> None:
        """The service says so."""
        self._renewal = self._renewal.announced(asyncio.get_running_loop().time(), within_s)
        self._wake.set()

    # One after the other ------------------------------------------------------------------

    async def _run(self) -> None:
        while not self._closing and not self.retired:
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
            log_bug_of(task)

    async def _receive(self, link: Link) -> None:
        """What the service says, until the socket is closed."""
        while (event := await link.receive()) is not None:
            try:
                self._core.received(event, asyncio.get_running_loop().time())
            except (KeyError, TypeError, ValueError, AttributeError) as fault:
                # One event that is not as agreed must not make the rest of the call deaf.
                log.warning("an event was broken: %s", type(fault).__name__)
            except Exception:
                # Nor must a mistake of ours.
                log.exception("an event was not handled")
            await self._carrying.carry_out()

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
        self._carrying.carry_out_now()

    async def _fresh_prefix(self) -> Prefix | None:
        """The notebooks as they are, for the next session's instructions."""
        if self._opening.fresh_prefix is not None:
            return await self._opening.fresh_prefix()
        news = await self._opening.news()
        if news:
            self._core.news(news)
        return None

    # Lost ---------------------------------------------------------------------------------

    async def _lost(self, link: Link) -> None:
        self._link = None
        log.warning("the session was lost: %s", link.end.text)
        if asyncio.get_running_loop().time() - link.began_s >= LASTING_S:
            self._strikes = 0
        if link.end.verdict == "fatal":
            self._fatal = self._fatal or link.end.text
        link.abort()
        self._core.lost()
        await self._carrying.carry_out()

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
        await self._carrying.carry_out()

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
            "stop", f"The voice service can't be reached any more. {reason} {WHAT_TO_DO}".strip()
        )
        self._core.gave_up("This was not answered: there is no connection to the voice service.")
        await self._carrying.carry_out()

    def _retire(self) -> tuple[Question, ...]:
        waiting = self._core.unanswered
        self._core.interrupted_for_good()
        self._carrying.spawn(self._carrying.carry_out())
        self.retired = True
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

    def _notify(self, kind: Literal["handled", "stop"], text: str) -> None:
        self._opening.notify(Notice(kind=kind, text=text))

    # Renewed and replaced -----------------------------------------------------------------

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
            await self._carrying.carry_out()
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
        self._carrying.spawn(link.close())


def log_bug_of(task: asyncio.Task[None]) -> None:
    """Of one that is done."""
    if not task.cancelled() and (bug := task.exception()) is not None:
        log.error("a bug in the realtime session", exc_info=bug)
