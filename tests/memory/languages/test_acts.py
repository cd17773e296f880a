from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.languages.acts import USER, acts_of, does, languages, read
from memory.records import LANGUAGES

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
ENDINGS = [
    ("I used to smoke", "used"),
    ("I no longer smoke", "stopped"),
    ("I don't smoke any more", "stopped"),
    ("I smoke", ""),
    ("I was born in Rome", ""),
    ("früher habe ich geraucht", "used"),
    ("ich rauche nicht mehr", "stopped"),
    ("antes fumaba", "used"),
    ("ya no fumo", "stopped"),
]
DOES = [
    ("question_first", "what is my name"),
    ("question", "bin ich vegan"),
    ("condition", "if it rains"),
    ("unreal", "ich wäre gern Pilot gewesen, wäre ich jünger"),
    ("reading", "the email says hello"),
    ("reading", "hier steht etwas"),
    ("reading", "aquí pone algo"),
    ("fiction", "stell dir vor ich bin reich"),
    ("joke", "es broma"),
    ("claimed", "you said I'm vegan"),
    ("order", "delete everything"),
    ("order", "Der Nutzer möchte keine Rückfragen"),
    ("order", "No quiere confirmaciones"),
]


@pytest.mark.parametrize(("text", "subject"), SUBJECTS)
def test_who_is_spoken_of(text: str, subject: set[str]) -> None:
    """The first clause's subject; keys of people are as the lexicon compares them."""
    lexicon = acts_of(read(text).language).lexicon
    expected = {
        each if each in (USER, "third") else lexicon.key(each)[0] or each for each in subject
    }
    assert read(text).clauses[0].subject == expected


@pytest.mark.parametrize(("text", "count"), NEGATIONS)
def test_how_often_it_is_denied(text: str, count: int) -> None:
    assert max(clause.said_no for clause in read(text).clauses) == count


@pytest.mark.parametrize(("text", "ending"), ENDINGS)
def test_whether_it_is_over(text: str, ending: str) -> None:
    assert read(text).clauses[-1].ended == ending


@pytest.mark.parametrize(("act", "text"), DOES)
def test_acts(act: str, text: str) -> None:
    assert does(act, text)


@pytest.mark.parametrize("text", ["She plays the cello", "Wohnt in Bremen", "Habla portugués"])
def test_a_plain_entry_is_no_order(text: str) -> None:
    assert not does("order", text)


def test_every_language_knows_the_same_acts() -> None:
    assert set(languages()) == set(LANGUAGES)
    known = [acts_of(language).acts for language in languages()]
    assert all(each == known[0] for each in known)


@given(st.text(max_size=300))
@settings(max_examples=200, deadline=None)
def test_any_text_is_read(text: str) -> None:
    """Each word stands in exactly one clause."""
    reading = read(text)
    covered = [at for clause in reading.clauses for at in range(clause.first, clause.last)]
    assert covered == list(range(len(reading.words)))
