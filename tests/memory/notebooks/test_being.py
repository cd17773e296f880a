from __future__ import annotations

import pytest

from memory.notebooks.being import keeps_what_it_is
from memory.records import Language
from tests.memory.cases import case

TURNED: list[tuple[Language, str, str]] = [
    ("en", "I have a doctor", "Is a doctor"),
    ("en", "my sister has a good hairdresser", "Sister is a good hairdresser"),
    ("en", "I'm a mother", "Has a mother"),
    ("en", "my boss is a pig", "Boss has a pig"),
    ("en", "Emma is my dentist", "Is a dentist"),
    ("de", "ich habe einen Anwalt", "Ist Anwalt"),
    ("de", "ich bin Zwilling", "Hat einen Zwilling"),
    ("es", "tengo un médico", "Es médico"),
    ("es", "ahora soy madre", "Tiene madre"),
    ("en", "I'm older now", "Is old now"),
    ("en", "I'm more tired now", "Is tired now"),
    ("de", "ich bin jetzt größer", "Ist jetzt groß"),
    ("es", "ahora soy más alto", "Es alto ahora"),
    ("en", "Anna is my boss, Emma is my dentist", "Emma is the boss"),
    ("de", "Anna ist mein Chef, Emma ist mein Zahnarzt", "Anna ist der Zahnarzt"),
    ("en", "I have a cousin in Rome and a house in Milan", "Has a cousin in Milan"),
    ("en", "I have a friend who has a friend who is a pilot", "Friend is a pilot"),
]


@pytest.mark.parametrize(("language", "said", "text"), TURNED)
def test_what_one_has_one_is_not(language: Language, said: str, text: str) -> None:
    refusal = keeps_what_it_is(case(said, text, language))
    assert refusal is not None
    assert refusal.rule == "L5.2"


KEPT: list[tuple[Language, str, str]] = [
    ("en", "I have a doctor", "Has a doctor"),
    ("en", "I have a peanut allergy", "Is allergic to peanuts"),
    ("en", "I have a red car", "Car is red"),
    ("en", "I have a sister called Anna", "Anna is the sister"),
    ("en", "I have a son, he is a pilot", "Son is a pilot"),
    ("en", "I've been a nurse for ten years", "Has been a nurse for ten years"),
    ("en", "my son is five and has a dog", "Son has a dog"),
    ("de", "ich habe Diabetes", "Hat Diabetes"),
    ("de", "mein Bruder ist Pilot", "Bruder ist Pilot"),
    ("de", "ich habe einen schnellen Hund", "Hat einen schnellen Hund"),
    ("es", "tengo alergia a las nueces", "Es alérgico a las nueces"),
    ("es", "ya no vivo en Soria, ahora vivo en Vigo", "Vive en Vigo"),
    ("en", "I'm older than Tom", "Is older than Tom"),
    ("en", "Anna is my boss, Emma is my dentist", "Emma is the dentist"),
    ("en", "I have a cousin in Rome and a house in Milan", "Has a house in Milan"),
    ("en", "I have a friend who is a pilot", "Friend is a pilot"),
]


@pytest.mark.parametrize(("language", "said", "text"), KEPT)
def test_what_one_has_one_has(language: Language, said: str, text: str) -> None:
    assert keeps_what_it_is(case(said, text, language)) is None
