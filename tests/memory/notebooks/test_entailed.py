from __future__ import annotations

import pytest

from memory.notebooks.dropped import drops_nothing
from memory.notebooks.entailed import names_somebody
from memory.records import Language
from tests.memory.cases import case

NAMES: list[tuple[Language, str, str, bool]] = [
    ("en", "my wife Sarah works from home", "Wife is called Sarah", True),
    ("en", "my wife Sarah works from home", "Has a wife called Sarah", True),
    ("de", "meine Frau Sabine arbeitet zu Hause", "Frau heißt Sabine", True),
    ("es", "mi mujer Marta trabaja en casa", "Su mujer se llama Marta", True),
    # more is said, or somebody else
    ("en", "my wife Sarah works from home", "Wife Sarah works", False),
    ("en", "my wife Sarah works from home", "Is Sarah's wife", False),
    ("en", "my wife Sarah works from home", "Wife is not called Sarah", False),
    ("en", "my brother's wife Sarah works from home", "Wife is called Sarah", False),
    # what is said of them takes them away
    ("en", "my friend Bob is imaginary", "Friend is called Bob", False),
    ("en", "my imaginary friend Bob works from home", "Friend is called Bob", False),
    ("en", "my wife Sarah lives in my head", "Wife is called Sarah", False),
    ("en", "my wife Sarah was a nurse", "Wife is called Sarah", False),
    ("de", "meine Frau Sabine ist gestorben", "Frau heißt Sabine", False),
    ("es", "mi mujer Marta murió en mayo", "Su mujer se llama Marta", False),
]


@pytest.mark.parametrize(("language", "said", "text", "names"), NAMES)
def test_an_entry_that_names_who_somebody_is(
    language: Language, said: str, text: str, names: bool
) -> None:
    assert names_somebody(case(said, text, language)) is names


FOLLOWS: list[tuple[Language, str, str, str]] = [
    # what may go; the same words where they may not
    ("en", "I have two black cats", "I have two black cats and a white one", "Has two cats"),
    ("en", "I drive a blue electric Renault", "I drive my blue electric Renault", "Drives an electric Renault"),
    ("de", "ich habe einen schwarzen Hund", "ich habe meinen schwarzen Hund verkauft", "Hat einen Hund"),
    ("es", "tengo un coche rojo", "tengo un coche falso", "Tiene un coche"),
    ("en", "I live in Bonn with my husband", "I live in Bonn with my husband Tom", "Lives in Bonn"),
    ("en", "I love jazz, especially live", "I love jazz in three bars", "Loves jazz"),
    ("de", "ich liebe Jazz, vor allem Bill Evans", "ich liebe Jazz, ausgenommen Bill Evans", "Liebt Jazz"),
    ("es", "me encanta el jazz, sobre todo Bill Evans", "me encanta el jazz, excepto Bill Evans", "Le encanta el jazz"),
    ("en", "I'm moving to Leeds in March for work", "I'm moving to Leeds in March for five days", "Is moving to Leeds in March"),
    ("de", "mein Vater hat Diabetes, der darf keinen Zucker", "mein Vater hat Diabetes, das glaubt der Arzt", "Vater hat Diabetes"),
]  # fmt: skip


@pytest.mark.parametrize(("language", "fair", "twisted", "text"), FOLLOWS)
def test_what_follows_from_what_remains_may_go(
    language: Language, fair: str, twisted: str, text: str
) -> None:
    assert drops_nothing(case(fair, text, language)) is None
    assert drops_nothing(case(twisted, text, language)) is not None
