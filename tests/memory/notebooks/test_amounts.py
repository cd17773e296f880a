from __future__ import annotations

import pytest

from memory.notebooks.amounts import keeps_numbers_whole
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
    refusal = keeps_numbers_whole(case(said, text, language))
    assert (refusal is None) is whole
    if refusal is not None:
        assert refusal.rule == "L5.3"
