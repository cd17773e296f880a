"""Asking the background model: who is asked, when it may be, and what it is asked of a review.

A model that runs on this CPU waits until nobody speaks or waits for an answer, and gives way
to whoever begins to.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Protocol

from memory.errors import ModelUnavailable
from memory.event_records import NAME_CHARS
from memory.events import EventLog
from memory.llm.protocol import Llm, Question, Reply
from memory.notebooks import review
from memory.notebooks.answers import ANSWER_CHARS
from memory.notebooks.review import Marked, Read
from memory.notebooks.tokens import tokens
from memory.prompts import prompt
from memory.records import Notebook
from memory.reviews import LONGEST_WAIT
from memory.threads import in_thread

QUESTIONS_A_DAY = 50
"""In any 24 hours the model is asked at most so often, failures included (m36)."""

NO_MODEL_S = 600.0
"""When no model is at hand: how long until it looks for one again."""

_DAY = timedelta(days=1)
_ANSWER_GRACE_S = 10.0  # a client keeps the question's timeout; this is for one that doesn't


class Quiet(Protocol):
    """Whether somebody speaks to Jarvis or waits for its answer, in whatever conversation."""

    async def wait(self) -> None:
        """Returns when nobody does: at once where it is quiet already."""
        ...

    async def broken(self) -> None:
        """Returns when somebody does: at once where it is not quiet."""
        ...


class Alone:
    """The quiet of a process without conversations, as `jarvis review` is."""

    async def wait(self) -> None:
        return

    async def broken(self) -> None:
        await _never()


class Asking:
    """`choose` gives the background model of the moment, or raises ModelUnavailable; it is called
    before each question, so that who pays is never decided ahead. `now` is the user's clock.
    """

    def __init__(
        self,
        *,
        events: EventLog,
        choose: Callable[[], Awaitable[Llm]],
        quiet: Quiet,
        now: Callable[[], datetime],
    ) -> None:
        self._events = events
        self._choose = choose
        self._quiet = quiet
        self._now = now
        self._no_model_until = now()

    async def model(
        self, *, faults: list[str], next_at: datetime | None = None, asked_for: bool = False
    ) -> Llm | None:
        """The model, if it may be asked now: not before `next_at`, nor too often. Else None, and
        where the user can do something a sentence in `faults`. `asked_for` waits for nothing."""
        now = self._now()
        if not asked_for:
            if _is_ahead(next_at, now) or _is_ahead(self._no_model_until, now):
                return None
            if await in_thread(self._asked_since, now - _DAY) >= QUESTIONS_A_DAY:
                faults.append(
                    f"The background model was asked {QUESTIONS_A_DAY} times in 24 hours; the "
                    "other reviews wait until tomorrow. `jarvis review` does one now."
                )
                return None
        try:
            model = await self._choose()
        except ModelUnavailable as fault:
            self._no_model_until = now + timedelta(seconds=NO_MODEL_S)
            faults.append(str(fault))
            return None
        if not asked_for:
            failures = await in_thread(self.streak, model.name)
            if failures and _is_ahead(failures[-1], now):
                return None
        return model

    def _asked_since(self, since: datetime) -> int:
        asked = [e for e in self._events.events("reviewed", since=since) if e.data.get("asked")]
        failed = self._events.events("review_failed", since=since)
        merged = [
            e for e in self._events.events("merged", since=since) if e.data["outcome"] == "asking"
        ]
        reflected = [
            e
            for e in self._events.events("reflected", since=since)
            if e.data["outcome"] == "asking"
        ]
        return len(asked) + len(failed) + len(merged) + len(reflected)

    def streak(self, model: str) -> list[datetime]:
        """When to ask this model again, after each time that it gave no answer since its last."""
        answered = self._events.last("reviewed", model=model)
        return [
            datetime.fromisoformat(event.data["next_at"])
            for event in self._events.events(
                "review_failed", since=answered.at if answered else None
            )
            if event.data["model"] == model[:NAME_CHARS] and event.data["fault"] == "unavailable"
        ]

    async def is_quiet(self) -> bool:
        """Whether nobody talks at this moment."""
        try:
            async with asyncio.timeout(0.0):
                await self._quiet.wait()
        except TimeoutError:
            return False
        return True

    async def quiet_for(self, seconds: float) -> None:
        """Until it has been quiet for so long."""
        while True:
            await self._quiet.wait()
            try:
                async with asyncio.timeout(seconds):
                    await self._quiet.broken()
            except TimeoutError:
                return

    async def answer(self, model: Llm, question: Question) -> Reply | None:
        """None when somebody began to speak, and the model uses this CPU."""
        answering = asyncio.ensure_future(model.ask(question))
        speaking = asyncio.ensure_future(self._quiet.broken() if model.uses_this_cpu else _never())
        try:
            await asyncio.wait(
                (answering, speaking),
                timeout=question.timeout_s + _ANSWER_GRACE_S,
                return_when=asyncio.FIRST_COMPLETED,
            )
            if answering.done():
                return answering.result()
            if speaking.done():
                return None
        finally:
            # Waited for, so that the model has stopped when somebody needs the CPU.
            for task in (answering, speaking):
                task.cancel()
            await asyncio.gather(answering, speaking, return_exceptions=True)
        raise ModelUnavailable(
            f"{model.name} gave no answer within {question.timeout_s:.0f} seconds. The review "
            "waits and is tried again."
        )


def _is_ahead(at: datetime | None, now: datetime) -> bool:
    """Whether to wait for `at`. A clock that was set back makes nothing wait for ever."""
    return at is not None and now < at <= now + LONGEST_WAIT


def counted(question: Question, reply: Reply) -> Reply:
    """The reply with its tokens, counted here where the model counts none."""
    asked = tokens(question.instructions) + tokens(question.text)
    return replace(
        reply,
        tokens_in=asked if reply.tokens_in is None else reply.tokens_in,
        tokens_out=tokens(reply.text[:ANSWER_CHARS])
        if reply.tokens_out is None
        else reply.tokens_out,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """A question of a review; it shows so many marked sentences, or this one."""

    question: Question
    sentences: int
    sentence: Marked | None = None


def asks_of(
    marked: Sequence[Marked],
    notebooks: Mapping[Notebook, tuple[str, ...]],
    today: datetime,
    *,
    small: bool,
) -> tuple[Ask, ...]:
    """One question about all sentences; a small model is asked about one at a time.

    None where no sentence fits into a question. `today` is when the last turn was said (m14).
    """
    if small:
        pairs = review.small_questions(marked, frame=prompt("review_small.md"))
        return tuple(Ask(question=q, sentences=1, sentence=each) for each, q in pairs)
    about = review.asked(marked, notebooks, today, frame=prompt("review.md"))
    if about is None:
        return ()
    return (Ask(question=about.question, sentences=len(about.sentences)),)


def read_of(
    asks: Sequence[Ask],
    replies: Sequence[Reply],
    notebooks: Mapping[Notebook, tuple[str, ...]],
) -> Read:
    """What the answers propose together."""
    reads = [
        review.proposals(reply.text)
        if ask.sentence is None
        else review.small_proposal(reply.text, ask.sentence, notebooks)
        for ask, reply in zip(asks, replies, strict=True)
    ]
    return review.together(reads) if len(reads) != 1 else reads[0]


async def _never() -> None:
    await asyncio.Event().wait()
