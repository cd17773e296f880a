"""Recorded calls on disk: what is broken is named."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile  # type: ignore[import-untyped]  # it ships no types

from tests.memory.turns import turn
from voice.errors import AudioUnreadable, RecordingInvalid
from voice.recording import (
    RATE_HZ,
    RecordedTranscript,
    read_recording,
)

BEGAN_AT = datetime(2026, 12, 1, 9, tzinfo=UTC)
BEGAN_S = 1000.0
SHEET: dict[str, Any] = {
    "format": 1,
    "conversation": "c1",
    "began_at": "2026-12-01T10:00:00+01:00",
    "language": "en",
    "languages": ["en", "de"],
    "engine": {
        "name": "local",
        "hears": "Whisper",
        "thinks": "Qwen",
        "speaks": "hibari",
        "words_go_to": "here",
        "costs": "0",
    },
}


def sheet(**other: Any) -> str:
    return json.dumps({**SHEET, **other})


ANSWER = '{"turn": 0, "delay_ms": 5, "pieces": []}\n'

BROKEN = [
    ("no call.json", {}, RecordingInvalid, "it has no call.json"),
    ("not JSON", {"call.json": "{"}, RecordingInvalid, "call.json does not fit"),
    ("not UTF-8", {"call.json": b"\xff\xfe"}, RecordingInvalid, "not text in UTF-8"),
    ("a later format", {"call.json": sheet(format=3)}, RecordingInvalid, "format 3 is not known"),
    ("a naive time", {"call.json": sheet(began_at="2026-12-01T10:00:00")}, RecordingInvalid,
     "began_at"),
    ("a language unknown", {"call.json": sheet(language="fr")}, RecordingInvalid, "language"),
    ("a language not in use", {"call.json": sheet(language="es")}, RecordingInvalid,
     "not one of its languages"),
    ("an unknown field", {"call.json": sheet(pitch=3)}, RecordingInvalid, "pitch"),
    ("another rate", {"call.json": sheet(sample_rate_hz=8000)}, RecordingInvalid,
     "sample_rate_hz"),
    ("a negative delay", {"call.json": sheet(), "answers.jsonl": ANSWER.replace("5", "-5")},
     RecordingInvalid, "answers.jsonl, line 1.*delay_ms"),
    ("a broken second line", {"call.json": sheet(), "answers.jsonl": ANSWER + "{\n" + ANSWER},
     RecordingInvalid, "answers.jsonl, line 2"),
    ("an empty typed turn", {"call.json": sheet(), "typed.jsonl": '{"at_ms": 0, "text": ""}\n'},
     RecordingInvalid, "typed.jsonl, line 1"),
    ("expected is no outcome", {"call.json": sheet(), "expected.json": "[]"}, RecordingInvalid,
     "expected.json"),
    ("sound is no sound", {"call.json": sheet(), "microphone.flac": b"RIFF????WAVE"},
     AudioUnreadable, "damaged"),
    ("sound is empty", {"call.json": sheet(), "microphone.flac": b""}, AudioUnreadable,
     "damaged"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("files", "fault", "message"), [row[1:] for row in BROKEN], ids=[row[0] for row in BROKEN]
)
def test_a_broken_recording_is_named(
    tmp_path: Path, files: dict[str, str | bytes], fault: type[Exception], message: str
) -> None:
    """The message names the file and what is wrong with it."""
    for name, content in files.items():
        (tmp_path / name).write_bytes(content.encode() if isinstance(content, str) else content)
    with pytest.raises(fault, match=message):
        read_recording(tmp_path)


SOUNDS = [
    ("8 kHz", 8000, 1, "1 channel.* at 8000 Hz"),
    ("stereo", 16000, 2, "2 channel"),
]


@pytest.mark.parametrize(
    ("rate_hz", "channels", "message"), [row[1:] for row in SOUNDS], ids=[row[0] for row in SOUNDS]
)
def test_sound_of_another_shape_is_refused(
    tmp_path: Path, rate_hz: int, channels: int, message: str
) -> None:
    """The rate is checked at the boundary, so nothing is played at the wrong speed."""
    (tmp_path / "call.json").write_text(sheet())
    soundfile.write(tmp_path / "microphone.flac", np.zeros((800, channels)), rate_hz)
    with pytest.raises(AudioUnreadable, match=message):
        read_recording(tmp_path)


def test_sound_that_is_cut_off_is_refused(tmp_path: Path) -> None:
    """Half a file is not half a call."""
    (tmp_path / "call.json").write_text(sheet())
    path = tmp_path / "microphone.flac"
    noise = np.random.default_rng(0).normal(0, 0.1, 5 * RATE_HZ)
    soundfile.write(path, noise, RATE_HZ)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with pytest.raises(AudioUnreadable, match=r"damaged|cut off"):
        read_recording(tmp_path)


# Transcripts --------------------------------------------------------------------------

TWO = [turn(0).as_json(), turn(1).as_json()]
STATE_FILE = [
    {"conversation": {"version": 1, "id": "c1", "kind": "call", "began_at": "2026-12-01T09:00Z"}},
    {"turn": TWO[0]},
    {"handed_over": {"first": 0, "last": 0, "trigger": "30 turns", "at": "2026-12-01T09:00Z"}},
    {"turn": TWO[1]},
]

TRANSCRIPTS = [
    ("a list", json.dumps(TWO)),
    ("an object", json.dumps({"turns": TWO, "handed_over": "hang-up"})),
    ("lines", "".join(json.dumps(each) + "\n" for each in TWO)),
    ("lines without a last end", "\n".join(json.dumps(each) for each in TWO)),
    ("a conversation of the state", "".join(json.dumps(each) + "\n" for each in STATE_FILE)),
]


@pytest.mark.parametrize(
    "text", [row[1] for row in TRANSCRIPTS], ids=[row[0] for row in TRANSCRIPTS]
)
def test_a_transcript_is_read_in_each_of_its_forms(tmp_path: Path, text: str) -> None:
    """Turns alone are a recorded call too."""
    path = tmp_path / "call.json"
    path.write_text(text)
    assert read_recording(path) == RecordedTranscript(turns=(turn(0), turn(1)))


BROKEN_TRANSCRIPTS = [
    ("empty", "", "holds no turns"),
    ("no turns", '{"turns": []}', "holds no turns"),
    ("neither", "Hello, this is a letter.", "neither JSON nor JSON lines"),
    ("a number", "42", "does not fit|neither"),
    ("a naive time", json.dumps([{**TWO[0], "ended_at": "2026-12-01T10:00:00"}]), "ended_at"),
    ("an unknown origin", json.dumps([{**TWO[0], "origin": "guessed"}]), "origin"),
    ("two conversations", json.dumps([TWO[0], {**TWO[1], "conversation": "c2"}]), "several"),
    ("out of order", json.dumps([TWO[1], TWO[0]]), "do not rise"),
    ("back in time", json.dumps([TWO[0], {**TWO[1], "ended_at": "2026-11-01T10:00:00Z"}]),
     "times of the turns do not rise"),
    ("damaged in the middle", f"{json.dumps(TWO[0])}\n{{\n{json.dumps(TWO[1])}\n", "line 2"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "message"),
    [row[1:] for row in BROKEN_TRANSCRIPTS],
    ids=[row[0] for row in BROKEN_TRANSCRIPTS],
)
def test_a_broken_transcript_is_named(tmp_path: Path, text: str, message: str) -> None:
    """The message names the file and what is wrong with it."""
    path = tmp_path / "turns.json"
    path.write_text(text)
    with pytest.raises(RecordingInvalid, match=message):
        read_recording(path)


def test_a_path_that_is_not_there_is_named(tmp_path: Path) -> None:
    """A mistyped path is said so."""
    with pytest.raises(RecordingInvalid, match="There is no recorded call at"):
        read_recording(tmp_path / "nowhere")
