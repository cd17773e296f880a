from __future__ import annotations

from string import Template

import pytest

from memory.prompts import prompt

VARIABLES = {
    "review.md": {"changes", "quote_chars", "entry_chars", "today", "user", "memory", "sentences"},
    "review_small.md": {"sentence"},
    "merge.md": {"entry_chars", "user", "memory"},
}


@pytest.mark.parametrize("name", VARIABLES)
def test_a_prompt_and_its_variables(name: str) -> None:
    """Each prompt is packaged, and has the variables that the code fills."""
    assert set(Template(prompt(name)).get_identifiers()) == VARIABLES[name]


def test_a_prompt_that_is_none() -> None:
    """A missing prompt is a broken package, and crashes."""
    with pytest.raises(FileNotFoundError):
        prompt("no_such.md")
