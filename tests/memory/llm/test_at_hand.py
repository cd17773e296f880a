from __future__ import annotations

import asyncio
import os
import shlex
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from memory.errors import ModelUnavailable
from memory.llm.at_hand import Surroundings, find, opened
from memory.llm.choose import Choice, Engine, Found, LocalModel, Wishes, choose
from memory.llm.protocol import Question
from memory.llm.providers import providers
from tests.fakes.llm_server import Fault, LlmServer

QUESTION = Question(instructions="i", text="t", max_tokens=1)


@pytest_asyncio.fixture
async def server() -> AsyncIterator[LlmServer]:
    async with LlmServer() as running:
        yield running


class House:
    """Programs that say that they are logged in, and note that they were asked."""

    def __init__(self, folder: Path) -> None:
        self.bin, self.asked = folder / "bin", folder / "asked"
        self.bin.mkdir()
        self.environment = {"PATH": f"{self.bin}{os.pathsep}{os.defpath}", "HOME": str(folder)}
        self.home = folder

    def with_program(self, name: str, says: str, code: int = 0) -> None:
        path = self.bin / name
        path.write_text(
            f"#!/bin/sh\necho {name} >> {shlex.quote(str(self.asked))}\n"
            f"echo {shlex.quote(says)}\nexit {code}\n",
            encoding="utf-8",
        )
        path.chmod(0o755)

    def with_all(self) -> None:
        self.with_program("claude", '{"loggedIn": true, "authMethod": "claude.ai"}')
        self.with_program("codex", "Logged in using an API key")

    def who_was_asked(self) -> set[str]:
        return set(self.asked.read_text("utf-8").split()) if self.asked.exists() else set()


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path)


def around(house: House, url: str = "http://127.0.0.1:1", **more: object) -> Surroundings:
    return Surroundings(
        environment=house.environment,
        home=house.home,
        ollama_url=url,
        **more,  # type: ignore[arg-type]
    )


async def test_what_is_there(house: House, server: LlmServer) -> None:
    """Programs by the PATH, logins by what they say, Ollama's models that run here."""
    house.with_all()
    server.models = [
        {"name": "llama3.2:3b", "details": {"parameter_size": "3.2B"}},
        {"name": "smollm2:135m", "details": {}},
        {"name": "gpt-oss:120b-cloud", "details": {}},
        {"name": "far", "remote_host": "https://ollama.com"},
    ]
    tiny = LocalModel(name="qwen-0.5b", billions=0.5)
    found = await find(
        Wishes(),
        around(house, server.url, keys={"openai": "sk", "google": ""}, embedded=tiny),
    )
    assert found == Found(
        programs=frozenset({"claude", "codex"}),
        logins=frozenset({"claude"}),
        keys=frozenset({"openai"}),
        ollama=(
            LocalModel(name="llama3.2:3b", billions=3.2),
            LocalModel(name="smollm2:135m", billions=0.135),
        ),
        embedded=tiny,
    )


@pytest.mark.parametrize(
    ("wishes", "keys", "engine", "asked"),
    [
        (Wishes(), {}, None, set()),
        (Wishes(), {}, Engine(url="http://127.0.0.1:9/v1", model="m"), set()),
        (Wishes(), {"openai": "sk"}, None, {"claude", "codex"}),
        (Wishes(), {}, Engine(company="OpenAI"), {"claude", "codex"}),
        (Wishes(background="claude"), {}, None, {"claude", "codex"}),
        (Wishes(background=" Claude"), {}, None, {"claude", "codex"}),
        (Wishes(background="ollama"), {}, None, set()),
        (Wishes(background="off"), {"openai": "sk"}, None, set()),
    ],
)
async def test_programs_are_asked_only_where_it_matters(
    house: House,
    wishes: Wishes,
    keys: dict[str, str],
    engine: Engine | None,
    asked: set[str],
) -> None:
    """Nobody's program is started where neither it nor a key could be used."""
    house.with_all()
    await find(wishes, around(house, keys=keys, engine=engine))
    assert house.who_was_asked() == asked


@pytest.mark.parametrize(
    "answer", ["", "hello", '{"models": 7}', '{"models": [{"size": 1}]}', "[" * 9_000]
)
async def test_something_else_on_ollamas_port(house: House, answer: str) -> None:
    """What is no list of models is no Ollama, and no fault."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        head = f"HTTP/1.1 200 OK\r\ncontent-length: {len(answer)}\r\n\r\n"
        writer.write(head.encode() + answer.encode())
        await writer.drain()
        writer.close()

    listening = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with listening:
        port = listening.sockets[0].getsockname()[1]
        found = await find(Wishes(), around(house, f"http://127.0.0.1:{port}"))
    assert found.ollama is None


async def test_no_ollama(house: House) -> None:
    """A port where nobody listens is no fault either."""
    assert (await find(Wishes(), around(house))).ollama is None


async def chosen(wishes: Wishes, surroundings: Surroundings) -> Choice:
    choice = choose(wishes, await find(wishes, surroundings), providers())
    assert isinstance(choice, Choice)
    return choice


async def test_a_key_is_sent_to_its_own_address(house: House, server: LlmServer) -> None:
    """Of several keys the one that belongs to the address goes there."""
    surroundings = around(
        house, keys={"openai": "wrong", "background": "right", "engine": "wrong", "anthropic": "no"}
    )
    wishes = Wishes(background_url=server.url, background_model="m")
    llm = opened(await chosen(wishes, surroundings), surroundings)
    await llm.ask(QUESTION)
    await llm.close()
    assert server.requests[0].headers["authorization"] == "Bearer right"
    assert (llm.billing, llm.uses_this_cpu) == ("local", True)


async def test_ollama_is_asked_without_a_key(house: House, server: LlmServer) -> None:
    """Ollama answers at its own address, and gets no key."""
    server.models = [{"name": "llama3.2:1b", "details": {"parameter_size": "1.2B"}}]
    surroundings = around(house, server.url, keys={"background": "sk"})
    llm = opened(await chosen(Wishes(background="ollama"), surroundings), surroundings)
    await llm.ask(QUESTION)
    assert "authorization" not in server.requests[0].headers
    assert (llm.name, llm.small) == ("Ollama llama3.2:1b", True)
    server.will_answer(Fault(status=404))
    with pytest.raises(ModelUnavailable, match="ollama pull"):
        await llm.ask(QUESTION)
    await llm.close()


@pytest.mark.parametrize("name", [n for n, row in providers().items() if row.kind == "key"])
async def test_every_provider_opens(house: House, name: str) -> None:
    """Each row of the table has its client, and says who is billed."""
    surroundings = around(house, keys={name: "sk"})
    llm = opened(await chosen(Wishes(background=name), surroundings), surroundings)
    assert providers()[name].model in llm.name
    assert (llm.billing, llm.uses_this_cpu) == ("metered", False)
    await llm.close()


async def test_a_program_opens(house: House) -> None:
    """A login is asked through its program; one that is gone by then is named."""
    house.with_all()
    surroundings = around(house)
    choice = await chosen(Wishes(background="claude"), surroundings)
    llm = opened(choice, surroundings)
    assert (llm.name, llm.billing) == ("claude haiku", "subscription")
    (house.bin / "claude").unlink()
    with pytest.raises(ModelUnavailable, match="not on the PATH any more"):
        opened(choice, surroundings)


def test_keys_are_not_shown(house: House) -> None:
    """What is printed of the surroundings holds neither keys nor the environment."""
    shown = repr(around(house, keys={"openai": "sk-secret"}))
    assert "sk-" not in shown and "PATH" not in shown
