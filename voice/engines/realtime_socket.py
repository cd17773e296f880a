"""The socket of one realtime session: opening it, sending without waiting, closing in time."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import json
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Literal, Protocol

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus

from memory.records import Prefix
from voice.engines.realtime_addresses import host_of, is_loopback
from voice.engines.realtime_errors import ErrorTable, Judgement, SessionRefused
from voice.engines.realtime_records import Event
from voice.engines.realtime_times import Pongs

log = logging.getLogger(__name__)
# The library's own lines would hold keys and what was said.
_wire = logging.getLogger(f"{__name__}.wire")
_wire.setLevel(logging.INFO)

_MAX_EVENT_BYTES = 16 * 1024 * 1024  # a session's echo holds the notebooks; the default is 1 MiB
_MAX_WAITING_EVENTS = 2_000
_OPENING_S = 10.0
_CLOSING_S = 0.5


class Greeting(Protocol):
    """The beginning of a session in its own protocol. Raises SessionRefused."""

    expires_at: float | None

    def first(self) -> list[Event]: ...

    def answer(self, event: Event) -> list[Event] | None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """Where a service is. `url` may hold a key: only its host is ever logged."""

    url: str
    headers: dict[str, str] = field(default_factory=dict)
    errors: ErrorTable
    setting: str


class Socket(Protocol):
    """A websocket, as far as a session needs one. Closed, it raises ConnectionClosed."""

    @property
    def close_code(self) -> int | None: ...

    @property
    def close_reason(self) -> str | None: ...

    async def send(self, text: str, /) -> None: ...

    async def recv(self) -> str | bytes: ...

    async def ping(self) -> Awaitable[float]:
        """What is given is done when the pong comes."""
        ...

    async def close(self) -> None: ...

    def abort(self) -> None:
        """Gone at once, without a word to the peer."""
        ...


Connect = Callable[[Address], Awaitable[Socket]]
"""Raises OSError and InvalidHandshake."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """What differs between services. `greeting` takes the handle of the session that is carried
    on. `connected` opens a socket, and `spread` gives what a pause is multiplied with, so that not
    every client comes back at once. `overlaps`: a session may be carried on while it still stands. `pongs`: what a missing one
    means. `lifetime_s`: what a session lasts where the service does not say."""

    name: str
    address: Address
    connected: Connect
    spread: Callable[[], float]
    greeting: Callable[[Prefix, str | None], Greeting]
    overlaps: bool
    pongs: Pongs
    lifetime_s: float


class Link:
    """A session that is open and configured. Sending never waits: a stalled peer must not stall
    the call. `heard_s` is when the peer last showed a sign of life."""

    def __init__(self, socket: Socket, errors: ErrorTable, greeting: Greeting) -> None:
        self._socket = socket
        self._errors = errors
        self.expires_at = greeting.expires_at
        self.began_s = self.heard_s = asyncio.get_running_loop().time()
        self._outbox: asyncio.Queue[Event | asyncio.Future[None]] = asyncio.Queue()
        self._pumping: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to send what waits; `close` and `abort` end it."""
        self._pumping = asyncio.create_task(self._pump())

    def send(self, event: Event) -> None:
        if self._outbox.qsize() >= _MAX_WAITING_EVENTS:
            log.warning("a session takes nothing any more and is given up")
            self.abort()
            return
        self._outbox.put_nowait(event)

    async def _pump(self) -> None:
        with contextlib.suppress(ConnectionClosed):  # whoever receives hears of it too
            while True:
                waiting = await self._outbox.get()
                if isinstance(waiting, asyncio.Future):
                    pong = asyncio.ensure_future(await self._socket.ping())
                    pong.add_done_callback(functools.partial(_answered, waiting))
                else:
                    await self._socket.send(json.dumps(waiting))

    async def receive(self) -> Event | None:
        """The next event, or None when the socket is closed."""
        with contextlib.suppress(ConnectionClosed):
            while True:
                event = parsed(await self._socket.recv())
                self.heard_s = asyncio.get_running_loop().time()
                if event is not None:
                    return event
        return None

    async def ping(self, patience_s: float) -> bool:
        """Whether the peer's pong comes in that time."""
        loop = asyncio.get_running_loop()
        answered: asyncio.Future[None] = loop.create_future()
        self._outbox.put_nowait(answered)  # behind what was sent before: that has arrived as well
        try:
            async with asyncio.timeout(patience_s):
                await answered
        except TimeoutError:
            return False
        self.heard_s = loop.time()
        return True

    @property
    def end(self) -> Judgement:
        """What the end of the socket means."""
        return self._errors.judge_close(self._socket.close_code, self._socket.close_reason or "")

    def abort(self) -> None:
        self._stop()
        self._socket.abort()

    def _stop(self) -> None:
        if self._pumping is not None:
            self._pumping.cancel()

    async def close(self) -> None:
        self._stop()
        try:
            async with asyncio.timeout(_CLOSING_S):
                await self._socket.close()
        except TimeoutError:
            self.abort()


def _answered(waiting: asyncio.Future[None], pong: asyncio.Future[float]) -> None:
    lost = pong.cancelled() or pong.exception() is not None
    if not lost and not waiting.done():
        waiting.set_result(None)


class _Websocket(ClientConnection):
    def abort(self) -> None:
        self.transport.abort()


async def websocket(address: Address) -> Socket:
    """A `Connect` over the network."""
    # A proxy of the environment is for the world outside, never for this machine.
    proxy: Literal[True] | None = None if is_loopback(host_of(address.url)) else True
    socket = await connect(
        address.url,
        additional_headers=address.headers,
        max_size=_MAX_EVENT_BYTES,
        ping_interval=None,  # the session pings by itself, when it matters
        close_timeout=_CLOSING_S,
        proxy=proxy,
        logger=_wire,
        compression=None,  # sound does not shrink, and it would cost time in the loop
        create_connection=_Websocket,
    )
    assert isinstance(socket, _Websocket)
    return socket


async def open_link(address: Address, greeting: Greeting, connected: Connect) -> Link:
    """Connect and have the session configured. Raises SessionRefused."""
    socket: Socket | None = None
    try:
        async with asyncio.timeout(_OPENING_S):
            socket = await connected(address)
            await _greet(socket, greeting)
    except BaseException as fault:
        if socket is not None:
            socket.abort()
        if isinstance(fault, (OSError, TimeoutError, InvalidHandshake, ConnectionClosed)):
            raise SessionRefused(_why(fault, address)) from fault
        raise
    log.info("a session at %s is open", host_of(address.url))
    return Link(socket, address.errors, greeting)


async def _greet(socket: Socket, greeting: Greeting) -> None:
    events: list[Event] | None = greeting.first()
    while events is not None:
        for event in events:
            await socket.send(json.dumps(event))
        received = parsed(await socket.recv())
        try:
            events = [] if received is None else greeting.answer(received)
        except (KeyError, TypeError, ValueError, AttributeError) as fault:
            log.warning("a broken event at the beginning of a session: %s", type(fault).__name__)
            events = []


def parsed(raw: str | bytes) -> Event | None:
    """An event as the service sent it; None for what is none. Its text is never logged."""
    try:
        event = json.loads(raw)
    except ValueError:
        event = None
    if not isinstance(event, dict):
        log.warning("an event of the server was broken and is left out")
        return None
    return event


def _why(fault: BaseException, address: Address) -> Judgement:
    match fault:
        case InvalidStatus():
            response = fault.response
            return address.errors.judge_status(response.status_code, code_in(response.body))
        case ConnectionClosed():
            closed = fault.rcvd
            return address.errors.judge_close(
                closed.code if closed else None, closed.reason if closed else ""
            )
        case TimeoutError():
            text = "The server did not answer in time. Check the network and the address."
        case OSError():
            text = (
                f"Nobody answers at {host_of(address.url)} ({fault.strerror or fault}). Check "
                f"the address in {address.setting}, the network, and that the server runs."
            )
        case _:
            text = (
                "What answers at this address does not speak the protocol. Check "
                f"{address.setting}."
            )
    return Judgement("reconnect", text)


def code_in(body: bytes | bytearray | None) -> str | None:
    """The error code in a refused handshake's body, where there is one."""
    try:
        error = json.loads(body or b"{}").get("error")
    except (ValueError, AttributeError):
        return None
    if not isinstance(error, dict):
        return None
    code = error.get("status") or error.get("code")
    return code if isinstance(code, str) else None
