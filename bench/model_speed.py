"""Two files of the same language model side by side: how fast, and how alike.

Both answer the questions of `bench.latency` behind one prefix, in turns and with nothing drawn at
random. Told are the time for a question's tokens and for each token of an answer, and how often
the second would have gone on with the very token that the first one wrote.

    python -m bench.model_speed FIRST.gguf SECOND.gguf [--rounds 2]
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import tempfile
from pathlib import Path
from typing import Any

import httpx

from bench.answers_calls import prefix_of
from bench.latency import NOTEBOOK, QUESTIONS
from voice.engines.embedded import CONTEXT_TOKENS, rendered, rendered_question
from voice.engines.language_model import Message
from voice.workers import Worker

_ANSWER_TOKENS = 16


class Server:
    """A llama.cpp server as Jarvis runs it, without Jarvis."""

    def __init__(self, path: Path, states: str) -> None:
        arguments = (str(path), states, str(CONTEXT_TOKENS), "2")
        self._worker = Worker("voice.engines.llama_worker", *arguments, title=path.name)
        self.question_ms: list[float] = []
        self.token_ms: list[float] = []
        self.prefix_ms = 0.0

    async def start(self, prefix: str) -> None:
        started = await self._worker.start()
        self._client = httpx.AsyncClient(
            base_url=started["address"],
            headers={"Authorization": f"Bearer {started['key']}"},
            timeout=120,
        )
        timings = (await self._complete(prefix, 0))["timings"]
        self.prefix_ms = timings["prompt_ms"]

    async def answer(self, prompt: str) -> list[int]:
        """The tokens of the likeliest answer."""
        given = await self._complete(prompt, _ANSWER_TOKENS)
        self.question_ms.append(given["timings"]["prompt_ms"])
        self.token_ms.append(given["timings"]["predicted_per_token_ms"])
        return list(given["tokens"])

    async def next_token(self, tokens: list[int]) -> int | None:
        given = await self._complete(tokens, 1)
        return given["tokens"][0] if given["tokens"] else None

    async def tokens(self, prompt: str) -> list[int]:
        asked = {"content": prompt, "parse_special": True}
        return list((await self._client.post("/tokenize", json=asked)).json()["tokens"])

    async def close(self) -> None:
        await self._client.aclose()
        await self._worker.close()

    async def _complete(self, prompt: str | list[int], tokens: int) -> dict[str, Any]:
        body = {
            "prompt": prompt,
            "n_predict": tokens,
            "temperature": 0.0,
            "return_tokens": True,
            "cache_prompt": True,
            "id_slot": 0,
        }
        given: dict[str, Any] = (await self._client.post("/completion", json=body)).json()
        return given


async def compare(paths: list[Path], rounds: int) -> None:
    prefix = [Message("system", prefix_of(NOTEBOOK, "", None).text)]
    questions = [question for each in QUESTIONS.values() for question in each]
    same = total = 0
    with tempfile.TemporaryDirectory() as states:
        servers = [Server(path, states) for path in paths]
        for server in servers:
            await server.start(rendered(prefix))
        first, second = servers
        for _ in range(rounds):
            for question in questions:
                prompt = rendered_question([*prefix, Message("user", question)])
                written = await first.answer(prompt)
                await second.answer(prompt)
                before = await first.tokens(prompt)
                for at, token in enumerate(written):
                    total += 1
                    same += token == await second.next_token(before + written[:at])
        for path, server in zip(paths, servers, strict=True):
            print(
                f"{path.name}: prefix {server.prefix_ms:.0f} ms, question "
                f"{statistics.median(server.question_ms):.0f} ms, token "
                f"{statistics.median(server.token_ms):.1f} ms"
            )
            await server.close()
    print(f"the same next token: {same} of {total} ({100 * same / total:.1f} %)")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs=2, type=Path)
    parser.add_argument("--rounds", type=int, default=1)
    options = parser.parse_args()
    asyncio.run(compare(options.files, options.rounds))


if __name__ == "__main__":
    main()
