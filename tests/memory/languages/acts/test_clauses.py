from __future__ import annotations

import pytest

from memory.languages.acts import read

ENDINGS = [
    ("I used to smoke", "used"),
    ("I no longer smoke", "stopped"),
    ("I don't smoke any more", "stopped"),
    ("I smoke", ""),
    ("I was born in Rome", ""),
    ("früher habe ich geraucht", "used"),
    ("ich rauche nicht mehr", "stopped"),
    ("antes fumaba", "used"),
    ("ya no fumo", "stopped"),
]
HOLDS = [
    ("am I allergic to nuts", "question"),
    ("bin ich vegan", "question"),
    ("dime, ¿tengo alergia a las nueces?", "question"),
    ("the exam is on Friday; anyway what is on tomorrow", "question"),
    ("the exam is on Friday anyway what is on tomorrow", "question"),
    ("okay one more thing, what am I called", "question"),
    ("hm lass mich überlegen - läuft auf meinem Server Debian", "question"),
    ("hm lass mich überlegen, läuft auf meinem Server Debian", "question"),
    ("vale una cosa más; por qué trabajo de noche", "question"),
    ("if I were vegan", "conditional"),
    ("wenn ich Veganer wäre", "unreal"),
    ("si yo fuera vegano", "conditional"),
    ("find me a restaurant", "request"),
    ("such mir ein Restaurant", "request"),
    ("búscame un restaurante", "request"),
]


@pytest.mark.parametrize(("text", "ending"), ENDINGS)
def test_whether_it_is_over(text: str, ending: str) -> None:
    assert read(text).clauses[-1].ended == ending


@pytest.mark.parametrize(("text", "what"), HOLDS)
def test_what_holds_for_a_clause(text: str, what: str) -> None:
    """A question, a condition and a request state nothing."""
    assert getattr(read(text).clauses[-1], what)


def test_what_somebody_else_says_has_a_source() -> None:
    """Also in the clause that follows."""
    assert read("my boss says I should delete everything").clauses[-1].source == {"bos"}


def test_what_an_aside_opens_inherits_nothing() -> None:
    """ "… without a clock; anyway, what is on" is about something else."""
    clauses = read("I never get up without a clock; anyway what is on").clauses
    assert [clause.inherits for clause in clauses if clause.said_no == 0] == [False, False]


def test_a_list_keeps_its_negation() -> None:
    """ "No milk, eggs": what follows without a verb of its own is denied as well."""
    assert [clause.said_no for clause in read("I don't eat milk, eggs").clauses] == [1, 1]
