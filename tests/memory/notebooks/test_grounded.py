from __future__ import annotations

import pytest

from memory.languages.acts import read
from memory.notebooks.grounded import all_of_it_said, statements, weighs
from tests.memory.cases import case


def test_a_verb_of_its_own_begins_a_statement() -> None:
    """ "I like green tea and have a cat": two; "tea and coffee": one."""
    two = statements(read("I like green tea and have a cat", "en"))
    one = statements(read("I like tea and coffee", "en"))
    assert sorted(two.values()) == [0, 1]
    assert set(one.values()) == {0}


TENSES = [
    ("compro pan en la plaza", "Compró pan en la plaza", False),
    ("compré una casa en Vigo", "Compra una casa en Vigo", False),
    ("compré una casa en Vigo", "Compró una casa en Vigo", True),
    ("viviré en Lugo con Ana", "Vive en Lugo con Ana", False),
    ("viviré en Lugo con Ana", "Vivirá en Lugo con Ana", True),
    ("mi madre vive en Lugo", "Su madre vivirá en Lugo", False),
    ("mi madre vive en Lugo", "Su madre vive en Lugo", True),
]


@pytest.mark.parametrize(("said", "text", "same"), TENSES)
def test_a_verb_keeps_its_tense(said: str, text: str, same: bool) -> None:
    """Where one ending alone tells it, as far as it was written."""
    assert (all_of_it_said(case(said, text, "es")) is None) is same


def test_links_and_long_numbers_weigh() -> None:
    words = read("call 5551234 or see example.org at 7", "en").words
    assert [word.text for word in words if weighs(word)] == ["5551234", "example.org"]
