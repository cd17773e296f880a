"""Subscriptions, through the programs that are logged in to them: `claude`, `codex`, `gemini`.

A program gets the question on its standard input and works in an empty folder of its own,
with its tools switched off. Of the environment it sees only what is listed here, so that no
key that lies there can be billed in the subscription's place. It is killed with all that it
started when it takes too long or the question is taken back.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import shutil
import signal
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from memory import store
from memory.errors import ModelUnavailable
from memory.llm.protocol import Billing, Question, Reply
from memory.llm.schemas import told, without_limits

_log = logging.getLogger(__name__)

OUTPUT_BYTES = 1 << 20
STATUS_TIMEOUT_S = 15.0
_LAST_OUTPUT_S = 2.0
"""How long the pipes may stay open behind a program that ended; then what came is the output."""

PASSED_ON = frozenset(
    {
        "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TMPDIR", "TERM",
        "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR",
        "DBUS_SESSION_BUS_ADDRESS",  # the keyring, where logins may be kept
        "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY",
        "http_proxy", "https_proxy", "all_proxy", "no_proxy",
        "SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS",
        "CLAUDE_CONFIG_DIR", "CLAUDE_CODE_OAUTH_TOKEN",  # the token of a subscription, no key
        "CODEX_HOME", "GOOGLE_CLOUD_PROJECT",
    }
)  # fmt: skip
"""What a program sees of the environment, besides LC_*."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """How a program is started: `arguments` without its own name, and what it reads."""

    arguments: tuple[str, ...]
    text: str
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """How it ended: negative codes are signals."""

    code: int
    out: str
    err: str


class _Failed(Exception):
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
        """Raises _Failed."""
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
            raise _Failed(f"{told_by.get('result') or ''} {ran.err}")
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
            raise _Failed(" ".join([*faults, ran.err]))
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
            raise _Failed(f"{json.dumps(told_by.get('error'))} {ran.err}")
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


class CommandLine:
    """A background model behind a program. `path` is the program's file; `environment` is
    the user's, of which `PASSED_ON` goes on."""

    billing: Billing = "subscription"
    uses_this_cpu = False
    small = False

    def __init__(
        self, program: Program, path: Path, model: str, *, environment: Mapping[str, str]
    ) -> None:
        self.name = f"{program.command} {model}"
        self._program = program
        self._path = path
        self._model = model
        self._environment = passed_on(environment)

    async def ask(self, question: Question) -> Reply:
        program = self._program
        with _empty_folder() as folder:
            call = await asyncio.to_thread(program.call, question, self._model, folder)
            try:
                ran = await run(
                    (str(self._path), *call.arguments),
                    text=call.text,
                    folder=folder,
                    environment={**self._environment, **call.environment},
                    timeout_s=question.timeout_s,
                )
            except TimeoutError:
                raise ModelUnavailable(
                    f"{program.title} did not answer within {question.timeout_s:g} seconds. "
                    "It is asked again later."
                ) from None
            except OSError as fault:
                raise ModelUnavailable(
                    f"{self._path} can't be started ({fault.strerror}). Install `{program.command}` "
                    "again, or choose another provider with background."
                ) from None
        try:
            return program.reply(ran)
        except _Failed as failed:
            _log.debug("%s ended with code %d", program.command, ran.code)
            raise _unavailable(program, self._model, ran.code, failed.said) from None

    async def close(self) -> None:
        """Nothing stays open between questions."""


def _unavailable(program: Program, model: str, code: int, said: str) -> ModelUnavailable:
    """The sentence for what a program said; its own words may repeat what it was asked."""
    for words, sentence in (
        (
            ("unknown option", "unexpected argument", "unknown argument", "unrecognized"),
            f"`{program.command}` is too old for Jarvis. Update it.",
        ),
        (
            ("usage limit", "limit reached", "rate limit", "hit your limit", "quota", "429"),
            f"{program.title} has reached its limit. It is asked again later.",
        ),
        (
            ("log in", "login", "logged", "unauthorized", "authenticat", "api key", "401"),
            f"{program.title} is not logged in any more: {program.login}.",
        ),
        (
            ("model",),
            f"{program.title} does not have the model “{model}”, or not now. Choose another with "
            "background_model, or update the program.",
        ),
    ):
        if any(word in said for word in words):
            return ModelUnavailable(sentence)
    return ModelUnavailable(
        f"`{program.command}` gave no answer (code {code}). Try it in a terminal; it is asked "
        "again later."
    )


async def connected(
    program: Program, path: Path, *, environment: Mapping[str, str], home: Path
) -> bool:
    """Whether a subscription is logged in, as far as the program says so in time."""
    ran = None
    if program.status is not None:
        try:
            with _empty_folder() as folder:
                ran = await run(
                    (str(path), *program.status),
                    text="",
                    folder=folder,
                    environment=passed_on(environment),
                    timeout_s=STATUS_TIMEOUT_S,
                )
        except (OSError, TimeoutError) as fault:
            _log.info(
                "%s did not say whether it is logged in: %s", program.command, type(fault).__name__
            )
            return False
    return await asyncio.to_thread(program.is_connected, ran, home)


def found(program: Program, search_path: str) -> Path | None:
    """The program's file in the folders of `search_path`, as in PATH."""
    path = shutil.which(program.command, path=search_path)
    return Path(path) if path else None


def passed_on(environment: Mapping[str, str]) -> dict[str, str]:
    return {
        name: value
        for name, value in environment.items()
        if name in PASSED_ON or name.startswith("LC_")
    }


# Child processes ----------------------------------------------------------------------


async def run(
    command: tuple[str, ...],
    *,
    text: str,
    folder: Path,
    environment: Mapping[str, str],
    timeout_s: float,
) -> Ran:
    """Run a command to its end. Raises OSError where it can't be started, TimeoutError.

    It leads a group of its own, and no process of that group outlives this call: after the
    end, a timeout, or a cancellation. More than `OUTPUT_BYTES` of output end it too.
    """
    transport, child = await _started(command, folder, environment)
    try:
        async with asyncio.timeout(timeout_s):
            child.read(text)
            await asyncio.shield(child.exited)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_LAST_OUTPUT_S):
                    await asyncio.shield(child.silent)
    finally:
        if not child.silent.done():
            _kill_group(transport.get_pid())
        await asyncio.shield(child.exited)
        transport.close()
    return Ran(code=transport.get_returncode() or 0, out=child.said(1), err=child.said(2))


class _Child(asyncio.SubprocessProtocol):
    """What it says, and when it ends. `silent` is done when nobody holds its pipes any more.

    asyncio's own Process.wait() waits for the pipes as well, up to Python 3.11: a program
    that leaves something running would never end.
    """

    def __init__(self) -> None:
        loop = asyncio.get_running_loop()
        self.exited: asyncio.Future[None] = loop.create_future()
        self.silent: asyncio.Future[None] = loop.create_future()
        self._said = {1: bytearray(), 2: bytearray()}
        self._transport: asyncio.SubprocessTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.SubprocessTransport)
        self._transport = transport

    def pipe_data_received(self, fd: int, data: bytes | str) -> None:
        assert isinstance(data, bytes)
        if len(self._said[fd]) <= OUTPUT_BYTES:
            self._said[fd] += data
        else:
            self._kill()

    def process_exited(self) -> None:
        self._kill()  # what it left running
        self.exited.set_result(None)

    def connection_lost(self, _exc: Exception | None) -> None:
        self.silent.set_result(None)

    def read(self, text: str) -> None:
        """Give it what it reads; it may end without reading it."""
        assert self._transport is not None
        pipe = self._transport.get_pipe_transport(0)
        assert isinstance(pipe, asyncio.WriteTransport)
        pipe.write(text.encode(errors="replace"))
        pipe.close()

    def said(self, fd: int) -> str:
        return self._said[fd].decode(errors="replace")

    def _kill(self) -> None:
        assert self._transport is not None
        _kill_group(self._transport.get_pid())


async def _started(
    command: tuple[str, ...], folder: Path, environment: Mapping[str, str]
) -> tuple[asyncio.SubprocessTransport, _Child]:
    """A cancellation that comes while it starts waits until there is something to kill."""
    starting = asyncio.ensure_future(
        asyncio.get_running_loop().subprocess_exec(
            _Child,
            *command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            cwd=folder,
            env=dict(environment),
            start_new_session=True,
        )
    )
    try:
        return await asyncio.shield(starting)
    except asyncio.CancelledError:
        with contextlib.suppress(OSError):
            transport, child = await starting
            _kill_group(transport.get_pid())
            await child.exited
            transport.close()
        raise


def _kill_group(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


@contextlib.contextmanager
def _empty_folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="jarvis-", ignore_cleanup_errors=True) as folder:
        yield Path(folder)


# What programs print ------------------------------------------------------------------


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
