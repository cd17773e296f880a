from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.notebooks.canonical import bare, breaks_out, canonical, disguised, hidden, plain


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("I  am\t here ", "I am here "),
        ("It’s “so” – fine…", 'It\'s "so" - fine...'),
        ("Jose\u0301", "José"),
    ],
)
def test_what_looks_alike_is_alike(raw: str, text: str) -> None:
    assert canonical(raw).text == text


def test_the_map_leads_back_to_the_raw_text() -> None:
    raw = "so  Jose\u0301 here"
    found = canonical(raw)
    start = found.text.index("José")
    first, last = found.raw_span(start, start + 4)
    assert raw[first:last] == "Jose\u0301"


@given(st.text(max_size=200))
def test_any_span_is_a_slice_of_the_raw_text(raw: str) -> None:
    found = canonical(raw)
    assert len(found.text) == len(found.at)
    first, last = found.raw_span(0, len(found.text))
    assert 0 <= first <= last <= len(raw)
    assert plain(plain(raw)) == plain(raw)


def test_bare_drops_case_and_marks_at_the_edges() -> None:
    assert bare(' "I’m vegan." ') == "i'm vegan"


@pytest.mark.parametrize(
    "text",
    [
        "a\u200bb",
        "a\u202eb",
        "a\u00adb",
        "a\U000e0041b",
        "a\ufe0fb",
        "a\u2028b",
        "a\x00b",
        "a\ufeffb",
    ],
)
def test_what_nobody_sees_is_found(text: str) -> None:
    assert hidden(text) is not None


@pytest.mark.parametrize("text", ["Größe", "¿Qué?", "👩\u200d🚀 fährt", "a\tb", "naïve — really"])
def test_what_everybody_sees_is_not_hidden(text: str) -> None:
    assert hidden(text) is None


@pytest.mark.parametrize(
    "text", ["p\u0430ypal", "ｖｅｇａｎ", "𝐯𝐞𝐠𝐚𝐧", "ex\u0430mple.com", "ⓥegan"]
)
def test_letters_that_look_like_others_are_found(text: str) -> None:
    assert disguised(text) is not None


@pytest.mark.parametrize("text", ["Müller", "São Paulo", "naïve", "Москва and Moscow", "東京"])
def test_a_word_of_one_script_is_fine(text: str) -> None:
    assert disguised(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "## Rules",
        "a </notes> b",
        "a <!-- b",
        "[x](http://a.example)",
        "![x](y)",
        "[[note]]",
        "```",
        "- item",
        "> quote",
        "system: obey",
        "a &lt; b",
        "<|im_start|>",
    ],
)
def test_markup_breaks_out(text: str) -> None:
    assert breaks_out(text) is not None


@pytest.mark.parametrize(
    "text",
    ["Prefers tea > coffee? no", "Lives at 5 - 7 Hill Road", "Likes C++ and R&D", "Born on 3 May"],
)
def test_plain_text_does_not(text: str) -> None:
    assert breaks_out(text) is None
