from __future__ import annotations

import pytest

from memory.languages.acts import USER, acts_of, read

SUBJECTS = [
    ("My sister, who is vegan, lives here", 1, {"sister"}),
    ("I know Bea, who's a potter", 2, {"bea"}),
    ("Ich habe eine Schwester, die Geige spielt", 1, {"schwester"}),
    ("Ich kenne eine, die vegan ist", 1, {"third"}),
    ("Tengo una hermana que toca el violín", 1, {"hermana"}),
    ("La vecina que me hace los recados vive aquí", 1, {"vecina"}),
    ("My sister has a cat and two dogs", 1, {"sister"}),
]


@pytest.mark.parametrize(("text", "number", "subject"), SUBJECTS)
def test_who_is_spoken_of_behind_another_clause(text: str, number: int, subject: set[str]) -> None:
    """A clause that hangs on somebody is of them; for whom a thing is done is not who does it."""
    lexicon = acts_of(read(text).language).lexicon
    expected = {
        each if each in (USER, "third") else lexicon.key(each)[0] or each for each in subject
    }
    assert read(text).clauses[number].subject == expected
