"""Subscriptions, through the programs that are logged in to them.

A program gets the question on its standard input and works in an empty folder of its own.
Of the environment it sees only what is listed here, so that no key that lies there can be
billed in the subscription's place. It is killed with all that it started when it takes too
long or the question is taken back.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from memory.errors import ModelUnavailable
from memory.llm.child import run
from memory.llm.programs import Failed, Program
from memory.llm.protocol import Billing, Question, Reply

_log = logging.getLogger(__name__)

STATUS_TIMEOUT_S = 15.0

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
        except Failed as failed:
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


@contextlib.contextmanager
def _empty_folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="jarvis-", ignore_cleanup_errors=True) as folder:
        yield Path(folder)
