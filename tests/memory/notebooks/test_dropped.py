from __future__ import annotations

import pytest

from memory.notebooks.dropped import drops_nothing
from memory.records import Language
from tests.memory.cases import case

LEFT_OUT: list[tuple[Language, str, str, str]] = [
    ("en", "I like to watch people who swim", "Likes to swim", "watch"),
    # in front of what is taken over
    ("en", "I came within an inch of winning the lottery", "Wins the lottery", "came"),
    ("de", "ich war drauf und dran, Pilot zu werden", "Wird Pilot", "dran"),
    ("es", "me falta poco para cumplir cincuenta años", "Cumple cincuenta años", "falta"),
    # what may make another thing of it
    ("en", "I have a fake Rolex", "Has a Rolex", "fake"),
    ("de", "ich habe eine falsche Rolex", "Hat eine Rolex", "falsche"),
    ("es", "tengo un Rolex falso", "Tiene un Rolex", "falso"),
    ("es", "bebo cerveza sin alcohol", "Bebe cerveza", "alcohol"),
    ("en", "my old boss lives in Rome", "Boss lives in Rome", "old"),
    ("de", "mein früherer Chef wohnt in Rom", "Chef wohnt in Rom", "fruherer"),
    ("de", "mein alter Name ist Otto", "Heißt Otto", "alter"),
    ("en", "my imaginary friend lives in Rome", "Friend lives in Rome", "imaginary"),
    ("de", "mein angeblicher Bruder wohnt in Rom", "Bruder wohnt in Rom", "angeblicher"),
    ("es", "mi supuesto hermano vive en Roma", "Su hermano vive en Roma", "supuesto"),
    # behind it
    (
        "de",
        "unser haus haben wir beim hochwasser verloren",
        "Der Nutzer hat ein Haus",
        "hochwasser",
    ),
    ("en", "the bakery sold me a cake shaped like a boat", "The bakery sold a cake", "shaped"),
    ("es", "mi tía vende pisos de tres habitaciones", "Su tía vende pisos", "tres"),
    # in a clause of the same statement
    ("de", "bei uns im Dorf heißt es, ich besitze eine Bank", "Besitzt eine Bank", "dorf"),
    ("es", "juro por mi madre que como carne", "Come carne", "madre"),
]


@pytest.mark.parametrize(("language", "said", "text", "word"), LEFT_OUT)
def test_what_belongs_to_the_statement_is_not_left_out(
    language: Language, said: str, text: str, word: str
) -> None:
    refusal = drops_nothing(case(said, text, language))
    assert refusal is not None
    assert refusal.rule == "L5.2"
    assert word in refusal.reason


MAY_GO: list[tuple[Language, str, str]] = [
    ("en", "my sister Anna lives in Rome", "Sister lives in Rome"),
    ("de", "meine Schwester Anna wohnt in Rom", "Schwester wohnt in Rom"),
    # all of it is there
    ("en", "I drink two cups of coffee every morning", "Drinks two cups of coffee every morning"),
    # who speaks, times, fillers, asides, what goes without saying
    ("en", "to be honest I currently live in Bath", "Lives in Bath"),
    ("de", "übrigens, ich lerne gerade Griechisch", "Lernt Griechisch"),
    ("es", "por cierto, vivo en Vigo", "Vive en Vigo"),
    # what stands behind
    ("en", "the router is in the cellar next to the meter", "Router is in the cellar"),
    ("de", "ich war zehn Jahre lang Vegetarier", "War zehn Jahre lang Vegetarier"),
    # an adjective of what is kept
    # one of what is listed, and a wish that is told as one
    ("en", "we have three kids and two dogs", "Has two dogs"),
    ("es", "quiero ser piloto", "Objetivo: ser piloto"),
    # what a preposition opens behind it, whole
    ("de", "der Router steht im Keller neben dem Zähler", "Der Router steht im Keller"),
    ("es", "trabajo en una panadería en la plaza", "Trabaja en una panadería"),
    # another statement, in front or behind
    ("en", "I have type one diabetes so sweets are difficult", "Has type one diabetes"),
    ("en", "I'm gluten free and left-handed", "Is left handed"),
    ("en", "I don't eat meat but I love fish", "Loves fish"),
    ("en", "I can't eat gluten because I have celiac disease", "Has celiac disease"),
    ("en", "my back hurts, I work as a nurse in Bath", "Works as a nurse in Bath"),
    ("en", "I've got two left feet so I don't dance", "Doesn't dance"),
    ("en", "I have two kids and I work as a nurse", "Works as a nurse"),
    ("de", "unser Hund heißt Bruno, er ist ein Beagle", "Der Hund heißt Bruno"),
    ("es", "mi hijo Jaime estudia derecho y mi hijo Nico estudia arte", "Su hijo Nico estudia arte"),
    # a request or a question
    ("en", "set a timer, I have a train at six", "Has a train at six"),
    # what was put right
    ("en", "I live in Berlin, no wait, in Bonn", "Lives in Bonn"),
    # a manner that is asked for
    ("en", "from now on keep your answers to two sentences", "Wants answers of two sentences"),
]  # fmt: skip


WISHES: list[tuple[Language, str, str, bool]] = [
    ("en", "never read me long lists", "Hates lists", False),
    ("en", "never read me long lists", "Wants no lists", False),
    ("en", "never read me long lists", "Wants no long lists", True),
    ("de", "lies mir nie wieder lange Listen vor", "Hasst Listen", False),
    ("de", "lies mir nie wieder lange Listen vor", "Will keine Listen", False),
    ("de", "lies mir nie wieder lange Listen vor", "Will keine langen Listen", True),
    ("es", "no me leas nunca listas largas", "Odia las listas", False),
    ("es", "no me leas nunca listas largas", "No quiere listas largas", True),
    (
        "en",
        "from now on keep your answers to two sentences",
        "Wants answers of two sentences",
        True,
    ),
]


@pytest.mark.parametrize(("language", "said", "text", "fair"), WISHES)
def test_of_what_is_not_wanted_all_is_said(
    language: Language, said: str, text: str, fair: bool
) -> None:
    assert (drops_nothing(case(said, text, language)) is None) is fair


@pytest.mark.parametrize(("language", "said", "text"), MAY_GO)
def test_what_says_nothing_of_it_may_go(language: Language, said: str, text: str) -> None:
    assert drops_nothing(case(said, text, language)) is None


def test_an_update_rests_on_its_entry_as_well() -> None:
    said = "we've moved house so now we live in Bath"
    assert drops_nothing(case(said, "Lives in Bath", "en", entry="Lives in York")) is None
