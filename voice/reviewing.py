"""`jarvis review`: what waits for its review, reviewed now, without a conversation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from memory import ReviewReport
from voice.config import Config
from voice.house import House


@dataclass(frozen=True, slots=True)
class Reviews:
    report: ReviewReport

    @property
    def faults(self) -> tuple[str, ...]:
        return self.report.faults

    @property
    def reviewed(self) -> bool:
        return bool(self.report.reviewed)

    def as_json(self) -> dict[str, Any]:
        return {
            "reviewed": [
                {
                    "conversation": each.hand_over.conversation,
                    "outcome": each.outcome,
                    "marked": len(each.marked),
                    "changes": [change.as_json() for change in each.changes],
                    "rejections": [
                        {"rule": refused.rule, "reason": refused.reason}
                        for refused in each.rejections
                    ],
                    "tokens_in": each.tokens_in,
                    "tokens_out": each.tokens_out,
                }
                for each in self.report.reviewed
            ],
            "waiting": list(self.report.faults),
        }

    def text(self) -> str:
        lines = []
        for each in self.report.reviewed:
            lines.append(
                f"{each.hand_over.conversation}: {each.outcome}, {len(each.marked)} marked, "
                f"{len(each.changes)} written, {len(each.rejections)} refused"
            )
            for change in each.changes:
                lines += [f"  {change.notebook}  - {change.old}"] if change.old else []
                lines += [f"  {change.notebook}  + {change.new}"] if change.new else []
            lines += [f"  refused by {no.rule}: {no.reason}" for no in each.rejections]
        return "\n".join(lines) or "Nothing was reviewed."


async def review_now(config: Config, conversation: str | None) -> Reviews:
    house = House(config)
    try:
        return Reviews(await house.review(conversation))
    finally:
        await house.close()
