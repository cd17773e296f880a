"""The background model: one question, one answer, and who pays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

Billing = Literal["subscription", "local", "metered"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """`schema` is a JSON schema of the answer; a server that can't hold to it is only told of it.

    `max_tokens` bounds the answer, `timeout_s` the whole exchange.
    """

    instructions: str
    text: str
    schema: Mapping[str, Any] | None = None
    max_tokens: int
    timeout_s: float = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """The answer as it came, and what was counted; None where nobody counts."""

    text: str
    tokens_in: int | None = None
    tokens_out: int | None = None


class Llm(Protocol):
    """`uses_this_cpu` is true where the model runs on this machine: it then waits for quiet.

    `small` is true of models of at most about two billion parameters: they are asked about
    one sentence at a time (`memory.notebooks.review.small_questions`).
    """

    @property
    def name(self) -> str: ...

    @property
    def billing(self) -> Billing: ...

    @property
    def uses_this_cpu(self) -> bool: ...

    @property
    def small(self) -> bool: ...

    async def ask(self, question: Question) -> Reply:
        """Raises ModelUnavailable: no server, no login, a limit, a timeout, an error status.

        Cancelling it stops the exchange, and the model where it can be stopped.
        """
        ...

    async def close(self) -> None: ...
