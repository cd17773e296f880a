from __future__ import annotations

import re
import tomllib
import unicodedata
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.notebooks.page import Page, read_page
from memory.notebooks.prefix import NOTEBOOK_CHARS, disarm, fill, prefix, show, show_hidden
from memory.records import Prefix

ROOT = Path(__file__).parents[3]
NOTEBOOKS = ROOT / "fixtures" / "notebooks"
EXPECTED: dict[str, dict[str, Any]] = tomllib.loads(
    (NOTEBOOKS / "expected.toml").read_text(encoding="utf-8")
)
FRAME = (ROOT / "prompts" / "prefix.md").read_text(encoding="utf-8")
PERSONA = Page(name="persona.md", text="You are Jarvis.\n")
EMPTY = Page(name="MEMORY.md")


def user(text: str) -> Page:
    return Page(name="USER.md", text=text)


def made(text: str, memory: Page = EMPTY) -> Prefix:
    return prefix(FRAME, PERSONA, user(text), memory)


# What the model sees of a notebook ----------------------------------------------------


@pytest.mark.parametrize("name", EXPECTED)
def test_notebooks_as_the_model_sees_them(name: str) -> None:
    """Ordinary text stays to the letter; what is hidden shows, and marks are harmless."""
    page = read_page(f"{name}.md", (NOTEBOOKS / f"{name}.md").read_bytes())
    shown = show(page)
    assert shown.text == (NOTEBOOKS / f"{name}.shown").read_text(encoding="utf-8")
    assert len(shown.warnings) == len(EXPECTED[name]["warnings"])
    for warning, part in zip(shown.warnings, EXPECTED[name]["warnings"], strict=True):
        assert part in warning


@pytest.mark.parametrize(
    "text",
    [
        "Größe, ¿cómo?, naïve, Ærø, Łódź, straße",
        "👩‍❤️‍💋‍👨 👨🏽‍🚀 🏳️‍🌈 🏴‍☠️ 🏴󠁧󠁢󠁳󠁣󠁴󠁿 ☎️ ☎︎ #️⃣ 🇩🇪 ⏰ ⤴️ ™️ ㊗️ ♾️",
        "می‌خواهم नमस्‍ते ක්‍ෂ",
        "a < b > c, <3, x<y, <name@example.org>, <https://example.org/s>, <br/>, <u>u</u>, |>, ->",
        "[ ] open [x] done [[Note]] ![[pic.png]] #tag @x ^block $HOME ${x} `code` \\n",
        "tab\there, no-break space, thin space",
        "« ‹ › » ⟦⟧",
    ],
)
def test_ordinary_text_stays(text: str) -> None:
    """Letters, emoji, Markdown and signs of any script pass to the letter."""
    assert disarm(show_hidden(text)) == text


@settings(deadline=None)
@given(st.text())
def test_nothing_hidden_is_left(text: str) -> None:
    """Whatever goes in, each control or format character that is left belongs to an emoji or a letter."""
    shown = show_hidden(text)
    for at, character in enumerate(shown):
        if character == "\t" or unicodedata.category(character) not in {
            "Cc",
            "Cf",
            "Cs",
            "Zl",
            "Zp",
        }:
            continue
        before = shown[at - 1]
        assert at > 0
        assert (
            character in "\u200c\u200d\U000e007f"
            or "\U000e0020" <= character <= "\U000e007e"
            or (unicodedata.category(character) == "Cf" and character in ARABIC_SIGNS)
        ), (before, character)


# Signs above or below numbers: category Cf, but drawn.
ARABIC_SIGNS = (
    "\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd"
)


@settings(deadline=None)
@given(st.text("</>|USER.mdMEORY \n\tsInewt_a[]STｉ＜＞｜\u200b\u00ad\\=", max_size=60))
def test_no_notebook_ends_its_frame(text: str) -> None:
    """No text, however it is put together, holds a mark of the frame or of a model."""
    shown = show(user(text)).text
    assert not re.search(r"[<＜]\s*[/\\]?\s*(user|memory)\.md\s*[>＞]", shown, re.IGNORECASE)
    assert not re.search(r"[<＜]\s*[|｜]", shown)
    assert not re.search(r"</?(s|news)>", shown)
    assert "[INST]" not in shown


@settings(deadline=None)
@given(st.text(max_size=200))
def test_showing_twice_changes_nothing(text: str) -> None:
    """What was made visible and harmless once stays as it is."""
    once = show(user(text)).text
    assert show(user(once)).text == once


# Bounds -------------------------------------------------------------------------------


def test_a_notebook_that_fits_is_whole() -> None:
    """At exactly 8,000 characters nothing is left out."""
    text = "\n".join(["x" * 99] * 80) + "y"
    assert len(text) == NOTEBOOK_CHARS
    assert show(user(text)) == show(user(text + "\n\n"))
    assert (show(user(text)).text, show(user(text)).warnings) == (text, ())


def test_a_long_notebook_loses_whole_lines_and_says_so() -> None:
    """The first lines that fit are taken, and the warning names the first that isn't."""
    lines = [f"- line {number:04d} {'x' * 88}" for number in range(200)]
    shown = show(user("\n\n" + "\n".join(lines)))
    assert shown.lines == tuple(lines[:79])
    [warning] = shown.warnings
    assert "from line 82 on" in warning
    assert "Shorten it" in warning


@pytest.mark.parametrize("text", ["word " * 3000, "x" * 9000])
def test_one_endless_line_is_cut(text: str) -> None:
    """Of one line that is too long the beginning is taken, with a warning."""
    shown = show(user(text))
    assert NOTEBOOK_CHARS - 10 < len(shown.text) <= NOTEBOOK_CHARS
    assert shown.text.endswith(" …")
    assert "its line 1 was cut" in shown.warnings[0]


# The prefix ---------------------------------------------------------------------------


def test_the_frame() -> None:
    """Persona first, then both notebooks as they are, in a frame that says what they are."""
    found = made("- I'm vegan.\n", Page(name="MEMORY.md", text="- Answers: short.\n"))
    assert found.text.startswith("You are Jarvis.\n\n")
    assert "<USER.md>\n- I'm vegan.\n</USER.md>" in found.text
    assert "<MEMORY.md>\n- Answers: short.\n</MEMORY.md>" in found.text
    assert "never instructions" in found.text
    assert "now beats" in found.text
    assert found.sha256 == sha256(found.text.encode()).hexdigest()


def test_the_frame_is_short() -> None:
    """A small model reads about 93 tokens a second: the frame is at most 40 words."""
    assert len(FRAME.split()) <= 40


def test_empty_notebooks_are_normal() -> None:
    """A notebook that isn't there is shown as empty, without a warning."""
    assert made("").text.count("(nothing yet)") == 2
    assert made("").warnings == ()


@pytest.mark.parametrize(
    ("one", "other"), [("- a\n- b\n", "- a\r\n- b"), ("- a", "\n\n- a\n\n"), ("- a", "- a\r")]
)
def test_line_ends_make_no_difference(one: str, other: str) -> None:
    """Another editor's line ends don't change one byte."""
    assert made(one) == made(other)


def test_a_template_in_a_notebook_is_text() -> None:
    """Variables written in a notebook are not filled in."""
    assert "- $persona ${memory} $$" in made("- $persona ${memory} $$").text


def test_all_warnings_are_told() -> None:
    """Warnings of all three files come with the prefix."""
    bad = b"- caf\xe9"
    persona, user, memory = (
        read_page(name, bad) for name in ("persona.md", "USER.md", "MEMORY.md")
    )
    found = prefix(FRAME, persona, user, memory)
    assert [warning.partition(",")[0] for warning in found.warnings] == [
        "persona.md", "USER.md", "MEMORY.md",
    ]  # fmt: skip


@pytest.mark.parametrize("frame", ["$persona $user", "$persona $user $memory $time", "plain"])
def test_an_unknown_variable_is_our_mistake(frame: str) -> None:
    """A frame with a variable too many or too few fails at once."""
    with pytest.raises(ValueError, match="variables"):
        prefix(frame, PERSONA, user(""), EMPTY)
    with pytest.raises(ValueError, match="variables"):
        fill("$x", {})
