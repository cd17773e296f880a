"""What the language model is told: the prefix, then the conversation as it was heard.

Everything only ever grows at its end, so that a server which remembers the beginning
reads just what is new. Two things break that: an answer that was interrupted is cut to
what was heard, and a conversation that outgrows the model loses its older part at once.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Literal

from memory.records import Turn
from voice.engines.language_model import Message
from voice.engines.told import time_told, told

TIME_EVERY = timedelta(minutes=10)
CHARS_PER_TOKEN = 2.5
"""On the safe side for English, German and Spanish (3 to 4.5 there)."""
ANSWER_TOKENS = 512
MOST_ROOM_CHARS = 10_000
"""Also for a model that holds more: the longer the conversation, the slower it is read."""
KEPT_WHEN_SHORTENED = 0.3
_LEAST_ROOM_CHARS = 600
_CHARS_AROUND = 30


@dataclass(frozen=True, slots=True)
class _Entry:
    """`given` is what of an answer went to the output, `open` until `heard` settles it. `shown`
    goes with a language: an example of answering in it. The model doesn't see what is `hidden`."""

    kind: Literal["time", "language", "news", "user", "answer"]
    text: str
    number: int = 0
    given: str = ""
    open: bool = False
    shown: tuple[Message, ...] = ()
    hidden: bool = False

    @property
    def messages(self) -> tuple[Message, ...]:
        if not self.text or self.hidden:
            return ()
        match self.kind:
            case "user":
                return (Message("user", self.text),)
            case "answer":
                return (Message("assistant", self.text),)
            case "time" | "language" | "news":
                return (Message("system", self.text), *self.shown)

    @property
    def chars(self) -> int:
        return sum(len(message.content) + _CHARS_AROUND for message in self.messages)


def room_chars(context_tokens: int, prefix: str) -> int:
    """How long the conversation may get before it is shortened."""
    tokens = context_tokens - ANSWER_TOKENS - len(prefix) / CHARS_PER_TOKEN
    return max(_LEAST_ROOM_CHARS, min(MOST_ROOM_CHARS, int(tokens * CHARS_PER_TOKEN)))


def with_notes(said: str, notes: str) -> str:
    """A user's words behind what is looked up for them, so that small models read them last."""
    return f"{notes}\n\n{said}" if notes else said


class History:
    """Pure state of one conversation. The prefix is never touched."""

    def __init__(self, prefix: str, *, room_chars: int, earlier: Iterable[Turn] = ()) -> None:
        self._prefix = Message("system", prefix)
        self._room_chars = room_chars
        self._entries = [_earlier(turn) for turn in earlier]
        self._told_time_at: datetime | None = None
        self._told_language: str | None = None
        self._numbers = itertools.count(1)

    def messages(
        self, said: str | None = None, notes: str = "", *, alone: bool = False
    ) -> list[Message]:
        """The request. `said` is a user's turn that is not in the history (yet), `notes` what
        goes with it into this one request: the history never holds it. `alone`: as if nothing
        had been said before, and what was told last is not what the question follows."""
        entries = self._entries
        if alone:
            told = [entry for entry in entries if entry.kind not in ("user", "answer")]
            entries = sorted(told, key=lambda entry: entry.kind == "language")
        before = [message for entry in entries for message in entry.messages]
        last = [] if said is None else [Message("user", with_notes(said, notes))]
        return [self._prefix, *before, *last]

    def answers_to_others(self, said: str) -> list[str]:
        """What was answered to anything but these words, also what was not heard of it, and in
        the examples."""
        answers, asked = [], ""
        for entry in self._entries:
            answers += [each.content for each in entry.shown if each.role == "assistant"]
            if entry.kind == "user":
                asked = entry.text
            elif entry.kind == "answer" and asked != said and (entry.given or entry.text):
                answers.append(entry.given or entry.text)
        return answers

    def tell_time(self, now: datetime) -> None:
        """Tell the wall clock, unless that was done in the last ten minutes."""
        told = self._told_time_at
        if told is None or not told <= now < told + TIME_EVERY:
            self._told_time_at = now
            self._entries.append(_Entry("time", time_told("local", now)))

    def tell_language(self, text: str, example: tuple[Message, ...] = ()) -> None:
        """Tell in which language to answer, and show it, unless that was told last."""
        if text != self._told_language:
            self._told_language = text
            self._entries.append(_Entry("language", text, shown=example))

    def tell_news(self, text: str) -> None:
        self._entries.append(_Entry("news", text))

    def said(self, text: str, *, hidden: bool = False) -> int:
        """The user's turn is over and is going to be answered; returns the answer's number.
        `hidden`: the model never sees the two."""
        number = next(self._numbers)
        self._entries.append(_Entry("user", text, hidden=hidden))
        self._entries.append(_Entry("answer", "", number=number, open=True, hidden=hidden))
        return number

    def unanswered(self, text: str) -> None:
        """The user's turn is over, and nothing is said to it."""
        self._entries.append(_Entry("user", text))

    def answered(self, number: int, text: str) -> None:
        """So much of an answer went to the output: taken as heard until `heard` knows better."""
        self._entries = [
            replace(e, text=text, given=text) if e.open and e.number == number else e
            for e in self._entries
        ]

    def interrupted(self) -> None:
        """Of the open answers nothing more will be played; `heard` tells what was.

        Of one that an earlier interruption stopped it would have told by now.
        """
        self._entries = [
            replace(e, text="", open=bool(e.text) or not e.given) if e.open else e
            for e in self._entries
        ]

    def heard(self, turn: Turn) -> None:
        """An answer as the transcript keeps it. Users' turns are here already, by `said`."""
        if turn.speaker != "assistant":
            return
        places = [i for i, entry in enumerate(self._entries) if entry.open and entry.given]
        words = turn.text.split()
        if not places:
            return
        length = len(words) if turn.interrupted else None
        fitting = [i for i in places if self._entries[i].given.split()[:length] == words]
        place = (fitting or places[-1:])[0]
        entry = self._entries[place]
        text = told("local", "cut", heard=turn.text) if turn.interrupted else entry.given
        self._entries[place] = replace(entry, text=text, open=False)
        # What was given before this one and not heard by now was never heard.
        self._entries[:place] = [
            replace(e, text="", open=False) if e.open else e for e in self._entries[:place]
        ]

    def shorten(self, *, at_once: bool = False) -> bool:
        """Drop the older part when there is no room left, or `at_once`; True if it was done.

        News stays: the prefix is older than it. Time and language are told anew.
        """
        chars = sum(entry.chars for entry in self._entries)
        if chars <= self._room_chars and not at_once:
            return False
        wanted = min(self._room_chars, chars) * KEPT_WHEN_SHORTENED
        first = len(self._entries)
        while first > 0 and self._entries[first - 1].chars <= wanted:
            first -= 1
            wanted -= self._entries[first].chars
        while first < len(self._entries) and self._entries[first].kind == "answer":
            first += 1  # an answer without its question
        news = [entry for entry in self._entries[:first] if entry.kind == "news"]
        rest = [entry for entry in self._entries[first:] if entry.kind not in ("time", "language")]
        self._entries = [*news, *rest]
        self._told_time_at = self._told_language = None
        return True


def _earlier(turn: Turn) -> _Entry:
    if turn.speaker == "user":
        return _Entry("user", turn.text)
    return _Entry(
        "answer", told("local", "cut", heard=turn.text) if turn.interrupted else turn.text
    )
