from __future__ import annotations

import pytest

from memory.notebooks.subjects import keeps_its_subject
from memory.records import Language
from tests.memory.cases import case

TURNED: list[tuple[Language, str, str]] = [
    ("en", "I owe Tom 50 euros", "Tom owes 50 euros"),
    ("en", "I helped Tom", "Tom helped"),
    ("en", "I sold Tom my car", "Tom sold his car"),
    ("en", "I teach Tom maths", "Tom teaches maths"),
    ("en", "I gave Tom a dog", "Tom has a dog"),
    ("en", "I work with Tom", "Tom works"),
    ("en", "I find the neighbours loud", "The neighbours are loud"),
    ("en", "I'm younger than my husband", "Husband is younger than the user"),
    ("de", "ich bin jünger als mein Mann", "Mann ist jünger als die Nutzerin"),
    ("es", "soy más joven que mi marido", "Su marido es más joven que la usuaria"),
    ("en", "I live in Rome and my brother in Milan", "Lives in Milan"),
    ("en", "I drive a Skoda and Tom a Tesla", "Drives a Tesla"),
    ("de", "ich wohne in Rom und mein Bruder in Mailand", "Wohnt in Mailand"),
    ("de", "ich trinke Tee und meine Frau Kaffee", "Trinkt Kaffee"),
    ("es", "vivo en Roma y mi hermano en Milán", "Vive en Milán"),
    ("de", "ich schulde Tom 50 Euro", "Tom schuldet 50 Euro"),
    ("de", "ich habe Tom 50 Euro geliehen", "Tom hat 50 Euro geliehen"),
    ("de", "ich liebe Anna", "Anna liebt"),
    ("es", "enseño mates a Tom", "Tom enseña mates"),
]


@pytest.mark.parametrize(("language", "said", "text"), TURNED)
def test_nobody_does_what_the_user_does_to_them(language: Language, said: str, text: str) -> None:
    refusal = keeps_its_subject(case(said, text, language))
    assert refusal is not None
    assert refusal.rule == "L5.2"


KEPT: list[tuple[Language, str, str]] = [
    ("en", "I owe Tom 50 euros", "Owes Tom 50 euros"),
    ("en", "Tom owes me 50 euros", "Tom owes the user 50 euros"),
    ("en", "I'm allergic to nuts", "Allergic to nuts"),
    ("en", "I'm allergic to peanuts", "Peanut allergy"),
    ("de", "ich möchte Pilot werden", "Ziel: Pilot werden"),
    ("es", "quizás soy alérgico a las fresas", "Quizás es alérgico a las fresas"),
    ("en", "I live in Rome and my brother in Milan", "Lives in Rome"),
    ("en", "my husband is younger than me", "Husband is younger than the user"),
    ("en", "I have a sister and a brother in Milan", "Has a brother in Milan"),
    ("en", "I drink tea and coffee with milk", "Drinks coffee with milk"),
    ("en", "I have a daughter, she is five", "Daughter is five"),
    ("en", "I have a dog called Rex", "Dog is called Rex"),
    ("en", "my favourite colour is blue", "Favourite colour is blue"),
    ("en", "my name is Otto", "Is called Otto"),
    ("en", "I work as a nurse", "Works as a nurse"),
    ("de", "ich habe einen Hund namens Rex", "Hund heißt Rex"),
    ("de", "ich habe eine Katze", "Hat eine Katze"),
    ("de", "Tom schuldet mir 50 Euro", "Tom schuldet dem Nutzer 50 Euro"),
    ("de", "ich bin gegen Nüsse allergisch", "Allergie: Nüsse"),
    ("es", "enseño mates a Tom", "Enseña mates a Tom"),
    ("es", "mi hermano Tom vive en Roma", "Su hermano Tom vive en Roma"),
    ("es", "me gusta Roma", "Le gusta Roma"),
]


@pytest.mark.parametrize(("language", "said", "text"), KEPT)
def test_who_does_it_may_stand_first(language: Language, said: str, text: str) -> None:
    assert keeps_its_subject(case(said, text, language)) is None
