from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.notebooks.page import Entry, escaped, read_page, unescaped

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


ENTRIES = {
    "continuation": ("- a\n  b\n- c\n", [(1, 2, "a b"), (3, 3, "c")]),
    "a lazy continuation": ("- a\nb\n", [(1, 2, "a b")]),
    "paragraphs": ("- a\n\n  b\n\nend\n", [(1, 3, "a b")]),
    "nested": ("- a\n  - b\n    c\n- d\n", [(1, 1, "a"), (2, 3, "b c"), (4, 4, "d")]),
    "deeply nested": ("- a\n      - b\n      - c\n", [(1, 1, "a"), (2, 2, "b"), (3, 3, "c")]),
    "a list at a depth": ("# H\n\n    - a\n    - b\n", [(3, 3, "a"), (4, 4, "b")]),
    "tabs": ("\t- a\n\t- b\n\t\t- c\n", [(1, 1, "a"), (2, 2, "b"), (3, 3, "c")]),
    "an item in an item": ("- - a\n", [(1, 1, "a")]),
    "tasks": ("- [ ] a\n- [x] b\n- [link](x)\n", [(1, 1, "a"), (2, 2, "b"), (3, 3, "[link](x)")]),
    "a block id": ("- a ^id-1\n- a^2\n", [(1, 1, "a"), (2, 2, "a^2")]),
    "escapes": ("- \\# a \\<b>\n- `\\#`\n", [(1, 1, "# a <b>"), (2, 2, "`\\#`")]),
    "front matter": ("---\ntags:\n  - x\n---\n- a\n", [(5, 5, "a")]),
    "no front matter": ("\n---\n- a\n---\n", [(3, 3, "a")]),
    "a comment": ("<!--\n- x\n-->\n- a\n", [(4, 4, "a")]),
    "a comment in a line": ("<!-- - x -->\n- a\n", [(2, 2, "a")]),
    "Obsidian's comment": ("%%\n- x\n%%\n- a %% b\n- c\n", [(4, 4, "a %% b"), (5, 5, "c")]),
    "a comment never closed": ("%% x\n- a\n", [(2, 2, "a")]),
    "marks of a comment in code": ("```\n%% x\n```\n- a\n\n%%\n", [(4, 4, "a")]),
    "code": ("```\n- x\n```\n~~~\n- y\n~~~\n- a\n", [(7, 7, "a")]),
    "code in an item": ("- a\n  ```\n  - x\n  ```\n", [(1, 1, "a")]),
    "quotations": ("> - x\n\n> [!note] T\n> - y\n\n- a\n", [(6, 6, "a")]),
    "a table": ("| a | b |\n|---|---|\n| - x | y |\n", []),
    "links": ("- [[Note|name]] #tag ![[pic.png]]\n", [(1, 1, "[[Note|name]] #tag ![[pic.png]]")]),
    "lines and rules": ("- a\n---\n***\n- b\n", [(1, 1, "a"), (4, 4, "b")]),
    "nothing in it": ("-\n- \n- a\n", [(3, 3, "a")]),
}


@pytest.mark.parametrize("case", ENTRIES)
def test_whose_lines_are_an_entry(case: str) -> None:
    """An entry is an item's paragraphs; front matter, comments, code and quotations have none."""
    text, expected = ENTRIES[case]
    page = read_page("USER.md", text.encode())
    assert [(each.line, each.last, each.text) for each in page.entries] == expected


@pytest.mark.parametrize(
    ("text", "held"),
    [
        ("- a\n", False),
        ("- a\n  b\n", False),
        ("- a\n  - b\n", True),
        ("- a\n  ```\n  x\n  ```\n", True),
        ("- a\n  > x\n", True),
        ("- a\n-b\n", True),
    ],
)
def test_an_item_may_hold_more_than_its_text(text: str, held: bool) -> None:
    """Items, code and quotations inside an item, and a line meant as one, are told."""
    assert read_page("USER.md", text.encode()).entries[0].holds_more == held


def test_what_an_entry_takes_of_the_room() -> None:
    """Characters are code points of the texts of entries; prose and marks don't count."""
    assert read_page("USER.md", "# H\n\nprose\n- ä🙂\n  b\n1. \\#\n".encode()).entry_chars == 5


@settings(deadline=None)
@given(st.text(st.characters(blacklist_categories=["Cs", "Cc", "Zl", "Zp"])))
def test_escaping_is_taken_back(text: str) -> None:
    """Whatever is escaped reads back to the letter."""
    assert unescaped(escaped(text)) == text


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
