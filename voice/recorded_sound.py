"""A recording's sound on disk: bare samples while it is made, FLAC when it is whole.

After a kill the bare samples are left, and are read. One channel, 16 bit.
"""

from __future__ import annotations

from pathlib import Path

import soundfile  # type: ignore[import-untyped]  # it ships no types

from voice.errors import AudioUnreadable

_BLOCK_BYTES = 320_000


def running(folder: Path, name: str) -> Path:
    """The file that samples are appended to."""
    return folder / f"{name}.pcm"


def pack(folder: Path, name: str, rate_hz: int) -> None:
    """Make FLAC of the bare samples, which go when it is whole. Raises OSError."""
    pcm, flac = running(folder, name), folder / f"{name}.flac"
    part = flac.with_suffix(".part")
    try:
        with (
            pcm.open("rb") as source,
            soundfile.SoundFile(
                part, "w", rate_hz, 1, subtype="PCM_16", format="FLAC", compression_level=1.0
            ) as sink,
        ):
            while block := source.read(_BLOCK_BYTES):
                sink.buffer_write(block[: len(block) // 2 * 2], dtype="int16")
        part.replace(flac)
    except soundfile.LibsndfileError as fault:
        raise OSError(None, f"the sound can't be packed: {fault}") from fault
    pcm.unlink()


def read_sound(folder: Path, name: str, rate_hz: int) -> bytes:
    """Little-endian samples; none where there is no file. Raises AudioUnreadable."""
    finished, torn = folder / f"{name}.flac", running(folder, name)
    if torn.exists():
        samples = torn.read_bytes()
        return samples[: len(samples) // 2 * 2]
    if not finished.exists():
        return b""
    try:
        with soundfile.SoundFile(finished) as source:
            if (source.samplerate, source.channels) != (rate_hz, 1):
                raise AudioUnreadable(
                    f"{finished} has {source.channels} channel(s) at {source.samplerate} Hz; "
                    f"a recorded call needs one at {rate_hz} Hz. Convert it."
                )
            decoded: bytes = source.read(dtype="int16").astype("<i2").tobytes()
            announced = source.frames
    except soundfile.LibsndfileError as fault:
        raise AudioUnreadable(
            f"{finished} is damaged and can't be decoded ({fault}). Restore it from a copy."
        ) from fault
    if len(decoded) // 2 < announced:
        raise AudioUnreadable(
            f"{finished} is cut off: {announced} samples were announced, "
            f"{len(decoded) // 2} are there. Restore it from a copy."
        )
    return decoded
