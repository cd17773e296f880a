"""Merging entries when the notebooks are nearly full (spec L6.2): the question, and what an
answer proposes. Whether a merge is accepted is decided by who applies it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from memory.llm.protocol import Question
from memory.notebooks.answers import json_in, key_of, says_nothing
from memory.notebooks.limits import ENTRY_CHARS, REVIEW_TOKENS_OUT
from memory.notebooks.prefix import EMPTY, fill
from memory.notebooks.review import as_line, parts_of
from memory.records import NOTEBOOKS, Notebook

MERGES_AT_MOST = 8
"""So many fit into the answer; of more, the first are taken."""

SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "merges": {
            "type": "array",
            "maxItems": MERGES_AT_MOST,
            "items": {
                "type": "object",
                "properties": {
                    "entries": {"type": "array", "minItems": 2, "items": {"type": "integer"}},
                    "text": {"type": "string"},
                },
                "required": ["entries", "text"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["merges"],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Merge:
    """`text` in the place of `entries`, two or more of one notebook, to the letter."""

    notebook: Notebook
    entries: tuple[str, ...]
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Merges:
    """What an answer proposes. With a `fault` there is nothing in it; `unclear` counts what
    was no merge: a number that is none, entries of two notebooks, an entry merged twice."""

    merges: tuple[Merge, ...] = ()
    fault: str | None = None
    unclear: int = 0


def question(notebooks: Mapping[Notebook, tuple[str, ...]], *, frame: str) -> Question | None:
    """What is asked; None when no notebook has two entries. `frame` is `prompts/merge.md`.

    Entries are numbered through both notebooks.
    """
    if all(len(entries) < 2 for entries in notebooks.values()):
        return None
    instructions, rest = parts_of(frame)
    pages: dict[Notebook, list[str]] = {name: [] for name in NOTEBOOKS}
    for number, (notebook, entry) in enumerate(_numbered(notebooks), start=1):
        pages[notebook].append(f"{number}. {as_line(entry)}")
    return Question(
        instructions=fill(instructions, {"entry_chars": str(ENTRY_CHARS)}),
        text=fill(
            rest,
            {
                "user": "\n".join(pages["USER.md"]) or EMPTY,
                "memory": "\n".join(pages["MEMORY.md"]) or EMPTY,
            },
        ),
        schema=SCHEMA,
        max_tokens=REVIEW_TOKENS_OUT,
    )


def _numbered(notebooks: Mapping[Notebook, tuple[str, ...]]) -> list[tuple[Notebook, str]]:
    return [(name, entry) for name in NOTEBOOKS for entry in notebooks.get(name, ())]


def merges(text: str, notebooks: Mapping[Notebook, tuple[str, ...]]) -> Merges:
    """What an answer proposes, whatever came. `notebooks` are those that were asked about."""
    found = json_in(text)
    if found.fault or found.nothing:
        return Merges(fault=found.fault)
    items = _items(found.values)
    if items is None:
        return Merges(fault="The answer holds no merges: no JSON of the form that was asked for.")
    numbered = _numbered(notebooks)
    taken: set[int] = set()
    read: list[Merge] = []
    unclear = 0
    for item in items[:MERGES_AT_MOST]:
        numbers, merged = _parsed(item)
        inside = all(1 <= number <= len(numbered) for number in numbers)
        chosen = [numbered[number - 1] for number in numbers] if inside else []
        alike = len({notebook for notebook, _ in chosen}) == 1
        if len(set(numbers)) < 2 or not alike or says_nothing(merged) or taken & set(numbers):
            unclear += 1
            continue
        taken |= set(numbers)
        read.append(
            Merge(notebook=chosen[0][0], entries=tuple(entry for _, entry in chosen), text=merged)
        )
    if unclear and not read:
        return Merges(
            fault="The answer's merges name no entries that can be merged.", unclear=unclear
        )
    return Merges(merges=tuple(read), unclear=unclear)


def _items(values: tuple[Any, ...]) -> list[Any] | None:
    """The merges that an answer lists; of several lists the last counts."""
    listed: list[Any] | None = None
    single = []
    for value in values:
        if isinstance(value, dict):
            inner = {key_of(name): each for name, each in value.items()}
            if isinstance(inner.get("merges"), list):
                listed = inner["merges"]
            elif "entries" in inner:
                single.append(value)
            elif not value or ("merges" in inner and inner["merges"] is None):
                listed = []
        elif isinstance(value, list) and (not value or isinstance(value[0], dict)):
            listed = value
    return listed or single or listed


def _parsed(item: Any) -> tuple[tuple[int, ...], str]:
    """The numbers, each once and in order, and the text; empty where it is no merge."""
    fields = {key_of(name): value for name, value in item.items()} if isinstance(item, dict) else {}
    entries, text = fields.get("entries"), fields.get("text")
    if not isinstance(entries, list) or not isinstance(text, str):
        return (), ""
    numbers = [_number(each) for each in entries]
    if None in numbers:
        return (), ""
    try:
        text.encode()
    except UnicodeEncodeError:  # half a surrogate pair, which JSON can spell
        return (), ""
    return tuple(sorted({number for number in numbers if number is not None})), text.strip()


def _number(value: Any) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int | str | float):
        return None
    digits = str(value).strip().removeprefix("#").removesuffix(".").removesuffix(".0")
    return int(digits) if digits.isdecimal() and len(digits) <= 4 else None
