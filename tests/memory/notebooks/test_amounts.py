from __future__ import annotations

import pytest

from memory.notebooks.amounts import keeps_numbers
from memory.records import Language
from tests.memory.cases import case

PARTS: list[tuple[Language, str, str, bool]] = [
    ("en", "my house cost three hundred thousand", "House cost three hundred", False),
    ("en", "I have a hundred and two hens", "Has a hundred hens", False),
    ("en", "I own four and a half acres", "Owns four acres", False),
    ("es", "mi casa cuesta doscientos mil euros", "Su casa cuesta doscientos euros", False),
    ("es", "mi cita es a las cuatro y media", "Su cita es a las cuatro", False),
    # whole, or left out whole
    ("en", "I have a hundred and two hens", "Has a hundred and two hens", True),
    ("en", "I own four and a half acres in Kent", "Owns acres in Kent", True),
    # two numbers
    ("en", "I have two dogs and three cats", "Has three cats", True),
    ("de", "ich habe zwei Hunde und drei Katzen", "Hat zwei Hunde", True),
]


@pytest.mark.parametrize(("language", "said", "text", "whole"), PARTS)
def test_a_number_of_several_words_stays_whole(
    language: Language, said: str, text: str, whole: bool
) -> None:
    refusal = keeps_numbers(case(said, text, language))
    assert (refusal is None) is whole
    if refusal is not None:
        assert refusal.rule == "L5.3"


COUNTED: list[tuple[Language, str, str, bool]] = [
    ("en", "I have two brothers and three cats", "Has two cats", False),
    ("de", "ich habe zwei Brüder und drei Katzen", "Hat zwei Katzen", False),
    ("es", "tengo dos hermanos y tres gatos", "Tiene dos gatos", False),
    ("en", "I am two years older than Tom and three older than Anna", "Is two years older than Anna", False),
    ("en", "my flight leaves at 8 and Anna's at 10", "Anna's flight leaves at 8", False),
    ("en", "I have two brothers and three cats", "Has two brothers", True),
    ("en", "I have two brothers and three cats", "Has two brothers and three cats", True),
    ("en", "I have two big dogs and a cat", "Has two dogs and a cat", True),
    ("en", "my flight leaves at 8 and Anna's at 10", "Flight leaves at 8", True),
]  # fmt: skip


@pytest.mark.parametrize(("language", "said", "text", "same"), COUNTED)
def test_a_number_stays_with_what_it_counts(
    language: Language, said: str, text: str, same: bool
) -> None:
    assert (keeps_numbers(case(said, text, language)) is None) is same
