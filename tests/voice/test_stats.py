"""The figures of past calls, as the terminal shows them."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from voice.config import load
from voice.microphone import Ledger
from voice.own_memory import open_memory
from voice.stats import latency_stats

AT = datetime(2026, 12, 2, 10, 0, tzinfo=UTC)


@pytest.fixture(autouse=True)
def own_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JARVIS_CONFIG", str(tmp_path / "config.toml"))


def test_latency_and_the_microphone_by_call(tmp_path: Path) -> None:
    """Three percentiles of each stage; of each call what was heard, missing and lost, and why."""
    (tmp_path / "vault").mkdir()
    config = load({"vault": tmp_path / "vault", "state": tmp_path / "state"})
    ledger = Ledger()
    ledger.arrived(500)
    ledger.missing(50, "the device was gone")
    ledger.arrived(25)
    ledger.delivered(550)
    ledger.dropped(25, "the ring was full")
    found = ledger.summary()
    memory = open_memory(config)
    for total_ms in range(10, 1010, 10):
        memory.events.append(
            "latency", AT, conversation="call-1", turn_index=1,
            data={"engine": "local", "total_ms": total_ms, "stages_ms": {"pause": 320}},
        )  # fmt: skip
    memory.events.append(
        "microphone", AT, conversation="call-1",
        data={name: getattr(found, name) for name in found.__slots__},
    )  # fmt: skip
    memory.close()
    stats = latency_stats(config)
    total = next(row for row in stats.latency if row.stage == "total")
    assert (total.p50_ms, total.p95_ms, total.p99_ms) == (500, 950, 990)
    lines = stats.text().splitlines()
    row = next(line.split(maxsplit=5) for line in lines if line.startswith("call-1"))
    assert row[1:] == [
        "10.0",
        "11.5",
        "1.0",
        "0.5",
        "the device was gone 1.0, the ring was full 0.5",
    ]
    assert stats.as_json()["microphones"][0]["reasons"] == {
        "the device was gone": 50,
        "the ring was full": 25,
    }


def test_nothing_yet(tmp_path: Path) -> None:
    """A sentence instead of an empty table."""
    (tmp_path / "vault").mkdir()
    config = load({"vault": tmp_path / "vault", "state": tmp_path / "state"})
    assert latency_stats(config).text().startswith("Nothing yet")
