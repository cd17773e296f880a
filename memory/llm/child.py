"""A command that is run to its end, and with it all that it started."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

OUTPUT_BYTES = 1 << 20
_LAST_OUTPUT_S = 2.0
"""How long the pipes may stay open behind a program that ended; then what came is the output."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """How it ended: negative codes are signals."""

    code: int
    out: str
    err: str


async def run(
    command: tuple[str, ...],
    *,
    text: str,
    folder: Path,
    environment: Mapping[str, str],
    timeout_s: float,
) -> Ran:
    """Run a command to its end. Raises OSError where it can't be started, TimeoutError.

    It leads a group of its own, and no process of that group outlives this call: after the
    end, a timeout, or a cancellation. More than `OUTPUT_BYTES` of output end it too.
    """
    transport, child = await _started(command, folder, environment)
    try:
        async with asyncio.timeout(timeout_s):
            child.read(text)
            await asyncio.shield(child.exited)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_LAST_OUTPUT_S):
                    await asyncio.shield(child.silent)
    finally:
        if not child.silent.done():
            _kill_group(transport.get_pid())
        await asyncio.shield(child.exited)
        transport.close()
    return Ran(code=transport.get_returncode() or 0, out=child.said(1), err=child.said(2))


class _Child(asyncio.SubprocessProtocol):
    """What it says, and when it ends. `silent` is done when nobody holds its pipes any more.

    asyncio's own Process.wait() waits for the pipes as well, up to Python 3.11: a program
    that leaves something running would never end.
    """

    def __init__(self) -> None:
        loop = asyncio.get_running_loop()
        self.exited: asyncio.Future[None] = loop.create_future()
        self.silent: asyncio.Future[None] = loop.create_future()
        self._said = {1: bytearray(), 2: bytearray()}
        self._transport: asyncio.SubprocessTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.SubprocessTransport)
        self._transport = transport

    def pipe_data_received(self, fd: int, data: bytes | str) -> None:
        assert isinstance(data, bytes)
        if len(self._said[fd]) <= OUTPUT_BYTES:
            self._said[fd] += data
        else:
            self._kill()

    def process_exited(self) -> None:
        self._kill()  # what it left running
        self.exited.set_result(None)

    def connection_lost(self, _exc: Exception | None) -> None:
        self.silent.set_result(None)

    def read(self, text: str) -> None:
        """Give it what it reads; it may end without reading it."""
        assert self._transport is not None
        pipe = self._transport.get_pipe_transport(0)
        assert isinstance(pipe, asyncio.WriteTransport)
        pipe.write(text.encode(errors="replace"))
        pipe.close()

    def said(self, fd: int) -> str:
        return self._said[fd].decode(errors="replace")

    def _kill(self) -> None:
        assert self._transport is not None
        _kill_group(self._transport.get_pid())


async def _started(
    command: tuple[str, ...], folder: Path, environment: Mapping[str, str]
) -> tuple[asyncio.SubprocessTransport, _Child]:
    """A cancellation that comes while it starts waits until there is something to kill."""
    starting = asyncio.ensure_future(
        asyncio.get_running_loop().subprocess_exec(
            _Child,
            *command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            cwd=folder,
            env=dict(environment),
            start_new_session=True,
        )
    )
    try:
        return await asyncio.shield(starting)
    except asyncio.CancelledError:
        with contextlib.suppress(OSError):
            transport, child = await starting
            _kill_group(transport.get_pid())
            await child.exited
            transport.close()
        raise


def _kill_group(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)
