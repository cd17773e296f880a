"""Recordings in any usual format to 16 kHz mono and back."""

from __future__ import annotations

import wave
from pathlib import Path

import av
import numpy as np
import numpy.typing as npt
from av.audio.resampler import AudioResampler

from voice.errors import AudioUnreadable

RATE_HZ = 16_000

Samples = npt.NDArray[np.int16]


def decode(path: Path) -> Samples:
    """The samples of a wav, flac, mp3, ogg, opus or m4a file, any rate, any channels.

    Raises AudioUnreadable with what is wrong with the file.
    """
    if not path.exists():
        raise AudioUnreadable(f"There is no file {path}. Check the name.")
    if path.is_dir():
        raise AudioUnreadable(f"{path} is a folder. Name the recordings in it, one by one.")
    try:
        if path.stat().st_size == 0:
            raise AudioUnreadable(f"{path} is empty: nothing was recorded.")
        pieces = _decoded(path)
    except PermissionError as fault:
        raise AudioUnreadable(f"{path} may not be read by this user.") from fault
    except av.FFmpegError as fault:
        raise AudioUnreadable(
            f"{path} can't be read as audio ({fault.strerror or fault}). It is damaged, or no "
            "recording: wav, flac, mp3, ogg, opus and m4a work."
        ) from fault
    if not pieces or not any(len(piece) for piece in pieces):
        raise AudioUnreadable(f"{path} holds no sound: its recording has a length of zero.")
    return np.concatenate(pieces)


def _decoded(path: Path) -> list[Samples]:
    with av.open(str(path), mode="r", metadata_errors="ignore") as container:
        stream = next(iter(container.streams.audio), None)
        if stream is None:
            raise AudioUnreadable(f"{path} has no audio track.")
        resampler = AudioResampler(format="s16", layout="mono", rate=RATE_HZ)
        pieces: list[Samples] = []
        for frame in container.decode(stream):
            frame.pts = None  # a broken time stamp is no reason to drop sound
            pieces += [_samples(part) for part in resampler.resample(frame)]
        pieces += [_samples(part) for part in resampler.resample(None)]
    return pieces


def _samples(frame: av.AudioFrame) -> Samples:
    return frame.to_ndarray().reshape(-1).astype(np.int16, copy=False)


def write_wav(path: Path, samples: Samples, rate_hz: int = RATE_HZ) -> None:
    """Plain 16-bit mono."""
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate_hz)
        file.writeframes(samples.astype("<i2").tobytes())


def write_flac(path: Path, samples: Samples, rate_hz: int = RATE_HZ) -> None:
    """16-bit mono, about half of a wav's size."""
    with av.open(str(path), mode="w", format="flac") as container:
        stream = container.add_stream("flac", rate=rate_hz, layout="mono")
        block = 4096
        for start in range(0, len(samples), block):
            piece = np.ascontiguousarray(samples[start : start + block], np.int16)
            frame = av.AudioFrame.from_ndarray(piece[None], format="s16", layout="mono")
            frame.sample_rate = rate_hz
            frame.pts = start
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
