from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from memory.events import EventLog
from memory.figures import LatencySummary, TokenSummary, latency, percentile, tokens
from tests.memory.turns import NOON


@pytest.fixture
def log(tmp_path: Path) -> Iterator[EventLog]:
    opened = EventLog(tmp_path, lambda: NOON)
    yield opened
    opened.close()


def test_latency_is_summed_up_by_engine_and_stage(log: EventLog) -> None:
    """Percentiles per engine: the total first, then the stages as they follow each other."""
    for number in range(1, 101):
        stages = {"pause": 200, "first_sound": number * 10 - 200}
        log.append("latency", NOON + timedelta(seconds=number), data={
            "engine": "local", "total_ms": number * 10, "stages_ms": stages,
        })  # fmt: skip
    log.append("latency", NOON, data={"engine": "openai", "total_ms": 700})
    summary = latency(log.events("latency"))
    assert [(s.engine, s.stage) for s in summary] == [
        ("local", "total"), ("local", "pause"), ("local", "first_sound"), ("openai", "total"),
    ]  # fmt: skip
    assert summary[0] == LatencySummary(
        engine="local", stage="total", count=100, p50_ms=500, p95_ms=950, p99_ms=990
    )


def test_tokens_are_summed_up(log: EventLog) -> None:
    """Cached tokens are summed beside all prompt tokens; uncounted answers are left out."""
    for prompt, cached in ((900, 850), (950, None), (None, None)):
        log.append("tokens", NOON, data={
            "engine": "local", "prompt_tokens": prompt, "cached_tokens": cached,
        })  # fmt: skip
    assert tokens(log.events("tokens")) == [
        TokenSummary(engine="local", count=2, prompt_tokens=1850, cached_tokens=850)
    ]


@pytest.mark.parametrize(
    ("values", "percent", "expected"),
    [([7], 50, 7), ([1, 2], 50, 1), ([3, 1, 2], 50, 2), (list(range(1, 21)), 95, 19), ([5], 95, 5)],
)
def test_percentile(values: list[int], percent: int, expected: int) -> None:
    """The nearest rank, a value that was really measured."""
    assert percentile(values, percent) == expected
