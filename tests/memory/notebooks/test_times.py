from __future__ import annotations

import pytest

from memory.notebooks.times import is_age, times
from memory.records import Language
from tests.memory.cases import case

TIMES: list[tuple[Language, str, set[str]]] = [
    ("en", "I work from ten to six on Mondays", {"ten", "six", "mondays"}),
    ("de", "ich arbeite abends von zehn bis sechs", {"abends", "zehn", "sechs"}),
    ("es", "trabajo de diez a seis", {"diez", "seis"}),
    # numbers of something else
    ("en", "I have ten goats to six sheep", set()),
    ("de", "ich habe von zehn Brüdern sechs verloren", set()),
]


@pytest.mark.parametrize(("language", "said", "named"), TIMES)
def test_where_a_time_is_named(language: Language, said: str, named: set[str]) -> None:
    made = case(said, said, language)
    assert {made.evidence.reading.words[at].text for at in times(made)} == named


AGES: list[tuple[Language, str, str, bool]] = [
    ("en", "I'm forty and I've lived here for ten years", "Is forty years old", True),
    ("de", "ich bin vierzig und seit zehn Jahren hier", "Ist 40 Jahre alt", True),
    ("en", "I'm forty in May", "Is forty years old", False),
    ("en", "I'm forty minutes late", "Is forty years old", False),
    ("en", "I've lived here for ten years", "Is ten years old", False),
]


@pytest.mark.parametrize(("language", "said", "text", "age"), AGES)
def test_an_age_is_a_number_alone(language: Language, said: str, text: str, age: bool) -> None:
    made = case(said, text, language)
    assert made.new is not None
    old = next(at for at, word in enumerate(made.new.words) if word.text in ("old", "alt"))
    assert is_age(made, old - 1) is age
