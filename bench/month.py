"""A month of calls under this policy and under the first version's:

    python -m bench.month [--data fixtures/month]

The reviewer is scripted: it proposes three changes each time, as long as they may be, so that
the tokens out are the most that there can be of an ordinary answer.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from bench import first_version
from memory.llm.protocol import Question, Reply
from memory.llm.providers import providers
from memory.llm.scripted import ScriptedLlm
from memory.month import MonthReport, review_month
from memory.notebooks.limits import ENTRY_CHARS, REVIEW_CHANGES
from memory.records import Notebook, Turn

MONTH = Path(__file__).parents[1] / "fixtures" / "month"
_TURN = TypeAdapter(Turn)
_TEXT = "Der Nutzer trinkt morgens am liebsten grünen Tee und liest dabei die Zeitung von gestern. "


FULL: dict[Notebook, tuple[str, ...]] = {
    "USER.md": tuple(f"{_TEXT}Das war Notiz {number}."[-100:] for number in range(25))
}
"""2,500 characters of German."""


class Talkative(ScriptedLlm):
    """Answers every question with three changes of 300 characters."""

    async def ask(self, question: Question) -> Reply:
        change = {
            "operation": "add",
            "notebook": "USER.md",
            "entry": None,
            "text": (_TEXT * 4)[:ENTRY_CHARS],
            "quote": _TEXT,
        }
        self.will_answer(json.dumps({"changes": [change] * REVIEW_CHANGES}, ensure_ascii=False))
        return await super().ask(question)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """`dollars` at the price of the cheap model that is asked by default."""

    reviews: int
    tokens_in: int
    tokens_out: int
    calls_without_model: int

    @property
    def dollars(self) -> float:
        cheap = providers()["openai"]
        return (
            self.tokens_in * (cheap.price_in or 0.0) + self.tokens_out * (cheap.price_out or 0.0)
        ) / 1e6

    def as_json(self) -> dict[str, float]:
        return {**asdict(self), "dollars": round(self.dollars, 6)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """`now` with full notebooks, as the first version had them; `empty` with empty ones."""

    calls: int
    turns: int
    marked: int
    first: Cost
    now: Cost
    empty: Cost

    def as_json(self) -> dict[str, Any]:
        return {
            "calls": self.calls,
            "turns": self.turns,
            "marked": self.marked,
            "first_version": self.first.as_json(),
            "now": self.now.as_json(),
            "now_with_empty_notebooks": self.empty.as_json(),
        }

    def text(self) -> str:
        lines = [
            f"{self.calls} calls, {self.turns} turns of the user, {self.marked} sentences marked",
            "",
            f"{'':28}{'first version':>14}{'now':>10}{'ratio':>9}{'empty':>10}",
        ]
        rows: tuple[tuple[str, Callable[[Cost], int]], ...] = (
            ("reviews", lambda cost: cost.reviews),
            ("tokens in", lambda cost: cost.tokens_in),
            ("tokens out", lambda cost: cost.tokens_out),
            ("tokens", lambda cost: cost.tokens_in + cost.tokens_out),
            ("calls without a model call", lambda cost: cost.calls_without_model),
        )
        for name, number in rows:
            before, now, empty = (number(each) for each in (self.first, self.now, self.empty))
            ratio = f"{before / now:8.1f}x" if before and now else ""
            lines.append(f"{name:28}{before:14,}{now:10,}{ratio:>9}{empty:10,}")
        costs = [f"${each.dollars:.4f}" for each in (self.first, self.now, self.empty)]
        lines.append(f"{'cost':28}{costs[0]:>14}{costs[1]:>10}{'':9}{costs[2]:>10}")
        lines += ["", "now: with notebooks as full as the first version's; empty: with none."]
        return "\n".join(lines)


def compared(folder: Path) -> Comparison:
    """Raises OSError, and ValueError for a line that is no turn."""
    paths = sorted(folder.glob("*.jsonl"))
    if not paths:
        raise ValueError("it holds no transcript (*.jsonl)")
    calls = [
        tuple(_TURN.validate_json(line) for line in path.read_text("utf-8").splitlines())
        for path in paths
    ]
    empty = asyncio.run(review_month(calls, Talkative()))
    full = asyncio.run(review_month(calls, Talkative(), FULL))
    first = first_version.review_month(calls)
    return Comparison(
        calls=empty.calls,
        turns=empty.turns,
        marked=empty.marked,
        first=Cost(
            reviews=first.reviews,
            tokens_in=first.tokens_in,
            tokens_out=first.tokens_out,
            calls_without_model=0,
        ),
        now=_cost(full),
        empty=_cost(empty),
    )


def _cost(report: MonthReport) -> Cost:
    return Cost(
        reviews=report.reviews,
        tokens_in=report.tokens_in,
        tokens_out=report.tokens_out,
        calls_without_model=report.calls_without_model,
    )


def main() -> None:
    arguments = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    arguments.add_argument("--data", type=Path, default=MONTH, help="a folder of transcripts")
    print(compared(arguments.parse_args().data).text())


if __name__ == "__main__":
    main()
