"""`jarvis stats`: what the event log says about speed and caching (V7, V15)."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from memory import LatencySummary, TokenSummary
from voice.config import Config
from voice.own_memory import open_memory

_STAGES = ("pause", "transcript", "first_word", "first_sound", "total")


@dataclass(frozen=True, slots=True)
class Stats:
    """`counts` are events by kind: calls and chats begun, turns that were none, interruptions."""

    latency: list[LatencySummary]
    tokens: list[TokenSummary]
    counts: dict[str, int]

    def as_json(self) -> dict[str, Any]:
        return {
            "latency": [asdict(row) for row in self.latency],
            "tokens": [asdict(row) for row in self.tokens],
            "counts": self.counts,
        }

    def text(self) -> str:
        if not self.latency and not self.counts:
            return "Nothing yet: talk to Jarvis first (jarvis serve)."
        lines = []
        if self.latency:
            lines += [
                "From your last sound to the first of the answer, in milliseconds:",
                f"{'engine':<16}{'stage':<14}{'answers':>8}{'half under':>12}{'95 % under':>12}",
            ]
            lines += [
                f"{row.engine:<16}{row.stage.replace('_', ' '):<14}{row.count:>8}"
                f"{row.p50_ms:>12}{row.p95_ms:>12}"
                for row in sorted(self.latency, key=_place)
            ]
        lines += [
            f"{row.engine}: {row.cached_tokens} of {row.prompt_tokens} prompt tokens came from "
            f"the cache ({100 * row.cached_tokens // max(1, row.prompt_tokens)} %), "
            f"in {row.count} answers."
            for row in self.tokens
        ]
        lines += [f"{kind.replace('_', ' ')}: {n}" for kind, n in sorted(self.counts.items())]
        return "\n".join(lines)


def _place(row: LatencySummary) -> tuple[str, int]:
    known = row.stage in _STAGES
    return row.engine, _STAGES.index(row.stage) if known else len(_STAGES)


def latency_stats(config: Config) -> Stats:
    memory = open_memory(config)
    try:
        events = memory.events
        return Stats(events.latency(), events.tokens(), events.counts())
    finally:
        memory.close()
