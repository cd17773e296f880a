from __future__ import annotations

import pytest

from memory.notebooks.main_clause import main_clause
from memory.notebooks.remember_rules import rules_of

TURNED = [
    ("ich seit 2019 in Bremen wohne", "ich wohne seit 2019 in Bremen"),
    ("mein Hund gern Käse frisst", "mein Hund frisst gern Käse"),
    ("ich morgens um sechs aufstehe", "ich stehe morgens um sechs auf"),
    # not sure: as it was
    ("ich, wenn es regnet, zu Hause bleibe", "ich, wenn es regnet, zu Hause bleibe"),
    ("Käse", "Käse"),
]


@pytest.mark.parametrize(("fact", "sentence"), TURNED)
def test_a_clause_becomes_a_sentence(fact: str, sentence: str) -> None:
    """Its verb goes to the second place, where subject and verb are sure."""
    assert main_clause(fact, rules_of("de").verb_final) == sentence


def test_where_verbs_stand_in_front_nothing_is_turned() -> None:
    assert main_clause("I live in Bath now", rules_of("en").verb_final) == "I live in Bath now"
