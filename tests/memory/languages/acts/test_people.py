from __future__ import annotations

import pytest

from memory.languages.acts import USER, acts_of, read

SUBJECTS = [
    ("I'm vegan", {USER}),
    ("my sister is vegan", {"sister"}),
    ("My friend Tom is vegan", {"friend", "tom"}),
    ("my wife and I live here", {"wife", USER}),
    ("the router is in the cellar", set()),
    ("meine Mutter wohnt in Wien", {"mutter"}),
    ("seit 2019 lebt meine Mutter in Wien", {"mutter"}),
    ("mir schmeckt das", {USER}),
    ("me gusta el jazz", {USER}),
    ("a mi hermana le gusta el jazz", {"hermana"}),
    ("vivo en Bilbao", {USER}),
]
OWNERS = [
    ("my friend's sister is vegan", "sister", {"friend"}),
    ("die Schwester meiner Freundin ist vegan", "schwester", {"freundin"}),
    ("la hermana de mi amiga es vegana", "hermana", {"amiga"}),
    ("my sister is vegan", "sister", set()),
]


@pytest.mark.parametrize(("text", "subject"), SUBJECTS)
def test_who_is_spoken_of(text: str, subject: set[str]) -> None:
    """The first clause's subject; keys of people are as the lexicon compares them."""
    lexicon = acts_of(read(text).language).lexicon
    expected = {
        each if each in (USER, "third") else lexicon.key(each)[0] or each for each in subject
    }
    assert read(text).clauses[0].subject == expected


@pytest.mark.parametrize(("text", "whom", "through"), OWNERS)
def test_through_whom_they_are_named(text: str, whom: str, through: set[str]) -> None:
    """A friend's sister is not the friend."""
    lexicon = acts_of(read(text).language).lexicon
    clause = read(text).clauses[0]
    assert lexicon.key(whom)[0] in clause.subject
    assert clause.owners == {lexicon.key(each)[0] for each in through}
