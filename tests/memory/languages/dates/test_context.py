from __future__ import annotations

import pytest

from memory.languages.dates.context import Clauses
from memory.languages.dates.words import languages
from memory.languages.folding import folded

WORDS = {words.language: words for words in languages()}


def clauses(text: str) -> Clauses:
    view = folded(text)
    return Clauses(view.text, "".join(text[at].lower() for at in view.at), languages())


@pytest.mark.parametrize(
    ("language", "clause", "past"),
    [
        ("en", "I saw her", True),
        ("en", "we cleaned the house", True),
        ("en", "it is planned for later", False),
        ("en", "I need a bed", False),
        ("en", "I've booked a table", False),
        ("de", "ich habe sie gesehen", True),
        ("de", "ich habe einen Termin", False),
        ("de", "ich bin gegen acht da", False),
        ("de", "wir sind eingeladen", False),
        ("de", "ich war krank", True),
        ("de", "was ist das", False),
        ("es", "la vi", True),
        ("es", "he quedado con ella", True),
        ("es", "compré un coche", True),
        ("es", "compraré un coche", False),
        ("es", "podré ir", False),
        ("es", "voy al café", False),
    ],
)
def test_verbs_of_the_past(language: str, clause: str, past: bool) -> None:
    """Simple past and perfect are past; plans, participles of states and futures are not."""
    assert clauses(clause).clause(0).past(WORDS[language]) == past


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("I was ill, but today I work", 3),
        ("am 12. März komme ich", 1),
        ("One. Two! Three?", 3),
        ("one\ntwo", 2),
        ("", 0),
    ],
)
def test_sentences_fall_into_clauses(text: str, pieces: int) -> None:
    """At commas and conjunctions; the dot of an ordinal ends nothing."""
    found = clauses(text)
    assert len({found.start(found.index(at)) for at in range(len(text))}) == pieces
    if pieces:
        assert found.end(found.index(len(text))) == len(text)


def test_a_cue_counts_in_its_own_sentence() -> None:
    """What the first sentence says of birthdays is nothing to the second."""
    found = clauses("my birthday is soon. I fly, then I walk")
    assert found.sentence_is_yearly(0)
    assert not found.sentence_is_yearly(found.index(30))
    assert found.clause(0).yearly and not found.clause(found.index(30)).yearly


def test_a_party_is_once() -> None:
    """A birthday comes every year, its party once."""
    assert not clauses("my birthday party is soon").sentence_is_yearly(0)
    assert clauses("the birthday party").clause(0).once
    assert clauses("I always go").clause(0).habit
    assert clauses("and mine is").clause(0).light([])
    assert not clauses("and I fly").clause(0).light([])
    assert clauses("and I fly").clause(0).own_verb(WORDS["en"])
