"""Recordings as people have them: every usual format, and every usual kind of damage."""

from __future__ import annotations

import struct
import wave
from pathlib import Path

import av
import numpy as np
import pytest

from voice.audio import RATE_HZ, Samples, decode, write_flac, write_wav
from voice.errors import AudioUnreadable

TONE_HZ = 440


def tone(rate_hz: int, seconds: float = 1.0) -> Samples:
    times = np.arange(int(rate_hz * seconds)) / rate_hz
    samples: Samples = (10_000 * np.sin(2 * np.pi * TONE_HZ * times)).astype(np.int16)
    return samples


def pitch_hz(samples: Samples) -> float:
    spectrum = np.abs(np.fft.rfft(samples[: RATE_HZ // 2].astype(np.float64)))
    return float(np.argmax(spectrum)) * 2


def encode(path: Path, codec: str, rate_hz: int, layout: str) -> None:
    mono = tone(rate_hz)
    with av.open(str(path), mode="w") as container:
        stream = container.add_stream(codec, rate=rate_hz, layout=layout)
        assert isinstance(stream, av.AudioStream)
        frame = av.AudioFrame.from_ndarray(
            np.ascontiguousarray(np.repeat(mono, 2 if layout == "stereo" else 1)[None]),
            format="s16",
            layout=layout,
        )
        frame.sample_rate = rate_hz
        frame.pts = 0
        resampler = av.AudioResampler(format=stream.codec_context.format, rate=rate_hz)
        for part in [*resampler.resample(frame), *resampler.resample(None)]:
            container.mux(stream.encode(part))
        container.mux(stream.encode(None))


def extensible(path: Path) -> None:
    """What sox writes: WAVE_EXTENSIBLE, which the standard library's reader refuses."""
    data = tone(RATE_HZ).astype("<i2").tobytes()
    guid = struct.pack("<HHI", 1, 0, 0x00100000) + bytes.fromhex("800000aa00389b71")
    form = struct.pack("<HHIIHHHHI", 65534, 1, RATE_HZ, RATE_HZ * 2, 2, 16, 22, 16, 4) + guid
    chunks = b"fmt " + struct.pack("<I", len(form)) + form
    chunks += b"data" + struct.pack("<I", len(data)) + data
    path.write_bytes(b"RIFF" + struct.pack("<I", 4 + len(chunks)) + b"WAVE" + chunks)


@pytest.mark.parametrize(
    ("name", "codec", "rate_hz", "layout"),
    [
        ("phone.wav", "pcm_s16le", 8000, "stereo"),
        ("studio.wav", "pcm_s24le", 48_000, "stereo"),
        ("cd.flac", "flac", 44_100, "stereo"),
        ("song.mp3", "libmp3lame", 44_100, "stereo"),
        ("call.ogg", "libopus", 48_000, "mono"),
        ("call.opus", "libopus", 48_000, "mono"),
        ("memo.m4a", "aac", 44_100, "mono"),
        ("same.wav", "pcm_s16le", 16_000, "mono"),
    ],
)
def test_any_format_becomes_16_khz_mono(
    tmp_path: Path, name: str, codec: str, rate_hz: int, layout: str
) -> None:
    """A second of 440 Hz is a second of 440 Hz, whatever it was kept in."""
    encode(tmp_path / name, codec, rate_hz, layout)
    samples = decode(tmp_path / name)
    assert samples.dtype == np.int16 and samples.ndim == 1
    assert abs(len(samples) - RATE_HZ) <= 0.06 * RATE_HZ
    assert pitch_hz(samples) == pytest.approx(TONE_HZ, abs=2)


def test_wave_extensible(tmp_path: Path) -> None:
    """The header that sox writes is read like any other."""
    extensible(tmp_path / "sox.wav")
    assert np.array_equal(decode(tmp_path / "sox.wav"), tone(RATE_HZ))


@pytest.mark.parametrize("write", [write_wav, write_flac])
@pytest.mark.parametrize("length", [1, 4095, 4096, 16_001])
def test_writers_lose_nothing(tmp_path: Path, write: object, length: int) -> None:
    """What was written is read back, sample by sample."""
    samples = tone(RATE_HZ, 2)[:length]
    assert callable(write)
    path = tmp_path / ("kept.flac" if write is write_flac else "kept.wav")
    write(path, samples)
    assert np.array_equal(decode(path), samples)


def test_wav_writer_keeps_the_rate(tmp_path: Path) -> None:
    """The header tells the rate that was asked for."""
    write_wav(tmp_path / "fast.wav", tone(24_000), 24_000)
    with wave.open(str(tmp_path / "fast.wav")) as file:
        assert (file.getframerate(), file.getnchannels(), file.getsampwidth()) == (24_000, 1, 2)
    assert len(decode(tmp_path / "fast.wav")) == pytest.approx(RATE_HZ, abs=40)


WAV_HEADER = b"RIFF\x24\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00"


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("broken.wav", WAV_HEADER + b"\xff" * 400, "can't be read as audio"),
        ("cut.wav", WAV_HEADER, "can't be read as audio"),
        ("empty.wav", b"", "is empty"),
        ("letter.wav", b"Dear diary, this is no recording at all.\n" * 40, "can't be read"),
        ("notes.txt", b"Buy milk.\n", "can't be read as audio"),
        ("noise.mp3", bytes(range(256)) * 20, "can't be read as audio"),
        (
            "silent.wav",
            WAV_HEADER + b"\x80\x3e\x00\x00\x00\x7d\x00\x00\x02\x00\x10\x00data\x00\x00\x00\x00",
            "no sound",
        ),
    ],
)
def test_damaged_files_say_what_is_wrong(
    tmp_path: Path, name: str, content: bytes, said: str
) -> None:
    """No trace, no crash: a sentence with the file's name."""
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(AudioUnreadable, match=said) as caught:
        decode(path)
    assert name in str(caught.value)


def test_missing_file_and_folder(tmp_path: Path) -> None:
    """A wrong name and a folder are told apart."""
    with pytest.raises(AudioUnreadable, match="There is no file"):
        decode(tmp_path / "nowhere.wav")
    with pytest.raises(AudioUnreadable, match="is a folder"):
        decode(tmp_path)


def test_a_recording_that_breaks_off_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    """A wav whose header promises more than there is gives what there is."""
    write_wav(tmp_path / "whole.wav", tone(RATE_HZ))
    whole = (tmp_path / "whole.wav").read_bytes()
    (tmp_path / "half.wav").write_bytes(whole[: len(whole) // 2])
    assert len(decode(tmp_path / "half.wav")) == pytest.approx(RATE_HZ / 2, abs=700)
