from __future__ import annotations

import asyncio
import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter

from fixtures.make_month import calls as made_calls
from memory.llm.scripted import ScriptedLlm
from memory.month import SILENCE, USER_TURNS, MonthReport, hand_overs, review_month
from memory.records import Notebook, Turn
from tests.memory.learning import NOON, add, changes
from voice import triggers

MONTH = Path(__file__).parents[2] / "fixtures" / "month"
_TURN = TypeAdapter(Turn)


def month() -> list[tuple[Turn, ...]]:
    return [
        tuple(_TURN.validate_json(line) for line in path.read_text().splitlines())
        for path in sorted(MONTH.glob("*.jsonl"))
    ]


def call(*gaps_s: float) -> tuple[Turn, ...]:
    """A call whose user turns begin so many seconds after what was said before."""
    turns: list[Turn] = []
    at = NOON
    for gap_s in gaps_s:
        at += timedelta(seconds=gap_s)
        for speaker in ("user", "assistant"):
            turns.append(
                Turn(
                    conversation="c", index=len(turns), speaker=speaker,
                    text="I'm vegan by the way" if speaker == "user" else "Okay.", language="en",
                    began_at=at, ended_at=at + timedelta(seconds=1), origin="spoken",
                )
            )  # fmt: skip
            at += timedelta(seconds=1)
    return tuple(turns)


@pytest.mark.parametrize(
    ("gaps_s", "expected"),
    [
        ((), []),
        ((0,), [(0, 1)]),
        ((0, 10, 299), [(0, 5)]),
        ((0, 10, 300, 5), [(0, 3), (4, 7)]),
        ((0,) * 30, [(0, 58), (59, 59)]),
        ((0,) * 31, [(0, 58), (59, 61)]),
        ((0,) * 29 + (400,), [(0, 57), (58, 59)]),
    ],
)
def test_turns_are_handed_over_as_in_a_live_call(
    gaps_s: tuple[float, ...], expected: list[tuple[int, int]]
) -> None:
    """After thirty turns of the user, at five quiet minutes, at the end; each turn once."""
    turns = call(*gaps_s)
    found = list(hand_overs(turns))
    assert found == expected
    assert [place for first, last in found for place in range(first, last + 1)] == list(
        range(len(turns))
    )


def test_its_triggers_are_the_calls() -> None:
    """The same numbers as in a live call."""
    assert (USER_TURNS, SILENCE.total_seconds()) == (triggers.USER_TURNS, triggers.SILENCE_S)


def review(
    calls: list[tuple[Turn, ...]],
    *answers: str,
    notebooks: dict[Notebook, tuple[str, ...]] | None = None,
) -> tuple[MonthReport, ScriptedLlm]:
    async def main() -> tuple[MonthReport, ScriptedLlm]:
        llm = ScriptedLlm(answers)
        return await review_month(calls, llm, notebooks), llm

    return asyncio.run(main())


def test_the_month_asks_twice() -> None:
    """39 calls, mostly commands: two reviews, and 37 calls that no model hears of (L6.4)."""
    report, llm = review(month(), changes(), changes())
    assert (report.calls, report.turns, report.marked) == (39, 125, 4)
    assert (report.reviews, report.calls_without_model) == (2, 37)
    assert report.tokens_in <= 2600
    full: dict[Notebook, tuple[str, ...]] = {
        "USER.md": tuple(f"Ãäß mag {number:03} " + "größere Öfen " * 7 for number in range(25))
    }
    crowded, _ = review(month(), changes(), changes(), notebooks=full)
    assert report.tokens_in < crowded.tokens_in <= 2600
    assert sum(question.max_tokens for question in llm.questions) <= 1600


def test_the_month_is_what_its_script_makes() -> None:
    """The files are those of fixtures/make_month.py: 113 German turns, 10 English, 2 Spanish."""
    assert month() == [tuple(turns) for turns in made_calls()]
    said = [turn.language for turns in month() for turn in turns if turn.speaker == "user"]
    assert [said.count(language) for language in ("de", "en", "es")] == [113, 10, 2]


def test_a_review_sees_what_those_before_it_wrote() -> None:
    """What the first call taught stands in the notebooks of the second; nothing is learned twice."""
    vegan = changes(add("I'm vegan.", "I'm vegan by the way"))
    lie: dict[str, Any] = add("Sells knives.", "I sell knives now")
    report, llm = review(
        [call(0), call(0)], vegan, json.dumps({"changes": [json.loads(vegan)["changes"][0], lie]})
    )
    assert [change.text for change in report.changes] == ["I'm vegan."]
    assert report.rejections == 2
    assert ["- I'm vegan." in question.text for question in llm.questions] == [False, True]
