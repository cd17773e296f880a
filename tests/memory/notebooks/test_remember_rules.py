from __future__ import annotations

from memory.notebooks.remember_rules import all_rules, rules_of
from memory.records import LANGUAGES


def test_each_language_has_its_rules() -> None:
    """Read once."""
    assert tuple(rules.language for rules in all_rules()) == LANGUAGES
    assert all(
        rules_of(language) is rules for language, rules in zip(LANGUAGES, all_rules(), strict=True)
    )


def test_a_request_is_met_at_its_beginning() -> None:
    """With the words that may stand before the fact."""
    asked = rules_of("en").ask.match("remember that i live in bath")
    assert asked is not None
    assert asked.end() == len("remember that ")
