"""A background model that says what it was told to: for tests and replays."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from memory.errors import ModelUnavailable
from memory.llm.protocol import Billing, Question, Reply

Answer = str | Reply | ModelUnavailable
"""A text or a reply is given as the answer; a fault is raised."""


class ScriptedLlm:
    """Gives its answers one after the other, and records what it was asked.

    When they are used up it raises ModelUnavailable, as a provider that went away would.
    While `hold()` is in force a question waits for `release()`, or to be cancelled.
    """

    def __init__(
        self,
        answers: Iterable[Answer] = (),
        *,
        name: str = "scripted",
        billing: Billing = "local",
        uses_this_cpu: bool = False,
        small: bool = False,
    ) -> None:
        self.name = name
        self.billing: Billing = billing
        self.uses_this_cpu = uses_this_cpu
        self.small = small
        self.questions: list[Question] = []
        self.cancelled = 0
        self.closed = False
        self.asked = asyncio.Event()
        """Set at each question; whoever waits for the next one clears it."""
        self._answers = list(answers)
        self._free = asyncio.Event()
        self._free.set()

    def will_answer(self, *answers: Answer) -> None:
        """More answers, behind those that are left."""
        self._answers += answers

    def hold(self) -> None:
        """From now on nothing is answered until `release()`."""
        self._free.clear()

    def release(self) -> None:
        self._free.set()

    async def ask(self, question: Question) -> Reply:
        self.questions.append(question)
        self.asked.set()
        try:
            await self._free.wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        if not self._answers:
            raise ModelUnavailable("The scripted model has no answer left. Give it more answers.")
        answer = self._answers.pop(0)
        if isinstance(answer, ModelUnavailable):
            raise answer
        return Reply(text=answer) if isinstance(answer, str) else answer

    async def close(self) -> None:
        self.closed = True
