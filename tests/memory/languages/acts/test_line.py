from __future__ import annotations

import pytest

from memory.languages.acts import read
from memory.languages.acts.line import Line
from memory.languages.acts.table import acts_of

NEGATIONS = [
    ("I like it", 0),
    ("I don't like it", 1),
    ("I don't dislike it", 2),
    ("I hate it", 1),
    ("I can't stand it", 1),
    ("not only that, I sing", 0),
    ("no, I live here", 0),
    ("ich mag das nicht", 1),
    ("das kann ich nicht ausstehen", 1),
    ("nein, ich wohne hier", 0),
    ("no como nada", 1),
    ("no, vivo aquí", 0),
]


@pytest.mark.parametrize(("text", "count"), NEGATIONS)
def test_how_often_it_is_denied(text: str, count: int) -> None:
    assert max(clause.said_no for clause in read(text).clauses) == count


def line(text: str) -> Line:
    acts = acts_of("en")
    return Line(acts, acts.lexicon.words(text), raw=text, entry=False, cuts=())


def test_what_was_put_right_at_once() -> None:
    """ "Two, I mean three": the word before the repair, as often as it was stammered."""
    said = line("I have two two cats, I mean three")
    assert [said.words[at].text for at in said.put_right(5)] == ["cats"]


def test_of_a_date_all_is_put_right() -> None:
    said = line("my birthday is on May third, no, June fourth")
    assert {said.words[at].text for at in said.put_right(6)} == {"may", "third"}


@pytest.mark.parametrize("mark", [".", " -", ";", ":"])
def test_how_a_text_begins_is_told_behind_a_mark_too(mark: str) -> None:
    """ "One more thing - hang on" waits; in "I hang on" nobody does."""
    assert line(f"one more thing{mark} hang on").found["wait"]
    assert not line("one more thing I hang on").found["wait"]


def test_a_place_outside_is_no_word() -> None:
    """Neighbours are asked for without looking at the edges."""
    said = line("I sing")
    assert said.is_(0, "user") and not said.is_(-1, "user") and not said.is_(2, "user")
