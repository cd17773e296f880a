"""What passes between a call and its voice service, as it is written. docs/recorded-calls.md.

The call's loop only puts things in line; a thread makes lines of them and writes. So a stalled
disk stalls no sound.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import queue
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

from voice.engines.realtime_lines import Lines
from voice.engines.realtime_records import Seen
from voice.recorded_service import MOST_BYTES, MOST_SOUND_BYTES, SERVICE, SOUND, SOUND_HZ
from voice.recorded_sound import pack

log = logging.getLogger(__name__)

_MOST_WAITING_CHARS = 64_000_000
"""So much may wait for the disk: a minute of answers that all came at once."""


class ServiceRecorder:
    """A `Witness`. `failed` is told on the call's loop, once, why it ends before the call does. The
    thread begins with the first thing that is seen."""

    def __init__(self, folder: Path, began_s: float, failed: Callable[[str], None]) -> None:
        self._folder = folder
        self._failed = failed
        self._loop: asyncio.AbstractEventLoop | None = None
        self._waiting: queue.SimpleQueue[Seen | None] = queue.SimpleQueue()
        # One side writes each of these.
        self._put_chars = 0
        self._taken_chars = 0
        self._closed = False
        self._broken = False
        self._thread: threading.Thread | None = None
        self._lines = Lines(began_s, self._keep)
        self._file: BinaryIO | None = None
        self._sound: BinaryIO | None = None
        self._bytes = 0
        self._sound_bytes = 0

    def __call__(self, seen: Seen) -> None:
        if self._closed or self._broken:
            return
        if self._put_chars - self._taken_chars > _MOST_WAITING_CHARS:
            self._end("the disk is too slow")
            return
        self._put_chars += _chars(seen)
        if self._thread is None:
            self._loop = asyncio.get_running_loop()
            self._thread = threading.Thread(target=self._run, name="service recorder", daemon=True)
            self._thread.start()
        self._waiting.put(seen)

    async def close(self) -> None:
        """Write what waits, and pack the sound as FLAC. Raises OSError."""
        self._closed = True
        thread = self._thread
        if thread is not None:
            self._waiting.put(None)
            await asyncio.to_thread(thread.join)
            await asyncio.to_thread(self._pack)

    def _end(self, reason: str) -> None:
        if not self._broken:
            self._broken = True
            self._failed(reason)

    # In the thread ------------------------------------------------------------------------

    def _run(self) -> None:
        try:
            self._file = (self._folder / SERVICE).open("ab", buffering=0)
            while (seen := self._waiting.get()) is not None:
                self._write(self._lines.of(seen))
                self._taken_chars += _chars(seen)
            self._write(self._lines.rest())
        except OSError as fault:
            self._give_up(fault.strerror or str(fault))
        finally:
            for each in (self._file, self._sound):
                if each is not None:
                    each.close()

    def _give_up(self, reason: str) -> None:
        log.warning("what the service says is no longer recorded: %s", reason)
        assert self._loop is not None
        with contextlib.suppress(RuntimeError):  # the loop may be gone, and nobody to tell
            self._loop.call_soon_threadsafe(self._end, reason)

    def _write(self, lines: list[dict[str, Any]]) -> None:
        assert self._file is not None
        text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines).encode()
        if self._bytes + len(text) > MOST_BYTES:
            raise OSError(None, f"{SERVICE} has {MOST_BYTES // 1_000_000} MB, which is the most")
        self._bytes += len(text)
        if text:
            self._file.write(text)

    def _keep(self, sound: bytes) -> int:
        if self._sound_bytes + len(sound) > MOST_SOUND_BYTES:
            raise OSError(None, f"there are {MOST_SOUND_BYTES // 2 // SOUND_HZ} s of answers")
        if self._sound is None:
            self._sound = (self._folder / f"{SOUND}.pcm").open("ab", buffering=0)
        first = self._sound_bytes // 2
        self._sound.write(sound)
        self._sound_bytes += len(sound)
        return first

    def _pack(self) -> None:
        if self._sound_bytes:
            pack(self._folder, SOUND, SOUND_HZ)


def _chars(seen: Seen) -> int:
    return len(seen.body) if isinstance(seen.body, str) else 0
