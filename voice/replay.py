"""A recorded call through the same code as a live one, on a virtual clock (V14).

What hears loads its models in a process of its own and takes about as long as Python does to
import the rest of the house, so it is started before anything else is imported.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Any

from voice.config import Config
from voice.virtual_time import run_virtual
from voice.weights import path_of
from voice.workers import Worker

if TYPE_CHECKING:
    from voice.replayed import ReplayResult


def run(config: Config, path: Path, *, real_time: bool = False, keep: bool = False) -> ReplayResult:
    """Replay the recorded call at `path`. Not for a process that does anything else meanwhile.
    `keep` puts what was heard beside it, so that the next replay needs no model.

    Raises RecordingInvalid, AudioUnreadable, VaultMissing, and what the hearing worker raises.
    """

    async def main() -> ReplayResult:
        worker = HearingWorker(config)
        try:
            if _is_to_be_heard(path):
                await worker.begin()
            from voice.replay_steps import replayed

            return await replayed(config, path, worker, real_time=real_time, keep=keep)
        finally:
            await worker.close()

    if real_time:
        return asyncio.run(main())
    # No socket is waited for, and the worker only under at_work(): no grace is needed.
    return run_virtual(main, epoch_s=0.0, grace_s=0)


def _is_to_be_heard(path: Path) -> bool:
    """A recorded call of which nothing that was heard is kept, as far as names tell."""
    return (path / "call.json").is_file() and not (path / "hearing.jsonl").is_file()


class HearingWorker:
    """What hears in one replay. It is begun beforehand, or by the first who gets it."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._worker: Worker | None = None
        self._starting: asyncio.Task[dict[str, Any]] | None = None

    def get(self) -> Worker:
        """Raises WeightsMissing."""
        if self._worker is None:
            self._worker = Worker(
                "voice.hearing.worker",
                str(path_of("whisper-base", self._config.weights)),
                title="The hearing worker",
            )
        return self._worker

    async def begin(self) -> None:
        """Until its process is there; it loads on by itself."""
        self._starting = asyncio.create_task(self.get().start())
        while self.get().pid is None and not self._starting.done():  # noqa: ASYNC110 - nothing tells
            await asyncio.sleep(0)

    async def ready(self) -> None:
        """Raises WorkerFailed."""
        await (self._starting or self.get().start())

    async def close(self) -> None:
        if self._starting is not None:
            self._starting.cancel()
            await asyncio.gather(self._starting, return_exceptions=True)
        if self._worker is not None:
            await self._worker.close()
