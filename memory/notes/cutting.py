"""A note's text as overlapping pieces, cut between sentences and under its headings (N2)."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

from markdown_it import MarkdownIt
from markdown_it.token import Token

from memory.languages.sentences import ends

PIECE_CHARS = 400
OVERLAP_CHARS = 80

BETWEEN_HEADINGS = " > "

_LINE_END = re.compile(r"\r\n?|\n")
_FRONT_MATTER = re.compile(r"---[ \t]*\n(?:.*\n)*?(?:---|\.\.\.)[ \t]*(?:\n|$)")
_MAY_END_WITHIN = re.compile(r"[.!?…。！？｡।؟][\"'»”’)\]*_]*\s*\S")
_ATX = re.compile(r" {0,3}#{1,6}(?:[ \t]+|$)")
_ATX_CLOSE = re.compile(r"(?:^|[ \t]+)#+[ \t]*$")
_CLAUSE_END = re.compile(r"[,;:–—、，；：)\]]\s*(?=\S)|(?<=[。！？｡])")
_BLANK = re.compile(r"\s+")
_SENTENCE_LANGUAGES = ("de", "en", "es")
_BY_LINE = {"fence", "code_block", "html_block"}
_SPANS = {"paragraph_open", "heading_open", "hr", *_BY_LINE}


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a note: `text` stands there to the letter.

    `heading` are the headings above it, outermost first. Lines count from 1, both included.
    """

    heading: str
    first_line: int
    last_line: int
    text: str


def cut(
    text: str,
    *,
    chars: int = PIECE_CHARS,
    overlap: int = OVERLAP_CHARS,
    language: str | None = None,
) -> tuple[Piece, ...]:
    """The pieces of a note in their order, each at most `chars` long, all under one heading each.

    A sentence of at most `chars` is whole in some piece, and no piece lies within another.
    `language` only helps with abbreviations and ordinals.
    """
    assert 0 <= overlap < chars
    note = _Note(text)
    found: list[Piece] = []
    for section in _sections(note):
        units = [unit for block in section.blocks for unit in _units(text, block, chars, language)]
        for start, end in _packed(text, units, chars, overlap):
            found.append(note.piece(section.heading, start, end))
    return tuple(found)


# Headings and blocks ------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Block:
    """`text[start:end]`. Prose runs over its lines; each line of what is `by_line` stands for
    itself."""

    start: int
    end: int
    by_line: bool


@dataclass(frozen=True, slots=True)
class _Section:
    heading: str
    blocks: tuple[_Block, ...]


class _Note:
    def __init__(self, text: str) -> None:
        self.text = text
        self.plain = _LINE_END.sub("\n", text)
        self.starts = [0, *(match.end() for match in _LINE_END.finditer(text))]
        self.lines = self.plain.split("\n")

    def span(self, first: int, behind: int) -> tuple[int, int]:
        """Where lines `first` to `behind` (excluded), from 0, stand in the text."""
        last = behind - 1
        return self.starts[first], self.starts[last] + len(self.lines[last])

    def piece(self, heading: str, start: int, end: int) -> Piece:
        return Piece(
            heading,
            bisect_right(self.starts, start),
            bisect_right(self.starts, end - 1),
            self.text[start:end],
        )


@cache
def _markdown() -> MarkdownIt:
    return MarkdownIt("commonmark").enable("table").disable("inline")


def _sections(note: _Note) -> Iterator[_Section]:
    above: list[tuple[int, str]] = []
    blocks: list[_Block] = []
    silent: _Block | None = None  # a heading under which nothing stood so far
    for block, level in _blocks(note):
        if not level:
            blocks.append(block)
            silent = None
            continue
        deeper = bool(above) and level > above[-1][0]
        if blocks or (silent and not deeper):
            yield _Section(_path(above), tuple(blocks) or (silent,) if silent else tuple(blocks))
        blocks, silent = [], block
        while above and above[-1][0] >= level:
            above.pop()
        above.append((level, _title(note.text[block.start : block.end])))
    if blocks or silent:
        yield _Section(_path(above), tuple(blocks) or ((silent,) if silent else ()))


def _path(above: list[tuple[int, str]]) -> str:
    return BETWEEN_HEADINGS.join(title for _, title in above if title)


def _title(written: str) -> str:
    if _ATX.match(written):
        title = _ATX_CLOSE.sub("", _ATX.sub("", written))
    else:
        title = written.rstrip("=- \t\r\n")
    return _BLANK.sub(" ", title).strip()


def _blocks(note: _Note) -> Iterator[tuple[_Block, int]]:
    """Blocks in their order, headings with their level, and every line that is not empty in one
    of them."""
    behind = 0
    for first, last, by_line, level in sorted(_spans(note)):
        first = max(first, behind)
        if first >= last:
            continue
        yield from ((block, 0) for block in _by_line(note, behind, first))
        yield _Block(*note.span(first, last), by_line), level
        behind = last
    yield from ((block, 0) for block in _by_line(note, behind, len(note.lines)))


def _by_line(note: _Note, first: int, behind: int) -> Iterator[_Block]:
    if any(line.strip() for line in note.lines[first:behind]):
        yield _Block(*note.span(first, behind), True)


def _spans(note: _Note) -> Iterator[tuple[int, int, bool, int]]:
    """Lines from and to (excluded), whether each stands for itself, and a heading's level."""
    front = _FRONT_MATTER.match(note.plain)
    above = front[0].count("\n") if front else 0
    if above:
        yield 0, above, True, 0
    for token in _markdown().parse("\n".join(note.lines[above:])):
        if token.map is None or token.type not in _SPANS:
            continue
        first, last = above + token.map[0], above + token.map[1]
        while last > first + 1 and not note.lines[last - 1].strip():
            last -= 1
        yield first, last, token.type in _BY_LINE, _level(token)


def _level(token: Token) -> int:
    """A heading inside a quotation or a list is a line like others."""
    return int(token.tag[1]) if token.type == "heading_open" and not token.level else 0


# Sentences ----------------------------------------------------------------------------


def _units(text: str, block: _Block, chars: int, language: str | None) -> Iterator[tuple[int, int]]:
    """What is kept whole: sentences and lines; of a longer one its lines, its clauses, its words."""
    found = (
        _lines(text, block.start, block.end)
        if block.by_line
        else _sentences(text, block.start, block.end, language)
    )
    for start, end in found:
        if end - start <= chars:
            yield start, end
            continue
        for first, last in _lines(text, start, end):
            yield from _parts(text, first, last, chars)


def _lines(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    cuts = [start, *(start + match.end() for match in _LINE_END.finditer(text[start:end])), end]
    for first, last in pairwise(cuts):
        yield from _stripped(text, first, last)


def _sentences(text: str, start: int, end: int, language: str | None) -> Iterator[tuple[int, int]]:
    prose = text[start:end]
    if _MAY_END_WITHIN.search(prose) is None:
        yield from _stripped(text, start, end)
        return
    line = re.sub(r"\s", " ", prose)
    asked = (language,) if language in _SENTENCE_LANGUAGES else _SENTENCE_LANGUAGES
    cuts = sorted(set.intersection(*(ends(each, line) for each in asked)))
    for first, last in pairwise([0, *cuts]):
        yield from _stripped(text, start + first, start + last)


def _stripped(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    raw = text[start:end]
    if raw.strip():
        yield start + len(raw) - len(raw.lstrip()), start + len(raw.rstrip())


def _parts(text: str, start: int, end: int, chars: int) -> Iterator[tuple[int, int]]:
    """A sentence too long for a piece, cut where a clause ends, else between words."""
    while end - start > chars:
        cut = _last_cut(text, start, start + chars)
        yield from _stripped(text, start, cut)
        start = cut
        while start < end and text[start].isspace():
            start += 1
    if start < end:
        yield start, end


def _last_cut(text: str, start: int, limit: int) -> int:
    window = text[start : limit + 1]
    for pattern in (_CLAUSE_END, _BLANK):
        ends_here = [match.end() for match in pattern.finditer(window)]
        ends_here = [each for each in ends_here if len(window) // 2 < each < len(window)]
        if ends_here:
            return start + ends_here[-1]
    cut = limit
    while cut > start + 1 and unicodedata.combining(text[cut]):
        cut -= 1
    return cut


# Packing ------------------------------------------------------------------------------


def _packed(
    text: str, units: list[tuple[int, int]], chars: int, overlap: int
) -> Iterator[tuple[int, int]]:
    """Pieces that hold as many units as fit, each with the end of the one before it."""
    at = 0
    behind: int | None = None
    while at < len(units):
        start, end = units[at]
        if behind is not None:
            start = _reach_back(text, units, at, max(behind - overlap, end - chars), behind)
        at += 1
        while at < len(units) and units[at][1] - start <= chars:
            end = units[at][1]
            at += 1
        yield start, end
        behind = end


def _reach_back(
    text: str, units: list[tuple[int, int]], at: int, earliest: int, behind: int
) -> int:
    """Where the piece with unit `at` begins: at the first sentence behind `earliest`, else at
    the first word."""
    begin = units[at][0]
    for start, _ in reversed(units[:at]):
        if start < earliest:
            break
        begin = start
    if begin < units[at][0]:
        return begin
    for match in _BLANK.finditer(text, max(0, earliest - 1), behind):
        return match.end()
    return begin
