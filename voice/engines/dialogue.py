"""A conversation with a language model, without ears or voice: the chat, and half of a call."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from datetime import datetime

from memory import SMALL_EXTRACTS_CHARS, fitting, notes_block
from memory.records import LANGUAGES, Language, Prefix, Turn
from voice.engines.answer_language import answer_in, language_of, warm
from voice.engines.answer_text import AnswerText
from voice.engines.first_words import FirstWords
from voice.engines.history import ANSWER_TOKENS, History, room_chars, with_notes
from voice.engines.language_model import ContextExceeded, LanguageModel, Usage
from voice.engines.small_model import example
from voice.errors import EngineUnavailable
from voice.records import NotesFound, Told

log = logging.getLogger(__name__)

CHAT_TOKENS = ANSWER_TOKENS


@dataclass(frozen=True, slots=True)
class Ahead:
    """How the next piece begins, as far as it is written: no whole word of it is sure yet."""

    text: str


class Dialogue:
    """History and model together. `now` and `news` as in `Opening`.

    `language` is the user's, as far as it is known; whoever hears them sets it.
    """

    def __init__(
        self,
        model: LanguageModel,
        *,
        prefix: Prefix,
        now: Callable[[], datetime],
        news: Callable[[], Awaitable[str | None]],
        earlier: Iterable[Turn] = (),
        languages: Sequence[Language] = LANGUAGES,
        language: Language | None = None,
    ) -> None:
        self.language = language or languages[0]
        self._languages = tuple(languages)
        self._model = model
        self._prefix = prefix
        self._now = now
        self._news = news
        room = room_chars(model.context_tokens, prefix.text)
        self.history = History(prefix.text, room_chars=room, earlier=earlier)
        self._refreshing = asyncio.Lock()

    async def open(self) -> None:
        """Load the model; raises EngineUnavailable or WorkerFailed."""
        try:
            await self._model.prepare(self._prefix.text)
        except ContextExceeded as fault:
            raise EngineUnavailable(
                f"Your notebooks are too long for {self._model.name}: it holds about "
                f"{_words(self._model)} words in all. Shorten USER.md or MEMORY.md."
            ) from fault

    async def refresh(self) -> None:
        """Before a turn: make room, tell the time and what changed in the notebooks."""
        async with self._refreshing:
            news = await self._news()
            self.shorten()
            self.history.tell_time(self._now())
            self._tell_language()
            if news:
                self.history.tell_news(news)

    def shorten(self) -> None:
        """Drop the older part of a conversation that has grown too long."""
        if self.history.shorten():
            log.info("the conversation was shortened to fit the model")

    async def prefill(self, partial: str = "", notes: str = "") -> None:
        await self._model.prefill(self.history.messages(), with_notes(partial, notes))

    async def prefill_alone(self) -> None:
        """What a question begins with that is asked again alone: for idle moments."""
        if self._model.small:
            await self._model.prefill(self.history.messages(alone=True), "", aside=True)

    def fitted(self, found: NotesFound | None) -> NotesFound | None:
        """Of what the notes say as much as this model can read while somebody waits."""
        if found is None or not self._model.small:
            return found
        extracts = fitting(found.extracts, SMALL_EXTRACTS_CHARS)
        return NotesFound(block=notes_block(extracts), extracts=extracts)

    def tell(self, told: Told) -> None:
        """What became of what the next words ask for. A small model that is not asked to tell it
        would follow each "say that you can't" in every later answer, so it learns what lasts."""
        note = told.lasting if told.whole and self._model.small else told.note
        if note:
            self.history.tell_news(note)

    async def answer(
        self, said: str, told: Told | None = None, *, max_tokens: int, notes: str = ""
    ) -> AsyncGenerator[str | Ahead | Usage, None]:
        """The model's pieces for words that are not in the history yet, cleaned. `notes` stand in
        this one request only. An empty piece says that the model writes, and nothing is sure yet.

        A small model is not trusted with telling what was saved: that is said for it, and where
        nothing else was asked it is not asked at all. When it falls into what it said to another
        question, or into another language, it is asked again without the conversation.
        """
        if told is not None and self._model.small:
            yield told.said[self.language]
            if told.whole:
                return
            yield " "
        self._tell_language()
        if not self._model.small:
            async with aclosing(self._clean(said, max_tokens, notes)) as pieces:
                async for piece in pieces:
                    yield piece
            return
        first = FirstWords(self.history.answers_to_others(said), self._is_in_language)
        async with aclosing(self._clean(said, max_tokens, notes)) as pieces:
            async for piece in pieces:
                if isinstance(piece, str):
                    yield first.feed(piece)
                elif first.sure or isinstance(piece, Usage):
                    yield piece
                if first.refused:
                    break
        rest = first.end()
        if rest:
            yield rest
        if first.refused:
            log.info("the model fell into an older answer, or another language: asked again")
            async with aclosing(self._clean(said, max_tokens, notes, alone=True)) as pieces:
                async for piece in pieces:
                    yield piece

    def said(self, text: str, told: Told | None = None) -> int:
        """The user's turn is over; returns the answer's number in the history. What plain code
        answered alone a small model doesn't see: it would answer everything so."""
        hidden = told is not None and told.whole and self._model.small
        return self.history.said(text, hidden=hidden)

    def _tell_language(self) -> None:
        shown = example(self.language) if self._model.small else ()
        self.history.tell_language(answer_in(self.language), shown)

    def _is_in_language(self, text: str) -> bool:
        return language_of(text, self.language, self._languages) == self.language

    async def _clean(
        self, said: str, max_tokens: int, notes: str, *, alone: bool = False
    ) -> AsyncGenerator[str | Ahead | Usage, None]:
        """What of an answer may be spoken, in whole words."""
        text = AnswerText()
        async with aclosing(self._pieces(said, max_tokens, notes, alone=alone)) as pieces:
            async for piece in pieces:
                if isinstance(piece, Usage):
                    yield piece
                    continue
                clean = text.feed(piece)
                if clean:
                    yield clean
                if text.over:
                    break
                if text.ahead:
                    yield Ahead(text.ahead)
        rest = text.end()
        if rest:
            yield rest

    async def _pieces(
        self, said: str, max_tokens: int, notes: str, *, alone: bool
    ) -> AsyncGenerator[str | Usage, None]:
        for shortened in (False, True):
            try:
                messages = self.history.messages(said, notes, alone=alone)
                answer = self._model.answer(messages, max_tokens=max_tokens, aside=alone)
                async with aclosing(answer) as pieces:
                    async for piece in pieces:
                        yield piece
                return
            except ContextExceeded as fault:
                if shortened:
                    raise EngineUnavailable(
                        f"That text is too long for {self._model.name}: it holds about "
                        f"{_words(self._model)} words in all. Give it in parts."
                    ) from fault
                self.history.shorten(at_once=True)

    async def reply(
        self, said: str, told: Told | None = None, notes: str = ""
    ) -> AsyncGenerator[str, None]:
        """One turn of a chat: the answer's pieces. Closing it early keeps what was given.

        Raises EngineUnavailable or WorkerFailed; the conversation can go on after either.
        """
        await asyncio.to_thread(warm, self._languages)
        self.language = language_of(said, self.language, self._languages)
        await self.refresh()
        if told is not None:
            self.tell(told)
        number, given = None, ""
        async with aclosing(self.answer(said, told, max_tokens=CHAT_TOKENS, notes=notes)) as pieces:
            async for piece in pieces:
                if isinstance(piece, Usage):
                    log_usage(piece, self._prefix.sha256)
                if not isinstance(piece, str) or not piece:
                    continue
                if number is None:
                    number = self.said(said, told)
                given += piece
                self.history.answered(number, given)
                yield piece
        if number is None:
            raise EngineUnavailable(f"{self._model.name} gave an empty answer. Ask again.")

    async def close(self) -> None:
        await self._model.close()


def _words(model: LanguageModel) -> str:
    return f"{model.context_tokens * 3 // 5:,}"


def log_usage(usage: Usage, prefix_sha256: str) -> None:
    """Counts of a whole answer, for the log (V7)."""
    if usage.output_tokens is not None:
        log.info(
            "answer: prompt %s, cached %s, output %s tokens, prefix %.12s",
            usage.prompt_tokens,
            usage.cached_tokens,
            usage.output_tokens,
            prefix_sha256,
        )
