from __future__ import annotations

from memory.languages.acts import read
from memory.notebooks.grounded import statements, weighs


def test_a_verb_of_its_own_begins_a_statement() -> None:
    """ "I like green tea and have a cat": two; "tea and coffee": one."""
    two = statements(read("I like green tea and have a cat", "en"))
    one = statements(read("I like tea and coffee", "en"))
    assert sorted(two.values()) == [0, 1]
    assert set(one.values()) == {0}


def test_links_and_long_numbers_weigh() -> None:
    words = read("call 5551234 or see example.org at 7", "en").words
    assert [word.text for word in words if weighs(word)] == ["5551234", "example.org"]
