"""The reviewer of a replay."""

from __future__ import annotations

from memory.llm.protocol import Llm, Question
from memory.llm.recorded import NO_CHANGES, RecordedReviewer

QUESTION = Question(instructions="Review.", text="I'm vegan.", max_tokens=800)


async def test_answers_come_in_their_order_and_then_none() -> None:
    """A replay that asks more than was recorded changes nothing by it."""
    reviewer: Llm = RecordedReviewer(["one", "two"])
    given = [(await reviewer.ask(QUESTION)).text for _ in range(4)]
    assert given == ["one", "two", NO_CHANGES, NO_CHANGES]
    await reviewer.close()


def test_it_costs_nothing_and_waits_for_nobody() -> None:
    """A replay is neither billed nor held up."""
    reviewer = RecordedReviewer()
    assert (reviewer.billing, reviewer.uses_this_cpu, reviewer.small) == ("local", False, False)
