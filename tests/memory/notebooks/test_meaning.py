from __future__ import annotations

import pytest

from memory.notebooks.meaning import keeps_its_meaning
from memory.records import Language
from tests.memory.cases import case

CHANGED: list[tuple[Language, str, str]] = [
    ("en", "I'd like to become a pilot", "Is becoming a pilot"),
    ("en", "maybe I'm allergic to wool", "Is allergic to wool"),
    ("en", "my doctor says I need glasses", "Needs glasses"),
    ("en", "I only eat fish", "Eats fish"),
    ("en", "I eat meat when I travel", "Eats meat"),
    ("en", "I like Rome, not in August", "Likes Rome in August"),
    ("de", "ich mag Rom, nicht im August", "Mag Rom im August"),
    ("es", "me gusta Roma, solo que no en agosto", "Le gusta Roma en agosto"),
    ("en", "I live in Rome until May", "Lives in Rome"),
    ("de", "ich wohne noch bis Mai in Rom", "Wohnt in Rom"),
    ("es", "vivo en Roma hasta mayo", "Vive en Roma"),
    ("en", "I moved before the winter", "Moved after the winter"),
    ("de", "vielleicht bin ich gegen Wolle allergisch", "Ist gegen Wolle allergisch"),
    ("de", "ich esse nur Fisch", "Isst Fisch"),
    ("de", "ich nehme die Pillen oder die Tropfen", "Nimmt die Pillen"),
    ("es", "quizás soy alérgico a la lana", "Es alérgico a la lana"),
    ("es", "solo como pescado", "Come pescado"),
    ("es", "me querían hacer jefa", "Quería ser jefa"),
]


@pytest.mark.parametrize(("language", "said", "text"), CHANGED)
def test_another_meaning_is_refused(language: Language, said: str, text: str) -> None:
    refusal = keeps_its_meaning(case(said, text, language))
    assert refusal is not None
    assert refusal.rule == "L5.2"


KEPT: list[tuple[Language, str, str]] = [
    ("en", "I'd like to become a pilot", "Would like to become a pilot"),
    ("en", "maybe I'm allergic to wool", "Perhaps allergic to wool"),
    ("de", "ich esse nur Fisch", "Isst nur Fisch"),
    ("es", "solo como pescado", "Solo come pescado"),
    ("en", "I'm not in a relationship", "Is not in a relationship"),
    ("de", "ich wohne bis Mai in Rom", "Wohnt bis Mai in Rom"),
]


@pytest.mark.parametrize(("language", "said", "text"), KEPT)
def test_the_same_meaning_passes(language: Language, said: str, text: str) -> None:
    assert keeps_its_meaning(case(said, text, language)) is None
