from __future__ import annotations

import pytest

from memory.notebooks.case import Refusal
from memory.notebooks.grounded import all_of_it_said
from memory.records import Language
from tests.memory.cases import case

PROPOSED: list[tuple[Language, str, str, bool]] = [
    ("en", "my sister is a nurse", "Sister is a nurse", True),
    ("en", "my sister is a nurse", "Is a nurse", False),
    ("en", "my dog sleeps in the shed", "Has a dog", True),
    ("en", "the neighbour gave my daughter a bike", "The neighbour gave the user a bike", False),
    ("de", "Unwetter machen mir Angst", "Unwetter machen dem Nutzer Angst", True),
    ("de", "mein Vater vertraut seinem Zahnarzt", "Vertraut dem Zahnarzt", False),
    ("de", "MEIN VATER VERTRAUT SEINEM ZAHNARZT", "Vertraut dem Zahnarzt", False),
    ("de", "ich habe Ben das Schwimmen beigebracht",
     "Der Nutzer Ben hat dem Nutzer das Schwimmen beigebracht", False),
    ("en", "I taught Ben to swim", "The user Ben taught the user to swim", False),
    ("es", "le enseñé a Ben a nadar", "El usuario Ben enseñó al usuario a nadar", False),
    ("es", "la tesis la defiendo en mayo", "Defiende la tesis en mayo", True),
    ("es", "mi madre es panadera", "Es panadera", False),
    ("es", "yo le enseñé a nadar a Ben", "El usuario ben le enseñó a nadar", False),
    ("es", "yo le enseñé a nadar a Ben", "El usuario le enseñó a nadar a Ben", True),
    ("es", "mi jefe se llama Pedro y mi vecino Luis", "Su jefe se llama Luis", False),
    ("es", "mi jefe se llama Pedro y mi vecino Luis", "Su jefe se llama Pedro", True),
    ("en", "my boss is called Ann and my neighbour Lou", "Boss is called Lou", False),
    ("en", "my son and my daughter live in Rome", "Son lives in Rome", True),
]  # fmt: skip


@pytest.mark.parametrize(("language", "said", "text", "theirs"), PROPOSED)
def test_a_word_is_told_of_whom_it_was_said(
    language: Language, said: str, text: str, theirs: bool
) -> None:
    refusal = all_of_it_said(case(said, text, language))
    assert refusal is None if theirs else isinstance(refusal, Refusal)
