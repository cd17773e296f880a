"""The language model behind the local engine and the chat: one Protocol."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol


@dataclass(frozen=True, slots=True)
class Message:
    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Counted by the server; None where it doesn't say."""

    prompt_tokens: int | None = None
    cached_tokens: int | None = None
    output_tokens: int | None = None


class LanguageModel(Protocol):
    """Streams answers. Messages always begin with the same system message (the prefix)."""

    @property
    def name(self) -> str: ...

    async def prepare(self, prefix: str) -> None:
        """Load, and have the prefix worked through (or its saved state restored)."""
        ...

    async def prefill(self, messages: Sequence[Message], partial: str) -> None:
        """Work through the conversation and the beginning of the user's words, if the server can."""
        ...

    def answer(self, messages: Sequence[Message], *, max_tokens: int) -> AsyncIterator[str | Usage]:
        """Pieces of text as they come, and a Usage last. Closing the iterator stops the model."""
        ...

    async def close(self) -> None: ...
