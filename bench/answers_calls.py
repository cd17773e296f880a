"""Whole calls with a model, played through the dialogue that a call has.

`answers_calls.toml` holds the calls. Run by `python -m bench.answers --calls`.
"""

from __future__ import annotations

import re
import statistics
import time
import tomllib
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from importlib import resources
from itertools import pairwise
from pathlib import Path
from string import Template
from typing import Any, Literal

from memory import prompt
from memory.notebooks.page import read_page
from memory.notebooks.prefix import prefix
from memory.records import LANGUAGES, Language, Prefix, Turn
from voice.engines.answer_language import language_of
from voice.engines.dialogue import Ahead, Dialogue
from voice.engines.embedded import EmbeddedModel
from voice.engines.language_model import Message, Usage
from voice.engines.local import VOICE_TOKENS
from voice.records import Told
from voice.speech.clauses import Clauses
from voice.speech.words import words_of

NOW = datetime(2026, 12, 2, 10, 0, tzinfo=UTC)
_WORDS_UNHEARD = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One turn of the user. `heard`: the answer is interrupted after so many words. `told`: what
    plain code says to it."""

    ask: str
    kind: Literal["look up", "unknown", "talk", "told"] = "look up"
    holds: tuple[str, ...] = ()
    never: tuple[str, ...] = ()
    mine: tuple[str, ...] = ()
    heard: int | None = None
    told: Told | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Phrases:
    """Of one language: what stands before a name that one gives oneself, patterns that speak of
    "the user" or as the user, and what admits that something isn't known."""

    names_itself: tuple[str, ...]
    the_user: tuple[re.Pattern[str], ...]
    first_person: tuple[re.Pattern[str], ...]
    admits: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    name: str
    held: bool
    language: Language
    user: str
    prefix: Prefix
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """An answer in its call. `again`: word for word an earlier answer, to another question;
    `asked_again`: the model was asked a second time, without the conversation; `behind` says it
    of the turn before, None at a call's beginning.

    From the end of the question to the model's first word, and to what is spoken first; before it
    the conversation was read in `reading_s`, while the user would begin to speak.
    """

    line: Line
    language: Language
    user: str
    text: str
    first_word_s: float
    first_spoken_s: float
    again: bool
    reading_s: float
    asked_again: bool = False
    behind: bool | None = None


class CountedModel(EmbeddedModel):
    """How often it was asked."""

    times = 0

    def answer(
        self, messages: Sequence[Message], *, max_tokens: int, aside: bool = False
    ) -> AsyncGenerator[str | Usage, None]:
        self.times += 1
        return super().answer(messages, max_tokens=max_tokens, aside=aside)


def read(path: Path, *, persona: Path | None = None) -> tuple[Call, ...]:
    table = tomllib.loads(path.read_text(encoding="utf-8"))
    prefixes = {
        name: prefix_of(pages["user"], pages["memory"], persona)
        for name, pages in table["notebook"].items()
    }
    return tuple(
        Call(
            name=row["name"],
            held=row.get("held", False),
            language=row["language"],
            user=table["notebook"][row["notebook"]]["name"],
            prefix=prefixes[row["notebook"]],
            lines=tuple(_line(line) for line in row["turn"]),
        )
        for row in table["call"]
    )


def read_phrases(path: Path) -> dict[Language, Phrases]:
    table = tomllib.loads(path.read_text(encoding="utf-8"))["phrases"]
    return {
        language: Phrases(
            names_itself=tuple(table[language]["names_itself"]),
            the_user=tuple(re.compile(p, re.I) for p in table[language]["the_user"]),
            first_person=tuple(re.compile(p, re.I) for p in table[language]["first_person"]),
            admits=tuple(table[language]["admits"]),
        )
        for language in LANGUAGES
    }


def prefix_of(user: str, memory: str, persona: Path | None = None) -> Prefix:
    """What a call begins with over these notebooks; `persona` is another text than our own."""
    prompts = resources.files("prompts")
    return prefix(
        (prompts / "prefix.md").read_text(encoding="utf-8"),
        read_page("persona.md", (persona or prompts / "persona.md").read_bytes()),
        read_page("USER.md", user.encode()),
        read_page("MEMORY.md", memory.encode()),
    )


def _line(row: dict[str, Any]) -> Line:
    names: tuple[str, ...] = ("holds", "never", "mine")
    lists = {name: tuple(row[name]) for name in names if name in row}
    if "told" in row:
        return Line(ask=row["ask"], kind="told", told=_told(row["told"], row.get("entry", "")))
    fields: dict[str, Any] = {**row, **lists}
    return Line(**fields)


def _told(kind: str, entry: str) -> Told:
    words = tomllib.loads(prompt("remembered.toml" if entry else "requests.toml"))
    note = Template(words["told"][kind]).substitute(notebook="USER.md", entry=entry)
    said = {language: words["said"][language][kind] for language in LANGUAGES}
    lasting = Template(words["lasting"].get(kind, "")).substitute(notebook="USER.md", entry=entry)
    return Told(note=note, said=said, whole=True, lasting=lasting)


# Playing ------------------------------------------------------------------------------


async def played(
    model: CountedModel, calls: Iterable[Call], *, dialogue: Callable[..., Dialogue] = Dialogue
) -> list[Said]:
    """Every answer of these calls, each call a conversation of its own."""
    said: list[Said] = []
    for call in calls:
        one = dialogue(
            model, prefix=call.prefix, now=lambda: NOW, news=_no_news, language=call.language
        )
        await one.open()
        answers: list[Said] = []
        for line in call.lines:
            before = model.times
            answer = await _answered(one, call, line, answers)
            answers.append(
                replace(
                    answer,
                    asked_again=model.times > before + 1,
                    behind=answers[-1].asked_again if answers else None,
                )
            )
        said += answers
    return said


async def _no_news() -> None:
    return None


async def _answered(dialogue: Dialogue, call: Call, line: Line, before: Sequence[Said]) -> Said:
    """As `LocalEngine` does it: what can be read is read while the user speaks."""
    began_s = time.monotonic()
    await dialogue.refresh()
    await dialogue.prefill()
    reading_s = time.monotonic() - began_s
    await dialogue.prefill(line.ask.rpartition(" ")[0])
    clauses = Clauses(words_of(call.language).abbreviations)
    began_s, first_s, spoken_s, text = time.monotonic(), None, None, ""
    if line.told is not None:
        dialogue.tell(line.told)
    async with aclosing(dialogue.answer(line.ask, line.told, max_tokens=VOICE_TOKENS)) as pieces:
        async for piece in pieces:
            if isinstance(piece, Usage):
                continue
            ahead = ""
            if isinstance(piece, Ahead):
                ahead, piece = piece.text, ""
            else:
                first_s = first_s or time.monotonic()
            text += piece
            if spoken_s is None and clauses.feed(piece, 0.0, ahead):
                spoken_s = time.monotonic()
            if line.heard is not None and len(text.split()) > line.heard + _WORDS_UNHEARD:
                break
    text, ended_s = text.strip(), time.monotonic()
    number = dialogue.said(line.ask, line.told)
    dialogue.history.answered(number, text)
    heard = text if line.heard is None else " ".join(text.split()[: line.heard])
    if heard != text:
        dialogue.history.interrupted()
    if heard:
        dialogue.history.heard(_turn(heard, call.language, interrupted=heard != text))
    dialogue.shorten()
    await dialogue.prefill()
    await dialogue.prefill_alone()
    return Said(
        line=line,
        language=call.language,
        user=call.user,
        text=text,
        first_word_s=(first_s or ended_s) - began_s,
        first_spoken_s=(spoken_s or ended_s) - began_s,
        again=any(_same(text, earlier.text) and line != earlier.line for earlier in before),
        reading_s=reading_s,
    )


def _turn(text: str, language: Language, *, interrupted: bool) -> Turn:
    return Turn(
        conversation="bench",
        index=0,
        speaker="assistant",
        text=text,
        language=language,
        began_at=NOW,
        ended_at=NOW,
        origin="spoken",
        interrupted=interrupted,
    )


def _same(one: str, other: str) -> bool:
    words, others = (re.findall(r"\w+", text.lower()) for text in (one, other))
    return bool(words) and words == others


# Counting -----------------------------------------------------------------------------


def right(said: Said) -> bool:
    text = said.text.lower()
    told = any(fact in text for fact in said.line.holds)
    return told and not any(wrong in text for wrong in said.line.never)


def faults(said: Said, phrases: dict[Language, Phrases]) -> Iterator[str]:
    """What is wrong with an answer whatever it was asked, by the names of the table's columns."""
    if said.line.kind == "told":
        return
    own = phrases[said.language]
    words = said.text.split()
    if language_of(said.text, said.language, LANGUAGES) != said.language:
        yield "language"
    if said.again and not (said.line.kind == "look up" and right(said)):
        yield "again"
    if any(p.search(said.text) for each in phrases.values() for p in each.the_user):
        yield "the user"
    if _as_the_user(said, own):
        yield "first person"
    if not words:
        yield "empty"


def _as_the_user(said: Said, phrases: Phrases) -> bool:
    """Small talk may speak of itself; what the notebook says is the user's."""
    text = re.sub(r"^\W+", "", said.text.lower())
    named = any(f"{words}{said.user.lower()}" in text for words in phrases.names_itself)
    if named or said.line.kind != "look up":
        return named
    return text.startswith(said.line.mine) or any(
        pattern.search(said.text) for pattern in phrases.first_person
    )


def report(name: str, said: Sequence[Said], phrases: dict[Language, Phrases]) -> None:
    admits = [words for own in phrases.values() for words in own.admits]
    own_words = [one for one in said if one.line.kind != "told"]
    for language in (None, *LANGUAGES):
        own = [one for one in own_words if language in (None, one.language)]
        if not own:
            continue
        asked = [one for one in own if one.line.kind == "look up"]
        unknown = [one for one in own if one.line.kind == "unknown"]
        admitted = sum(any(words in one.text.lower() for words in admits) for one in unknown)
        found = [fault for one in own for fault in faults(one, phrases)]
        counts = ", ".join(
            f"{fault} {found.count(fault)}"
            for fault in ("language", "again", "the user", "first person", "empty")
        )
        print(
            f"{name} {language or 'all'}: right {sum(map(right, asked))}/{len(asked)}, "
            f"admits {admitted}/{len(unknown)}, of {len(own)} answers: {counts}; first word "
            f"{_times([one.first_word_s for one in own])}, first words to the voice "
            f"{_times([one.first_spoken_s for one in own])} ms"
        )
    behind, others = ([one.reading_s for one in said if one.behind is is_] for is_ in (True, False))
    print(f"{name}: {sum(one.asked_again for one in said)} asked again", end="")
    if len(behind) > 1:
        print(
            f"; in front of the next turn the conversation was read in {_times(behind)}, in front "
            f"of others in {_times(others)} ms",
            end="",
        )
    print()


def _times(seconds: Sequence[float]) -> str:
    """Half and 95 in a hundred of them, in milliseconds."""
    shares = statistics.quantiles(seconds, n=20, method="inclusive")
    return f"{shares[9] * 1000:.0f} / {shares[18] * 1000:.0f}"


def show(calls: Sequence[Call], said: Sequence[Said], phrases: dict[Language, Phrases]) -> None:
    places = [0]
    for call in calls:
        places.append(places[-1] + len(call.lines))
    for call, (begin, end) in zip(calls, pairwise(places), strict=True):
        print(f"\n{call.name}{' (held out)' if call.held else ''}")
        for one in said[begin:end]:
            mark = {"look up": "+" if right(one) else "-", "unknown": "?", "talk": " ", "told": "="}
            wrong = ", ".join(faults(one, phrases))
            print(f"{mark[one.line.kind]} {one.line.ask} → {one.text}{wrong and f'   [{wrong}]'}")
    print()
