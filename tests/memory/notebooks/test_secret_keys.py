from __future__ import annotations

from memory.notebooks.secret import Secret
from memory.notebooks.secret_keys import keys


def test_a_key_is_known_by_its_form() -> None:
    """Where it stands; words alone are none."""
    text = "use AKIAIOSFODNN7EXAMPLE here"
    (found,) = keys(text)
    assert text[found.start : found.end] == "AKIAIOSFODNN7EXAMPLE"
    assert list(keys("my key is under the mat")) == []
    assert isinstance(found, Secret)
