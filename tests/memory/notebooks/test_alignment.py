from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from memory.notebooks.alignment import keeps_its_order
from memory.notebooks.case import Case, Grounds
from memory.notebooks.evidence import Evidence, found
from memory.records import Language, Proposal, Turn

AT = datetime.fromisoformat("2026-12-02T10:00:00+01:00")


def case(said: str, text: str, language: Language) -> Case:
    turn = Turn(
        conversation="c1", index=0, speaker="user", text=said, language=language,
        began_at=AT, ended_at=AT + timedelta(seconds=5), origin="spoken",
    )  # fmt: skip
    proposal = Proposal(operation="add", notebook="USER.md", entry=None, text=text, quote=said)
    place = next(iter(found(said, (turn,))))
    assert isinstance(place, Evidence)
    return Case.of(proposal, Grounds(turns=(turn,), notebooks={}), place)


CHANGED: list[tuple[Language, str, str, str]] = [
    ("en", "my sister hates my neighbour", "Neighbour hates sister", "another order"),
    ("en", "the dog of our neighbours bit my son", "The neighbours bit son", "another role"),
    ("en", "I have a black dog and a white cat", "Has a white dog", "beside another word"),
    ("en", "I changed my name from Otto to Max", "Is called Otto", "another role"),
    ("es", "cambié mi nombre de Otto a Max", "Se llama Otto", "another role"),
    ("en", "I sold my boat in May", "Has a boat", "leaves out"),
    ("en", "I don't eat meat on Fridays", "Doesn't eat meat", "denies more"),
    ("de", "Carla hat den Bruder von Paul geheiratet", "Carla hat Paul geheiratet", "another role"),
    ("de", "ich habe mein Boot verkauft", "Hat ein Boot", "what was done"),
    ("de", "ich esse freitags kein Fleisch", "Isst kein Fleisch", "denies more"),
    ("es", "al perro lo mordió el gato", "El perro mordió al gato", "another"),
    (
        "es",
        "tengo un perro negro y una gata blanca",
        "Tiene un perro blanco",
        "beside another word",
    ),
]


@pytest.mark.parametrize(("language", "said", "text", "reason"), CHANGED)
def test_what_stands_elsewhere_says_something_else(
    language: Language, said: str, text: str, reason: str
) -> None:
    refusal = keeps_its_order(case(said, text, language))
    assert refusal is not None
    assert refusal.rule == "L5.2"
    assert reason in refusal.reason


KEPT: list[tuple[Language, str, str]] = [
    ("en", "every morning I drink two cups of coffee", "Drinks two cups of coffee every morning"),
    ("en", "my daughter's name is Emma", "Daughter is called Emma"),
    ("en", "my wife and I live in Bath", "Lives in Bath with wife"),
    ("en", "I live in a big house in Bath", "Lives in a house in Bath"),
    ("en", "I'm allergic to peanuts", "Has a peanut allergy"),
    ("de", "abends lese ich meistens Krimis", "Liest abends meistens Krimis"),
    ("de", "ich bin gegen Nüsse allergisch", "Allergie: Nüsse"),
    ("es", "los domingos visito a mi abuela", "Visita a su abuela los domingos"),
]


@pytest.mark.parametrize(("language", "said", "text"), KEPT)
def test_what_the_grammar_moves_may_move(language: Language, said: str, text: str) -> None:
    assert keeps_its_order(case(said, text, language)) is None


def test_nothing_is_asked_of_a_removal() -> None:
    whole = case("I no longer eat meat", "No longer eats meat", "en")
    assert keeps_its_order(Case.of(
        Proposal(operation="remove", notebook="USER.md", entry="Eats meat", text=None, quote="x"),
        whole.grounds, whole.evidence,
    )) is None  # fmt: skip
