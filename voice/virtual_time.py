"""A clock that waits for work and for nothing else.

On a `VirtualLoop` a timer costs no time: when nothing is ready and nobody works, the
clock jumps to the next timer. While a worker process or a thread works the clock stands
still, so that what happens does not depend on how fast this machine is.
"""

from __future__ import annotations

import asyncio
import contextlib
import selectors
import time
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import Executor
from typing import Any, TypeVar, TypeVarTuple, Unpack

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

_START_S = 1_000_000.0
_GRACE_S = 0.0005
_POLL_S = 0.05


class _Selector(selectors.DefaultSelector):
    loop: VirtualLoop

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if not self.loop.grace_s and not self.loop.working and timeout is not None:
            # Nobody outside is waited for, and asking the system at each step costs a third.
            self.loop.now_s += max(timeout, 0.0)
            return []
        ready = super().select(0)
        if ready or (timeout is not None and timeout <= 0):
            return ready
        if self.loop.working:
            return super().select(_POLL_S)
        ready = super().select(self.loop.grace_s)
        if ready or timeout is None:
            return ready or super().select(_POLL_S)
        self.loop.now_s += timeout
        return []


class VirtualLoop(asyncio.SelectorEventLoop):
    """`now_s` is the loop's time; `working` counts those for whom it stands still.

    `grace_s` is real time that sockets get before each jump; 0 where every answer from
    outside is awaited under `at_work()`. `epoch_s` as in `run_virtual`.
    """

    epoch_s: float = 0.0

    def __init__(self, grace_s: float = _GRACE_S) -> None:
        self.grace_s = grace_s
        self.now_s = _START_S
        self.working = 0
        selector = _Selector()
        selector.loop = self
        super().__init__(selector)

    def time(self) -> float:
        return self.now_s

    def run_in_executor(
        self, executor: Executor | None, func: Callable[[Unpack[Ts]], T], *args: *Ts
    ) -> asyncio.Future[T]:
        future = super().run_in_executor(executor, func, *args)
        self.working += 1
        future.add_done_callback(lambda _: self._done())
        return future

    def _done(self) -> None:
        self.working -= 1

    async def shutdown_default_executor(self, *limit: float | None) -> None:
        """From Python 3.12 on there is a limit, since 3.13 a timer, which this clock would jump to."""
        self.working += 1
        try:
            await super().shutdown_default_executor(*limit)
        finally:
            self.working -= 1


@contextlib.contextmanager
def at_work() -> Iterator[None]:
    """While this is open a virtual clock stands still; on a real loop it does nothing."""
    loop = asyncio.get_running_loop()
    if not isinstance(loop, VirtualLoop):
        yield
        return
    loop.working += 1
    try:
        yield
    finally:
        loop.working -= 1


def begin_epoch(epoch_s: float) -> None:
    """Set when the running virtual clock began, where that is known only now; on a real loop it
    does nothing."""
    loop = asyncio.get_running_loop()
    if isinstance(loop, VirtualLoop):
        loop.epoch_s = epoch_s


def run_virtual(
    main: Callable[[], Coroutine[Any, Any, T]], *, epoch_s: float, grace_s: float = _GRACE_S
) -> T:
    """Run `main` on a virtual clock that begins at `epoch_s` (seconds since 1970, UTC).

    `grace_s` as in VirtualLoop. pipecat reads `time` directly, so those functions follow the loop's clock meanwhile:
    not for a process that does anything else at the same time.
    """
    loop = VirtualLoop(grace_s)
    loop.epoch_s = epoch_s
    names = ("time", "monotonic", "time_ns", "monotonic_ns")
    real = {name: getattr(time, name) for name in names}
    time.monotonic = lambda: loop.now_s
    time.time = lambda: loop.epoch_s + loop.now_s - _START_S
    time.monotonic_ns = lambda: int(loop.now_s * 1e9)
    time.time_ns = lambda: int(time.time() * 1e9)
    try:
        with asyncio.Runner(loop_factory=lambda: loop) as runner:
            return runner.run(main())
    finally:
        for name, function in real.items():
            setattr(time, name, function)
