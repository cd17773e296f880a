"""What the fakes of realtime services share: answers, faults, the log, sockets and how they die.

They run in the loop of the test, so a virtual clock covers them.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine, Iterable
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from typing import Any, Generic, Self, TypeVar

from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.exceptions import ConnectionClosed
from websockets.frames import Frame, Opcode
from websockets.http11 import Request, Response

from tests.fakes.prompt_cache import DOCUMENTED, PromptCache, Rule

Event = dict[str, Any]

RATE_HZ = 24_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What one response says, after `think_s`. Words come `lead` chunks ahead of their sound.

    `speed` is how many times faster than it is spoken the sound is sent; None: at once.
    `items` splits the sound over several output items. `status` other than "completed"
    ends the response after `until_chunk` chunks with the error `code`. `silent`: no event at all.
    `calls` are tools that it asks for behind its sound, as (name, arguments).
    """

    text: str = "Her birthday is on the third of May."
    audio_ms: int = 2000
    chunk_ms: int = 200
    speed: float | None = None
    lead: int = 2
    think_s: float = 0.0
    items: int = 1
    status: str = "completed"
    code: str = ""
    until_chunk: int | None = None
    silent: bool = False
    calls: tuple[tuple[str, str], ...] = ()

    def rest(self, said: str) -> Answer:
        """What is left of it behind these words."""
        words, left = len(self.text.split()), self.text.removeprefix(said).split()
        audio_ms = self.audio_ms * len(left) // max(1, words)
        return replace(self, text=" ".join(left), audio_ms=max(self.chunk_ms, audio_ms))


@dataclass(frozen=True, slots=True)
class Abort:
    """The socket is gone without a word (1006 for the client)."""


@dataclass(frozen=True, slots=True)
class Close:
    code: int
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Error:
    """An error event. `instead`: the event that set it off is not handled. `about`: it names that event."""

    code: str
    kind: str = "invalid_request_error"
    message: str = "scripted"
    instead: bool = False
    about: bool = False


@dataclass(frozen=True, slots=True)
class HalfOpen:
    """Nothing is read or sent any more, but the socket stays open."""


@dataclass(frozen=True, slots=True)
class Delay:
    """This event, and all behind it, come so much later."""

    by_s: float


@dataclass(frozen=True, slots=True)
class Twice:
    """The event is sent once more."""


@dataclass(frozen=True, slots=True)
class Behind:
    """The event is sent behind the next one."""


@dataclass(frozen=True, slots=True)
class Say:
    """Any event, as it is: also what no real server would send."""

    raw: str


@dataclass(frozen=True, slots=True)
class Fault:
    """At the `nth` event of this type (sent or received, over all connections), do that."""

    at: str
    do: Abort | Close | Error | HalfOpen | Say | Delay | Twice | Behind
    nth: int = 1


@dataclass(frozen=True, slots=True)
class Entry:
    """One event of the log: when (loop's clock), from whom, on which connection."""

    at_s: float
    by: str
    connection: int
    event: Event

    @property
    def type(self) -> str:
        return str(self.event["type"])


def speech(samples: int, level: int = 3000) -> bytes:
    """A square tone at 200 Hz: easy to know again, and never zero."""
    half = RATE_HZ // 400
    wave = (level.to_bytes(2, "little", signed=True) * half) + (
        (-level).to_bytes(2, "little", signed=True) * half
    )
    return (wave * (samples // (2 * half) + 1))[: 2 * samples]


C = TypeVar("C", bound="FakeConnection")


@dataclass
class FakeService(ABC, Generic[C]):
    """`async with` it, and it listens on `url`.

    `answers` are given in order, the last one again and again. `refuse` answers the first
    connections with these HTTP statuses (None: accept). `cap_s` ends each session after
    that time. A session takes `handshake_s` to open. `pongs`: False answers no ping. `script`
    makes an answer of the items that the session holds, instead of `answers`.
    """

    answers: list[Answer] = field(default_factory=lambda: [Answer()])
    faults: list[Fault] = field(default_factory=list)
    refuse: list[int | None] = field(default_factory=list)
    key: str | None = None
    cap_s: float | None = None
    handshake_s: float = 0.0
    pongs: bool = True
    cache_rule: Rule = DOCUMENTED
    script: Callable[[list[Event]], Answer] | None = None

    path = ""

    def __post_init__(self) -> None:
        self.log: list[Entry] = []
        self.connections: list[C] = []
        self.requests: list[Request] = []
        self.cache = PromptCache(self.cache_rule)
        self.given = 0
        self._counts: dict[tuple[str, str], int] = {}
        self._changed = asyncio.Event()
        self._server: Server | None = None
        self.port = 0

    @property
    def url(self) -> str:
        return f"ws://127.0.0.1:{self.port}{self.path}"

    async def __aenter__(self) -> Self:
        self._server = await serve(
            self._serve,
            "127.0.0.1",
            self.port,
            process_request=self._admit,
            max_size=None,
            ping_interval=None,
            close_timeout=0.1,
        )
        self.port = next(iter(self._server.sockets)).getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    async def stop(self) -> None:
        """Gone: new connections are refused, old ones dropped."""
        if self._server is None:
            return
        server, self._server = self._server, None
        for connection in self.connections:
            connection.abort()
        server.close()
        await server.wait_closed()

    async def restart(self) -> None:
        await self.__aenter__()

    def _admit(self, connection: ServerConnection, request: Request) -> Response | None:
        self.requests.append(request)
        status = self.refuse.pop(0) if self.refuse else self._unwelcome(request)
        if status is None:
            return None
        return connection.respond(HTTPStatus(status), json.dumps({"error": self._refusal(status)}))

    def _unwelcome(self, request: Request) -> int | None:
        """The status that this request is refused with, or None."""
        del request
        return None

    @abstractmethod
    def _refusal(self, status: int) -> Event: ...

    @abstractmethod
    def _connection(self, socket: ServerConnection, number: int) -> C: ...

    async def _serve(self, socket: ServerConnection) -> None:
        if not self.pongs:
            _silence_pongs(socket)
        connection = self._connection(socket, len(self.connections))
        self.connections.append(connection)
        with contextlib.suppress(ConnectionClosed):
            await connection.run()

    # The log --------------------------------------------------------------------------

    def note(self, by: str, connection: int, event: Event) -> list[Fault]:
        """Log an event, wake who waits for it, and tell which faults it sets off."""
        at_s = asyncio.get_running_loop().time()
        self.log.append(Entry(at_s, by, connection, event))
        kind = str(event["type"])
        count = self._counts[by, kind] = self._counts.get((by, kind), 0) + 1
        self._changed.set()
        return [fault for fault in self.faults if fault.at == kind and fault.nth == count]

    def received(self, *kinds: str, connection: int | None = None) -> list[Event]:
        return self._entries("client", kinds, connection)

    def sent(self, *kinds: str, connection: int | None = None) -> list[Event]:
        return self._entries("server", kinds, connection)

    def _entries(self, by: str, kinds: Iterable[str], connection: int | None) -> list[Event]:
        wanted = tuple(kinds)
        return [
            entry.event
            for entry in self.log
            if entry.by == by
            and (not wanted or entry.type in wanted)
            and (connection is None or entry.connection == connection)
        ]

    async def until(self, true: Callable[[], object]) -> None:
        """Wait until something about the log is true."""
        while not true():
            self._changed.clear()
            await self._changed.wait()

    # Answers --------------------------------------------------------------------------

    def next_answer(self, items: list[Event]) -> Answer:
        """The next of the script; or the rest of the last one, for a client that tells how far an
        answer got before its session was lost, as a model goes on that is asked to."""
        if self.script is not None:
            return self.script(items)
        if self.given:
            last = self.answers[min(self.given - 1, len(self.answers) - 1)]
            rest = self._rest(last, items)
            if rest is not None:
                return rest
        answer = self.answers[min(self.given, len(self.answers) - 1)]
        self.given += 1
        return answer

    @abstractmethod
    def _rest(self, last: Answer, items: list[Event]) -> Answer | None: ...


def _silence_pongs(socket: ServerConnection) -> None:
    send = socket.protocol.send_frame

    def without_pongs(frame: Frame) -> None:
        if frame.opcode is not Opcode.PONG:
            send(frame)

    socket.protocol.send_frame = without_pongs  # type: ignore[method-assign]  # it has no setting


class FakeConnection(ABC):
    """One socket. Ids count within it, with the connection's number in front."""

    def __init__(self, socket: ServerConnection, number: int) -> None:
        self._socket = socket
        self._number = number
        self._ids = itertools.count(1)
        self._half_open = False
        self._held: str | bytes | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self.turns_bytes: list[int] = []
        self.items: list[Event] = []

    def _id(self, kind: str) -> str:
        return f"{kind}_{self._number}_{next(self._ids)}"

    @abstractmethod
    async def run(self) -> None: ...

    @abstractmethod
    async def _expire(self, after_s: float) -> None:
        """The session ends as the service ends one that is too old."""

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    # Its end --------------------------------------------------------------------------

    def abort(self) -> None:
        self._socket.transport.abort()

    def _fall_silent(self) -> None:
        self._half_open = True
        self._socket.transport.pause_reading()

    async def kill(self, how: str) -> None:
        """By a close code, "half-open", "session_expired", or 1006: gone without a word."""
        if how == "half-open":
            self._fall_silent()
        elif how == "session_expired":
            self._start(self._expire(0))
        elif how == "1006":
            self.abort()
        else:
            await self._socket.close(int(how))

    # Sending, with faults -------------------------------------------------------------

    async def _transmit(self, raw: str | bytes, faults: list[Fault]) -> None:
        """As it is, or as the faults have it."""
        kinds = [fault.do for fault in faults]
        for fault in kinds:
            if isinstance(fault, Delay):
                await asyncio.sleep(fault.by_s)
        held, self._held = self._held, None
        if any(isinstance(fault, Behind) for fault in kinds):
            self._held = raw
            return
        with contextlib.suppress(ConnectionClosed):
            for each in (raw, *([held] if held else [])):
                await self._socket.send(each)
            if any(isinstance(fault, Twice) for fault in kinds):
                await self._socket.send(raw)

    async def _fault(self, fault: Fault, event: Event) -> bool:
        """Do it, and tell whether the event that set it off is still handled."""
        match fault.do:
            case Abort():
                self.abort()
                return False
            case Close(code, reason):
                await self._socket.close(code, reason)
                return False
            case HalfOpen():
                self._fall_silent()
                return False
            case Error():
                return await self._report(fault.do, event)
            case Say(raw):
                await self._socket.send(raw)
                return True
            case Delay() | Twice() | Behind():
                return True

    async def _report(self, error: Error, event: Event) -> bool:
        """An error event, in a protocol that has them."""
        raise NotImplementedError(f"{error} to {event['type']}")
