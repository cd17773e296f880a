from __future__ import annotations

import pytest

from memory.languages.acts import THIRD, USER, people_before, read, resolved


def test_a_word_said_twice_is_said_once() -> None:
    """A stammer; but a "no" said twice is none."""
    assert [word.text for word in read("ich ich esse Fisch").words] == ["ich", "esse", "fisch"]
    assert [word.text for word in read("I sing, sing in Bath").words] == ["i", "sing", "in", "bath"]
    assert len(read("no no I sing").words) == 4


def test_a_bare_no_denies_what_stands_before() -> None:
    """ "Religious, that I am not"."""
    assert read("religious, that I am not").clauses[0].said_no == 1


def test_who_answers_their_own_question_asks() -> None:
    """ "How many children do I have, I have three children" states nothing."""
    reading = read("how many children do I have, I have three children")
    assert all(clause.question for clause in reading.clauses)


SUPPOSED = [
    ("gewinne ich im Lotto, kaufe ich ein Haus", True),
    ("spräche ich Russisch, bekäme ich die Stelle", True),
    ("sprache ich russisch bekame ich die stelle", True),
    ("kommt mein Bruder, gehe ich", True),
    ("ich wohne in Köln, da arbeite ich auch", False),
    ("heute gehe ich schwimmen, morgen habe ich frei", False),
]


@pytest.mark.parametrize(("text", "supposed"), SUPPOSED)
def test_where_a_verb_comes_second_one_that_comes_first_says_if(text: str, supposed: bool) -> None:
    """In German, where another verb opens what follows."""
    clauses = read(text, "de").clauses
    assert [clause.conditional for clause in clauses] == [supposed] * len(clauses)


def test_she_is_who_was_named_before() -> None:
    """In the next sentence."""
    people = people_before(read("My sister lives in Rome"))
    clause = read("she is vegan").clauses[0]
    assert resolved(clause, people).subject == {"sist", THIRD}
    assert resolved(read("I am vegan").clauses[0], people).subject == {USER}
