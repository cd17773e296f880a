"""The reviewer of a replay: its answers were recorded with the call, and it costs nothing."""

from __future__ import annotations

from collections.abc import Iterable

from memory.llm.protocol import Billing, Question, Reply

NO_CHANGES = '{"changes": []}'


class RecordedReviewer:
    """Gives its answers in their order. Whatever is asked after the last one changes nothing."""

    name = "recorded"
    billing: Billing = "local"
    uses_this_cpu = False
    small = False

    def __init__(self, answers: Iterable[str] = ()) -> None:
        self._answers = iter(tuple(answers))

    async def ask(self, question: Question) -> Reply:  # noqa: ARG002 - the answer is known
        return Reply(text=next(self._answers, NO_CHANGES))

    async def close(self) -> None:
        pass
