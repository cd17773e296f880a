"""The socket of one Realtime session: opening it, sending without waiting, closing in time."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
from typing import Literal

from pipecat.services.openai.realtime import events
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus

from voice.engines.realtime_rules import (
    Judgement,
    host_of,
    is_loopback,
    judge,
    judge_close,
    judge_status,
)

log = logging.getLogger(__name__)

_MAX_EVENT_BYTES = 16 * 1024 * 1024  # a session's echo holds the notebooks; the default is 1 MiB
_MAX_WAITING_EVENTS = 2_000
_PING_S = 5.0  # twice that is the longest that a dead peer goes unnoticed
_OPENING_S = 10.0
_CLOSING_S = 0.5


class SessionRefused(Exception):
    """There is no session; the judgement says whether another try can help."""

    def __init__(self, judgement: Judgement) -> None:
        super().__init__(judgement.text)
        self.judgement = judgement


class Link:
    """A session that is open and configured. Sending never waits: a stalled peer must not stall the call."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket
        self.began_s = asyncio.get_running_loop().time()
        self._outbox: asyncio.Queue[str] = asyncio.Queue()

    def send(self, event: events.ClientEvent) -> None:
        if self._outbox.qsize() >= _MAX_WAITING_EVENTS:
            log.warning("a session takes nothing any more and is given up")
            self.abort()
            return
        self._outbox.put_nowait(_packed(event))

    async def pump(self) -> None:
        """Send what waits, until the socket is closed."""
        with contextlib.suppress(ConnectionClosed):  # whoever receives hears of it too
            while True:
                await self._socket.send(await self._outbox.get())

    async def receive(self) -> events.ServerEvent | None:
        """The next event of interest, or None when the socket is closed."""
        with contextlib.suppress(ConnectionClosed):
            while True:
                event = _parsed(await self._socket.recv())
                if event is not None:
                    return event
        return None

    @property
    def end(self) -> Judgement:
        """What the end of the socket means."""
        return judge_close(self._socket.close_code, self._socket.close_reason or "")

    def abort(self) -> None:
        self._socket.transport.abort()

    async def close(self) -> None:
        try:
            async with asyncio.timeout(_CLOSING_S):
                await self._socket.close()
        except TimeoutError:
            self.abort()


async def open_link(
    url: str, headers: dict[str, str], properties: events.SessionProperties
) -> Link:
    """Connect and have the session configured. Raises SessionRefused."""
    # A proxy of the environment is for the world outside, never for this machine.
    proxy: Literal[True] | None = None if is_loopback(host_of(url)) else True
    socket: ClientConnection | None = None
    try:
        async with asyncio.timeout(_OPENING_S):
            socket = await connect(
                url,
                additional_headers=headers,
                max_size=_MAX_EVENT_BYTES,
                ping_interval=_PING_S,
                ping_timeout=_PING_S,
                close_timeout=_CLOSING_S,
                proxy=proxy,
            )
            await _configure(socket, properties)
    except BaseException as fault:
        if socket is not None:
            socket.transport.abort()
        if isinstance(fault, (OSError, TimeoutError, InvalidHandshake, ConnectionClosed)):
            raise SessionRefused(_why(fault, url)) from fault
        raise
    log.info("a session at %s is open", host_of(url))
    return Link(socket)


async def _configure(socket: ClientConnection, properties: events.SessionProperties) -> None:
    while True:
        match _parsed(await socket.recv()):
            case events.SessionCreatedEvent():
                await socket.send(_packed(events.SessionUpdateEvent(session=properties)))
            case events.SessionUpdatedEvent():
                return
            case events.ErrorEvent(error=error):
                judgement = judge(error.code, error.type)
                if judgement.verdict == "harmless":
                    # What is harmless later is not so now: the session isn't as we need it.
                    judgement = Judgement(
                        "fatal", f"It refused the session's settings: {error.message}"
                    )
                raise SessionRefused(judgement)
            case _:
                pass


def _packed(event: events.ClientEvent) -> str:
    return json.dumps(event.model_dump(exclude_none=True))


def _parsed(raw: str | bytes) -> events.ServerEvent | None:
    """None for an event of no interest, and for one that is broken."""
    try:
        parsed: events.ServerEvent | None = events.parse_server_event(raw)  # type: ignore[no-untyped-call]
    except Exception:  # noqa: BLE001 - pipecat raises nothing narrower, and its text holds what was said
        log.warning("an event of the server was broken and is left out")
        return None
    return parsed


def _why(fault: BaseException, url: str) -> Judgement:
    match fault:
        case InvalidStatus():
            return judge_status(fault.response.status_code, _code_in(fault.response.body))
        case ConnectionClosed():
            closed = fault.rcvd
            return judge_close(closed.code if closed else None, closed.reason if closed else "")
        case TimeoutError():
            text = "The server did not answer in time. Check the network and the address."
        case OSError():
            text = (
                f"Nobody answers at {host_of(url)} ({fault.strerror or fault}). Check the address "
                "in openai_url, the network, and that the server runs."
            )
        case _:
            text = "What answers at this address does not speak the protocol. Check openai_url."
    return Judgement("reconnect", text)


def _code_in(body: bytes | bytearray | None) -> str | None:
    """The error code in a refused handshake's body, where there is one."""
    try:
        error = json.loads(body or b"{}").get("error")
    except (ValueError, AttributeError):
        return None
    code = error.get("code") if isinstance(error, dict) else None
    return code if isinstance(code, str) else None
