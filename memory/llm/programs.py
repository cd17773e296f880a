"""The programs that are logged in to a subscription: `claude`, `codex`, `gemini`.

What each is started with, so that its tools are switched off, and what it prints.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from memory import store
from memory.llm.child import Ran
from memory.llm.protocol import Question, Reply
from memory.llm.schemas import told, without_limits


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """How a program is started: `arguments` without its own name, and what it reads."""

    arguments: tuple[str, ...]
    text: str
    environment: Mapping[str, str] = field(default_factory=dict)


class Failed(Exception):
    """The program itself says that it failed; `said` is never shown."""

    def __init__(self, said: str) -> None:
        super().__init__()
        self.said = said.lower()


class Program(Protocol):
    """One program's arguments and what it prints."""

    @property
    def command(self) -> str: ...

    @property
    def title(self) -> str: ...

    @property
    def login(self) -> str:
        """What the user does to log in."""
        ...

    @property
    def status(self) -> tuple[str, ...] | None:
        """The arguments that ask whether it is logged in, where it can be asked."""
        ...

    def is_connected(self, ran: Ran | None, home: Path, /) -> bool:
        """Whether a subscription is logged in: a key that the program knows is none."""
        ...

    def call(self, question: Question, model: str, folder: Path, /) -> Call: ...

    def reply(self, ran: Ran) -> Reply:
        """Raises Failed."""
        ...


class Claude:
    command = "claude"
    title = "The Claude subscription"
    login = "run `claude auth login`"
    status = ("auth", "status")

    def is_connected(self, ran: Ran | None, _home: Path, /) -> bool:
        told_by = _last_object(ran.out) if ran is not None and ran.code == 0 else {}
        return told_by.get("loggedIn") is True and told_by.get("authMethod") in (
            "claude.ai",
            "oauth_token",
        )

    def call(self, question: Question, model: str, _folder: Path, /) -> Call:
        arguments = [
            "-p", "--output-format", "json", "--model", model, "--tools", "", "--strict-mcp-config",
            "--setting-sources", "", "--disable-slash-commands", "--no-session-persistence",
            "--system-prompt", question.instructions,
        ]  # fmt: skip
        if question.schema is not None:
            arguments += ["--json-schema", json.dumps(without_limits(question.schema))]
        return Call(arguments=tuple(arguments), text=question.text)

    def reply(self, ran: Ran) -> Reply:
        told_by = _last_object(ran.out)
        if ran.code != 0 or told_by.get("is_error") or not told_by:
            raise Failed(f"{told_by.get('result') or ''} {ran.err}")
        usage = _object(told_by.get("usage"))
        read = [
            _count(usage.get(name))
            for name in ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
        ]
        structured = told_by.get("structured_output")
        return Reply(
            text=json.dumps(structured, ensure_ascii=False)
            if structured is not None
            else str(told_by.get("result") or ""),
            tokens_in=None if read[0] is None else sum(filter(None, read)),
            tokens_out=_count(usage.get("output_tokens")),
        )


class Codex:
    command = "codex"
    title = "The ChatGPT subscription"
    login = "run `codex login`"
    status = ("login", "status")

    def is_connected(self, ran: Ran | None, _home: Path, /) -> bool:
        return ran is not None and ran.code == 0 and "chatgpt" in (ran.out + ran.err).lower()

    def call(self, question: Question, model: str, folder: Path, /) -> Call:
        arguments = [
            "exec", "--json", "--ephemeral", "--ignore-user-config", "--skip-git-repo-check",
            "--sandbox", "read-only", "--color", "never", "--model", model,
            "-c", 'model_reasoning_effort="low"', "-c", "features.shell_tool=false",
            "-c", "features.unified_exec=false", "-c", 'web_search="disabled"',
        ]  # fmt: skip
        if question.schema is not None:
            schema = folder / "schema.json"
            store.replace(schema, json.dumps(question.schema).encode(), expected=None)
            arguments += ["--output-schema", str(schema)]
        text = f"{question.instructions.rstrip()}\n\n{question.text}"
        return Call(arguments=(*arguments, "-"), text=text)

    def reply(self, ran: Ran) -> Reply:
        text: str | None = None
        usage: dict[str, Any] = {}
        faults = []
        for event in _objects(ran.out):
            item = _object(event.get("item"))
            if event.get("type") == "item.completed" and item.get("type") == "agent_message":
                text = str(item.get("text") or "")
            elif event.get("type") == "turn.completed":
                usage = _object(event.get("usage"))
            elif event.get("type") in ("error", "turn.failed"):
                faults.append(json.dumps(event))
        if ran.code != 0 or text is None:
            raise Failed(" ".join([*faults, ran.err]))
        return Reply(
            text=text,
            tokens_in=_count(usage.get("input_tokens")),
            tokens_out=_count(usage.get("output_tokens")),
        )


class GeminiLogin:
    command = "gemini"
    title = "The Google login"
    login = "start `gemini` and log in with Google"
    status = None

    def is_connected(self, _ran: Ran | None, home: Path, /) -> bool:
        folder = home / ".gemini"
        settings = _file(folder / "settings.json")
        chosen = _object(_object(settings.get("security")).get("auth")).get("selectedType")
        by_login = (chosen or settings.get("selectedAuthType")) == "oauth-personal"
        account = _file(folder / "google_accounts.json").get("active")
        return by_login and bool(account or _file(folder / "oauth_creds.json"))

    def call(self, question: Question, model: str, folder: Path, /) -> Call:
        system = folder / "system.md"
        store.replace(system, told(question).encode(errors="replace"), expected=None)
        settings = folder / ".gemini"
        store.make_folder(settings, private=True)
        no_tools: dict[str, Any] = {"tools": {"core": []}, "mcp": {"allowed": []}, "mcpServers": {}}
        store.replace(settings / "settings.json", json.dumps(no_tools).encode(), expected=None)
        return Call(
            arguments=("--output-format", "json", "--model", model, "--extensions", "none"),
            text=question.text,
            environment={
                "GEMINI_SYSTEM_MD": str(system),
                "GEMINI_CLI_TRUST_WORKSPACE": "true",  # for the settings in the folder
                "GOOGLE_GENAI_USE_GCA": "true",  # by the login, whatever else there is
            },
        )

    def reply(self, ran: Ran) -> Reply:
        told_by = _last_object(ran.out)
        if ran.code != 0 or told_by.get("error") or not isinstance(told_by.get("response"), str):
            raise Failed(f"{json.dumps(told_by.get('error'))} {ran.err}")
        models = _object(_object(told_by.get("stats")).get("models")).values()
        counted = [_object(_object(each).get("tokens")) for each in models]
        return Reply(
            text=told_by["response"],
            tokens_in=_sum([_count(each.get("prompt")) for each in counted]),
            tokens_out=_sum(
                [_count(each.get(name)) for each in counted for name in ("candidates", "thoughts")]
            ),
        )


PROGRAMS: Mapping[str, Program] = {
    each.command: each for each in (Claude(), Codex(), GeminiLogin())
}


# What they print --------------------------------------------------------------------


def _objects(text: str) -> list[dict[str, Any]]:
    """The JSON objects that stand in lines of their own."""
    lines = (line for line in text.splitlines() if line.lstrip().startswith("{"))
    return [found for line in lines if (found := _parsed(line)) is not None]


def _last_object(text: str) -> dict[str, Any]:
    """The JSON object that the output is, or ends with: notices may stand before it."""
    whole = _parsed(text[text.find("{") :]) if "{" in text else None
    if whole is not None:
        return whole
    lines = _objects(text)
    return lines[-1] if lines else {}


def _parsed(text: str) -> dict[str, Any] | None:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _sum(counts: list[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if known else None


def _file(path: Path) -> dict[str, Any]:
    try:
        return _parsed(path.read_text(encoding="utf-8")) or {}
    except (OSError, UnicodeDecodeError):
        return {}
