"""Worker processes: heavy models run beside the call, at lower priority.

Parent and child talk over the child's standard input and output. A message is two
big-endian 32-bit lengths, a JSON header, and a binary payload. The parent numbers its
requests; each reply carries the number, and "more" while others follow. The child ends
when its input does, so none outlives the call.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import logging
import os
import runpy
import signal
import struct
import sys
import threading
from collections import deque
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, BinaryIO

from voice.errors import WorkerFailed
from voice.virtual_time import at_work

log = logging.getLogger(__name__)

Header = dict[str, Any]
Message = tuple[Header, bytes]
Handler = Callable[[Header, bytes], Iterable[Message]]

_LENGTHS = struct.Struct(">II")
_STDERR_LINES = 20
_CLOSE_TIMEOUT_S = 2.0
_SPINS = "4000"
"""How often a thread of GNU's OpenMP looks whether the others have come before it leaves its core to
somebody else. By default it looks for milliseconds, while the one that it waits for has no core:
with one more busy process on two cores a question took 8.3 s and not 1.6. With 1000 it takes 1.5,
but 0.1 s more where nothing else runs."""
_replies: BinaryIO | None = None


def _packed(header: Header, payload: bytes) -> bytes:
    text = json.dumps(header).encode()
    return _LENGTHS.pack(len(text), len(payload)) + text + payload


# The child's side ---------------------------------------------------------------------


def run() -> None:
    """Run the module that the command line names, with standard output kept for replies.

    What a library prints, also while it is imported, goes to standard error.
    """
    global _replies  # one process has one standard output
    os.environ.setdefault("GOMP_SPINCOUNT", _SPINS)  # read when a library that needs it is loaded
    _replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    sys.argv = sys.argv[1:]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)


def serve(
    handlers: Mapping[str, Handler],
    ready: Header | None = None,
    *,
    niceness: int = 5,
    lanes: Mapping[str, int] | None = None,
) -> None:
    """Answer requests until standard input ends.

    Each kind of request has a thread of its own, so kinds overlap and requests of one
    kind keep their order, but for those that `lanes` gives more threads.
    """
    with contextlib.suppress(OSError):
        os.nice(niceness)
    source, sink = sys.stdin.buffer, _replies
    assert sink is not None, "a worker is started by Worker, through run()"
    lock = threading.Lock()

    def reply(header: Header, payload: bytes = b"") -> None:
        with lock:
            sink.write(_packed(header, payload))
            sink.flush()

    def answer(number: int, kind: str, header: Header, payload: bytes) -> None:
        try:
            for more_header, more_payload in handlers[kind](header, payload):
                reply({**more_header, "request": number, "more": True}, more_payload)
            reply({"request": number})
        except BrokenPipeError:
            os._exit(0)
        except Exception as fault:
            # The parent must hear of any failure, or it waits for ever.
            log.exception("request %s failed", kind)
            reply({"request": number, "fault": f"{type(fault).__name__}: {fault}"})

    reply({"ready": ready or {}})
    threads = {
        kind: ThreadPoolExecutor((lanes or {}).get(kind, 1), thread_name_prefix=kind)
        for kind in handlers
    }
    while (message := _read(source)) is not None:
        header, payload = message
        kind = header.pop("kind")
        threads[kind].submit(answer, header.pop("request"), kind, header, payload)
    os._exit(0)


def _read(source: BinaryIO) -> Message | None:
    lengths = source.read(_LENGTHS.size)
    if len(lengths) < _LENGTHS.size:
        return None
    header_bytes, payload_bytes = _LENGTHS.unpack(lengths)
    return json.loads(source.read(header_bytes)), source.read(payload_bytes)


# The parent's side --------------------------------------------------------------------


@contextlib.contextmanager
def _killed_after(child: asyncio.subprocess.Process, limit_s: float) -> Iterator[None]:
    """Kill the child after so many real seconds; a virtual clock stands still meanwhile."""

    def kill() -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(child.pid, signal.SIGKILL)

    killer = threading.Timer(limit_s, kill)
    killer.daemon = True
    killer.start()
    try:
        with at_work():
            yield
    finally:
        killer.cancel()


class Worker:
    """A child that runs a module as `python -m` would, started at first use and again when it died.

    `title` is what error messages call it. Requests may overlap.
    """

    def __init__(
        self, module: str, *arguments: str, title: str, start_timeout_s: float = 120.0
    ) -> None:
        self._command = (
            sys.executable,
            "-c",
            "from voice.workers import run; run()",
            module,
            *arguments,
        )
        self._title = title
        self._start_timeout_s = start_timeout_s
        self._numbers = itertools.count(1)
        self._waiting: dict[int, asyncio.Queue[Message | WorkerFailed]] = {}
        self._child: asyncio.subprocess.Process | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self._stderr: deque[str] = deque(maxlen=_STDERR_LINES)
        self._starting = asyncio.Lock()
        self._ready: Header = {}
        self._closed = False

    @property
    def pid(self) -> int | None:
        return self._child.pid if self._child else None

    async def start(self) -> Header:
        """Start the child unless it runs, and return what it said when it was ready."""
        async with self._starting:
            if self._child is not None and self._child.returncode is None:
                return self._ready
            if self._closed:
                raise WorkerFailed(f"{self._title} was closed.")
            with at_work():
                await self._launch()
            return self._ready

    async def _launch(self) -> None:
        child = await asyncio.create_subprocess_exec(
            *self._command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,  # a Ctrl-C is for the parent, which closes in its own order
        )
        self._child = child
        self._stderr.clear()
        errors = asyncio.create_task(self._read_errors(child))
        try:
            with _killed_after(child, self._start_timeout_s):
                message = await self._receive(child)
        except asyncio.CancelledError:
            errors.cancel()
            child.kill()
            self._child = None
            raise
        if message is None or "ready" not in message[0]:
            await child.wait()
            await errors
            raise WorkerFailed(f"{self._title} did not start. It said: {self._last_words()}")
        self._ready = message[0]["ready"]
        self._tasks = [errors, asyncio.create_task(self._read_replies(child))]

    async def _receive(self, child: asyncio.subprocess.Process) -> Message | None:
        assert child.stdout is not None
        try:
            lengths = await child.stdout.readexactly(_LENGTHS.size)
            header_bytes, payload_bytes = _LENGTHS.unpack(lengths)
            header = json.loads(await child.stdout.readexactly(header_bytes))
            return header, await child.stdout.readexactly(payload_bytes)
        except asyncio.IncompleteReadError:
            return None

    async def _read_errors(self, child: asyncio.subprocess.Process) -> None:
        assert child.stderr is not None
        async for line in child.stderr:
            text = line.decode(errors="replace").rstrip()
            self._stderr.append(text)
            log.debug("%s: %s", self._title, text)

    async def _read_replies(self, child: asyncio.subprocess.Process) -> None:
        while (message := await self._receive(child)) is not None:
            queue = self._waiting.get(message[0].get("request", 0))
            if queue is not None:
                queue.put_nowait(message)
        await child.wait()
        fault = WorkerFailed(
            f"{self._title} ended with code {child.returncode}. It said: {self._last_words()}"
        )
        for queue in self._waiting.values():
            queue.put_nowait(fault)

    def _last_words(self) -> str:
        return " | ".join(self._stderr) or "nothing"

    async def stream(
        self, kind: str, header: Header | None = None, payload: bytes = b""
    ) -> AsyncGenerator[Message, None]:
        """The replies to one request, as they come. Leaving early is fine: the rest is dropped."""
        await self.start()
        child = self._child
        assert child is not None and child.stdin is not None
        number = next(self._numbers)
        queue: asyncio.Queue[Message | WorkerFailed] = asyncio.Queue()
        self._waiting[number] = queue
        try:
            with at_work():
                child.stdin.write(
                    _packed({**(header or {}), "kind": kind, "request": number}, payload)
                )
                with contextlib.suppress(ConnectionError):  # told by _read_replies, with the reason
                    await child.stdin.drain()
            while True:
                with at_work():
                    message = await queue.get()
                if isinstance(message, WorkerFailed):
                    raise message
                if "fault" in message[0]:
                    raise WorkerFailed(f"{self._title}: {message[0]['fault']}")
                if not message[0].get("more"):
                    return
                yield message
        finally:
            del self._waiting[number]

    async def call(self, kind: str, header: Header | None = None, payload: bytes = b"") -> Message:
        """The one reply to a request."""
        replies = [message async for message in self.stream(kind, header, payload)]
        if len(replies) != 1:
            raise WorkerFailed(f"{self._title} gave {len(replies)} replies to {kind}, not one.")
        return replies[0]

    async def close(self) -> None:
        self._closed = True
        child = self._child
        if child is None:
            return
        if child.returncode is None:
            assert child.stdin is not None
            child.stdin.close()
            with _killed_after(child, _CLOSE_TIMEOUT_S):
                await child.wait()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for queue in self._waiting.values():
            queue.put_nowait(WorkerFailed(f"{self._title} was closed."))
