"""Chunks of an answer that is still being written."""

from __future__ import annotations

import itertools
import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.records import LANGUAGES, Language
from voice.speech.clauses import Clauses, clauses, estimated_s, sentences
from voice.speech.words import words_of

PLENTY_S = math.inf


def chunks_of(pieces: list[str], language: Language, audio_left_s: float) -> list[str]:
    reader = Clauses(words_of(language).abbreviations)
    chunks = [chunk for piece in pieces for chunk in reader.feed(piece, audio_left_s)]
    return chunks + reader.end()


def as_written(text: str) -> list[str]:
    """The pieces in which a language model writes: words with the space in front."""
    return re.findall(r"\s*\S+|\s+$", text)


CUT: list[tuple[Language, str, str]] = [
    ("en", "first words", "The birthday of | your sister Mia is soon. | Buy a cake."),
    ("en", "first comma", "Sure, | I can help with that."),
    ("en", "question", "Really? | Then let us go now."),
    (
        "en",
        "short clauses stay together",
        "That is good. | Yes, no, I mean maybe, | but not today.",
    ),
    ("en", "decimal", "It is 3.5 km | from here to there."),
    ("en", "number and unit", "We need about | 20 percent more of it."),
    ("en", "date", "Born on March 14, 2026 in | Rome, as you know."),
    ("en", "time", "Come at 14:30 or | later than that."),
    ("en", "title", "Ask kind Dr. Smith | about the new pills."),
    ("en", "e.g.", "Take fruit, | e.g. an apple or two, | every day."),
    ("en", "abbreviation ends a sentence", "Apples, | pears, plums etc. | They are good."),
    ("en", "abbreviation ends nothing", "Apples, | pears etc. are good for you."),
    ("en", "no", "No. | I mean something else."),
    ("en", "No. 3", "Take bus No. 3 to | the last stop."),
    ("en", "initials", "By J. R. R. Tolkien | in nineteen thirty."),
    ("en", "ellipsis", "Well... | Let me think about it… | Yes."),
    ("en", "ellipsis, and on", "Well... | so it goes on… | Yes."),
    ("en", "quotes", 'He said "yes." | Then he left the house.'),
    ("en", "brackets", "Bring a coat | (it rains). | Then we walk home."),
    ("en", "dash", "One thing - | and it is a good one - | is this."),
    ("en", "range with spaces", "It takes 5 - 7 days | to arrive by post."),
    ("en", "list", "- one apple\n| - two big pears\n| - plums"),
    ("en", "numbered list", "1. Wash them\n| 2. Cut them\n| 3. Eat"),
    ("en", "numbers end English sentences", "It was in | 1999. | Then came 2000."),
    ("en", "paragraphs", "Hello there\n\n| General\n| Kenobi"),
    ("en", "link", "See [the big page](http://a.b) | for more of it."),
    ("en", "emphasis", "**Really good bread** | needs more time."),
    ("en", "money in front", "It costs about | $5 in the shop."),
    ("en", "money behind", "It costs 5 € | in the shop."),
    ("de", "z. B.", "Nimm z. B. Brot | mit nach Hause."),
    ("de", "z.B.", "Nimm z.B. Brot | mit nach Hause."),
    ("de", "d. h.", "Morgen, | d. h. am Freitag, | gehen wir."),
    ("de", "ordinal", "Mia hat am 4. Dezember | Geburtstag, wie du."),
    ("de", "year ends a sentence", "Das war 1999. | Danach kam nichts mehr."),
    ("de", "decimal comma", "Es sind 3,5 Kilometer | bis nach Hause."),
    ("de", "usw.", "Brot, | Milch, Eier usw. | Das reicht uns."),
    ("de", "quotes", "„Ja.“ | Dann ging er."),
    ("es", "question marks", "¿Qué tal? | ¿Vamos ya?"),
    ("es", "p. ej.", "Toma p. ej. pan | para la casa."),
    ("es", "EE. UU.", "Vive en EE. UU. con | su hermana, creo."),
    ("es", "etc.", "Pan, | leche, huevos etc. | ¿Algo más?"),
    ("es", "Sra.", "Con la Sra. López | iremos al mercado."),
]


@pytest.mark.parametrize(("language", "what", "cut"), CUT, ids=[f"{r[0]} {r[1]}" for r in CUT])
def test_where_an_answer_is_cut(language: Language, what: str, cut: str) -> None:
    """With plenty of audio left chunks end with clauses; the first one ends early."""
    wanted = [part.lstrip() for part in cut.split("|")]
    got = chunks_of(as_written("".join(wanted)), language, PLENTY_S)
    assert [chunk.rstrip(" ") for chunk in got] == [chunk.rstrip(" ") for chunk in wanted]


HURRY: list[tuple[Language, str]] = [
    ("en", "I would like | to go home | and sleep for | a very long | time"),
    ("en", "It is about | 3.5 km from | here to the | sea"),
    ("de", "Wir fahren am 4. Dezember | mit dem Zug | nach Köln"),
    ("es", "Nos vemos el | 4 de la | semana que viene"),
]


@pytest.mark.parametrize(("language", "cut"), HURRY)
def test_short_of_audio(language: Language, cut: str) -> None:
    """With less than 0.3 s of audio left three words are enough."""
    wanted = [part.strip() for part in cut.split("|")]
    got = chunks_of(as_written(" ".join(wanted)), language, 0.0)
    assert [chunk.strip() for chunk in got] == wanted


def test_a_long_piece_is_not_chopped() -> None:
    """What is cut from one piece counts as audio for what follows in it."""
    text = "I would like to go home now and sleep for a very long time. Would you?"
    assert chunks_of([text], "en", 0.0) == [
        "I would like ",
        "to go home now and sleep for a very long time. ",
        "Would you?",
    ]


def test_an_empty_piece_asks_again() -> None:
    """When the audio runs out while the model is slow, what waits is spoken."""
    reader = Clauses(words_of("en").abbreviations)
    assert reader.feed("I would like to go home and s", PLENTY_S) == ["I would like "]
    assert reader.feed("", 0.31) == []
    assert reader.feed("", 0.29) == ["to go home "]
    assert reader.end() == ["and s"]


def with_what_is_ahead(text: str, language: Language, left_s: float, known: int) -> list[str]:
    """The chunks of a text in whole words, of each next of which `known` characters are known."""
    pieces = as_written(text)
    reader = Clauses(words_of(language).abbreviations)
    chunks = []
    for piece, following in itertools.zip_longest(pieces, pieces[1:], fillvalue=""):
        chunks += reader.feed(piece, left_s)
        chunks += reader.feed("", left_s, following[:known])
    return chunks + reader.end()


def test_a_word_ends_when_the_next_begins() -> None:
    """The first words are spoken before the next one is whole, if it goes on with none of them."""
    reader = Clauses(words_of("de").abbreviations)
    assert reader.feed("Dein Hund ist", 0.0) == []
    assert reader.feed("", 0.0, " ") == []
    assert reader.feed("", 0.0, " Br") == ["Dein Hund ist"]
    assert reader.feed(" Bruno.", PLENTY_S) == []
    assert reader.end() == [" Bruno."]
    reader = Clauses(words_of("de").abbreviations)
    assert reader.feed("Sie kommt am", 0.0, " 4") == []


@pytest.mark.parametrize(("language", "what", "cut"), CUT, ids=[f"{r[0]} {r[1]}" for r in CUT])
def test_what_is_ahead_moves_no_cut(language: Language, what: str, cut: str) -> None:
    """It is cut sooner, and where it is cut with all words at hand."""
    wanted = [part.strip() for part in cut.split("|")]
    written = "".join(part.lstrip() for part in cut.split("|"))
    for known in (2, 4):
        got = with_what_is_ahead(written, language, PLENTY_S, known)
        assert [chunk.strip() for chunk in got] == wanted
        assert "".join(got) == written


def test_more_first_words() -> None:
    reader = Clauses(words_of("en").abbreviations, first_words=5)
    assert reader.feed("I would like to go home ", 0.0) == ["I would like to go "]


SENTENCES: list[tuple[Language, str, list[str], list[str]]] = [
    (
        "de",
        "Am 4. Dezember, d. h. am Freitag, kommt Dr. Weiß. Freust du dich?",
        ["Am 4. Dezember, d. h. am Freitag, kommt Dr. Weiß. ", "Freust du dich?"],
        ["Am 4. Dezember, ", "d. h. am Freitag, ", "kommt Dr. Weiß. ", "Freust du dich?"],
    ),
    ("en", "Yes, no, all of it", ["Yes, no, all of it"], ["Yes, no, all of it"]),
    ("es", " \n", [], []),
]


@pytest.mark.parametrize(("language", "text", "by_sentence", "by_clause"), SENTENCES)
def test_whole_texts(
    language: Language, text: str, by_sentence: list[str], by_clause: list[str]
) -> None:
    abbreviations = words_of(language).abbreviations
    assert sentences(text, abbreviations) == by_sentence
    assert clauses(text, abbreviations) == by_clause


def test_an_estimate_grows_with_the_text() -> None:
    """Some 15 characters are spoken in a second; space around them takes no time."""
    assert estimated_s(" \n") == 0
    assert 1.5 < estimated_s("I can help you with that one. ") < 2.2


TOKENS = st.sampled_from(
    ["so", "Haus", "3,5", "14:30", "4.", "z.", "B.", "Dr.", "e.g.", "p.", "ej.", "usw.", "ja,", "fin.",
     "¿qué", "tal?", "…", "well...", "–", "-", "€", "[a", "b](http://c.d)", "**", "“no.”", "(x)", "1.", "#"]
)  # fmt: skip
SPACES = st.sampled_from([" ", " ", " ", "\n", "  ", "\n\n"])
TEXTS = st.lists(st.tuples(TOKENS, SPACES), max_size=30).map(
    lambda pairs: "".join(token + space for token, space in pairs)
)
AUDIO_LEFT_S = st.sampled_from([0.0, 0.2, 1.0, PLENTY_S])


@given(
    text=TEXTS | st.text(max_size=80),
    cuts=st.lists(st.integers(0, 200)),
    language=st.sampled_from(LANGUAGES),
    left_s=AUDIO_LEFT_S,
)
def test_chunks_are_the_text(text: str, cuts: list[int], language: Language, left_s: float) -> None:
    """However it arrives, the chunks put together are the text, and no word is torn."""
    marks = sorted({0, len(text), *(cut for cut in cuts if cut < len(text))})
    pieces = [text[a:b] for a, b in itertools.pairwise(marks)]
    chunks = chunks_of(pieces, language, left_s)
    joined = "".join(chunks)
    assert text.startswith(joined)
    assert not text[len(joined) :].strip()
    assert [word for chunk in chunks for word in chunk.split()] == text.split()


@given(text=TEXTS, language=st.sampled_from(LANGUAGES))
def test_chunks_begin_with_something_to_say(text: str, language: Language) -> None:
    """All chunks but the last hold a letter or a digit."""
    for chunk in chunks_of(as_written(text), language, 0.0)[:-1]:
        assert any(character.isalnum() for character in chunk)


@given(text=TEXTS, language=st.sampled_from(LANGUAGES), left_s=AUDIO_LEFT_S)
def test_numbers_keep_what_they_count(text: str, language: Language, left_s: float) -> None:
    """No chunk within a line ends with a bare number, "Dr." or half of "z. B."."""
    for chunk in chunks_of(as_written(text), language, left_s)[:-1]:
        if chunk.rstrip(" ").endswith("\n"):
            continue
        last = chunk.split()[-1]
        assert not re.fullmatch(r"\d+|3,5|14:30", last)
        assert last not in {"z.", "B.", "p.", "Dr."}
