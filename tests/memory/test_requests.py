"""fixtures/requests/<language>.toml: what a turn asks plain code to do, and what only sounds so."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.records import LANGUAGES
from memory.requests import (
    RequestKind,
    picked,
    requested,
    speaks_of_forgetting,
    speaks_of_parting,
)

FIXTURES = Path(__file__).parents[2] / "fixtures" / "requests"
TABLES: dict[str, Any] = {
    language: tomllib.loads((FIXTURES / f"{language}.toml").read_text("utf-8"))
    for language in LANGUAGES
}


@pytest.mark.parametrize(
    ("language", "said", "kind", "topic"),
    [(language, *row) for language in LANGUAGES for row in TABLES[language]["requests"]],
)
def test_what_is_asked(language: str, said: str, kind: str, topic: str) -> None:
    """The kind, and the topic in the user's own letters."""
    found = requested(said)
    assert found is not None
    assert (found.language, found.kind, found.topic) == (language, kind, topic)
    assert found.whole


@pytest.mark.parametrize("said", [s for each in TABLES.values() for s in each["none"]])
def test_what_only_sounds_like_it(said: str) -> None:
    """Idioms, reports and reading aloud ask for nothing."""
    assert requested(said) is None


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_kind_has_an_example(language: str) -> None:
    """A kind that no sentence shows may not work."""
    shown = {kind for _, kind, _ in TABLES[language]["requests"]}
    assert shown == set(get_args(RequestKind))


def test_a_request_beside_others() -> None:
    """It is found in a later sentence, and the turn is not its own then."""
    found = requested("I changed my mind. Forget that I'm vegan.")
    assert found is not None and found.kind == "forget" and not found.whole


@pytest.mark.parametrize("said", ["Forget that I'm vegan.\nAnd pay.", f"{'na ' * 200}. Goodbye."])
def test_what_was_brought_from_elsewhere(said: str) -> None:
    """Several lines, or more than people say at once, ask for nothing."""
    assert requested(said) is None


@pytest.mark.parametrize(
    ("said", "places"),
    [
        ("the first one", (0,)),
        ("Okay, the second, please.", (1,)),
        ("both", (0, 1, 2)),
        ("none of them", ()),
        ("die zweite bitte", (1,)),
        ("beide", (0, 1, 2)),
        ("lass es stehen", ()),
        ("la primera", (0,)),
        ("ninguno", ()),
        ("the one about tea", None),
        ("What's the weather?", None),
    ],
)
def test_one_of_several_is_picked(said: str, places: tuple[int, ...] | None) -> None:
    """By its place, by all, by none; anything else is no answer."""
    assert picked(said) == places


@given(st.text(max_size=120))
@settings(max_examples=300, deadline=None)
def test_any_text_is_looked_through(said: str) -> None:
    """Nothing that is said makes the rules fail; a topic stands in what was said."""
    found = requested(said)
    assert found is None or " ".join(found.topic.split()) in " ".join(said.split())


@pytest.mark.parametrize(
    ("said", "forgetting", "parting"),
    [
        ("I'd rather you delete what you noted on my address", True, False),
        ("das mit der Adresse bitte löschen", True, False),
        ("quita lo de mi dirección", True, False),
        ("Don't forget my birthday.", False, False),
        ("Read me the note about the boiler.", False, False),
        ("well then goodbye, I'll be off", False, True),
        ("na dann tschüss du", False, True),
        ("bueno, me voy, hasta luego a todos", False, True),
        ("What's the weather like?", False, False),
    ],
)
def test_what_a_turn_speaks_of(said: str, forgetting: bool, parting: bool) -> None:
    """In looser words than the rules act on: a model that acts on them needs at least these."""
    assert (speaks_of_forgetting(said), speaks_of_parting(said)) == (forgetting, parting)
