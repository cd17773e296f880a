"""Events of the log, added up."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from memory.event_records import Event


@dataclass(frozen=True, slots=True, kw_only=True)
class LatencySummary:
    """`stage` is "total" or a stage's name; percentiles over `count` answers of `engine`."""

    engine: str
    stage: str
    count: int
    p50_ms: int
    p95_ms: int
    p99_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenSummary:
    """Prompt tokens of `count` answers, and how many of them were read from a cache."""

    engine: str
    count: int
    prompt_tokens: int
    cached_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LatencySpread:
    """Of `count` answers: what half and 95 % of them don't exceed, how many took so many steps
    of `step_ms` (the last: that many and more), and what half of each stage don't exceed."""

    count: int
    half_ms: int
    most_ms: int
    step_ms: int
    steps: tuple[int, ...]
    stages_ms: Mapping[str, int]


def percentile(values: list[int], percent: int) -> int:
    """The smallest value that at least `percent` of them don't exceed."""
    ordered = sorted(values)
    return ordered[max(0, -(-len(ordered) * percent // 100) - 1)]


def latency(events: Iterable[Event]) -> list[LatencySummary]:
    """Of `latency` events, by engine: the total first, then the stages as they came."""
    samples: dict[tuple[str, str], list[int]] = defaultdict(list)
    for event in events:
        engine = event.data.get("engine") or ""
        samples[engine, "total"].append(event.data["total_ms"])
        for stage, ms in event.data.get("stages_ms", {}).items():
            samples[engine, stage].append(ms)
    return [
        LatencySummary(
            engine=engine,
            stage=stage,
            count=len(values),
            p50_ms=percentile(values, 50),
            p95_ms=percentile(values, 95),
            p99_ms=percentile(values, 99),
        )
        for (engine, stage), values in samples.items()
    ]


def tokens(events: Iterable[Event]) -> list[TokenSummary]:
    """Of `tokens` events, by engine, over the answers whose tokens the engine counted."""
    counted: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for event in events:
        if event.data.get("prompt_tokens") is not None:
            counted[event.data.get("engine") or ""].append(
                (event.data["prompt_tokens"], event.data.get("cached_tokens") or 0)
            )
    return [
        TokenSummary(
            engine=engine,
            count=len(pairs),
            prompt_tokens=sum(prompt for prompt, _ in pairs),
            cached_tokens=sum(cached for _, cached in pairs),
        )
        for engine, pairs in counted.items()
    ]
