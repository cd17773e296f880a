"""A notebook's bytes, whatever editor wrote them, as a page."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.token import Token

_LINE_END = re.compile(r"\r\n|\r|\n")
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f\x7f]")

# A text holds next to none; compressed data holds one in nine.
_BINARY_CONTROLS = 8
_BINARY_SHARE = 0.02

_SAVE = "Save it as UTF-8 in your editor (“Save with encoding”)."


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A list item, with the paragraphs that belong to it.

    `text` is one line: without the item's mark, its checkbox and its Obsidian block id,
    with lines joined by a space, and what Markdown escapes plain again.

    Lines count from 1: `line` is the first, `last` the last of the text, `end` the last of
    the item. `holds_more` tells of other things inside the item: items beneath it, code, a
    quotation. `depth` is 0 for an item that is in no other; `list_line` is where its list
    begins.
    """

    line: int
    text: str
    last: int = field(default=0, compare=False)
    end: int = field(default=0, compare=False)
    holds_more: bool = field(default=False, compare=False)
    depth: int = field(default=0, compare=False)
    list_line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A notebook as read.

    `text` is what the file holds, decoded and otherwise as it is, with its line ends; a
    byte order mark is no part of it. `warnings` are sentences for the user.
    """

    name: str
    text: str = ""
    entries: tuple[Entry, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def lines(self) -> list[str]:
        """Without their ends. A page that ends with a line end has no empty line behind it."""
        lines = _LINE_END.split(self.text)
        return lines[:-1] if not lines[-1] else lines

    @property
    def entry_chars(self) -> int:
        """What the page takes of the notebooks' room: the characters (code points) of its
        entries' texts. Headings, comments and other prose are the user's and don't count."""
        return sum(len(entry.text) for entry in self.entries)


def read_page(name: str, content: bytes) -> Page:
    """The page that these bytes are. `name` is what warnings call it.

    Nothing readable is lost: what isn't UTF-8 is read as what it most likely is, with a
    warning. What is no text at all gives an empty page and a warning.
    """
    page = read_text(name, content)
    return replace(page, entries=_entries(page.text))


def read_text(name: str, content: bytes) -> Page:
    """The same without looking for entries."""
    text, warning = _decoded(name, content)
    warnings = [warning] if warning else []
    written = text.rstrip("\0")
    controls = len(_CONTROL.findall(written))
    if text and not written:
        return Page(
            name=name,
            warnings=(
                f"{name} holds nothing but zero bytes, as after a power cut. "
                "Bring it back from a backup, or delete it.",
            ),
        )
    if controls > max(_BINARY_CONTROLS, _BINARY_SHARE * len(written)):
        return Page(
            name=name,
            warnings=(
                f"{name} is not a text file, so Jarvis knows nothing from it. "
                "Move it away and write a plain text file in its place.",
            ),
        )
    if len(written) < len(text):
        warnings.append(
            f"{name} ends in zero bytes, as after a power cut; the text before them was read. "
            "Look whether its end is missing, and save it again."
        )
    return Page(name=name, text=written, warnings=tuple(warnings))


# Decoding -----------------------------------------------------------------------------


def _decoded(name: str, content: bytes) -> tuple[str, str]:
    """The text, and a warning or nothing."""
    wide = _wide_encoding(content)
    if wide:
        text = content.decode(wide, errors="replace").removeprefix("\ufeff")
        return text, f"{name} is saved as {wide[:6].upper()}. It was read. {_SAVE}"
    content = content.removeprefix(codecs.BOM_UTF8)
    try:
        return content.decode("utf-8"), ""
    except UnicodeDecodeError:
        return _mended(name, content)


def _wide_encoding(content: bytes) -> str:
    """UTF-32 or UTF-16, told by a byte order mark, or by where the zeros stand in ASCII."""
    if content.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):
        return "utf-32"
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    pairs = len(content) // 2
    for encoding, zeros, others in (
        ("utf-16-le", content[1::2], content[0::2]),
        ("utf-16-be", content[0::2], content[1::2]),
    ):
        if pairs >= 4 and zeros.count(0) > 0.7 * pairs and others.count(0) < 0.05 * pairs:
            return encoding
    return ""


def _mended(name: str, content: bytes) -> tuple[str, str]:
    """Bytes that are not UTF-8, line by line.

    A line with letters of Windows (cp1252) and none of UTF-8 was written by an old editor.
    In other lines the UTF-8 is damaged, and what is lost shows as �.
    """
    is_utf8_elsewhere = _has_utf8(content)
    texts = []
    windows: list[int] = []
    damaged: list[int] = []
    for number, line in enumerate(content.split(b"\n"), start=1):
        try:
            texts.append(line.decode("utf-8"))
        except UnicodeDecodeError:
            # A lone C2 or C3 begins nearly every umlaut of UTF-8; alone it is a torn one.
            torn = is_utf8_elsewhere and (b"\xc2" in line or b"\xc3" in line)
            if _has_utf8(line) or torn:
                damaged.append(number)
                texts.append(line.decode("utf-8", errors="replace"))
            else:
                windows.append(number)
                texts.append(line.decode("cp1252", errors="replace"))
    warning = " ".join(
        sentence
        for sentence in (
            f"{name}, {_place(windows)}: not UTF-8, and read as Windows text (cp1252). {_SAVE}"
            if windows
            else "",
            f"{name}, {_place(damaged)}: damaged, and what could not be read shows as �. "
            "Write it anew and save the file."
            if damaged
            else "",
        )
        if sentence
    )
    return "\n".join(texts), warning


def _has_utf8(content: bytes) -> bool:
    """Whether some letter beyond ASCII is there in UTF-8."""
    return any(ord(letter) > 127 for letter in content.decode("utf-8", errors="ignore"))


def _place(numbers: list[int]) -> str:
    shown = ", ".join(map(str, numbers[:5])) + (" …" if len(numbers) > 5 else "")
    return f"line {shown}" if len(numbers) == 1 else f"lines {shown}"


# Entries ------------------------------------------------------------------------------

ITEM_MARK = re.compile(
    r"[ \t]*(?:(?:[-*+]|\d{1,9}[.)])(?:[ \t]+|$))+(?P<box>\[[ xX/<>!?*-]\][ \t]+)?"
)
"""What stands before an item's text: indentation, marks, a task's box."""


def _paragraph(state: StateBlock, start: int, _end: int, _silent: bool) -> bool:
    """markdown-it's rule for paragraphs, but that an item ends one however deep it stands."""
    terminators = state.md.block.ruler.getRules("paragraph")
    parent, state.parentType = state.parentType, "paragraph"
    line = start + 1
    while line < state.lineMax and not state.isEmpty(line):
        depth = state.sCount[line]
        is_item = ITEM_MARK.match(state.src, state.bMarks[line], state.eMarks[line])
        may_end = depth >= 0 and (depth - state.blkIndent <= 3 or is_item)
        if may_end and any(rule(state, line, state.lineMax, True) for rule in terminators):
            break
        line += 1
    state.line = line
    opened = state.push("paragraph_open", "p", 1)
    opened.map = [start, line]
    state.push("paragraph_close", "p", -1)
    state.parentType = parent
    return True


# Indented code is no code here: whoever indents a list means a list. Nothing else than the
# place of blocks is asked for, so no text is parsed.
_BLOCKS = MarkdownIt("commonmark").enable("table").disable(["code", "reference", "inline"])
_BLOCKS.block.ruler.at("paragraph", _paragraph)

BLOCK_ID = re.compile(r"[ \t]+\^[A-Za-z0-9-]+[ \t]*$")
"""Obsidian's name for a line, at its end; links point to it."""

_FENCE = re.compile(r" {0,3}(?P<mark>`{3,}|~{3,})")
_TOO_DEEP = 4
_FRONT_MATTER = re.compile(
    r"---[ \t]*(?:\r\n|\r|\n)(?s:.*?)(?:\r\n|\r|\n)(?:---|\.\.\.)[ \t]*(?=\r|\n|$)"
)
_CONTINUES = re.compile(r"[ \t]|[^\W_]|[\"'“‘„«(¿¡&@€$]")


def _entries(text: str) -> tuple[Entry, ...]:
    """The list items, outside of front matter, code, quotations and comments."""
    front = _FRONT_MATTER.match(text)
    if front:  # the same number of lines, with nothing in them
        text = "\n" * len(_LINE_END.findall(front[0])) + text[front.end() :]
    lines = _LINE_END.split(text)
    tokens = _BLOCKS.parse("\n".join(_dedented(lines)))
    hidden = _obsidian_comments(lines, tokens)
    found = (_entry(lines, item) for item in _items(tokens))
    return tuple(entry for entry in found if entry and entry.line not in hidden)


def _dedented(lines: list[str]) -> Iterator[str]:
    """The lines with items that stand too deep for Markdown as deep as their place needs.

    Depths are columns, tabs are four wide. What stands under such an item moves with it.
    """
    moved: list[tuple[int, int]] = []  # from which depth on, and how far
    inside: list[int] = []  # where the text of each open item begins
    fence = ""
    for line in lines:
        mark = _FENCE.match(line)
        if mark and (not fence or mark["mark"].startswith(fence)):
            fence = "" if fence else mark["mark"]
        if fence or not line.strip():
            yield line
            continue
        plain = line.expandtabs(4)
        depth = len(plain) - len(plain.lstrip(" "))
        while moved and depth < moved[-1][0]:
            moved.pop()
        by = moved[-1][1] if moved else 0
        item = ITEM_MARK.match(plain)
        if item:
            while inside and inside[-1] > depth - by:
                inside.pop()
            place = inside[-1] if inside else 0
            if depth - by - place >= _TOO_DEEP:
                by = depth - place
                moved.append((depth, by))
            inside.append(item.end() - len(item["box"] or "") - by)
        elif depth == 0:
            inside.clear()
        yield plain[by:] if by else line


@dataclass(frozen=True, slots=True, kw_only=True)
class _Item:
    """A list item's lines (from 0, end excluded), with the blocks directly inside it."""

    lines: range
    blocks: tuple[Token, ...]
    depth: int
    list_at: int


def _items(tokens: Sequence[Token]) -> Iterator[_Item]:
    """Each list item outside of quotations."""
    quotations = 0
    lists: list[int] = []
    for at, token in enumerate(tokens):
        if token.type in ("blockquote_open", "blockquote_close"):
            quotations += token.nesting
        elif token.type in ("bullet_list_open", "ordered_list_open"):
            assert token.map is not None
            lists.append(token.map[0])
        elif token.type in ("bullet_list_close", "ordered_list_close"):
            lists.pop()
        elif token.type == "list_item_open" and not quotations:
            assert token.map is not None
            inside = []
            for block in tokens[at + 1 :]:
                if block.level == token.level:
                    break
                if block.level == token.level + 1 and block.nesting >= 0:
                    inside.append(block)
            yield _Item(
                lines=range(*token.map),
                blocks=tuple(inside),
                depth=len(lists) - 1,
                list_at=lists[-1],
            )


def _entry(lines: list[str], item: _Item) -> Entry | None:
    first = item.lines[0]
    mark = ITEM_MARK.match(lines[first])
    texts: list[str] = []
    last = first
    holds_more = False
    for block in item.blocks:
        if block.type != "paragraph_open" or block.map is None or holds_more:
            holds_more = True
            continue
        for number in range(*block.map):
            line = lines[number]
            if number == first:
                line = line[mark.end() :] if mark else ""
            elif texts and not _CONTINUES.match(line):
                holds_more = True  # "-like this": meant as something else than a continuation
                break
            texts.append(line.strip())
            last = number
    if not mark or not any(texts):
        return None
    written = [number for number in item.lines if lines[number].strip()]
    return Entry(
        line=first + 1,
        text=unescaped(BLOCK_ID.sub("", " ".join(filter(None, texts)))),
        last=last + 1,
        end=written[-1] + 1,
        holds_more=holds_more,
        depth=item.depth,
        list_line=item.list_at + 1,
    )


def _obsidian_comments(lines: list[str], tokens: Sequence[Token]) -> set[int]:
    """The lines, from 1, between a line that begins with %% and the next with another %%."""
    if not any(line.lstrip().startswith("%%") for line in lines):
        return set()
    code = {
        number
        for token in tokens
        if token.type == "fence" and token.map
        for number in range(*token.map)
    }
    hidden: set[int] = set()
    opened: int | None = None
    for number, line in enumerate(lines):
        if number in code:
            continue
        if opened is None:
            if line.lstrip().startswith("%%") and line.count("%%") == 1:
                opened = number
        elif "%%" in line:
            hidden.update(range(opened + 1, number + 2))
            opened = None
    return hidden


# Escaping -----------------------------------------------------------------------------

# In a span of code a backslash is a backslash.
_CODE = r"(?<!`)(?P<run>`+)(?!`)(?:.*?[^`])(?P=run)(?!`)"
_ESCAPE_OR_CODE = re.compile(rf"\\(?P<plain>[!-/:-@\[-`{{-~])|{_CODE}")
_BREAKS_OUT_AT_START = re.compile(
    r"(?:#{1,6}(?:[ \t]|$)|>|[-+*](?:[ \t]|$)|```[^`]*$|~~~|\[[ xX/<>!?*-]\][ \t]|\[[^\]]*\]:"
    r"|(?:\*[ \t]*){3,}$|(?:-[ \t]*){3,}$|(?:_[ \t]*){3,}$|=+[ \t]*$|\|)"
    r"|(?P<number>\d{1,9})[.)](?:[ \t]|$)"
)
_CODE_OR_BREAKS_OUT = re.compile(
    rf"{_CODE}|<(?=[A-Za-z/!?])|%(?=%)|\$(?=\$)|!(?=\[)|\\(?=[!-/:-@\[-`{{-~])"
    # a block id
    r"|(?<=[ \t])\^(?=[A-Za-z0-9-]+$)"
)


def escaped(text: str) -> str:
    """The text as it stands in an item: it opens no block, comment, tag or embedded file (a19).

    `unescaped` gives it back.
    """
    start = _BREAKS_OUT_AT_START.match(text)
    if not start:
        return _CODE_OR_BREAKS_OUT.sub(_with_backslash, text)
    at = len(start["number"] or "")
    out = [text[:at], "\\", text[at]]
    at += 1
    for found in _CODE_OR_BREAKS_OUT.finditer(text, at):
        out += [text[at : found.start()], _with_backslash(found)]
        at = found.end()
    return "".join([*out, text[at:]])


def _with_backslash(found: re.Match[str]) -> str:
    return found[0] if found["run"] else "\\" + found[0]


def unescaped(text: str) -> str:
    return _ESCAPE_OR_CODE.sub(lambda found: found["plain"] or found[0], text)
