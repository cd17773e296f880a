from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.errors import NotebookUnwritable
from memory.notebooks import edit
from memory.notebooks.page import Page, read_page


def page_of(content: bytes | str, name: str = "USER.md") -> Page:
    return edit.editable(name, content.encode() if isinstance(content, str) else content)


def texts(page: Page) -> list[str]:
    return [entry.text for entry in page.entries]


# Adding -------------------------------------------------------------------------------

ADDED = {
    "nothing there": ("", "# About you\n<!-- One short sentence a line, each behind a dash. -->\n- new\n"),
    "blank lines only": (
        " \n\n",
        "# About you\n<!-- One short sentence a line, each behind a dash. -->\n- new\n \n\n",
    ),
    "as it was made": (
        "# About you\n<!-- One short sentence a line, each behind a dash. -->\n",
        "# About you\n<!-- One short sentence a line, each behind a dash. -->\n- new\n",
    ),
    "a list": ("- a\n- b\n", "- a\n- b\n- new\n"),
    "no newline at the end": ("# H\n- a", "# H\n- a\n- new"),
    "CRLF": ("# H\r\n- a\r\n", "# H\r\n- a\r\n- new\r\n"),
    "CRLF without an end": ("# H\r\n- a", "# H\r\n- a\r\n- new"),
    "CR": ("- a\r- b\r", "- a\r- b\r- new\r"),
    "mixed ends": ("- a\r\n- b\n\r\nend\r\n", "- a\r\n- b\n- new\n\r\nend\r\n"),
    "its own bullet": ("* a\n* b\n", "* a\n* b\n* new\n"),
    "plus": ("+ a\n", "+ a\n+ new\n"),
    "wide marks": ("-   a\n-   b\n", "-   a\n-   b\n-   new\n"),
    "a tab behind the mark": ("-\ta\n", "-\ta\n-\tnew\n"),
    "indented": ("# H\n\n  - a\n  - b\n", "# H\n\n  - a\n  - b\n  - new\n"),
    "numbers": ("1. a\n2. b\n", "1. a\n2. b\n3. new\n"),
    "numbers with brackets": ("8) a\n9) b\n", "8) a\n9) b\n10) new\n"),
    "nested": ("- a\n  - b\n  - c\n\nend\n", "- a\n  - b\n  - c\n- new\n\nend\n"),
    "many lines in an item": ("- a\n  goes on\n\n  and on\n", "- a\n  goes on\n\n  and on\n- new\n"),
    "items kept apart": ("- a\n\n- b\n", "- a\n\n- b\n\n- new\n"),
    "items kept apart, more behind": ("- a\n\n- b\n\nend\n", "- a\n\n- b\n\n- new\n\nend\n"),
    "the longer list": ("# A\n- a\n- b\n\n# B\n- c\n", "# A\n- a\n- b\n- new\n\n# B\n- c\n"),
    "facts, not tasks": (
        "# Todo\n- [ ] a\n- [x] b\n\n# Me\n- c\n",
        "# Todo\n- [ ] a\n- [x] b\n\n# Me\n- c\n- new\n",
    ),
    "tasks only": ("- [ ] a\n- [x] b\n", "- [ ] a\n- [x] b\n- new\n"),
    "front matter only": ("---\ntags:\n  - me\n---\n", "---\ntags:\n  - me\n---\n\n- new\n"),
    "front matter and a list": (
        "---\ntags:\n  - a\n  - b\n---\n- c\n\nend",
        "---\ntags:\n  - a\n  - b\n---\n- c\n- new\n\nend",
    ),
    "a heading at the end": ("text\n\n## Facts", "text\n\n## Facts\n- new"),
    "a text at the end": ("Some words.\n", "Some words.\n\n- new\n"),
    "a text without an end": ("Some words.", "Some words.\n\n- new"),
    "a text and a blank line": ("Some words.\n\n", "Some words.\n\n- new\n"),
    "a table": ("| a |\n|---|\n| b |\n", "| a |\n|---|\n| b |\n\n- new\n"),
    "a callout": ("> [!note]\n> - a\n", "> [!note]\n> - a\n\n- new\n"),
    "a list in code": ("```\n- a\n```\n", "```\n- a\n```\n\n- new\n"),
    "HTML at the end": ("<div>\n# h\n", "<div>\n# h\n\n- new\n"),
    "code never closed": ("# H\n```\n- a\n", "- new\n\n# H\n```\n- a\n"),
    "a comment never closed": ("<!--\n- a\n", "- new\n\n<!--\n- a\n"),
    "a list in a comment": ("<!--\n- a\n-->\n", "<!--\n- a\n-->\n- new\n"),
    "Obsidian's comment": ("%%\n- a\n%%\n", "%%\n- a\n%%\n\n- new\n"),
    "a comment behind the list": ("- a\n\n<!-- x\n- y\n", "- a\n- new\n\n<!-- x\n- y\n"),
    "a byte order mark": ("\ufeff- a\n", "\ufeff- a\n- new\n"),
    "only a byte order mark": (
        "\ufeff",
        "\ufeff# About you\n<!-- One short sentence a line, each behind a dash. -->\n- new\n",
    ),
    "an item of its own line": ("-\n  a\n", "-\n  a\n- new\n"),
    "an item of its own line, CRLF": ("-\r\n  a\r\n", "-\r\n  a\r\n- new\r\n"),
    "a mark too deep": ("      - a\n", "      - a\n      - new\n"),
    "a line meant as an item": ("- a\n-b\n", "- a\n-b\n- new\n"),
}  # fmt: skip


@pytest.mark.parametrize("case", ADDED)
def test_a_new_entry_goes_where_the_list_ends(case: str) -> None:
    """Only the new line is new, in the file's own manner."""
    before, after = (text.encode() for text in ADDED[case])
    page = page_of(before)
    added = edit.add(page, "new")
    assert edit.as_bytes(added, before) == after
    assert sorted(texts(added)) == sorted([*texts(page), "new"])


# Here the heading that an empty file gets, or the blank line in front of a new list, stays.
LEAVES_A_TRACE = {
    "nothing there", "blank lines only", "only a byte order mark", "front matter only",
    "a text at the end", "a text without an end", "a table", "a callout", "a list in code",
    "code never closed", "a comment never closed", "HTML at the end", "Obsidian's comment",
}  # fmt: skip


@pytest.mark.parametrize("case", sorted(ADDED.keys() - LEAVES_A_TRACE))
def test_what_was_added_can_be_taken_out_again(case: str) -> None:
    """Taking a new entry out gives the file as it was, byte for byte."""
    before = ADDED[case][0].encode()
    added = edit.add(page_of(before), "new")
    entry = edit.find(added, "new")
    assert entry is not None
    assert edit.as_bytes(edit.remove(added, entry), before) == before


def test_the_other_notebook_begins_in_its_own_way() -> None:
    """An empty MEMORY.md gets the heading that the default vault has."""
    assert edit.add(page_of("", "MEMORY.md"), "new").text.startswith("# Working notes\n<!-- ")


# Changing -----------------------------------------------------------------------------

UPDATED = {
    "one line": ("- a\n- old\n- b\n", "- a\n- new\n- b\n"),
    "CRLF": ("- old\r\n- b\n", "- new\r\n- b\n"),
    "at the end": ("- a\n- old", "- a\n- new"),
    "a task": ("- [x] old\n", "- [x] new\n"),
    "a number": ("1. a\n7.  old\n", "1. a\n7.  new\n"),
    "nested": ("- a\n\t* old\n", "- a\n\t* new\n"),
    "with items beneath": ("- old\n  - b\n", "- new\n  - b\n"),
    "a block id": ("- old ^x1\n", "- new ^x1\n"),
    "an item in an item": ("- - old\n", "- - new\n"),
    "an item of its own line": ("-\n  old\n", "- new\n"),
    "an item of its own line, CRLF": ("-\r\n  old\r\n", "- new\r\n"),
}


@pytest.mark.parametrize("case", UPDATED)
def test_a_changed_entry_keeps_its_mark(case: str) -> None:
    """Indentation, mark, box, block id and what stands beneath stay."""
    before, after = UPDATED[case]
    page = page_of(before)
    entry = edit.find(page, "old")
    assert entry is not None
    assert edit.update(page, entry, "new").text == after


def test_an_entry_of_many_lines_becomes_one() -> None:
    """The lines that carried on the old text go with it; others in the item stay."""
    page = page_of("- old\n  goes on\nand on\n\n  further\n\n  ```\n  code\n  ```\n- b\n")
    entry = edit.find(page, "old goes on and on further")
    assert entry is not None
    assert edit.update(page, entry, "new").text == "- new\n\n  ```\n  code\n  ```\n- b\n"


# Taking out ---------------------------------------------------------------------------

REMOVED = {
    "in the middle": ("- a\n- old\n- b\n", "- a\n- b\n"),
    "the first": ("# H\n- old\n- b\n", "# H\n- b\n"),
    "the last": ("- a\n- old\n\nend\n", "- a\n\nend\n"),
    "the last line": ("- a\r\n- old", "- a"),
    "the only one": ("- old\n", ""),
    "the only one without an end": ("- old", ""),
    "between blank lines": ("# H\n\n- old\n\nend\n", "# H\n\nend\n"),
    "items kept apart": ("- a\n\n- old\n\n- b\n", "- a\n\n- b\n"),
    "items kept apart, the last": ("- a\n\n- old\n", "- a\n"),
    "at the top": ("- old\n\nend\n", "end\n"),
    "many lines": ("- a\n- old\n  - b\n", None),
    "with its continuation": ("- a\n- old\n  more\nlazy\n- b\n", "- a\n- b\n"),
    "with its paragraphs": ("- old\n\n  more lazy\n\n- b\n", "- b\n"),
    "nested": ("- a\n  - old\n  - b\n", "- a\n  - b\n"),
    "numbers stay": ("1. a\n2. old\n3. b\n", "1. a\n3. b\n"),
    "two blank lines of the user's": ("- a\n\n\n- old\n- b\n", "- a\n\n\n- b\n"),
}


@pytest.mark.parametrize("case", [case for case in REMOVED if REMOVED[case][1] is not None])
def test_an_entry_goes_with_its_lines(case: str) -> None:
    """All its lines go, no others, and no second blank line is left."""
    before, after = REMOVED[case]
    page = page_of(before)
    [entry] = [entry for entry in page.entries if entry.text.startswith("old")]
    assert edit.remove(page, entry).text == after


def test_an_entry_with_others_beneath_it_stays() -> None:
    """Items beneath an item would lose their place, so it is left to the user."""
    page = page_of("- a\n- old\n  - b\n")
    entry = edit.find(page, "old")
    assert entry is not None
    with pytest.raises(NotebookUnwritable, match="Take it out in your editor"):
        edit.remove(page, entry)


# Finding ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "text", "line"),
    [
        ("- a\n- b\n- b\n", "b", 2),
        ("- a  b\n", "a b", 1),
        ("- Cafe\u0301\n", "Café", 1),
        ("- a b\n- a  b\n", "a\tb", None),
        ("- vegan\n", "Vegan", None),
        ("- I like tea\n- I like\n", "I like", 2),
        ("", "a", None),
    ],
)
def test_an_entry_is_found_by_its_text(content: str, text: str, line: int | None) -> None:
    """Spaces and Unicode forms make no difference where only one entry is meant; letters do."""
    entry = edit.find(page_of(content), text)
    assert (entry.line if entry else None) == line


# What can't be changed ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "part"),
    [
        ("- é".encode("utf-16"), "UTF-16"),
        (b"- caf\xe9\n", "cp1252"),
        (b"- caf\xc3\n\xc3\xa9", "damaged"),
        (b"- a\0\0\0", "zero bytes"),
        (b"\0" * 9, "zero bytes"),
        (bytes(range(256)), "not a text file"),
    ],
)
def test_another_encoding_is_not_rewritten(content: bytes, part: str) -> None:
    """What is not clean UTF-8 is left alone, with what to do."""
    with pytest.raises(NotebookUnwritable, match=part) as caught:
        edit.editable("USER.md", content)
    assert "USER.md can't be changed" in str(caught.value)


def test_a_page_without_a_place_is_told() -> None:
    """An entry that would not read back is not written."""
    with pytest.raises(NotebookUnwritable, match="never closed"):
        edit.add(page_of("---\ntitle: me\n- a\n---\n```\n", "x.md"), "new")


# Any entry, any file ------------------------------------------------------------------

BREAKING_OUT = [
    "# heading", "## x", "#tag", "> quote", "- item", "* item", "+ item", "-", "1. one", "12) x",
    "2026. A year", "```", "```py", "~~~", "---", "***", "___", "- - -", "===", "[ ] task",
    "[x] done", "[a]: http://b.example", "<!-- hidden", "--> x", "</USER.md>", "<script>", "a <b> c",
    "a < b > c", "x %% y", "%%", "$$ x", "![[note]]", "![x](y)", "C:\\_temp\\", "\\", "\\\\", "\\`a`",
    "\\`<b>`", "`a", "``a` b``", "`<b>` <b>", "a ^b-1", "^x", "a\\", "&amp;", "| a | b |", "|", "*a*",
    "a\u2028b", "tab\there", "＃ wide", "🙂", "-1 degree", "1.5 litres", "a  b", "%", "$", "\ufeff",
]  # fmt: skip


@pytest.mark.parametrize("text", BREAKING_OUT)
@pytest.mark.parametrize("content", ["", "- a\n- b\n", "1. a\n", "# H\r\n\r\n* a\r\n\r\nend\r\n"])
def test_no_entry_breaks_out(text: str, content: str) -> None:
    """Whatever an entry says, it is one item that reads back, and all else stays (a19)."""
    page = page_of(content)
    added = edit.add(page, text)
    assert sorted(texts(added)) == sorted([*texts(page), edit.one_line(text)])
    again = edit.find(added, edit.one_line(text))
    assert again is not None
    assert texts(edit.remove(added, again)) == texts(page)


@pytest.mark.parametrize("text", ["a\nb", "a\r\n- b", "a\x00b", "a\x85b", "a\u2029b", "a\x0bb"])
def test_an_entry_is_one_line(text: str) -> None:
    """Line breaks and control characters become spaces."""
    assert edit.one_line(text) in ("a b", "a - b")
    assert edit.one_line("half \ud83d") == "half �"


MARKDOWN = st.lists(
    st.sampled_from(
        ["- a", "* b", "  - c", "1. d", "- [ ] e", "# h", "", " ", "text", "  more", "```", "> q",
         "> - r", "<!-- c -->", "<!--", "-->", "%%", "---", "| t |", "|---|", "\t- f", "-", "- # g",
         "-x", "    - i", "===", "- a\\*b", "- `k", "<div>", "- ```", "  ```", "-\n  l", "- - m"]
    ),
    max_size=12,
)  # fmt: skip
WORDS = st.text(st.sampled_from("ab .-+*#>`~[]()!<%$\\^|_=1: x/&\t"), min_size=1, max_size=12)


@settings(deadline=None, max_examples=400)
@given(MARKDOWN, st.sampled_from(["\n", "\r\n", "\r"]), WORDS.filter(str.strip), st.booleans())
def test_any_file_takes_any_entry(lines: list[str], end: str, text: str, ended: bool) -> None:
    """A new entry reads back, the lines of before stay in order, and it goes without a trace of
    another line; or the file has no place for it, and that is told."""
    page = page_of(end.join(lines) + (end if ended else ""))
    try:
        added = edit.add(page, text)
    except NotebookUnwritable:
        assert {"<!--", "%%", "---", "```", "  ```", "- ```"} & set(lines)
        return
    text = edit.one_line(text)
    assert sorted(texts(added)) == sorted([*texts(page), text])
    rest = iter(added.lines)
    assert all(line in rest for line in page.lines)
    entry = edit.find(added, text)
    assert entry is not None
    if texts(page).count(entry.text) == 0:
        assert texts(edit.remove(added, entry)) == texts(page)


@settings(deadline=None, max_examples=400)
@given(MARKDOWN, st.data())
def test_any_entry_changes_alone(lines: list[str], data: st.DataObject) -> None:
    """Changing or taking out one entry leaves the others, or is refused."""
    page = read_page("USER.md", "\n".join(lines).encode())
    if not page.entries:
        return
    entry = data.draw(st.sampled_from(page.entries))
    others = [each.text for each in page.entries if each is not entry]
    try:
        assert sorted(texts(edit.update(page, entry, "new"))) == sorted([*others, "new"])
        assert sorted(texts(edit.remove(page, entry))) == sorted(others)
    except NotebookUnwritable:
        return
