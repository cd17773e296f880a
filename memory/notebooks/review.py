"""The review (spec L4.2): marked sentences and notebooks in, a question out; an answer in,
proposals out.

The question never holds more than `REVIEW_TOKENS_IN` tokens. Where there is too much of it,
less is sent, in this order:

1. Of the sentences the last eight go. The same words said twice count once, the last time.
2. Of notebooks that the user has filled beyond their limit, the entries stay that share
   most words with the sentences.
3. The lines that Jarvis said before are shortened, and left out in the end. Their end stays.
4. More of the entries that share fewest words with the sentences are left out.
5. The longest sentences are left out. A sentence goes whole or not at all.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from functools import cache
from typing import Any, get_args

from memory.languages import data
from memory.languages.folding import fold
from memory.llm.protocol import Question
from memory.notebooks.limits import (
    ENTRY_CHARS,
    NOTEBOOKS_CHARS,
    QUOTE_CHARS,
    REVIEW_CHANGES,
    REVIEW_SENTENCES,
    REVIEW_TOKENS_IN,
    REVIEW_TOKENS_OUT,
)
from memory.notebooks.prefix import EMPTY, disarm, fill, show_hidden
from memory.notebooks.tokens import shortened, tokens
from memory.records import NOTEBOOKS, Language, Notebook, Operation, Proposal

NOTEBOOKS_TOKENS = 800
"""Full notebooks have at most 753 in our three languages."""

SIZES = ((40, NOTEBOOKS_TOKENS), (20, NOTEBOOKS_TOKENS), (10, NOTEBOOKS_TOKENS), (0, NOTEBOOKS_TOKENS), (0, 600), (0, 400))  # fmt: skip
"""How many tokens a line of Jarvis' and the notebooks may have; the first pair with which the
question fits is taken."""

ANSWER_CHARS = 32_768
"""Ten times what 800 tokens come to; a longer answer is not read."""

_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Marked:
    """A sentence that the filter marked, where and when it was said.

    `quote` is the sentence to the letter; `previous` what Jarvis said just before it.
    `said_at` is aware, in the user's zone.
    """

    quote: str
    previous: str | None
    said_at: datetime
    language: Language | None
    conversation: str
    turn_index: int


# The question -------------------------------------------------------------------------

_CHANGE = {
    "type": "object",
    "properties": {
        "quote": {"type": "string"},
        "operation": {"type": "string", "enum": list(get_args(Operation))},
        "notebook": {"type": "string", "enum": list(NOTEBOOKS)},
        "entry": {"type": ["string", "null"]},
        "text": {"type": ["string", "null"]},
    },
    "required": ["quote", "operation", "notebook", "entry", "text"],
    "additionalProperties": False,
}
SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {"changes": {"type": "array", "maxItems": REVIEW_CHANGES, "items": _CHANGE}},
    "required": ["changes"],
    "additionalProperties": False,
}


def question(
    sentences: Sequence[Marked],
    notebooks: Mapping[Notebook, tuple[str, ...]],
    now: datetime,
    *,
    frame: str,
) -> Question | None:
    """What the reviewer is asked; None when there is no sentence, or each is longer than fits.

    `frame` is `prompts/review.md`: instructions, a line `---`, and the rest with its variables.
    """
    instructions, rest = _parts(frame)
    instructions = fill(
        instructions,
        {
            "changes": str(REVIEW_CHANGES),
            "quote_chars": str(QUOTE_CHARS),
            "entry_chars": str(ENTRY_CHARS),
        },
    )
    chosen = last_said(sentences)
    room = REVIEW_TOKENS_IN - tokens(instructions)
    while chosen:
        for previous_tokens, notebooks_tokens in SIZES:
            values = {
                "today": _day(now.date()),
                "sentences": _listed(chosen, previous_tokens),
                **_shown(notebooks, chosen, notebooks_tokens),
            }
            text = fill(rest, values)
            if tokens(text) <= room:
                return Question(
                    instructions=instructions,
                    text=text,
                    schema=SCHEMA,
                    max_tokens=REVIEW_TOKENS_OUT,
                )
        chosen.remove(max(chosen, key=lambda each: tokens(each.quote)))
    return None


def _parts(frame: str) -> tuple[str, str]:
    instructions, mark, rest = frame.partition("\n---\n")
    if not mark:
        raise ValueError("the prompt has no line --- between its instructions and the rest")
    return instructions, rest


def last_said(sentences: Sequence[Marked]) -> list[Marked]:
    """The last eight different ones that could fit, in the order in which they were said."""
    latest: dict[str, Marked] = {}
    for each in sentences:
        key = _said_plainly(each.quote)
        latest.pop(key, None)
        latest[key] = each
    fitting = [each for each in latest.values() if tokens(each.quote) < REVIEW_TOKENS_IN // 2]
    return fitting[-REVIEW_SENTENCES:]


def _day(day: date) -> str:
    return f"{_WEEKDAYS[day.weekday()]} {day.isoformat()}"


def _line(text: str) -> str:
    """One line that ends no frame: line ends and what nobody sees are shown as marks."""
    return disarm(show_hidden(text.strip()))


def _listed(sentences: Sequence[Marked], previous_tokens: int) -> str:
    lines = []
    day = None
    for number, each in enumerate(sentences, start=1):
        if each.said_at.date() != day:
            day = each.said_at.date()
            lines.append(f"On {_day(day)}:")
        previous = shortened(_line(each.previous or ""), previous_tokens, keep="end")
        lines.append(f"{number}. Jarvis: {previous}" if previous else f"{number}.")
        lines.append(f"User: {_line(each.quote)}")
    return "\n".join(lines)


def _shown(
    notebooks: Mapping[Notebook, tuple[str, ...]], sentences: Sequence[Marked], most: int
) -> dict[str, str]:
    """The entries of each notebook as $user and $memory."""
    entries = [(name, _line(text)) for name in NOTEBOOKS for text in notebooks.get(name, ())]
    kept = _fitting([text for _, text in entries], sentences, most)
    pages = {}
    for variable, name in (("user", "USER.md"), ("memory", "MEMORY.md")):
        here = [index for index, (notebook, _) in enumerate(entries) if notebook == name]
        lines = [f"- {entries[index][1]}" for index in here if index in kept]
        if len(lines) < len(here):
            lines.append(f"({len(here) - len(lines)} more)")
        pages[variable] = "\n".join(lines) or EMPTY
    return pages


def _fitting(entries: Sequence[str], sentences: Sequence[Marked], most: int) -> set[int]:
    """Which entries are shown: all that fit, those first that are about what was said."""
    said = set(_words(" ".join(each.quote for each in sentences)))

    def about(index: int) -> tuple[int, int]:
        return -len(said & _words(entries[index])), index

    kept: set[int] = set()
    chars, count = NOTEBOOKS_CHARS, most
    for index in sorted(range(len(entries)), key=about):
        size = tokens(entries[index]) + 2
        if len(entries[index]) <= chars and size <= count:
            kept.add(index)
            chars -= len(entries[index])
            count -= size
    return kept


def _words(text: str) -> set[str]:
    """The words of four letters and more: shorter ones mean little in our languages."""
    return {word for word in _WORD.findall(fold(text)) if len(word) >= 4}


# The answer ---------------------------------------------------------------------------


@cache
def _nothing() -> frozenset[str]:
    """The ways to say that there is nothing, as folded words."""
    return frozenset(
        _said_plainly(phrase)
        for language in ("", *data.LANGUAGES_HERE)
        for phrase in data.load(language, "nothing")["phrases"]
    )


def _said_plainly(text: str) -> str:
    return " ".join(_WORD.findall(fold(text)))


def says_nothing(text: str) -> bool:
    """ "None", "Keine Änderungen.", "nada", "无": words for nothing are never a memory."""
    plain = _said_plainly(text)
    return not plain or plain in _nothing()


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """What an answer proposes.

    With a `fault` nothing is proposed: the answer is none, and the sentence says why. Else
    `left_out` counts what was proposed beyond three changes, and `unclear` what was no
    change at all (no such notebook, no quote).
    """

    proposals: tuple[Proposal, ...] = ()
    fault: str | None = None
    left_out: int = 0
    unclear: int = 0


_OPERATIONS: Mapping[str, Operation | None] = {
    "add": "add", "create": "add", "insert": "add", "new": "add", "append": "add",
    "update": "update", "replace": "update", "change": "update", "edit": "update", "modify": "update",
    "remove": "remove", "delete": "remove", "forget": "remove",
    "none": None, "noop": None, "no-op": None, "nothing": None, "ignore": None, "skip": None, "keep": None,
}  # fmt: skip
_KEYS = {
    "operation": ("operation", "op", "action", "type"),
    "notebook": ("notebook", "file", "page", "target"),
    "entry": ("entry", "old", "old_text", "old_entry", "previous"),
    "text": ("text", "new", "new_text", "new_entry", "content", "value", "note"),
    "quote": ("quote", "evidence", "source", "sentence", "quotation"),
}
_LISTS = ("changes", "proposals", "operations", "edits", "actions", "updates")
_PROPOSED_AT_MOST = REVIEW_SENTENCES
_STARTS_TRIED = 64
_START = re.compile(r"[\[{]")
_THOUGHT = "</think>"
_FENCE = re.compile(r"```[a-z]*")
_DECODER = json.JSONDecoder(strict=False)


def proposals(text: str) -> Read:
    """What an answer proposes, whatever came: it never raises, and takes linear time.

    Prose and fences around the JSON, a bare list, a single change, other keys and cases are
    read. An answer of more than eight changes is no answer, and one that is cut off neither.
    """
    answer = text.rpartition(_THOUGHT)[2].strip()
    if not answer:
        return Read(fault="The answer is empty.")
    if len(answer) > ANSWER_CHARS:
        return Read(fault=f"The answer has {len(answer):,} characters; asked for were some lines.")
    values, cut_off = _json_in(answer)
    items = _changes(values)
    if items is None:
        if cut_off:
            return Read(fault="The answer is cut off: its JSON has no end.")
        plain = _FENCE.sub("", answer)
        if not values and _said_plainly(plain) and says_nothing(plain):
            return Read()
        return Read(fault="The answer holds no changes: no JSON of the form that was asked for.")
    if len(items) > _PROPOSED_AT_MOST:
        return Read(
            fault=f"The answer proposes {len(items):,} changes; at most three were asked for."
        )
    read = [_proposal(item) for item in items]
    found = [each for each in read if isinstance(each, Proposal)]
    unclear = sum(each is _UNCLEAR for each in read)
    if unclear and unclear == len(read):
        return Read(
            fault="The answer's changes name no operation, no notebook or no quote.",
            unclear=unclear,
        )
    return Read(
        proposals=tuple(found[:REVIEW_CHANGES]),
        left_out=max(0, len(found) - REVIEW_CHANGES),
        unclear=unclear,
    )


def _json_in(text: str) -> tuple[list[Any], bool]:
    """The JSON objects and lists in a text, outermost only, and whether the last is cut off."""
    values: list[Any] = []
    at = 0
    for _ in range(_STARTS_TRIED):
        start = _START.search(text, at)
        if start is None:
            break
        try:
            value, at = _DECODER.raw_decode(text, start.start())
        except json.JSONDecodeError as fault:
            if fault.pos >= len(text) or fault.msg.startswith("Unterminated string"):
                return values, True
            at = start.end()
        except (ValueError, RecursionError):  # a number of a thousand digits, a thousand brackets
            at = start.end()
        else:
            values.append(value)
    return values, False


def _changes(values: Sequence[Any]) -> list[Any] | None:
    """The changes that an answer lists; None where it lists none.

    A list of them stands for itself; of several the last counts, as after a first draft.
    Changes one behind the other, each an object of its own, are a list too.
    """
    listed: list[Any] | None = None
    single = []
    for value in values:
        items = _list_in(value)
        if items is not None:
            listed = items
        elif _is_change(value):
            single.append(value)
    return listed or single or listed


def _list_in(value: Any) -> list[Any] | None:
    if value is None:
        return []
    if isinstance(value, list):
        return value if not value or any(isinstance(item, dict) for item in value) else None
    if not isinstance(value, dict):
        return None
    if not value:
        return []
    keys = {_key(name): inner for name, inner in value.items()}
    for name in _LISTS:
        if name not in keys:
            continue
        inner = keys[name]
        if isinstance(inner, dict):
            if _is_change(inner):
                return [inner]
            return list(inner.values())
        return inner if isinstance(inner, list) else [] if inner is None else None
    return None


def _is_change(value: Any) -> bool:
    return isinstance(value, dict) and _field(value, "operation") is not None


def _key(name: object) -> str:
    return re.sub(r"[\s-]+", "_", str(name).strip().casefold())


def _field(item: Mapping[str, Any], name: str) -> str | None:
    """A field as text; None where it is missing, null or empty, or no text."""
    keys = {_key(key): value for key, value in item.items()}
    for key in _KEYS[name]:
        value = keys.get(key)
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            continue
        said = str(value).strip()
        if said and said.casefold() != "null":
            return said
    return None


@dataclass(frozen=True, slots=True)
class _Unclear:
    pass


_UNCLEAR = _Unclear()


def _proposal(item: Any) -> Proposal | _Unclear | None:
    """The change; None where it says itself that it is none."""
    if not isinstance(item, dict):
        return _UNCLEAR
    named = _field(item, "operation")
    if named is None or named.casefold() not in _OPERATIONS:
        return _UNCLEAR
    operation = _OPERATIONS[named.casefold()]
    entry, text, quote = (_field(item, name) for name in ("entry", "text", "quote"))
    if operation is None or (text is not None and says_nothing(text)):
        return None
    if operation != "remove" and text is None:
        return None
    notebook = _notebook(_field(item, "notebook"))
    if notebook is None or quote is None or (operation != "add" and entry is None):
        return _UNCLEAR
    if not all(map(_is_utf8, filter(None, (entry, text, quote)))):
        return _UNCLEAR
    return Proposal(
        operation=operation,
        notebook=notebook,
        entry=None if operation == "add" else entry,
        text=None if operation == "remove" else text,
        quote=quote,
    )


def _notebook(named: str | None) -> Notebook | None:
    name = (named or "").casefold().removesuffix(".md")
    return next((each for each in NOTEBOOKS if each.casefold() == f"{name}.md"), None)


def _is_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:  # half a surrogate pair, which JSON can spell
        return False
    return True
