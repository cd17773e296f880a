from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.languages import packaged
from memory.notebooks.answers import ANSWER_CHARS, field, json_in, says_nothing


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ('{"a": 1}', [{"a": 1}]),
        ('```json\n{"a": 1}\n```', [{"a": 1}]),
        ('Here it is:\n{"a": 1}\nHope that helps {smiles}.', [{"a": 1}]),
        ('{"a": 1}\n{"a": 2}', [{"a": 1}, {"a": 2}]),
        ('<think>maybe {"a": 0}?</think>\n{"a": 1}', [{"a": 1}]),
        ('{"a": "one\nline"}', [{"a": "one\nline"}]),
        ('use {braces}, then {"a": 1}', [{"a": 1}]),
        ('[{"a": 1},]', [{"a": 1}]),
        ("\ufeff[]", [[]]),
    ],
)
def test_json_is_found_in_what_stands_around_it(text: str, values: list[Any]) -> None:
    """Fences, prose and thoughts around the JSON are passed over."""
    assert list(json_in(text).values) == values


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "The answer is empty."),
        (" \n ", "The answer is empty."),
        ("<think>hm</think>", "The answer is empty."),
        ("I think the user likes tea.", "The answer holds no JSON."),
        ("Der Benutzer mag offenbar Tee.", "The answer holds no JSON."),
        ("…", "The answer holds no JSON."),
        ('{"a": [1, 2', "The answer is cut off: its JSON has no end."),
        ('{"a": "half a wor', "The answer is cut off: its JSON has no end."),
        ('[{"a": 1}, {"a": nul', "The answer is cut off: its JSON has no end."),
        ('{"a": "\\u00', "The answer is cut off: its JSON has no end."),
        ("x" * 1_000_000, "The answer has 1,000,000 characters; asked for were some lines."),
        ("9" * 30_000, "The answer holds no JSON."),
    ],
)
def test_what_is_no_json_is_a_fault(text: str, fault: str) -> None:
    """An answer without JSON, or with half of it, is named for what it is."""
    found = json_in(text)
    assert (found.values, found.fault, found.nothing) == ((), fault, False)


@pytest.mark.parametrize(
    "text",
    ["None", "nothing.", "No changes needed!", "Keine Änderungen.", "KEINE ÄNDERUNGEN", "nichts",
     "nada", "Sin cambios", "No hay nada que anotar.", "无", "null", "n/a", "```\nnone\n```"],
)  # fmt: skip
def test_words_for_nothing_are_nothing(text: str) -> None:
    """ "None" is an answer, in each language, and no fault."""
    found = json_in(text)
    assert (found.values, found.fault, found.nothing) == ((), None, True)


@pytest.mark.parametrize(
    "text", ["Nada", "-", "", "…", "Nichts.", "Ningún cambio", "empty", "没有"]
)
def test_says_nothing(text: str) -> None:
    """Words for nothing, and no words at all."""
    assert says_nothing(text)


@pytest.mark.parametrize(
    "text",
    ["Nothing is worse than cilantro", "Hat keine Kinder", "No come carne", "Is called Nada Surf",
     "Isst nichts mit Nüssen"],
)  # fmt: skip
def test_a_sentence_with_such_a_word_says_something(text: str) -> None:
    """A negation within a sentence is not an answer of nothing."""
    assert not says_nothing(text)


@pytest.mark.parametrize("language", ["", *packaged.LANGUAGES_HERE])
def test_each_phrase_for_nothing_is_known(language: str) -> None:
    """Each phrase of each language says nothing, in capitals and with a full stop too."""
    phrases = packaged.load(language, "nothing")["phrases"]
    assert phrases
    for phrase in phrases:
        assert says_nothing(phrase) and says_nothing(f"{phrase.upper()}.")


@pytest.mark.parametrize(
    ("item", "value"),
    [
        ({"Text": " x "}, "x"),
        ({"new-text": "x"}, "x"),
        ({"text": 42}, "42"),
        ({"text": True}, None),
        ({"text": ["x"]}, None),
        ({"text": "null"}, None),
        ({"text": "  "}, None),
        ({"text": None, "new text": "x"}, "x"),
        ({"text": "\ud800"}, None),
        ({1: "x"}, None),
    ],
)
def test_a_field_is_read_as_text(item: dict[Any, Any], value: str | None) -> None:
    """Case, dashes and numbers are forgiven; what is no text is no field."""
    assert field(item, ("text", "new_text")) == value


HOSTILE = ["[", "{", '{"a":', '["', "[1,", "{}", '{"a":1}', "[[],", '"', "\\", "null ", "-", "1e9"]


@pytest.mark.parametrize("piece", HOSTILE)
def test_reading_takes_linear_time(piece: str) -> None:
    """The longest answer that is read takes a moment, whatever it repeats."""
    text = (piece * ANSWER_CHARS)[:ANSWER_CHARS]
    began = time.process_time()
    json_in(text)
    assert time.process_time() - began < 1.0


@given(st.text(alphabet='[]{}",:\\ \nabnul0123.-e', max_size=300) | st.text(max_size=100))
def test_reading_never_raises(text: str) -> None:
    """Whatever came: values, a fault, or nothing, and one of them only."""
    found = json_in(text)
    assert [bool(found.values), bool(found.fault), found.nothing].count(True) == 1
