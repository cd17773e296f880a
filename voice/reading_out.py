"""What of a found piece is read out: the lines that are about it, said as one says them (V16). Pure.

Markdown and dates are made words by the voice itself (`speech/preparation.py`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from string import Template

from memory import fold
from memory.records import Extract

READ_OUT_CHARS = 280

_FOR_THE_EYE = re.compile(r"\A---\n.*?(?:\n---(?:\n|\Z)|\Z)|!\[[^\]]*\]\([^)]*\)", re.DOTALL)
_TAGS = re.compile(r"#[^\s#]+(?:\s+#[^\s#]+)*")
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_MARKER = re.compile(r"(?:[-*+]|\d+[.)])\s+(?:\[[ xX]\]\s+)?")
_SAID_BY = re.compile(r"(You|Jarvis|Remembered): (?=\S)")
_LENGTH = re.compile(r"(?:Call|Chat), \d+ minutes?, \d+ turns?\.")
_LEAST_LETTERS = 3


def is_of_a_day(extract: Extract) -> bool:
    """Whether it stands in the journal, whose files are days."""
    return bool(_DAY.fullmatch(_name(extract)))


def place(extract: Extract) -> str:
    """As it is said: a path and its ending are for the eye, and what an entry of the journal is
    called is mostly its first words."""
    name = _name(extract)
    if is_of_a_day(extract) or not extract.heading or extract.heading == name:
        return name
    return f"{name}, {extract.heading}"


def _name(extract: Extract) -> str:
    return extract.file.rpartition("/")[2].removesuffix(".md")


def aloud(extract: Extract, topic: str, who: Mapping[str, str]) -> str:
    """As much as one listens to, to the end of a sentence or a word; "" for a note's properties
    and pictures, which are for the eye. Where lines hold a word of the topic, these alone. `who`
    has a template for each label that an entry of the journal puts in front of its lines."""
    lines = [
        _MARKER.sub("", line.strip(), count=1)
        for line in _FOR_THE_EYE.sub("", extract.text).splitlines()
    ]
    lines = [line for line in lines if line and not _TAGS.fullmatch(line)]
    if is_of_a_day(extract):
        lines = [line for line in lines if not _LENGTH.fullmatch(line)]
    wanted = [word for word in fold(topic).split() if len(word) >= _LEAST_LETTERS]
    about = [line for line in lines if any(word in fold(line) for word in wanted)]
    if is_of_a_day(extract):
        return _cut([_attributed(line, who) for line in about or lines])
    return _cut(about or lines)


def _attributed(line: str, who: Mapping[str, str]) -> str:
    label = _SAID_BY.match(line)
    if label is None:
        return line
    return Template(who[label[1]]).substitute(text=line[label.end() :])


def _cut(lines: list[str]) -> str:
    text = " ".join(" ".join(_closed(line).split()) for line in lines)
    if len(text) <= READ_OUT_CHARS:
        return text
    cut = text[:READ_OUT_CHARS]
    end = max(cut.rfind(mark) for mark in (". ", "! ", "? "))
    return cut[: end + 1] if end > 0 else f"{cut.rpartition(' ')[0]} …"


def _closed(line: str) -> str:
    return line if line[-1] in ".!?…:;," else f"{line}."
