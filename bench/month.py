"""A month of calls under this policy and under the first version's:

    python -m bench.month [--data fixtures/month]

The reviewer is scripted: it proposes three changes each time, as long as they may be, so that
the tokens out are the most that there can be of an ordinary answer.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from pathlib import Path

from pydantic import TypeAdapter

from bench import first_version
from memory.llm.protocol import Question, Reply
from memory.llm.scripted import ScriptedLlm
from memory.month import review_month
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


def main() -> None:
    arguments = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    arguments.add_argument("--data", type=Path, default=MONTH, help="a folder of transcripts")
    folder = arguments.parse_args().data
    calls = [
        tuple(_TURN.validate_json(line) for line in path.read_text("utf-8").splitlines())
        for path in sorted(folder.glob("*.jsonl"))
    ]
    ours = asyncio.run(review_month(calls, Talkative()))
    full = asyncio.run(review_month(calls, Talkative(), FULL))
    first = first_version.review_month(calls)
    print(f"{ours.calls} calls, {ours.turns} turns of the user, {ours.marked} sentences marked\n")
    print("Both with full notebooks, and now with empty ones:\n")
    print(f"{'':28}{'first version':>14}{'now':>8}{'ratio':>8}{'empty':>8}")
    for name, before, now, empty in (
        ("reviews", first.reviews, full.reviews, ours.reviews),
        ("tokens in", first.tokens_in, full.tokens_in, ours.tokens_in),
        ("tokens out", first.tokens_out, full.tokens_out, ours.tokens_out),
        (
            "tokens",
            first.tokens_in + first.tokens_out,
            full.tokens_in + full.tokens_out,
            ours.tokens_in + ours.tokens_out,
        ),
        ("calls without a model call", 0, full.calls_without_model, ours.calls_without_model),
    ):
        ratio = f"{before / now:7.1f}×" if before and now else ""
        print(f"{name:28}{before:14,}{now:8,}{ratio:>8}{empty:8,}")


if __name__ == "__main__":
    main()
