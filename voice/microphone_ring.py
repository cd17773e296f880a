"""The ring on disk for sound that nobody could take yet: bounded, nameless, gone with the call."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import BinaryIO

from voice.microphone import FRAME_BYTES


class Ring:
    """First in, first out, `capacity` frames at most; a full ring forgets its oldest frames.

    The file has no name (on Windows it is deleted when it is closed), so nothing stays behind,
    not even after a kill. It is made by the first write. Blocks on the disk: not for the
    event loop. Raises OSError as the disk does.
    """

    def __init__(self, folder: Path, capacity: int) -> None:
        self._folder = folder
        self._capacity = capacity
        self._file: BinaryIO | None = None
        self._first = 0
        self._end = 0

    def __len__(self) -> int:
        return self._end - self._first

    def append(self, frames: bytes) -> int:
        """How many of the oldest frames had to go to make room."""
        assert len(frames) % FRAME_BYTES == 0
        count = len(frames) // FRAME_BYTES
        assert count <= self._capacity
        if self._file is None:
            self._folder.mkdir(parents=True, exist_ok=True)
            self._file = tempfile.TemporaryFile(dir=self._folder, buffering=0)  # noqa: SIM115 - until close
        at = self._end % self._capacity
        until_wrap = (self._capacity - at) * FRAME_BYTES
        self._write(at, frames[:until_wrap])
        self._write(0, frames[until_wrap:])
        forgotten = max(0, len(self) + count - self._capacity)
        self._end += count
        self._first += forgotten
        return forgotten

    def _write(self, at: int, frames: bytes) -> None:
        if not frames:
            return
        assert self._file is not None
        self._file.seek(at * FRAME_BYTES)
        written = self._file.write(frames)
        if written != len(frames):
            raise OSError(None, "the disk took only a part")

    def take(self, count: int) -> list[bytes]:
        """The oldest frames, at most so many."""
        frames: list[bytes] = []
        while self._file is not None and len(frames) < count and len(self):
            at = self._first % self._capacity
            wanted = min(count - len(frames), len(self), self._capacity - at)
            self._file.seek(at * FRAME_BYTES)
            block = self._file.read(wanted * FRAME_BYTES)
            if len(block) < wanted * FRAME_BYTES:
                raise OSError(None, "the disk gave only a part")
            frames += [block[i : i + FRAME_BYTES] for i in range(0, len(block), FRAME_BYTES)]
            self._first += wanted
        return frames

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None
        self._first = self._end
