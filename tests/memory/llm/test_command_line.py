from __future__ import annotations

import asyncio
import json
import os
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from memory.errors import ModelUnavailable
from memory.llm.command_line import CommandLine, connected, found, passed_on
from memory.llm.programs import PROGRAMS
from memory.llm.protocol import Question, Reply

SCHEMA = {"type": "object", "properties": {"changes": {"type": "array", "maxItems": 3}}}
SAID = "ich bin seit Januar Vegetarier — ¡ñ!"
QUESTION = Question(
    instructions="Answer.", text=SAID, schema=SCHEMA, max_tokens=800, timeout_s=60.0
)

KEYS = {
    "ANTHROPIC_API_KEY": "k", "ANTHROPIC_AUTH_TOKEN": "k", "ANTHROPIC_BASE_URL": "http://x",
    "OPENAI_API_KEY": "k", "CODEX_API_KEY": "k", "OPENAI_BASE_URL": "http://x",
    "GEMINI_API_KEY": "k", "GOOGLE_API_KEY": "k", "GOOGLE_GENAI_USE_VERTEXAI": "true",
    "CLAUDE_CODE_USE_BEDROCK": "1", "OPENROUTER_API_KEY": "k",
    "JARVIS_OPENAI_KEY": "k", "JARVIS_BACKGROUND_KEY": "k",
}  # fmt: skip

CLAUDE_SAYS = json.dumps(
    {
        "type": "result",
        "is_error": False,
        "result": "Done.",
        "structured_output": {"changes": []},
        "usage": {"input_tokens": 900, "cache_read_input_tokens": 100, "output_tokens": 50},
    }
)
CODEX_SAYS = "\n".join(
    json.dumps(event)
    for event in (
        {"type": "thread.started", "thread_id": "1"},
        {"type": "item.completed", "item": {"type": "reasoning", "text": "hm"}},
        {"type": "item.completed", "item": {"type": "agent_message", "text": '{"changes": []}'}},
        {"type": "turn.completed", "usage": {"input_tokens": 1000, "output_tokens": 50}},
    )
)
GEMINI_SAYS = json.dumps(
    {
        "response": '{"changes": []}',
        "stats": {"models": {"x": {"tokens": {"prompt": 1000, "candidates": 40, "thoughts": 10}}}},
    },
    indent=2,
)
SAYS = {"claude": CLAUDE_SAYS, "codex": CODEX_SAYS, "gemini": f"Loaded.\n{GEMINI_SAYS}"}


class House:
    """A folder with programs of the test's own, and a home."""

    def __init__(self, folder: Path) -> None:
        self.bin, self.home, self.seen = folder / "bin", folder / "home", folder / "seen"
        for each in (self.bin, self.home, self.seen):
            each.mkdir()
        self.environment = {
            **KEYS,
            "PATH": f"{self.bin}{os.pathsep}{os.defpath}",
            "HOME": str(self.home),
            "LC_ALL": "C.UTF-8",
        }

    def program(self, name: str, script: str) -> Path:
        path = self.bin / name
        path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        path.chmod(0o755)
        return path

    def answering(self, name: str, out: str, *, code: int = 0, err: str = "") -> Path:
        """A program that notes what it was given and says `out`."""
        seen = shlex.quote(str(self.seen))
        return self.program(
            name,
            f'for each in "$@"; do printf "%s\\0" "$each"; done > {seen}/arguments\n'
            f"env > {seen}/environment\npwd > {seen}/folder\ncat > {seen}/text\n"
            f"find . -type f -exec cp {{}} {seen}/ \\;\n"
            f"printf '%s' {shlex.quote(out)}\nprintf '%s' {shlex.quote(err)} >&2\nexit {code}",
        )

    def client(self, name: str, model: str = "tiny") -> CommandLine:
        path = found(PROGRAMS[name], self.environment["PATH"])
        assert path is not None
        return CommandLine(PROGRAMS[name], path, model, environment=self.environment)

    def saw(self, name: str) -> str:
        return (self.seen / name).read_text(encoding="utf-8")

    @property
    def arguments(self) -> list[str]:
        return self.saw("arguments").split("\0")[:-1]


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path)


@pytest.mark.parametrize("name", PROGRAMS)
async def test_a_question_and_its_answer(house: House, name: str) -> None:
    """What was said goes by standard input, never as an argument; the answer and its tokens
    come back, and the subscription pays."""
    house.answering(name, SAYS[name])
    client = house.client(name)
    reply = await client.ask(QUESTION)
    await client.close()
    assert reply == Reply(text='{"changes": []}', tokens_in=1000, tokens_out=50)
    assert (client.billing, client.uses_this_cpu) == ("subscription", False)
    assert SAID in house.saw("text")
    assert not any(SAID in argument for argument in house.arguments)
    assert house.arguments[house.arguments.index("--model") + 1] == "tiny"


@pytest.mark.parametrize("name", PROGRAMS)
async def test_no_key_goes_along(house: House, name: str) -> None:
    """A key in the environment would be billed in the subscription's place."""
    house.answering(name, SAYS[name])
    await house.client(name).ask(QUESTION)
    names = {line.partition("=")[0] for line in house.saw("environment").splitlines()}
    assert names & KEYS.keys() == set()
    assert {"PATH", "HOME", "LC_ALL"} <= names


@pytest.mark.parametrize("name", PROGRAMS)
async def test_it_works_in_a_folder_of_its_own(house: House, name: str) -> None:
    """The folder is empty of anything of the user's, and gone afterwards."""
    house.answering(name, SAYS[name])
    await house.client(name).ask(QUESTION)
    folder = house.saw("folder").strip()
    assert "/jarvis-" in folder
    assert folder not in map(str, Path(folder).parent.iterdir())


async def test_claude_without_tools(house: House) -> None:
    """No tools, no settings of the user's, no session kept; the schema without limits."""
    house.answering("claude", CLAUDE_SAYS)
    await house.client("claude").ask(QUESTION)
    given = house.arguments
    assert given[:3] == ["-p", "--output-format", "json"]
    assert given[given.index("--tools") + 1] == ""
    assert given[given.index("--setting-sources") + 1] == ""
    assert given[given.index("--system-prompt") + 1] == "Answer."
    assert "maxItems" not in given[given.index("--json-schema") + 1]
    assert {"--strict-mcp-config", "--no-session-persistence"} <= set(given)


async def test_codex_without_tools(house: House) -> None:
    """Read-only, without a shell, the web, or a session; the schema in a file."""
    house.answering("codex", CODEX_SAYS)
    await house.client("codex").ask(QUESTION)
    given = house.arguments
    assert given[0] == "exec" and given[-1] == "-"
    assert {"--ephemeral", "--ignore-user-config", "features.shell_tool=false"} <= set(given)
    assert given[given.index("--sandbox") + 1] == "read-only"
    assert json.loads(house.saw("schema.json")) == SCHEMA
    assert house.saw("text").startswith("Answer.\n\n")


async def test_gemini_without_tools(house: House) -> None:
    """Settings of the folder switch the tools off; the instructions take the place of its own."""
    house.answering("gemini", GEMINI_SAYS)
    await house.client("gemini").ask(QUESTION)
    assert json.loads(house.saw("settings.json"))["tools"] == {"core": []}
    assert house.saw("system.md").startswith("Answer.\n\n")
    lines = house.saw("environment").splitlines()
    assert "GOOGLE_GENAI_USE_GCA=true" in lines
    assert any(line.startswith("GEMINI_SYSTEM_MD=") for line in lines)


async def test_claude_in_words_only(house: House) -> None:
    """An answer that is not structured is taken as it is."""
    house.answering("claude", json.dumps({"is_error": False, "result": "none"}))
    assert await house.client("claude").ask(QUESTION) == Reply(text="none")


@pytest.mark.parametrize(
    ("name", "out", "err", "code", "sentence"),
    [
        ("claude", '{"is_error": true, "result": "Claude AI usage limit reached|1764"}', "", 1, "has reached its limit"),
        ("claude", '{"is_error": true, "result": "Invalid API key · Please run /login"}', "", 1, "is not logged in any more: run `claude auth login`"),
        ("claude", "", "error: unknown option '--tools'", 1, "`claude` is too old"),
        ("claude", "", "", 3, "gave no answer (code 3)"),
        ("claude", "hello", "", 0, "gave no answer (code 0)"),
        ("codex", '{"type": "turn.failed", "error": {"message": "You\'ve hit your usage limit."}}', "", 1, "has reached its limit"),
        ("codex", '{"type": "error", "message": "The model is not supported"}', "", 1, "does not have the model “tiny”"),
        ("codex", "", "error: unexpected argument '--ephemeral' found", 2, "`codex` is too old"),
        ("codex", '{"type": "thread.started"}', "", 0, "gave no answer (code 0)"),
        ("gemini", '{"error": {"message": "Quota exceeded", "code": 429}}', "", 1, "has reached its limit"),
        ("gemini", "", "Please set an Auth method", 41, "gave no answer (code 41)"),
        ("gemini", "", "Authentication failed", 41, "is not logged in any more: start `gemini`"),
    ],
)  # fmt: skip
async def test_a_failure_becomes_a_sentence(
    house: House, name: str, out: str, err: str, code: int, sentence: str
) -> None:
    """What a program says of its failure becomes a sentence of ours: its own may repeat ours."""
    house.answering(name, out, code=code, err=f"{err} {SAID}")
    with pytest.raises(ModelUnavailable) as caught:
        await house.client(name).ask(QUESTION)
    assert sentence in str(caught.value)
    assert SAID not in str(caught.value)


async def test_a_program_that_went_away(house: House) -> None:
    """A file that can't be started is named."""
    client = house.client("claude") if house.answering("claude", "") else None
    assert client is not None
    (house.bin / "claude").unlink()
    with pytest.raises(ModelUnavailable, match="can't be started"):
        await client.ask(QUESTION)


async def test_a_program_that_hangs(house: House) -> None:
    """It is given up when the question's time is over."""
    house.program("codex", "sleep 600")
    question = Question(instructions="", text="", max_tokens=1, timeout_s=0.5)
    with pytest.raises(ModelUnavailable, match=r"did not answer within 0\.5 seconds"):
        await house.client("codex").ask(question)


async def test_a_program_that_never_stops_talking(house: House) -> None:
    """It is stopped, and gave no answer."""
    house.program("claude", "yes 'x'")
    async with asyncio.timeout(60):
        with pytest.raises(ModelUnavailable, match="gave no answer"):
            await house.client("claude").ask(QUESTION)


# Logged in ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "out", "code", "is_connected"),
    [
        ("claude", '{"loggedIn": true, "authMethod": "claude.ai", "subscriptionType": "max"}', 0, True),
        ("claude", '{\n  "loggedIn": true,\n  "authMethod": "oauth_token"\n}', 0, True),
        ("claude", '{"loggedIn": true, "authMethod": "api_key"}', 0, False),
        ("claude", '{"loggedIn": true, "authMethod": "third_party"}', 0, False),
        ("claude", '{"loggedIn": false}', 1, False),
        ("claude", "Usage: claude", 0, False),
        ("codex", "Logged in using ChatGPT", 0, True),
        ("codex", "Logged in using an API key - sk-***", 0, False),
        ("codex", "Not logged in", 1, False),
        ("codex", "", 0, False),
    ],
)  # fmt: skip
async def test_asked_whether_they_are_logged_in(
    house: House, name: str, out: str, code: int, is_connected: bool
) -> None:
    """A subscription counts, on whichever stream it is said; a key that a program knows does not."""
    for streams in ({"out": out}, {"out": "", "err": out} if name == "codex" else {"out": out}):
        path = house.answering(name, streams["out"], code=code, err=streams.get("err", ""))
        assert (
            await connected(PROGRAMS[name], path, environment=house.environment, home=house.home)
            is is_connected
        )
    assert house.arguments == list(PROGRAMS[name].status or ())
    assert not any(name in house.saw("environment") for name in ("API_KEY", "AUTH_TOKEN"))


BY_LOGIN: dict[str, Any] = {"security": {"auth": {"selectedType": "oauth-personal"}}}


@pytest.mark.parametrize(
    ("files", "is_connected"),
    [
        ({"settings.json": BY_LOGIN, "oauth_creds.json": {"access_token": "x"}}, True),
        ({"settings.json": BY_LOGIN, "google_accounts.json": {"active": "a@b.c"}}, True),
        ({"settings.json": {"selectedAuthType": "oauth-personal"}, "oauth_creds.json": {"a": 1}}, True),
        ({"settings.json": BY_LOGIN}, False),
        ({"settings.json": BY_LOGIN, "google_accounts.json": {"active": None}}, False),
        ({"settings.json": {"security": {"auth": {"selectedType": "gemini-api-key"}}}, "oauth_creds.json": {"a": 1}}, False),
        ({"oauth_creds.json": {"a": 1}}, False),
        ({"settings.json": [], "oauth_creds.json": "x"}, False),
        ({}, False),
    ],
)  # fmt: skip
async def test_gemini_is_known_by_its_files(
    house: House, files: Mapping[str, Any], is_connected: bool
) -> None:
    """Gemini's program has no question for it; what it has chosen stands in its folder."""
    path = house.answering("gemini", "")
    (house.home / ".gemini").mkdir()
    for name, content in files.items():
        (house.home / ".gemini" / name).write_text(json.dumps(content), encoding="utf-8")
    assert (
        await connected(PROGRAMS["gemini"], path, environment=house.environment, home=house.home)
        is is_connected
    )
    assert not (house.seen / "arguments").exists()


def test_found_on_the_path(house: House) -> None:
    """A program is one that can be started, in the folders of the PATH that was given."""
    assert found(PROGRAMS["claude"], str(house.bin)) is None
    path = house.answering("claude", "")
    assert found(PROGRAMS["claude"], str(house.bin)) == path
    path.chmod(0o644)
    assert found(PROGRAMS["claude"], str(house.bin)) is None
    assert found(PROGRAMS["claude"], "") is None


def test_what_is_passed_on() -> None:
    """Only names that are listed, and those of the locale."""
    assert passed_on({**KEYS, "PATH": "p", "LC_TIME": "t", "LD_PRELOAD": "x"}) == {
        "PATH": "p",
        "LC_TIME": "t",
    }
