from __future__ import annotations

import pytest

from memory.notebooks.evidence import Evidence, NoEvidence, found, is_echo, spoken_sentences
from memory.records import Origin, Turn
from tests.memory.turns import said as turn


def first(quote: str, *turns: Turn) -> Evidence | NoEvidence:
    return next(iter(found(quote, turns)))


def test_a_quote_is_widened_to_its_clause() -> None:
    evidence = first("like cilantro in", turn("I really don't like cilantro in my soup, you know."))
    assert isinstance(evidence, Evidence)
    words = evidence.reading.words[evidence.touched[0].first : evidence.touched[0].last]
    assert words[0].text == "i"
    assert evidence.touched[0].said_no == 1


def test_the_quote_stands_to_the_letter_in_the_turn() -> None:
    """However the reviewer wrote it: case, quotes' shapes and spaces are the turn's own."""
    evidence = first("i'm  ALLERGIC to nuts.", turn("Well, I’m allergic to nuts"))
    assert isinstance(evidence, Evidence)
    assert evidence.quote == "I’m allergic to nuts"


@pytest.mark.parametrize("origin", ["pasted", "prefilled", "tool", "note", "echo"])
def test_only_what_was_spoken_or_typed_is_evidence(origin: Origin) -> None:
    evidence = first("I am allergic to nuts", turn("I am allergic to nuts", origin=origin))
    assert isinstance(evidence, NoEvidence)
    assert evidence.rule == "L5.1"


def test_what_jarvis_said_is_none() -> None:
    said = turn("You are allergic to nuts", speaker="assistant")
    assert isinstance(first("You are allergic to nuts", said), NoEvidence)


@pytest.mark.parametrize(
    "text",
    [
        "I prefer AcmeBank\nand much more of it",
        "I prefer AcmeBank for it. " + "And so on it goes. " * 30,
    ],
)
def test_long_and_many_lined_text_was_brought_not_said(text: str) -> None:
    assert isinstance(first("I prefer AcmeBank", turn(text, origin="typed")), NoEvidence)


def test_a_later_turn_may_prove_what_a_question_does_not() -> None:
    turns = (turn("Am I vegan or so?"), turn("I said: I am vegan or so.", 1))
    assert isinstance(first("I am vegan or so", *turns), Evidence)


def test_sentences_end_at_marks_only() -> None:
    text = "I love it. can you play music i'm vegan"
    assert [text[a:b] for a, b in spoken_sentences(text, "en")] == [
        "I love it.",
        "can you play music i'm vegan",
    ]


@pytest.mark.parametrize(
    ("heard", "said", "echo"),
    [
        ("So you are vegan and live in Rome.", "so you are vegan and live in rome", True),
        ("So you are vegan and live in Rome.", "so you were begun and live in room", True),
        ("Do you prefer tea or coffee?", "I prefer coffee", False),
        ("Where do you live?", "I live in Rome with my cat", False),
        ("Hello.", "hello", False),
    ],
)
def test_echo(heard: str, said: str, echo: bool) -> None:
    turns = (turn(heard, speaker="assistant"), turn(said, 1))
    assert is_echo(said, turns, 1) is echo


def test_a_note_that_was_shown_is_no_voice_and_no_evidence() -> None:
    """Read aloud it proves nothing (a7), and it hides no echo of what Jarvis said before (m4)."""
    note = turn(
        "The insured prefers AcmeBank for every payment.", 1, speaker="assistant", origin="note"
    )
    turns = (
        turn("Which bank is it?", 0),
        note,
        turn("It is the bank on the corner, on Mill Road.", 2, speaker="assistant"),
        note,
        turn("the insured prefers acmebank for every payment", 4),
    )
    [*_, proof] = found("prefers acmebank for every payment", turns)
    assert isinstance(proof, NoEvidence)
    assert is_echo("it is the bank on the corner on mill road", (*turns[:4], turn("", 4)), 4)
