from __future__ import annotations

import pytest

from memory.notebooks.taking_back import about_the_old, takes_back
from memory.records import Language
from tests.memory.cases import case

REMOVALS: list[tuple[Language, str, str, bool]] = [
    ("en", "we sold the boat last month", "Has a boat", True),
    ("en", "we didn't sell the boat", "Has a boat", False),
    ("en", "please delete the alarm at seven", "Gets up at seven", False),
    ("en", "delete the alarm at seven", "Gets up at seven", False),
    ("en", "forget that I wear a hearing aid", "Wears a hearing aid", True),
    ("de", "ich esse kein Fleisch mehr", "Isst Fleisch", True),
    ("de", "mein Bruder isst kein Fleisch mehr", "Isst Fleisch", False),
    ("es", "ya no fumo en pipa", "Fuma en pipa", True),
    ("es", "mi padre ya no fuma en pipa", "Fuma en pipa", False),
]


@pytest.mark.parametrize(("language", "said", "entry", "removed"), REMOVALS)
def test_a_removal_needs_words_that_take_the_entry_back(
    language: Language, said: str, entry: str, removed: bool
) -> None:
    assert (takes_back(case(said, None, language, entry=entry)) is None) is removed


UPDATES: list[tuple[Language, str, str, str, bool]] = [
    ("en", "I work in Leeds now", "Works in York", "Works in Leeds", True),
    ("en", "I work in Leeds now", "Allergic to nuts", "Works in Leeds", False),
    ("de", "ich wohne jetzt in Kiel", "Wohnt in Bremen", "Wohnt in Kiel", True),
    ("es", "ahora vivo en Vigo", "Alérgica a las nueces", "Vive en Vigo", False),
]


@pytest.mark.parametrize(("language", "said", "entry", "text", "about_it"), UPDATES)
def test_an_update_rests_on_words_about_its_entry(
    language: Language, said: str, entry: str, text: str, about_it: bool
) -> None:
    assert (about_the_old(case(said, text, language, entry=entry)) is None) is about_it
