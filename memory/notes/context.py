"""What goes beside one request: which turns ask anything, what fits, and how it is wrapped.

The wrapping is `prompts/notes.md`. What stands in a note can't end it: marks of the frame and of
models are made harmless and what nobody sees is shown, as in the prefix (N4, a17, a19).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import re2

from memory.languages import packaged
from memory.languages.folding import fold, folded, pattern
from memory.notebooks.prefix import disarm, fill, show_hidden
from memory.prompts import prompt
from memory.records import LANGUAGES, Extract

if TYPE_CHECKING:
    from memory.index.records import Hit

EXTRACTS_AT_MOST = 5
EXTRACTS_CHARS = 2_400
SMALL_EXTRACTS_CHARS = 700
"""For a model that runs on this CPU and reads some 90 tokens a second."""

QUESTION_CHARS = 1_000
"""A longer turn is a text, not a question: its end is what asks."""

_BETWEEN = "\n\n"


@dataclass(frozen=True, slots=True)
class _Talk:
    small: re2._Regexp[str]
    request: re2._Regexp[str]


@lru_cache(maxsize=1)
def _talk() -> tuple[_Talk, ...]:
    found = []
    for language in LANGUAGES:
        table = packaged.load(language, "notes")
        small = "|".join(pattern(each) for each in table["small_talk"])
        request = "|".join(pattern(each) for each in table["request"])
        found.append(
            _Talk(
                re2.compile(rf"\b(?:{small})\b"),
                re2.compile(rf"^(?:{request})"),
            )
        )
    return tuple(found)


_BESIDE = r"[^\pL\pN_]"
"""What is no letter of any script; what re2 itself calls one ends with ASCII."""


@lru_cache(maxsize=1)
def _opening() -> re2._Regexp[str]:
    """Of all languages at once: people greet in one and ask in another."""
    words = [
        pattern(word) for each in LANGUAGES for word in packaged.load(each, "notes")["opening"]
    ]
    return re2.compile(rf"^{_BESIDE}*(?:(?:{'|'.join(words)})(?:{_BESIDE}+|$))+")


def question_of(said: str) -> str:
    """What a turn asks, to the letter, without small talk; "" where nothing is to be looked up."""
    text = said[-QUESTION_CHARS:]
    text = text[_raw_end(text) :].strip(" .!?¿¡,")
    for talk in _talk():
        if talk.request.search(fold(text)):
            return ""
        text = _without(text, talk.small)
    return " ".join(text.split()) if any(letter.isalnum() for letter in text) else ""


def _raw_end(text: str) -> int:
    found = folded(text)
    match = _opening().match(found.text)
    return found.raw_span(0, match.end())[1] if match else 0


def _without(text: str, phrases: re2._Regexp[str]) -> str:
    found = folded(text)
    kept: list[str] = []
    behind = 0
    for match in phrases.finditer(found.text):
        start, end = found.raw_span(match.start(), match.end())
        kept.append(text[behind:start])
        behind = end
    return " ".join([*kept, text[behind:]])


def extract_of(hit: Hit) -> Extract:
    return Extract(
        file=hit.file,
        first_line=hit.first_line,
        last_line=hit.last_line,
        heading=hit.heading,
        text=hit.text,
    )


def chosen(hits: Iterable[Hit], chars: int = EXTRACTS_CHARS) -> tuple[Extract, ...]:
    """The best that fit. A piece whose lines stand in a better one already tells nothing new."""
    found: list[Extract] = []
    for hit in hits:
        if not any(_within(hit, other) for other in found):
            found.append(extract_of(hit))
    return fitting(found, chars)


def _within(hit: Hit, other: Extract) -> bool:
    return (
        hit.file == other.file
        and other.first_line <= hit.first_line
        and hit.last_line <= other.last_line
        and hit.text in other.text
    )


def fitting(extracts: Sequence[Extract], chars: int) -> tuple[Extract, ...]:
    """From the first on, as many as fit into so many characters; the first always does."""
    found: list[Extract] = []
    room = chars
    for extract in extracts[:EXTRACTS_AT_MOST]:
        length = len(_written(extract))
        if found and length > room:
            break
        found.append(extract)
        room -= length
    return tuple(found)


def block(extracts: Sequence[Extract]) -> str:
    """The extracts as they stand in the one request that they are for (N4), each under its place."""
    return fill(
        prompt("notes.md").rstrip("\n"), {"extracts": _BETWEEN.join(map(_written, extracts))}
    )


def _written(extract: Extract) -> str:
    place = extract.file.removesuffix(".md")
    if extract.heading:
        place += f" > {extract.heading}"
    return "\n".join([f"[{_one_line(place)}]", *map(_harmless, extract.text.splitlines())])


def _one_line(text: str) -> str:
    return _harmless(" ".join(text.split())).replace("[", "(").replace("]", ")")


def _harmless(line: str) -> str:
    return disarm(show_hidden(line))
