from __future__ import annotations

import pytest

from memory.languages.acts import read
from memory.records import Language

ASKED: list[tuple[Language, str, bool]] = [
    ("de", "Wohnt Tom noch in Berlin", True),
    ("de", "Hat Anna im Mai Geburtstag", True),
    ("de", "Zieht meine Schwester nach Bonn", True),
    ("de", "Jetzt wohnt Tom in Berlin", False),
    ("de", "Wohne in Berlin", False),
    ("es", "tiene mi hermana alergia a las nueces", True),
    ("es", "vive Tom en Berlín", True),
    ("es", "viene mi hermana el lunes", False),
    ("es", "mi hermana tiene alergia", False),
    ("es", "vivo en Berlín", False),
]


@pytest.mark.parametrize(("language", "text", "asked"), ASKED)
def test_a_verb_and_behind_it_who_it_is_of_asks(language: Language, text: str, asked: bool) -> None:
    assert read(text, language).clauses[0].question is asked


WHOSE: list[tuple[Language, str, bool]] = [
    ("de", "Der Mann, mit dem ich arbeite, spielt Klavier", False),
    ("de", "Ich wohne in Rom und ich spiele Klavier", True),
]


@pytest.mark.parametrize(("language", "text", "users"), WHOSE)
def test_a_form_that_no_i_has_is_of_somebody_else(
    language: Language, text: str, users: bool
) -> None:
    assert ("user" in read(text, language).clauses[-1].subject) is users


WANTED: list[tuple[Language, str, bool]] = [
    ("de", "Ich finde es schön, in Rom zu wohnen", False),
    ("de", "Ich bin kurz davor, in Rom zu wohnen", True),
    ("es", "Quiero que mi hijo aprenda piano", True),
    ("es", "Sé que mi hijo aprende piano", False),
]


@pytest.mark.parametrize(("language", "text", "wanted"), WANTED)
def test_what_is_only_wanted_in_front_is_only_wanted_behind(
    language: Language, text: str, wanted: bool
) -> None:
    assert ("wanting" in read(text, language).clauses[-1].kept) is wanted


def test_a_que_behind_what_compares_is_a_than() -> None:
    assert read("Soy mayor que Tom", "es").clauses[-1].compared
    assert not read("Creo que Tom nada", "es").clauses[-1].compared
