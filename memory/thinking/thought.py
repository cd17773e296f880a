"""What a model is asked, and what of its answer is a thought that may be written down."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from memory.languages import acts
from memory.languages.words import language_of, lexicons
from memory.llm.protocol import Question
from memory.notebooks import form
from memory.notebooks.answers import field, json_in, key_of, says_nothing
from memory.notebooks.case import Grounds
from memory.notebooks.prefix import fill
from memory.notebooks.review import parts_of
from memory.records import JournalRead, Proposal
from memory.thinking.repeats import Trace, is_repeat, is_within, trace
from memory.thinking.sources import Material

TEXT_CHARS = 300
TOKENS_OUT = 250
TIMEOUT_S = 60.0
SMALL_TIMEOUT_S = 120.0
_SHARED_WORDS = 2
_LONG_NUMBER = 4

SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "insights": {
            "type": "array",
            "maxItems": 1,
            "items": {
                "type": "object",
                "properties": {
                    "entries": {"type": "array", "items": {"type": "integer"}},
                    "title": {"type": "string"},
                    "text": {"type": "string"},
                    "importance": {"type": "integer", "minimum": 1, "maximum": 5},
                },
                "required": ["entries", "title", "text", "importance"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["insights"],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Thought:
    """`entries` are the numbers of those that it rests on; `stars` its importance."""

    title: str
    text: str
    stars: int
    entries: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """What an answer holds. None of it: there is nothing to note, which is no `fault`."""

    thought: Thought | None = None
    fault: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NoThought:
    """Why a thought is not written: the rule's name, and a sentence for the user."""

    rule: str
    reason: str


def question(about: Material, now: datetime, *, frame: str, small: bool) -> Question:
    """`frame` is `prompts/think.md`."""
    instructions, rest = parts_of(frame)
    return Question(
        instructions=fill(instructions, {"text_chars": str(TEXT_CHARS)}),
        text=fill(
            rest,
            {
                "now": f"{now:%Y-%m-%d %H:%M}",
                "discoveries": about.discoveries,
                "journal": about.journal,
            },
        ),
        schema=SCHEMA,
        max_tokens=TOKENS_OUT,
        timeout_s=SMALL_TIMEOUT_S if small else TIMEOUT_S,
    )


# The answer ---------------------------------------------------------------------------


def answered(text: str) -> Answered:
    """It never raises, whatever came. "None", "nichts", "nada", "无" are nothing."""
    found = json_in(text)
    if found.nothing:
        return Answered()
    if found.fault is not None:
        return Answered(fault=found.fault)
    items = _items(found.values[-1])
    if items is None:
        return Answered(fault="The answer holds no insights.")
    if not items:
        return Answered()
    if not isinstance(items[0], Mapping):
        said = str(items[0])
        return Answered() if says_nothing(said) else Answered(fault="An insight is no object.")
    words = field(items[0], ("text", "insight", "content", "note"))
    if words is None or says_nothing(words):
        return Answered()
    title = field(items[0], ("title", "name", "heading")) or ""
    return Answered(
        thought=Thought(
            title="" if says_nothing(title) else title,
            text=words,
            stars=_stars(items[0]),
            entries=_numbers(items[0]),
        )
    )


def _items(value: Any) -> list[Any] | None:
    """The insights, in whatever of the usual wrappings."""
    if isinstance(value, list):
        return value
    keys = {key_of(key): inner for key, inner in value.items()}
    for name in ("insights", "insight", "thoughts", "result"):
        if name in keys:
            inner = keys[name]
            if inner is None or (isinstance(inner, str) and says_nothing(inner)):
                return []
            if isinstance(inner, str):
                return [value]
            return inner if isinstance(inner, list) else [inner]
    if not keys:
        return []
    return [value] if "text" in keys else None


def _stars(item: Mapping[str, Any]) -> int:
    """Three where nobody judged; what is out of range is the nearest."""
    try:
        return min(5, max(1, round(float(field(item, ("importance", "stars")) or 3))))
    except (ValueError, OverflowError):
        return 3


def _numbers(item: Mapping[str, Any]) -> tuple[int, ...]:
    named = {key_of(key): value for key, value in item.items()}.get("entries")
    listed = named if isinstance(named, list) else [named]
    return tuple(
        dict.fromkeys(
            each for each in listed if isinstance(each, int) and not isinstance(each, bool)
        )
    )


# Whether it is written ----------------------------------------------------------------


def refusal(
    thought: Thought, shown: Sequence[JournalRead], earlier: Iterable[Trace]
) -> NoThought | None:
    """Why the thought is not written; None where it may be.

    What a watched file says is anybody's. So a thought gives no order, brings no link and no
    long number that is not in the entries, and speaks of what they speak of.
    """
    material = "\n".join(f"{each.title}\n{each.text}" for each in shown)
    return (
        _ill_formed(thought)
        or _brings_what_is_not_there(thought.text, material)
        or _brings_what_is_not_there(thought.title, material)
        or _retold(thought, shown)
        or _had_before(thought, earlier)
    )


def _ill_formed(thought: Thought) -> NoThought | None:
    checks = (
        form.nothing_hidden,
        form.one_script,
        form.no_markup,
        form.no_secret,
        form.no_order,
        form.says_something,
    )
    if len(thought.text) > TEXT_CHARS or "\n" in thought.text.strip():
        return NoThought(
            rule="form", reason=f"It is more than one line of {TEXT_CHARS} characters."
        )
    for text in (thought.text, thought.title):
        proposal = Proposal(operation="add", notebook="MEMORY.md", entry=None, text=text, quote="")
        for check in checks if text == thought.text else checks[:-1]:
            found = check(proposal, Grounds(turns=(), notebooks={}))
            if found is not None:
                return NoThought(rule="form", reason=found.reason)
        if any(acts.does("lasting", text, language) for language in acts.languages()):
            return NoThought(rule="form", reason="It says what is to hold from now on.")
    return None


def _brings_what_is_not_there(text: str, material: str) -> NoThought | None:
    lexicon = lexicons()[language_of(text)]
    words = lexicon.words(text)
    plain = material.casefold()
    for word in words:
        written = text[word.start : word.end]
        digits = sum(letter.isdigit() for letter in written)
        if word.kind == "link" and written.rstrip("/.").casefold() not in plain:
            return NoThought(rule="grounds", reason="It names a link that no entry holds.")
        if digits >= _LONG_NUMBER and written.casefold() not in plain:
            return NoThought(rule="grounds", reason="It names a number that no entry holds.")
    return None


def _retold(thought: Thought, shown: Sequence[JournalRead]) -> NoThought | None:
    about = trace(thought.text)
    entries = [trace(f"{each.title}\n{each.text}") for each in shown]
    known = frozenset().union(*(each.by_language[about.language] for each in entries))
    if len(about.words & known) < min(_SHARED_WORDS, len(about.words)):
        return NoThought(rule="grounds", reason="It speaks of what is in no entry.")
    if any(is_within(about, each) for each in entries):
        return NoThought(rule="retold", reason="It says only what an entry says.")
    return None


def _had_before(thought: Thought, earlier: Iterable[Trace]) -> NoThought | None:
    if is_repeat(trace(thought.text), earlier):
        return NoThought(rule="repeat", reason="It was noted before.")
    return None
