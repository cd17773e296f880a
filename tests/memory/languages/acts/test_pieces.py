from __future__ import annotations

import pytest

from memory.languages.acts import read

PIECES = [
    ("I'm vegan, my wife eats meat", ["i am vegan ,", "my wife eats meat"]),
    ("my wife and I live here", ["my wife and i live here"]),
    ("weil ich Zöliakie habe esse ich kein Brot", ["weil ich zoliakie habe", "esse ich kein brot"]),
    ("i have a cat i love her", ["i have a cat", "i love her"]),
    ("she is called Barrett not Bennett", ["she is", "called barrett", "not bennett"]),
    ("la mujer que viene canta", ["la mujer", "que viene canta"]),
    ("I like tea, but not coffee", ["i like tea ,", "but not coffee"]),
]


@pytest.mark.parametrize(("text", "pieces"), PIECES)
def test_where_a_text_comes_apart(text: str, pieces: list[str]) -> None:
    """At marks and joining words, and where words without marks begin anew."""
    reading = read(text)
    found = [
        " ".join(word.text for word in reading.words[clause.first : clause.last])
        for clause in reading.clauses
    ]
    assert found == pieces
