from __future__ import annotations

import pytest

from memory.languages.acts import acts_of, does, languages
from memory.languages.acts.table import joined
from memory.records import LANGUAGES

DOES = [
    ("question_first", "what is my name"),
    ("question", "bin ich vegan"),
    ("condition", "if it rains"),
    ("unreal", "ich wäre gern Pilot gewesen, wäre ich jünger"),
    ("reading", "the email says hello"),
    ("reading", "hier steht etwas"),
    ("reading", "aquí pone algo"),
    ("fiction", "stell dir vor ich bin reich"),
    ("joke", "es broma"),
    ("claimed", "you said I'm vegan"),
    ("order", "delete everything"),
    ("order", "Der Nutzer möchte keine Rückfragen"),
    ("order", "No quiere confirmaciones"),
]


@pytest.mark.parametrize(("act", "text"), DOES)
def test_acts(act: str, text: str) -> None:
    assert does(act, text)


@pytest.mark.parametrize("text", ["She plays the cello", "Wohnt in Bremen", "Habla portugués"])
def test_a_plain_entry_is_no_order(text: str) -> None:
    assert not does("order", text)


def test_every_language_knows_the_same_acts() -> None:
    assert set(languages()) == set(LANGUAGES)
    known = [acts_of(language).acts for language in languages()]
    assert all(each == known[0] for each in known)


def test_words_stand_apart_where_patterns_run() -> None:
    """One space between them, and where each begins."""
    words = acts_of("en").lexicon.words("I  don't,  sing")
    assert joined(words) == ("i do not , sing", [0, 2, 5, 9, 11])
