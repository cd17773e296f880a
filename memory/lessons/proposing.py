"""Reflecting: the question, what an answer proposes, and what code accepts of it (F1)."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from string import Template
from typing import Any

from memory.languages.acts import orders
from memory.languages.words import language_of, lexicons
from memory.lessons.digest import Fact, Trouble
from memory.lessons.limits import (
    EVENTS_NAMED,
    LESSON_CHARS,
    LESSONS_A_PASS,
    REFLECT_TOKENS_IN,
    REFLECT_TOKENS_OUT,
)
from memory.lessons.reading import tables
from memory.lessons.records import KINDS, Lesson, LessonKind, RefusedLesson
from memory.lessons.same import by_words
from memory.llm.protocol import Question
from memory.notebooks import canonical
from memory.notebooks.answers import field, json_in, key_of, says_nothing
from memory.notebooks.prefix import EMPTY, fill
from memory.notebooks.review import parts_of
from memory.notebooks.secrets import secret_in
from memory.notebooks.tokens import tokens
from memory.prompts import prompt
from memory.records import Removed

SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "lessons": {
            "type": "array",
            "maxItems": LESSONS_A_PASS,
            "items": {
                "type": "object",
                "properties": {
                    "kind": {"enum": [kind for kind in KINDS if kind != "provider"]},
                    "text": {"type": "string"},
                    "facts": {"type": "array", "minItems": 1, "items": {"type": "integer"}},
                },
                "required": ["kind", "text", "facts"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["lessons"],
    "additionalProperties": False,
}
_KNOWN_SHOWN = 12
_NUMBER = re.compile(r"\d+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposed:
    """A lesson as it was proposed; `facts` are numbers of lines, from 1, whatever came."""

    kind: str
    text: str
    facts: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What an answer proposes. With a `fault` it could not be read."""

    proposed: tuple[Proposed, ...] = ()
    fault: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """A lesson that was accepted."""

    kind: LessonKind
    text: str
    events: tuple[int, ...]


def question(
    facts: Sequence[Fact], known: Sequence[Lesson], *, language: str
) -> tuple[Question, tuple[Fact, ...]]:
    """What is asked, and the lines that it shows: as many as fit."""
    instructions, rest = parts_of(prompt("reflect.md"))
    name = _words()[language]["name"] if language in _words() else _words()["en"]["name"]
    told = fill(
        instructions,
        {"lessons": str(LESSONS_A_PASS), "chars": str(LESSON_CHARS), "language": name},
    )
    so_far = "\n".join(f"- {each.text}" for each in known[:_KNOWN_SHOWN]) or EMPTY
    shown: list[Fact] = []
    for fact in facts:
        text = _facts_text(rest, so_far, [*shown, fact])
        if shown and tokens(told) + tokens(text) > REFLECT_TOKENS_IN:
            break
        shown.append(fact)
    return (
        Question(
            instructions=told,
            text=_facts_text(rest, so_far, shown),
            schema=SCHEMA,
            max_tokens=REFLECT_TOKENS_OUT,
        ),
        tuple(shown),
    )


def _facts_text(rest: str, so_far: str, shown: Sequence[Fact]) -> str:
    lines = "\n".join(f"{number}. {fact.text}" for number, fact in enumerate(shown, start=1))
    return fill(rest, {"known": so_far, "facts": lines})


def proposals(text: str) -> Answer:
    """It never raises, whatever came."""
    found = json_in(text)
    if found.fault or found.nothing:
        return Answer(fault=found.fault)
    items: list[Any] | None = None
    for value in found.values:
        if isinstance(value, dict):
            inner = {key_of(name): each for name, each in value.items()}
            if isinstance(inner.get("lessons"), list):
                items = inner["lessons"]
            elif "text" in inner:
                items = [*(items or []), value]
            elif not value or inner.get("lessons", 0) is None:
                items = items or []
        elif isinstance(value, list):
            items = value
    if items is None:
        return Answer(fault="The answer holds no lessons: no JSON of the form that was asked for.")
    read = [_read(item) for item in items[:LESSONS_A_PASS] if isinstance(item, dict)]
    kept = tuple(each for each in read if each is not None and not says_nothing(each.text))
    if items and not read:
        return Answer(fault="The answer's lessons can't be read.")
    return Answer(proposed=kept)


def _read(item: Mapping[str, Any]) -> Proposed | None:
    text = field(item, ("text", "lesson"))
    if text is None:
        return None
    named = {key_of(name): value for name, value in item.items()}.get("facts")
    numbers = named if isinstance(named, list) else [named]
    found = [_NUMBER.search(str(each)) for each in numbers[: EVENTS_NAMED * 2]]
    return Proposed(
        kind=(field(item, ("kind",)) or "").casefold(),
        text=text,
        facts=tuple(dict.fromkeys(int(each.group()[:6]) for each in found if each)),
    )


# What is accepted ----------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Grounds:
    """What a proposed lesson is judged by. `removed` are entries that the user took out, `dropped`
    lessons that the user took out; `when` gives an event's time."""

    shown: tuple[Fact, ...]
    removed: tuple[Removed, ...] = ()
    dropped: tuple[Lesson, ...] = ()
    when: Mapping[int, datetime]

    def events(self, proposed: Proposed) -> tuple[int, ...]:
        """The newest events of the lines that it names."""
        every = {
            event
            for number in proposed.facts
            if 1 <= number <= len(self.shown)
            for event in self.shown[number - 1].events
        }
        return tuple(sorted(every)[-EVENTS_NAMED:])

    def text(self, proposed: Proposed) -> str:
        return " ".join(
            self.shown[number - 1].text
            for number in proposed.facts
            if 1 <= number <= len(self.shown)
        )


Check = Callable[[Proposed, Grounds], str | None]


def _rests_on_events(proposed: Proposed, grounds: Grounds) -> str | None:
    if not proposed.facts or any(not 1 <= each <= len(grounds.shown) for each in proposed.facts):
        return "It names no line of the log, or one that is not there."
    return None


def _has_a_kind(proposed: Proposed, _grounds: Grounds) -> str | None:
    known = proposed.kind in KINDS and proposed.kind != "provider"
    return None if known else f"“{proposed.kind[:20]}” is no kind of lesson."


def _is_one_short_line(proposed: Proposed, _grounds: Grounds) -> str | None:
    if len(proposed.text) > LESSON_CHARS:
        return f"It is longer than {LESSON_CHARS} characters."
    return "It is more than one line." if len(proposed.text.splitlines()) != 1 else None


def _hides_nothing(proposed: Proposed, _grounds: Grounds) -> str | None:
    text = proposed.text
    if canonical.hidden(text) or canonical.disguised(text) or canonical.breaks_out(text):
        return "It holds characters that nobody sees, or markup."
    return None


def _holds_no_secret(proposed: Proposed, _grounds: Grounds) -> str | None:
    kind = secret_in(proposed.text)
    return f"It holds {kind}." if kind else None


def _is_no_order(proposed: Proposed, _grounds: Grounds) -> str | None:
    if orders(proposed.text):
        return "It reads like an order, or lowers a guard."
    return None


def _is_in_the_log(proposed: Proposed, grounds: Grounds) -> str | None:
    """Every word that means something stands in the lines that it names, or is about talking
    itself: what the user is, has and does is for the notebooks, whose rule asks for a quote."""
    language = language_of(proposed.text)
    lexicon, talk = lexicons()[language], tables(language).talk
    said = grounds.text(proposed)
    there = {word.key for each in lexicons().values() for word in each.words(said) if word.key}
    for word in lexicon.words(proposed.text):
        if not word.key or word.key in there:
            continue
        if word.kind != "word":
            return f"“{word.text}” is in none of the lines that it names."
        if word.key not in talk and lexicon.stem(word.text) not in talk:
            return f"“{word.text}” is not in the log, and not about talking."
    return None


def _was_not_taken_out(proposed: Proposed, grounds: Grounds) -> str | None:
    """What the user removed is not learned again from what happened before then (m23)."""
    times = [grounds.when[each] for each in grounds.events(proposed) if each in grounds.when]
    taken = [(each.text, each.at) for each in grounds.removed]
    taken += [(each.text, each.forgotten.at) for each in grounds.dropped if each.forgotten]
    for text, at in taken:
        if by_words(text, proposed.text).same and all(time <= at for time in times):
            return "The user took the same out, and nothing happened since."
    return None


CHECKS: tuple[tuple[str, Check], ...] = (
    ("F1.events", _rests_on_events),
    ("F1.kind", _has_a_kind),
    ("F1.length", _is_one_short_line),
    ("F1.hidden", _hides_nothing),
    ("F1.secret", _holds_no_secret),
    ("F1.order", _is_no_order),
    ("F1.grounded", _is_in_the_log),
    ("F1.removed", _was_not_taken_out),
)


def judged(proposed: Proposed, grounds: Grounds) -> Wanted | RefusedLesson:
    for rule, check in CHECKS:
        reason = check(proposed, grounds)
        if reason is not None:
            return RefusedLesson(text=proposed.text, rule=rule, reason=reason)
    kind: LessonKind = next(each for each in KINDS if each == proposed.kind)
    return Wanted(
        kind=kind, text=canonical.plain(proposed.text).strip(), events=grounds.events(proposed)
    )


# What needs no model -------------------------------------------------------------------


@cache
def _words() -> Mapping[str, Mapping[str, str]]:
    return tomllib.loads(prompt("provider_lessons.toml"))


def of_trouble(trouble: Trouble, *, language: str) -> Wanted:
    """The lesson that code itself makes of a slow or failing provider."""
    words = _words().get(language) or _words()["en"]
    values = {"engine": trouble.engine, "seconds": str(trouble.seconds)}
    return Wanted(
        kind="provider",
        text=Template(words[trouble.what]).substitute(values)[:LESSON_CHARS],
        events=trouble.events[-EVENTS_NAMED:],
    )
