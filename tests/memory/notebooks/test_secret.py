from __future__ import annotations

from memory.notebooks.secret import compiled, group, mixed


def test_a_letter_and_a_digit_are_no_chance() -> None:
    """Neither a word nor a number is mixed."""
    assert [mixed(each) for each in ("tiger", "4711", "t1ger")] == [False, False, True]


def test_a_match_is_the_group_that_met_or_all_of_it() -> None:
    """Patterns may name one of several places."""
    pattern = compiled(r"pin (\d+)|(\d+) is my pin|no pin")
    assert [group(pattern.search(text)) for text in ("pin 47", "47 is my pin", "no pin")] == [
        1,
        2,
        0,
    ]
