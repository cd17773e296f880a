"""A language model that says what it is told to: for tests and for replayed calls."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence

from voice.engines.language_model import Message, Usage
from voice.errors import VoiceFault

Script = Callable[[Sequence[Message]], str | VoiceFault]


class ScriptedModel:
    """Answers with what `script` makes of the messages, word by word; a fault is raised.

    Costs `first_s` before the first word and `word_s` for each further one, in seconds of
    the loop's clock. `requests` keeps what was asked, `prefills` what was worked through
    beforehand (`prefills_aside` for a question aside), `asides` which requests were asked aside, `stopped` how many answers were closed
    before their end.
    """

    def __init__(
        self,
        script: Script,
        *,
        first_s: float = 0.2,
        word_s: float = 0.05,
        context_tokens: int = 4096,
        small: bool = False,
    ) -> None:
        self._script = script
        self._first_s = first_s
        self._word_s = word_s
        self._context_tokens = context_tokens
        self.small = small
        self.prefix: str | None = None
        self.requests: list[tuple[Message, ...]] = []
        self.prefills: list[tuple[tuple[Message, ...], str]] = []
        self.prefills_aside: list[tuple[tuple[Message, ...], str]] = []
        self.asides: list[bool] = []
        self.stopped = 0
        self.closed = False

    @property
    def name(self) -> str:
        return "a script"

    @property
    def context_tokens(self) -> int:
        return self._context_tokens

    async def prepare(self, prefix: str) -> None:
        self.prefix = prefix

    async def prefill(
        self, messages: Sequence[Message], partial: str, *, aside: bool = False
    ) -> None:
        (self.prefills_aside if aside else self.prefills).append((tuple(messages), partial))

    async def answer(
        self, messages: Sequence[Message], *, max_tokens: int, aside: bool = False
    ) -> AsyncGenerator[str | Usage, None]:
        self.requests.append(tuple(messages))
        self.asides.append(aside)
        prompt_tokens = sum(len(message.content.split()) for message in messages)
        ended = False
        try:
            yield Usage(prompt_tokens=prompt_tokens, cached_tokens=0)
            await asyncio.sleep(self._first_s)
            text = self._script(messages)
            if isinstance(text, VoiceFault):
                ended = True
                raise text
            words = text.split(" ")
            for index, word in enumerate(words[:max_tokens]):
                if index:
                    await asyncio.sleep(self._word_s)
                yield word if index == 0 else f" {word}"
            ended = True
            yield Usage(
                prompt_tokens=prompt_tokens,
                cached_tokens=0,
                output_tokens=min(len(words), max_tokens),
                stopped=len(words) <= max_tokens,
            )
        finally:
            if not ended:
                self.stopped += 1

    async def close(self) -> None:
        self.closed = True
