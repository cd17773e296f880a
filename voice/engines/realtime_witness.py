"""Who sees what passes between a call and its service, and what the call gave it to work with.

A recording keeps it; a replay holds it against what was kept.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from websockets.exceptions import ConnectionClosed, InvalidStatus

from memory.records import Prefix
from voice.engines.protocol import Opening
from voice.engines.realtime_records import Seen, What, Witness
from voice.engines.realtime_socket import Address, Connect, Socket, code_in
from voice.records import NotesFound
from voice.tools import ToolAround


def _now_s() -> float:
    return asyncio.get_running_loop().time()


# Sockets ------------------------------------------------------------------------------


def witnessed(connected: Connect, witness: Witness, secret: str) -> Connect:
    """The same, seen. `secret` is taken out of all that is told."""
    count = 0

    async def connect(address: Address) -> Socket:
        nonlocal count
        number, count = count, count + 1
        witness(Seen(at_s=_now_s(), what="opening", body=True, socket=number))
        try:
            socket = await connected(address)
        except BaseException as fault:
            witness(Seen(at_s=_now_s(), what="refused", body=_refusal(fault), socket=number))
            raise
        witness(Seen(at_s=_now_s(), what="opened", body=True, socket=number))
        return _Witnessed(socket, number, witness, secret)

    return connect


def _refusal(fault: BaseException) -> dict[str, Any]:
    """What a replay needs to meet the same fault; nothing of what the server wrote but its code."""
    match fault:
        case InvalidStatus():
            response = fault.response
            return {"status": response.status_code, "code": code_in(response.body)}
        case OSError():
            return {"errno": fault.errno, "text": fault.strerror or type(fault).__name__}
        case asyncio.CancelledError():
            return {"waited": True}
        case _:
            return {"text": type(fault).__name__}


class _Witnessed:
    def __init__(self, socket: Socket, number: int, witness: Witness, secret: str) -> None:
        self._socket = socket
        self._number = number
        self._witness = witness
        self._secret = secret
        self._over = False

    @property
    def close_code(self) -> int | None:
        return self._socket.close_code

    @property
    def close_reason(self) -> str | None:
        return self._socket.close_reason

    def _tell(self, what: What, body: Any, at_s: float | None = None) -> None:
        at_s = _now_s() if at_s is None else at_s
        self._witness(Seen(at_s=at_s, what=what, body=body, socket=self._number))

    def _hidden(self, text: str) -> str:
        return text.replace(self._secret, "…") if self._secret else text

    async def send(self, text: str, /) -> None:
        self._tell("sent", self._hidden(text))
        await self._socket.send(text)

    async def recv(self) -> str | bytes:
        try:
            raw = await self._socket.recv()
        except ConnectionClosed:
            self._ended("service", self.close_code, self.close_reason)
            raise
        text = raw if isinstance(raw, str) else raw.decode(errors="replace")
        self._tell("got", self._hidden(text))
        return raw

    async def ping(self) -> Awaitable[float]:
        at_s = _now_s()
        pong = asyncio.ensure_future(await self._socket.ping())

        def came(pong: asyncio.Future[float]) -> None:
            lost = pong.cancelled() or pong.exception() is not None
            self._tell("pong", None if lost else _now_s() - at_s, at_s)

        pong.add_done_callback(came)
        return pong

    async def close(self) -> None:
        self._ended("us")
        await self._socket.close()

    def abort(self) -> None:
        self._ended("us")
        self._socket.abort()

    def _ended(
        self, by: Literal["us", "service"], code: int | None = None, reason: str | None = None
    ) -> None:
        if not self._over:
            self._over = True
            told = {"by": by, "code": code, "reason": self._hidden(reason or "")}
            self._tell("ended", told)


# What the call gave -------------------------------------------------------------------


def seen_opening(opening: Opening, witness: Witness) -> Opening:
    """The same, and what is asked of it is seen with its answer: notebooks, notes, tools."""

    def given(kind: str, question: Any, answer: Any, began_s: float) -> None:
        took_ms = round(1000 * (_now_s() - began_s), 3)
        body = {"kind": kind, "question": question, "answer": answer, "took_ms": took_ms}
        witness(Seen(at_s=_now_s(), what="given", body=body))

    async def news() -> str | None:
        began_s = _now_s()
        changed = await opening.news()
        given("news", None, changed, began_s)
        return changed

    async def notes(words: str) -> NotesFound | None:
        began_s = _now_s()
        found = await opening.notes(words)
        given("notes", words, None if found is None else asdict(found), began_s)
        return found

    fresh = opening.fresh_prefix

    async def fresh_prefix() -> Prefix:
        assert fresh is not None
        began_s = _now_s()
        prefix = await fresh()
        given("prefix", None, prefix.text, began_s)
        return prefix

    given("prefix", None, opening.prefix.text, _now_s())
    if opening.earlier:
        given("earlier", None, [turn.as_json() for turn in opening.earlier], _now_s())
    return replace(
        opening,
        news=news,
        notes=notes,
        fresh_prefix=None if fresh is None else fresh_prefix,
        tools=tuple(SeenTool(tool, given) for tool in opening.tools),
    )


@dataclass(frozen=True, slots=True)
class SeenTool(ToolAround):
    """A Tool. `given` gets its kind, name and arguments, answer, and when it was asked."""

    given: Callable[[str, Any, Any, float], None]

    async def __call__(self, arguments: Mapping[str, Any]) -> str:
        began_s = _now_s()
        output = await self.tool(arguments)
        self.given("tool", [self.name, dict(arguments)], output, began_s)
        return output
