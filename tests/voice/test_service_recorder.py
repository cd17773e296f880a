"""What a service says is on disk a moment later, and costs the call nothing."""

from __future__ import annotations

import base64
import json
import threading
from pathlib import Path
from typing import Any

import pytest

from voice import service_recorder
from voice.engines.realtime_records import Seen
from voice.recorded_service import SERVICE, RecordedService, read_service
from voice.service_recorder import ServiceRecorder

SOUND = bytes(range(100)) * 48
DELTA = {"type": "response.output_audio.delta", "delta": base64.b64encode(SOUND).decode()}
ABOUT = {"name": "openai", "url": "wss://a.example/v1", "model": "m", "voice": "v"}


def see(recorder: ServiceRecorder, *events: dict[str, Any]) -> None:
    recorder(Seen(at_s=1.0, what="service", body=ABOUT))
    recorder(Seen(at_s=1.0, what="opening", body=True, socket=0))
    for number, event in enumerate(events):
        recorder(Seen(at_s=2.0 + number, what="got", body=json.dumps(event), socket=0))


def read(folder: Path) -> RecordedService:
    recorded = read_service(folder)
    assert recorded is not None
    return recorded


async def written(folder: Path, *events: dict[str, Any]) -> list[str]:
    failed: list[str] = []
    recorder = ServiceRecorder(folder, 1.0, failed.append)
    see(recorder, *events)
    await recorder.close()
    return failed


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


async def test_what_was_seen_is_read(tmp_path: Path) -> None:
    """Events with their sound, on the call's clock."""
    assert await written(tmp_path, DELTA, {"type": "x"}, DELTA) == []
    recorded = read(tmp_path)
    assert (recorded.name, recorded.url, recorded.model) == ("openai", ABOUT["url"], "m")
    got = [each for each in recorded.passed if each.what == "got"]
    assert [each.at_ms for each in got] == [1000, 2000, 3000]
    assert [recorded.whole(each.body) for each in got] == [DELTA, {"type": "x"}, DELTA]
    assert recorded.sound == 2 * SOUND
    assert names(tmp_path) == ["service.flac", SERVICE]


async def test_a_kill_loses_nothing_that_was_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The bare samples are read, and a torn last line is left out."""

    def killed(*_: object) -> None:
        raise OSError(None, "killed before the sound was packed")

    monkeypatch.setattr(service_recorder, "pack", killed)
    with pytest.raises(OSError, match="killed"):
        await written(tmp_path, DELTA, {"type": "x"})
    assert names(tmp_path) == [SERVICE, "service.pcm"]
    with (tmp_path / SERVICE).open("ab") as torn:
        torn.write(b'{"at_ms": 5, "got": {"ty')
    (tmp_path / "service.pcm").write_bytes(SOUND[:1001])
    recorded = read(tmp_path)
    got = [recorded.whole(each.body) for each in recorded.passed if each.what == "got"]
    assert base64.b64decode(got[0]["delta"]) == SOUND[:1000] + bytes(len(SOUND) - 1000)
    assert got[1:] == [{"type": "x"}]


async def test_without_a_service_there_is_no_file(tmp_path: Path) -> None:
    """And no thread."""
    before = threading.active_count()
    recorder = ServiceRecorder(tmp_path, 1.0, lambda _: None)
    await recorder.close()
    assert (names(tmp_path), threading.active_count()) == ([], before)
    assert read_service(tmp_path) is None


async def test_a_disk_that_fails_is_told_once(tmp_path: Path) -> None:
    """The call goes on."""
    assert await written(tmp_path / "missing", DELTA, DELTA) == ["No such file or directory"]


@pytest.mark.parametrize(
    ("limit", "most", "reason"),
    [
        ("MOST_BYTES", 200, "which is the most"),
        ("MOST_SOUND_BYTES", len(SOUND), "s of answers"),
    ],
)
async def test_it_is_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str, most: int, reason: str
) -> None:
    """What was written before stays, and can be read."""
    monkeypatch.setattr(service_recorder, limit, most)
    [told] = await written(tmp_path, DELTA, DELTA, DELTA)
    assert reason in told
    assert len(read(tmp_path).sound) <= len(SOUND)


async def test_what_a_stalled_disk_lets_wait_is_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Memory does not grow with it."""
    monkeypatch.setattr(service_recorder, "_MOST_WAITING_CHARS", 10_000)
    failed: list[str] = []
    recorder = ServiceRecorder(tmp_path, 1.0, failed.append)
    # No await in between, so the thread's figures may or may not be in; the loop's own are.
    monkeypatch.setattr(recorder, "_run", lambda: None)
    see(recorder, *[DELTA] * 20)
    assert failed == ["the disk is too slow"]
    await recorder.close()
