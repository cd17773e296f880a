from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.notebooks.page import Entry, read_page

NOTEBOOKS = Path(__file__).parents[3] / "fixtures" / "notebooks"
EXPECTED: dict[str, dict[str, Any]] = tomllib.loads(
    (NOTEBOOKS / "expected.toml").read_text(encoding="utf-8")
)


def test_every_fixture_is_expected() -> None:
    """Each notebook among the fixtures has its row, and its text as the model sees it."""
    assert {path.stem for path in NOTEBOOKS.glob("*.md")} == EXPECTED.keys()
    assert {path.stem for path in NOTEBOOKS.glob("*.shown")} == EXPECTED.keys()


@pytest.mark.parametrize("name", EXPECTED)
def test_entries(name: str) -> None:
    """List items are entries, whatever editor wrote the file."""
    content = (NOTEBOOKS / f"{name}.md").read_bytes()
    assert len(read_page(f"{name}.md", content).entries) == EXPECTED[name]["entries"]


def test_entries_know_their_lines() -> None:
    """A line counts from 1, whatever ends it; the text is without the item's mark."""
    page = read_page("USER.md", b"# Me\r\n- one\r* two\n\n  3. three  \n-four\n+ \n\x0c- five")
    assert page.entries == (
        Entry(line=2, text="one"),
        Entry(line=3, text="two"),
        Entry(line=5, text="three"),
    )


@pytest.mark.parametrize(
    "content", [b"- a\xff", "- é".encode("utf-16"), b"\0\0", b"\x89PNG" + bytes(20) + b"x"]
)
def test_a_warning_says_what_to_do(content: bytes) -> None:
    """A warning names the file and ends with a step to take."""
    [warning] = read_page("USER.md", content).warnings
    assert "USER.md" in warning
    assert any(step in warning for step in ("Save it as UTF-8", "Bring it back", "Move it away"))


@settings(deadline=None)
@given(st.text(st.characters(blacklist_categories=["Cs", "Cc"])))
def test_utf8_is_read_as_it_is(text: str) -> None:
    """What is UTF-8 comes out letter for letter, without a warning."""
    page = read_page("USER.md", text.encode())
    assert (page.text, page.warnings) == (text.removeprefix("\ufeff"), ())


@settings(deadline=None)
@given(st.binary(max_size=300))
def test_any_bytes_are_read(content: bytes) -> None:
    """No content makes reading fail, and whatever isn't clean UTF-8 is told."""
    page = read_page("USER.md", content)
    assert page.warnings or page.text.encode() == content.removeprefix(b"\xef\xbb\xbf")


WORDS = [
    "Müller",
    "Straße",
    "für",
    "Größe",
    "Öl",
    "Übung",
    "–",
    "„Tee“",
    "niño",
    "año",
    "¿qué?",
    "¡sí!",
    "corazón",
    "vegan",
    "5",
    "€",
]


@settings(deadline=None)
@given(st.lists(st.lists(st.sampled_from(WORDS)).map(" ".join)).map("\n".join))
def test_windows_text_is_read_whole(text: str) -> None:
    """A file of an old Windows editor gives its letters back."""
    assert read_page("USER.md", text.encode("cp1252")).text == text
