from __future__ import annotations

import pytest

from memory.notebooks.secret_names import named

NAMED = [
    ("my password for the wifi is sunflower", ["sunflower"]),
    ("mein passwort lautet sonnenblume", ["sonnenblume"]),
    ("mi contrasena es girasol", ["girasol"]),
    ("4711 is my pin", ["4711"]),
    ("my password is too long", []),
    ("sunflower is my favourite flower", []),
]


@pytest.mark.parametrize(("heard", "found"), NAMED)
def test_what_has_the_name_of_a_secret_is_one(heard: str, found: list[str]) -> None:
    assert [heard[each.start : each.end] for each in named(heard)] == found
