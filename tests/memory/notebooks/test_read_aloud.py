from __future__ import annotations

import pytest

from memory.notebooks.read_aloud import not_read_aloud
from memory.records import Language
from tests.memory.cases import case
from tests.memory.turns import said as turn

NOT_MEANT: list[tuple[Language, str]] = [
    ("en", "the letter says I owe the club forty pounds"),
    ("en", "imagine I live on a boat in Leith"),
    ("en", "I live on a boat in Leith, just kidding"),
    ("en", "you said that I live on a boat"),
    ("en", 'and then "I live on a boat in Leith" was all'),
    ("de", "in der Mail steht, ich wohne auf einem Boot"),
    ("de", "stell dir vor, ich wohne auf einem Boot"),
    ("es", "la carta dice que vivo en un barco"),
    ("es", "imagina que vivo en un barco"),
    ("es", "¿que voy a estar jubilado yo"),
    ("es", "que me he comprado un barco yo, qué cosas"),
    # somebody else speaks in what is named
    ("en", "the second verse is I was born in a storm"),
    ("en", "in the film she lives on a houseboat"),
    ("en", "my favourite quote is I think therefore I am"),
    ("en", "the villain says I own this town"),
    ("de", "die zweite Strophe ist ich bin im Sturm geboren"),
    ("de", "im Roman wohnt sie in Lissabon"),
    ("de", "der Wolf sagt, ich fresse dich"),
    ("es", "en la película ella vive en un barco"),
    ("es", "mi cita favorita es yo solo sé que no sé nada"),
    ("es", "el lobo dice te voy a comer"),
]


@pytest.mark.parametrize(("language", "said"), NOT_MEANT)
def test_what_is_read_or_not_meant_proves_nothing(language: Language, said: str) -> None:
    refusal = not_read_aloud(case(said, "Lives on a boat", language))
    assert refusal is not None
    assert refusal.rule == "L5.1"


MEANT: list[tuple[Language, str]] = [
    ("en", "I live on a boat in Leith"),
    ("en", "I read a lot and I like songs"),
    ("en", "my favourite film is Amelie"),
    ("en", "I play in a musical in Derby every summer"),
    ("en", "my doctor says I need glasses"),
    ("de", "mein Lieblingsfilm ist Amelie"),
    ("de", "ich schreibe in meiner Freizeit Gedichte"),
    ("de", "meine Ärztin sagt, ich brauche eine Brille"),
    ("es", "mi película favorita es Amelie"),
    ("es", "leo el periódico todas las mañanas en el tren"),
]


@pytest.mark.parametrize(("language", "said"), MEANT)
def test_what_is_said_is_meant(language: Language, said: str) -> None:
    assert not_read_aloud(case(said, "Lives on a boat", language)) is None


def test_the_next_turn_may_take_it_back() -> None:
    said = "I live on a boat in Leith"
    joke = turn("just kidding", 1)
    assert not_read_aloud(case(said, "Lives on a boat", "en", after=(joke,))) is not None
