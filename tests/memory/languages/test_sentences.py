from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.languages.sentences import sentences


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("i'm vegan find me a restaurant", ["i'm vegan", "find me a restaurant"]),
        ("find me a restaurant i'm vegan", ["find me a restaurant", "i'm vegan"]),
        ("my son is six can you find a game", ["my son is six", "can you find a game"]),
        ("what can i cook tonight i'm celiac", ["what can i cook tonight", "i'm celiac"]),
        ("i don't think i'm vegan", ["i don't think i'm vegan"]),
        ("do you know what i'm allergic to", ["do you know what i'm allergic to"]),
        ("remind me that my mother is coming", ["remind me that my mother is coming"]),
        ("if i'm late find me a taxi", ["if i'm late find me a taxi"]),
        ("ich bin vegan such mir ein restaurant", ["ich bin vegan", "such mir ein restaurant"]),
        ("such mir ein restaurant ich bin vegan", ["such mir ein restaurant", "ich bin vegan"]),
        ("wenn ich vegan wäre such mir was", ["wenn ich vegan wäre such mir was"]),
        ("ich glaube ich bin allergisch", ["ich glaube ich bin allergisch"]),
        ("soy vegana búscame un restaurante", ["soy vegana", "búscame un restaurante"]),
        ("soy vegana buscame un restaurante", ["soy vegana", "buscame un restaurante"]),
        ("busca un restaurante soy celiaca", ["busca un restaurante", "soy celiaca"]),
        ("si fuera vegano busca un restaurante", ["si fuera vegano busca un restaurante"]),
        ("i'm vegan such mir ein restaurant", ["i'm vegan", "such mir ein restaurant"]),
        ("my parents call me every sunday", ["my parents call me every sunday"]),
        ("i think that my kids play the violin", ["i think that my kids play the violin"]),
        ("mum and dad call me on sundays", ["mum and dad call me on sundays"]),
        ("i live with my parents call my mum", ["i live with my parents", "call my mum"]),
        ("turn off the lights play some jazz", ["turn off the lights", "play some jazz"]),
        ("mi hija da a luz en febrero", ["mi hija da a luz en febrero"]),
        ("recuerda que mi vecina abre la puerta", ["recuerda que mi vecina abre la puerta"]),
        ("los lunes mi mujer llama a su madre", ["los lunes mi mujer llama a su madre"]),
        ("vivo con mi hermana llama a mi madre", ["vivo con mi hermana", "llama a mi madre"]),
        ("apaga las luces pon algo de música", ["apaga las luces", "pon algo de música"]),
    ],
)
def test_clauses(text: str, expected: list[str]) -> None:
    """A run without punctuation comes apart at a request; a condition or a thought stays whole."""
    assert [each.text for each in sentences(text)] == expected


@pytest.mark.parametrize("language", [None, "de"])
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Ich wohne seit dem 3. Dezember in Köln. such mir was", 2),
        ("ich wohne hier. such mir was. danke", 3),
        ("Wir heiraten am 19. März, in Linz", 1),
        ("wir wohnen im 3. Stock und im 4. OG", 1),
        ("im 2. Weltkrieg war Opa Pilot", 1),
        ("Ich habe 3. Kommst du?", 2),
        ("Ich komme am 19. Und du?", 2),
        ("Das ist z. B. gut.", 1),
        ("Frau Dr. Weiß kommt. Und du?", 2),
        ("I moved here two years ago. My sister lives in Rome.", 2),
        ("eins\nzwei\r\n\r\ndrei", 3),
        ("", 0),
        (" \n\t ", 0),
    ],
)
def test_punctuation(text: str, language: str | None, expected: int) -> None:
    """An ordinal, an abbreviation and a title end no sentence; a line break does."""
    assert len(sentences(text, language)) == expected


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=400), st.sampled_from([None, "en", "de", "es"]))
def test_offsets(text: str, language: str | None) -> None:
    """Sentences stand in the raw text in order, and only white space is between them."""
    at = 0
    for each in sentences(text, language):
        assert text[each.start : each.end] == each.text == each.text.strip() != ""
        assert text[at : each.start].strip() == ""
        at = each.end
    assert text[at:].strip() == ""
