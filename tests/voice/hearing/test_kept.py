"""Heard once, answered again without a model."""

from __future__ import annotations

from typing import Any

import pytest

from voice.hearing.kept import KeptHearing, Reply, question
from voice.hearing.scripted import ScriptedHearing

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
    kept: dict[str, Reply] = {}
    worker = ScriptedHearing(["Hello.", "Goodbye."], over=[0.9])
    first = KeptHearing({}, lambda: worker, kept.__setitem__)
    said = [(await first.call("words", HEADER, sound))[0] for sound in (b"1", b"2")]
    over, _ = await first.call("turn_end", {}, b"1")
    assert len(worker.asked) == len(kept) == 3

    def nobody() -> ScriptedHearing:
        raise AssertionError("a model was asked for")

    second = KeptHearing(kept, nobody)
    assert [(await second.call("words", HEADER, sound))[0] for sound in (b"1", b"2")] == said
    assert (await second.call("turn_end", {}, b"1"))[0] == over


async def test_partial_text_is_not_kept() -> None:
    """Nothing is decided by it, and there is much of it."""
    kept: dict[str, Reply] = {}
    hearing = KeptHearing({}, lambda: ScriptedHearing([""], partials=["hel"]), kept.__setitem__)
    assert (await hearing.call("partial", HEADER, b"1"))[0]["text"] == "hel"
    assert kept == {}
