"""Heard once, answered again without a model."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from voice.hearing.kept import KeptHearing, question
from voice.hearing.scripted import ScriptedHearing
from voice.recording import Answered
from voice.virtual_time import run_virtual

HEADER = {"languages": ["en", "de"], "language": "en", "turn": 3}
Question = tuple[str, dict[str, Any], bytes]


@pytest.mark.parametrize(
    ("other", "same"),
    [
        (("words", HEADER, b"sound"), True),
        (("words", {**HEADER, "turn": 9}, b"sound"), True),
        (("turn_end", HEADER, b"sound"), False),
        (("words", {**HEADER, "language": "de"}, b"sound"), False),
        (("words", {**HEADER, "languages": ["en"]}, b"sound"), False),
        (("words", HEADER, b"sounds"), False),
    ],
)
def test_what_makes_a_question_the_same(other: Question, same: bool) -> None:
    """Its kind, its languages and its sound; not the number of its turn."""
    assert (question("words", HEADER, b"sound") == question(*other)) is same


async def test_what_was_kept_needs_no_worker() -> None:
    """The second run asks nobody, and hears the same."""
    kept: dict[str, Answered] = {}
    worker = ScriptedHearing(["Hello.", "Goodbye."], over=[0.9])
    first = KeptHearing({}, lambda: worker, kept.__setitem__)
    said = [(await first.call("words", HEADER, sound))[0] for sound in (b"1", b"2")]
    over, _ = await first.call("turn_end", {}, b"1")
    assert len(worker.asked) == len(kept) == 3

    second = KeptHearing(kept, _nobody)
    assert [(await second.call("words", HEADER, sound))[0] for sound in (b"1", b"2")] == said
    assert (await second.call("turn_end", {}, b"1"))[0] == over


async def test_partial_text_is_kept() -> None:
    """An answer is stopped by it."""
    kept: dict[str, Answered] = {}
    hearing = KeptHearing({}, lambda: ScriptedHearing([""], partials=["hel"]), kept.__setitem__)
    assert (await hearing.call("partial", HEADER, b"1"))[0]["text"] == "hel"
    [answered] = kept.values()
    assert answered.answer["text"] == "hel"


def test_an_answer_takes_as_long_as_it_took() -> None:
    """So a replay's turns end when the call's did."""
    name = question("words", HEADER, b"1")

    async def main() -> tuple[dict[str, Any], float]:
        hearing = KeptHearing({name: Answered({"text": "Hello."}, 180.0)}, _nobody)
        began_s = asyncio.get_running_loop().time()
        reply, _ = await hearing.call("words", HEADER, b"1")
        return reply, asyncio.get_running_loop().time() - began_s

    reply, took_s = run_virtual(main, epoch_s=0.0)
    assert reply == {"text": "Hello."}
    assert took_s == pytest.approx(0.18)


@pytest.mark.parametrize(
    ("kind", "turn", "at_ms", "told"),
    [
        ("partial", 3, 5_060, "near"),
        ("partial", 3, 4_900, "near"),
        ("partial", 3, 5_200, None),
        ("partial", 4, 5_000, None),
        ("words", 3, 5_000, None),
    ],
)
async def test_nearly_the_same_question_of_a_live_call_has_its_answer(
    kind: str, turn: int, at_ms: int, told: str | None
) -> None:
    """Of the same turn, a frame or two more or less of it; a replay's own has no near ones."""
    live = {
        "a": Answered({"text": "far"}, 0.01, "partial", 3, 4_000),
        "b": Answered({"text": "near"}, 0.01, "partial", 3, 5_000),
        "c": Answered({"text": "a replay's"}, 0.0, "words", 3, 5_000),
    }
    worker = ScriptedHearing(["asked"], partials=["asked"])
    hearing = KeptHearing(live, lambda: worker)
    header = {**HEADER, "turn": turn, "at_ms": at_ms}
    reply, _ = await hearing.call(kind, header, b"1")
    assert reply["text"] == (told or "asked")


def _nobody() -> ScriptedHearing:
    raise AssertionError("a model was asked for")
