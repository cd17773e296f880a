"""What has to do with a question, and what only shares a word with it."""

from __future__ import annotations

import math

import pytest

from memory.notes.relevance import certainty, information, relevant, signs
from tests.memory.notes.hits import hit


def rarity(holding: int, pieces: int) -> float:
    """A word's weight as the index reckons it."""
    return math.log(1 + (pieces - holding + 0.5) / (holding + 0.5))


@pytest.mark.parametrize("pieces", [20, 1_000, 100_000])
def test_two_rare_words_together_are_no_chance(pieces: int) -> None:
    """However many pieces there are, in none do two rare words meet by chance."""
    weight = rarity(max(1, pieces // 2000), pieces)
    found = hit(1, {"barometer": weight, "calibrate": weight})
    assert relevant([found], ("barometer", "calibrate"), pieces) == (found,)


@pytest.mark.parametrize("pieces", [20, 1_000, 100_000])
def test_one_word_that_everybody_says_tells_nothing(pieces: int) -> None:
    """ "Today" is rare in a small vault, and still tells nothing."""
    found = hit(1, {"today": rarity(1, pieces)})
    assert relevant([found], ("today", "mongolia", "parliament"), pieces) == ()


def test_a_word_of_many_is_not_enough() -> None:
    """What holds one word of a question of five answers another question."""
    found = hit(1, {"barometer": rarity(3, 3_000)})
    asked = ("barometer", "glasgow", "violinist", "marmalade", "opening")
    assert relevant([found], asked, 3_000) == ()


def test_a_title_says_what_a_note_is_about() -> None:
    """The same word tells more where it is the note's own name."""
    words = {"barometer": rarity(5, 3_000)}
    named = signs(hit(1, words, file="tools/barometer.md"), ("barometer", "dial"), 3_000)
    beside = signs(hit(1, words, file="tools/list.md"), ("barometer", "dial"), 3_000)
    assert certainty(named) > certainty(beside)


def test_other_forms_of_a_word_stand_in_a_title() -> None:
    """A title is compared as words are: in any spelling and number."""
    words = {"buchern": rarity(5, 3_000)}
    assert signs(hit(1, words, file="Bücher.md"), ("buchern",), 3_000).title > 0


def test_nearness_speaks_for_a_piece_without_a_word_in_common() -> None:
    """Where meaning is known, what is near enough is relevant, and what is not is none."""
    near, far = hit(1), hit(3)
    assert relevant([near, far], ("plumber", "visit"), 3_000, {1: 9.5, 3: 0.5}) == (near,)


def test_a_piece_without_a_vector_goes_by_its_words() -> None:
    """While vectors are still being made, a note is found as without them."""
    weight = rarity(1, 1_000)
    found = hit(1, {"barometer": weight, "calibrate": weight})
    assert relevant([found], ("barometer", "calibrate"), 1_000, {}) == (found,)


def test_a_rarer_word_tells_more() -> None:
    """In pieces and in what people say."""
    assert information("barometer", rarity(1, 1000), 1000) > information(
        "barometer", rarity(50, 1000), 1000
    )
    assert information("barometer", rarity(1, 20), 20) > information("today", rarity(1, 20), 20)
