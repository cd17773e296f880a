"""A notebook's bytes, whatever editor wrote them, as a page."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

_LINE_END = re.compile(r"\r\n|\r|\n")
_ITEM = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+(?P<text>\S.*)")
_FENCE = re.compile(r" {0,3}(?P<mark>`{3,}|~{3,})")
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f\x7f]")

# A text holds next to none; compressed data holds one in nine.
_BINARY_CONTROLS = 8
_BINARY_SHARE = 0.02

_SAVE = "Save it as UTF-8 in your editor (“Save with encoding”)."


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A list item. `line` counts from 1; `text` is without the item's mark."""

    line: int
    text: str


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


def read_page(name: str, content: bytes) -> Page:
    """The page that these bytes are. `name` is what warnings call it.

    Nothing readable is lost: what isn't UTF-8 is read as what it most likely is, with a
    warning. What is no text at all gives an empty page and a warning.
    """
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
    return Page(name=name, text=written, entries=_entries(written), warnings=tuple(warnings))


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
            f"{_place(windows)} of {name} {_verb(windows)} not UTF-8 and {_was(windows)} read as Windows text (cp1252). {_SAVE}"
            if windows
            else "",
            f"{_place(damaged)} of {name} {_verb(damaged)} damaged: what could not be read shows as �. "
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
    return f"Line {shown}" if len(numbers) == 1 else f"Lines {shown}"


def _verb(numbers: list[int]) -> str:
    return "is" if len(numbers) == 1 else "are"


def _was(numbers: list[int]) -> str:
    return "was" if len(numbers) == 1 else "were"


# Entries ------------------------------------------------------------------------------


def _entries(text: str) -> tuple[Entry, ...]:
    """The list items, outside of fenced code and comments."""
    entries = []
    fence = ""
    in_comment = False
    for number, line in enumerate(_LINE_END.split(text), start=1):
        if in_comment:
            in_comment = "-->" not in line
            continue
        mark = _FENCE.match(line)
        if mark and (not fence or (mark["mark"].startswith(fence))):
            fence = "" if fence else mark["mark"]
            continue
        if fence:
            continue
        item = _ITEM.fullmatch(line)
        if item:
            entries.append(Entry(line=number, text=item["text"].rstrip()))
        else:
            in_comment = line.lstrip().startswith("<!--") and "-->" not in line
    return tuple(entries)
