"""`jarvis filter`, a line at a time."""

from __future__ import annotations

import pytest

from memory.notebooks.filter_line import filtered


def test_a_line_and_what_is_marked() -> None:
    """The form of the specification, and the text as it was."""
    found = filtered('{"text": "I am vegan"}')
    assert set(found) == {"text", "marked", "candidates"}
    assert (found["text"], found["marked"]) == ("I am vegan", True)
    assert found["candidates"][0]["quote"] == "I am vegan"


@pytest.mark.parametrize(
    "line",
    ['{"text": "", "lang": null}', '{"text": "set a timer", "lang": "xx", "previous": 7}'],
)
def test_other_values_are_passed_over(line: str) -> None:
    """A language that is none of ours, and a previous line that is no text, tell nothing."""
    assert filtered(line)["marked"] is False


@pytest.mark.parametrize(
    "line", ["", "prose", "7", "null", "[]", "{}", '{"text": null}', '{"text": ["a"]}', "[" * 9_999]
)
def test_a_wrong_line_is_told_with_an_example(line: str) -> None:
    """Whoever wrote it reads what a line looks like."""
    with pytest.raises(ValueError, match=r'A line looks like \{"text"'):
        filtered(line)


def test_what_jarvis_said_before_counts() -> None:
    """ "No, on Tuesday" corrects something only where something was said."""
    alone = filtered('{"text": "No, on Tuesday"}')
    behind = filtered('{"text": "No, on Tuesday", "previous": "I booked it for Monday."}')
    assert (alone["marked"], behind["marked"]) == (False, True)
