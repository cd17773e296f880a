"""The language model behind the local engine and the chat: one Protocol."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from voice.errors import VoiceFault


@dataclass(frozen=True, slots=True)
class Message:
    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Counted by the server; None where it doesn't say.

    `stopped` is False when the answer ran into `max_tokens` instead of ending by itself.
    """

    prompt_tokens: int | None = None
    cached_tokens: int | None = None
    output_tokens: int | None = None
    stopped: bool = True


class ContextExceeded(VoiceFault):
    """The messages are longer than what the model can hold; shorten them and ask again."""


class LanguageModel(Protocol):
    """Streams answers. Messages always begin with the same system message (the prefix).

    All of it raises EngineUnavailable, or WorkerFailed where a process of ours died; after
    either the next call tries again from the start.
    """

    @property
    def name(self) -> str: ...

    @property
    def small(self) -> bool:
        """Too small to be trusted with telling what has happened: that is said for it."""
        ...

    @property
    def context_tokens(self) -> int:
        """How much the model can hold: prefix, conversation and answer together."""
        ...

    async def prepare(self, prefix: str) -> None:
        """Load, and have the prefix worked through (or its saved state restored)."""
        ...

    async def prefill(
        self, messages: Sequence[Message], partial: str, *, aside: bool = False
    ) -> None:
        """Work through the conversation and the beginning of the user's words, if the server can;
        `aside` where they will be asked aside.

        Dropped as soon as a newer one or an answer is asked for; never raises a VoiceFault,
        since the answer will meet the same fault and tell it.
        """
        ...

    def answer(
        self, messages: Sequence[Message], *, max_tokens: int, aside: bool = False
    ) -> AsyncGenerator[str | Usage, None]:
        """Pieces of text as they come, and a Usage last. Closing the iterator stops the model.
        `aside`: the conversation goes on without this question, so its state should be kept.

        A first Usage comes in front of the text where the server counts the prompt before
        it answers. May raise ContextExceeded before the first piece.
        """
        ...

    async def close(self) -> None: ...
