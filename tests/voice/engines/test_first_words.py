"""The first words of an answer: what is let through, when, and what is refused."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from voice.engines.first_words import FirstWords, first_sentence


def fed(
    answer: str, others: Sequence[str] = (), *, foreign: Sequence[str] = ()
) -> tuple[list[str], bool]:
    """What comes out with each word, what is left last, and whether it was refused."""
    first = FirstWords(others, lambda text: not any(word in text for word in foreign))
    out = []
    for index, word in enumerate(answer.split(" ")):
        out.append(first.feed(word if index == 0 else f" {word}"))
        if first.refused:
            break
    return [*out, first.end()], first.refused


@pytest.mark.parametrize(
    ("answer", "others", "out"),
    [
        ("Your car is red.", [], ["", "", "Your car is", " red.", ""]),
        ("Bruno.", [], ["", "Bruno."]),
        ("Dr. Weber.", ["Dr. Seidel is your doctor."], ["", "", "Dr. Weber."]),
        # As long as it is what was said to another question nothing is sure.
        (
            "Your dog is called Rex.",
            ["Your dog is called Bruno."],
            ["", "", "", "", "Your dog is called Rex.", ""],
        ),
        ("I know. I know.", ["I know that."], ["", "", "I know. I", " know.", ""]),
        # It goes on where the other one ended.
        ("Your dog is", ["Your dog is called Bruno."], ["", "", "", "Your dog is"]),
        ("", [], ["", ""]),
    ],
)
def test_what_is_let_through(answer: str, others: list[str], out: list[str]) -> None:
    """Three words, as soon as they are none that answered another question."""
    assert fed(answer, others) == (out, False)


@pytest.mark.parametrize(
    ("answer", "others"),
    [
        ("Ich bin fertig.", ["Ich bin fertig."]),
        ("ich bin fertig", ["Ich bin fertig!"]),
        ("Bruno.", ["Bruno."]),
        ("Your car is red. Ask me more.", ["Your car is red. And it is fast."]),
        ("Dr. Weber lives here.", ["Dr. Weber lives here."]),
    ],
)
def test_what_another_question_was_answered_with(answer: str, others: list[str]) -> None:
    """The same first sentence is refused, and no word of it came out."""
    out, refused = fed(answer, others)
    assert refused
    assert "".join(out) == ""


def test_another_language_is_refused_with_its_third_word() -> None:
    """Before that it can't be told."""
    assert fed("The user says so.", foreign=["says"]) == (["", "", "", ""], True)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Your car is red. It is fast.", ["your", "car", "is", "red"]),
        ("Dr. Weber is your doctor. Yes.", ["dr", "weber", "is", "your", "doctor"]),
        ("Yes. It is red. Very.", ["yes", "it", "is", "red"]),
        ("", []),
    ],
)
def test_first_sentence(text: str, words: list[str]) -> None:
    """Up to its end, but at least three words where there are three."""
    assert first_sentence(text) == words
