"""What a replay gives, and the clock that it keeps to."""

from __future__ import annotations

import asyncio
import statistics
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from typing import Any

from memory import ReviewReport
from memory.records import Change, HandOver, Trigger, Turn
from voice.engines.realtime_compared import Difference
from voice.recording import Outcome
from voice.records import (
    CallEvent,
    EndReason,
    HandedOver,
    LatencyMeasured,
    NoTurn,
    event_json,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayResult:
    """What came out of a replay. `length_s` is how long the call took on its own clock,
    `differences` what its engine told a voice service otherwise than in the call."""

    turns: tuple[Turn, ...]
    noises: tuple[NoTurn, ...]
    hand_overs: tuple[HandOver, ...]
    latencies: tuple[LatencyMeasured, ...]
    events: tuple[CallEvent, ...]
    ended: EndReason | None
    length_s: float
    reviewed: ReviewReport = field(default_factory=ReviewReport)
    changes: tuple[Change, ...] = ()
    differences: tuple[Difference, ...] = ()

    @property
    def marked(self) -> int:
        return sum(len(each.marked) for each in self.reviewed.reviewed)

    @property
    def reviews(self) -> int:
        """How many hand-overs asked the reviewer."""
        return sum(each.asked > 0 for each in self.reviewed.reviewed)

    @property
    def handed_over(self) -> Trigger | None:
        """The trigger of the last hand-over: the one that ended the call, or None."""
        return self.hand_overs[-1].trigger if self.hand_overs else None

    def as_json(self) -> dict[str, Any]:
        """The form of `jarvis replay --json` (spec, section C)."""
        return {
            "turns": [turn.as_json() for turn in self.turns],
            "marked": self.marked,
            "reviews": self.reviews,
            "changes": [change.as_json() for change in self.changes],
            "rejections": [
                {
                    "rule": refused.rule,
                    "reason": refused.reason,
                    "proposal": asdict(refused.proposal),
                }
                for each in self.reviewed.reviewed
                for refused in each.rejections
            ],
            "handed_over": self.handed_over,
            "latency_ms": self._latency_ms(),
        }

    def _latency_ms(self) -> dict[str, int]:
        """The median of each stage and of the whole, over the answers to spoken turns."""
        if not self.latencies:
            return {}
        rows = [{**each.stages_ms, "total": each.total_ms} for each in self.latencies]
        return {name: round(statistics.median(row[name] for row in rows)) for name in rows[0]}

    def events_json(self) -> list[dict[str, Any]]:
        """Everything that a page would have been told, in order."""
        return [event_json(event) for event in self.events]

    def outcome(self) -> Outcome:
        return Outcome(
            turns=self.turns,
            noises=self.noises,
            hand_overs=tuple(
                HandedOver(
                    first_index=each.first_index, last_index=each.last_index, trigger=each.trigger
                )
                for each in self.hand_overs
            ),
            ended=self.ended,
        )


class Clock:
    """The call's own wall clock, in whole milliseconds from when it was recorded."""

    def __init__(self, began_at: datetime) -> None:
        self._began_at = began_at
        self._loop = asyncio.get_running_loop()
        self._began_s = self._loop.time()

    def now(self) -> datetime:
        return self._began_at + timedelta(milliseconds=round(self.passed_s() * 1000))

    def passed_s(self) -> float:
        return self._loop.time() - self._began_s

    async def reach(self, at: datetime) -> None:
        await asyncio.sleep((at - self._began_at).total_seconds() - self.passed_s())
