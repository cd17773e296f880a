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

import dataclasses
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Any, get_args

from memory.languages.folding import fold
from memory.llm.protocol import Question
from memory.notebooks.answers import field, json_in, key_of, said_plainly, says_nothing
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
from memory.notebooks.secrets import without_secrets
from memory.notebooks.tokens import shortened, tokens
from memory.records import NOTEBOOKS, CandidateKind, Language, Notebook, Operation, Proposal

NOTEBOOKS_TOKENS = 900
"""Full notebooks have 570 to 860 in our three languages."""

SIZES = (
    *((previous, NOTEBOOKS_TOKENS) for previous in (40, 20, 10, 0)),
    *((0, notebooks) for notebooks in (800, 700, 600, 500, 400)),
)
"""How many tokens each line of Jarvis' and the notebooks may have; the first pair with which
the question fits is taken."""

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
    kind: CandidateKind | None = dataclasses.field(default=None, compare=False)


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question, and the sentences that are in it."""

    question: Question
    sentences: tuple[Marked, ...]


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
    about = asked(sentences, notebooks, now, frame=frame)
    return about.question if about else None


def asked(
    sentences: Sequence[Marked],
    notebooks: Mapping[Notebook, tuple[str, ...]],
    now: datetime,
    *,
    frame: str,
) -> Asked | None:
    """The same, with the sentences that found room."""
    instructions, rest = parts_of(frame)
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
                return Asked(
                    question=Question(
                        instructions=instructions,
                        text=text,
                        schema=SCHEMA,
                        max_tokens=REVIEW_TOKENS_OUT,
                    ),
                    sentences=tuple(chosen),
                )
        chosen.remove(max(chosen, key=lambda each: tokens(each.quote)))
    return None


def parts_of(frame: str) -> tuple[str, str]:
    """A prompt's instructions and the rest of it, which stand above and below a line `---`."""
    instructions, mark, rest = frame.partition("\n---\n")
    if not mark:
        raise ValueError("the prompt has no line --- between its instructions and the rest")
    return instructions, rest


def last_said(sentences: Sequence[Marked]) -> list[Marked]:
    """The last eight different ones that could fit, in the order in which they were said."""
    latest: dict[str, Marked] = {}
    for each in sentences:
        key = said_plainly(each.quote)
        latest.pop(key, None)
        latest[key] = each
    fitting = [each for each in latest.values() if tokens(each.quote) < REVIEW_TOKENS_IN // 2]
    return fitting[-REVIEW_SENTENCES:]


def _day(day: date) -> str:
    return f"{_WEEKDAYS[day.weekday()]} {day.isoformat()}"


def as_line(text: str) -> str:
    """One line that ends no frame and holds no secret: line ends and what nobody sees are
    shown as marks, and so is a secret (S3)."""
    return disarm(show_hidden(without_secrets(text.strip())))


def _listed(sentences: Sequence[Marked], previous_tokens: int) -> str:
    lines = []
    day = None
    for number, each in enumerate(sentences, start=1):
        if each.said_at.date() != day:
            day = each.said_at.date()
            lines.append(f"On {_day(day)}:")
        previous = shortened(as_line(each.previous or ""), previous_tokens, keep="end")
        lines.append(f"{number}. Jarvis: {previous}" if previous else f"{number}.")
        lines.append(f"User: {as_line(each.quote)}")
    return "\n".join(lines)


def _shown(
    notebooks: Mapping[Notebook, tuple[str, ...]], sentences: Sequence[Marked], most: int
) -> dict[str, str]:
    """The entries of each notebook as $user and $memory."""
    entries = [(name, as_line(text)) for name in NOTEBOOKS for text in notebooks.get(name, ())]
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


# The question to a small model ----------------------------------------------------------

SMALL_TOKENS_OUT = 120
SMALL_TIMEOUT_S = 120.0
"""On two busy cores the first question takes a minute: it is there that the instructions are read."""
_NOTE = {
    "type": "object",
    "properties": {
        "op": {"const": "note"},
        "notebook": {"type": "string", "enum": list(NOTEBOOKS)},
        "text": {"type": "string"},
    },
    "required": ["op", "notebook", "text"],
    "additionalProperties": False,
}
_NONE = {
    "type": "object",
    "properties": {"op": {"const": "none"}},
    "required": ["op"],
    "additionalProperties": False,
}
SMALL_SCHEMA: Mapping[str, Any] = {"anyOf": [_NONE, _NOTE]}


def small_questions(
    sentences: Sequence[Marked], *, frame: str
) -> tuple[tuple[Marked, Question], ...]:
    """The same for a model of at most two billion parameters: one sentence at a time, and
    only whether it is worth a note, and which. `frame` is `prompts/review_small.md`.

    The instructions are the same each time, so a server reads them once.
    """
    instructions, rest = parts_of(frame)
    return tuple(
        (
            each,
            Question(
                instructions=instructions,
                text=fill(rest, {"sentence": as_line(each.quote)}),
                schema=SMALL_SCHEMA,
                max_tokens=SMALL_TOKENS_OUT,
                timeout_s=SMALL_TIMEOUT_S,
            ),
        )
        for each in last_said(sentences)
    )


# The answer ---------------------------------------------------------------------------


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
    "add": "add", "note": "add", "create": "add", "insert": "add", "new": "add", "append": "add",
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


def proposals(text: str) -> Read:
    """What an answer proposes, whatever came: it never raises, and takes linear time.

    Prose and fences around the JSON, a bare list, a single change, other keys and cases are
    read. An answer of more than eight changes is no answer, and one that is cut off neither.
    """
    found = json_in(text)
    if found.fault or found.nothing:
        return Read(fault=found.fault)
    items = _changes(found.values)
    if items is None:
        return Read(fault="The answer holds no changes: no JSON of the form that was asked for.")
    if len(items) > _PROPOSED_AT_MOST:
        return Read(
            fault=f"The answer proposes {len(items):,} changes; at most three were asked for."
        )
    read = [_proposal(item) for item in items]
    proposed = [each for each in read if isinstance(each, Proposal)]
    unclear = sum(each is _UNCLEAR for each in read)
    if unclear and unclear == len(read):
        return Read(
            fault="The answer's changes name no operation, no notebook or no quote.",
            unclear=unclear,
        )
    return Read(
        proposals=tuple(proposed[:REVIEW_CHANGES]),
        left_out=max(0, len(proposed) - REVIEW_CHANGES),
        unclear=unclear,
    )


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
    keys = {key_of(name): inner for name, inner in value.items()}
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


def _field(item: Mapping[str, Any], name: str) -> str | None:
    return field(item, _KEYS[name])


def small_proposal(
    text: str, sentence: Marked, notebooks: Mapping[Notebook, tuple[str, ...]]
) -> Read:
    """What a small model's answer proposes: the quote is the sentence, and whether an entry
    is completed by the note is decided here."""
    found = json_in(text)
    if found.fault or found.nothing:
        return Read(fault=found.fault)
    item = next((each for each in found.values if _is_change(each)), None)
    if item is None:
        return Read(fault="The answer holds no note: no JSON of the form that was asked for.")
    change = _proposal({**item, "quote": sentence.quote})
    if isinstance(change, _Unclear):
        return Read(fault="The answer's note names no operation or no notebook.", unclear=1)
    if change is None or change.text is None:
        return Read()
    entry = _completed(change.text, notebooks.get(change.notebook, ()))
    return Read(
        proposals=(
            replace(change, operation="update" if entry is not None else "add", entry=entry),
        )
    )


def _completed(text: str, entries: tuple[str, ...]) -> str | None:
    """The entry all of whose words are in the text, which says more."""
    words = set(said_plainly(text).split())
    for entry in entries:
        told = set(said_plainly(entry).split())
        if told and told < words:
            return entry
    return None


def together(reads: Sequence[Read]) -> Read:
    """The answers about single sentences as one. A fault is theirs only if each is faulty."""
    faults = [each.fault for each in reads if each.fault]
    if faults and len(faults) == len(reads):
        return Read(fault=faults[0])
    proposed = [proposal for each in reads for proposal in each.proposals]
    return Read(
        proposals=tuple(proposed[:REVIEW_CHANGES]),
        left_out=max(0, len(proposed) - REVIEW_CHANGES),
        unclear=len(faults) + sum(each.unclear for each in reads if not each.fault),
    )


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
