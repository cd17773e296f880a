"""`jarvis stats`: what the event log says about speed, caching and the microphone (V7, V15)."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any

from memory import LatencySummary, TokenSummary, latency_figures, token_figures
from voice.config import Config
from voice.microphone import FRAME_MS, MicrophoneSummary
from voice.own_memory import open_memory

_CALLS_SHOWN = 10
_STAGES = ("pause", "transcript", "first_word", "first_sound", "total")


@dataclass(frozen=True, slots=True)
class Microphone:
    """What became of a call's microphone, when the call ended."""

    call: str
    at: datetime
    frames: MicrophoneSummary


@dataclass(frozen=True, slots=True)
class Stats:
    """`counts` are events by kind: calls and chats begun, turns that were none, interruptions."""

    latency: list[LatencySummary]
    tokens: list[TokenSummary]
    counts: dict[str, int]
    microphones: list[Microphone] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        return {
            "latency": [asdict(row) for row in self.latency],
            "tokens": [asdict(row) for row in self.tokens],
            "counts": self.counts,
            "microphones": [
                {"call": each.call, "at": each.at.isoformat(), **asdict(each.frames)}
                for each in self.microphones
            ],
        }

    def text(self) -> str:
        if not self.latency and not self.counts:
            return "Nothing yet: talk to Jarvis first (jarvis serve)."
        lines = []
        if self.latency:
            lines += [
                "From your last sound to the first of the answer, in milliseconds:",
                f"{'engine':<16}{'stage':<14}{'answers':>8}{'half under':>12}{'95 % under':>12}"
                f"{'99 % under':>12}",
            ]
            lines += [
                f"{row.engine:<16}{row.stage.replace('_', ' '):<14}{row.count:>8}"
                f"{row.p50_ms:>12}{row.p95_ms:>12}{row.p99_ms:>12}"
                for row in sorted(self.latency, key=_place)
            ]
        lines += [
            f"{row.engine}: {row.cached_tokens} of {row.prompt_tokens} prompt tokens came from "
            f"the cache ({100 * row.cached_tokens // max(1, row.prompt_tokens)} %), "
            f"in {row.count} answers."
            for row in self.tokens
        ]
        lines += self._microphone_lines()
        lines += [f"{kind.replace('_', ' ')}: {n}" for kind, n in sorted(self.counts.items())]
        return "\n".join(lines)

    def _microphone_lines(self) -> list[str]:
        if not self.microphones:
            return []
        head = "The microphone, in seconds, by call:"
        columns = ("heard", "waited", "missing", "lost")
        lines = [head, f"{'call':<28}" + "".join(f"{name:>9}" for name in columns) + "  why"]
        for each in self.microphones[-_CALLS_SHOWN:]:
            frames = each.frames
            counts = (frames.delivered, frames.waited_most, frames.missing, frames.dropped)
            why = ", ".join(
                f"{reason} {count * FRAME_MS / 1000:.1f}"
                for reason, count in frames.reasons.items()
            )
            cells = "".join(f"{count * FRAME_MS / 1000:>9.1f}" for count in counts)
            lines.append(f"{each.call:<28}{cells}  {why}".rstrip())
        return lines


def _place(row: LatencySummary) -> tuple[str, int]:
    known = row.stage in _STAGES
    return row.engine, _STAGES.index(row.stage) if known else len(_STAGES)


def latency_stats(config: Config) -> Stats:
    memory = open_memory(config)
    try:
        events = memory.events
        microphones = [
            Microphone(
                call=event.conversation or "", at=event.at, frames=MicrophoneSummary(**event.data)
            )
            for event in events.events("microphone")
        ]
        return Stats(
            latency_figures(events.events("latency")),
            token_figures(events.events("tokens")),
            events.counts(),
            microphones,
        )
    finally:
        memory.close()
