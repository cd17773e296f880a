"""What the modules of the command line share: the app, its options, how faults are told."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memory.errors import MemoryFault
from voice.errors import SettingInvalid, VoiceFault

if TYPE_CHECKING:
    from memory import Memory
    from voice.config import Config

app = typer.Typer(
    name="jarvis",
    help="A voice assistant that you talk to, and that remembers you in files you own.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
)

TALK, MEMORY, LOOK, CARE = "Talk", "What Jarvis knows", "Look", "Care"

VaultOption = Annotated[
    Path | None,
    typer.Option("--vault", help="Your folder of Markdown files.", show_default="~/Jarvis"),
]
StateOption = Annotated[
    Path | None,
    typer.Option("--state", help="Where the event log, calls and indexes are."),
]
JsonOption = Annotated[bool, typer.Option("--json", help="One JSON value, nothing else.")]
EngineOption = Annotated[
    str | None, typer.Option("--engine", help="auto, local, openai or gemini.")
]
ModelOption = Annotated[
    str | None, typer.Option("--model", help="The built-in model: auto, small or better.")
]
LanguageOption = Annotated[
    str | None, typer.Option("--language", help="The language to begin in: en, de or es.")
]
WRONG_USE, FAILED = 2, 1


@contextmanager
def told() -> Iterator[None]:
    """What the world did to us is one sentence on standard error, not a traceback."""
    try:
        yield
    except SettingInvalid as fault:
        typer.echo(str(fault), err=True)
        raise typer.Exit(WRONG_USE) from None
    except (VoiceFault, MemoryFault) as fault:
        typer.echo(str(fault), err=True)
        raise typer.Exit(FAILED) from None


def print_json(value: Any) -> None:
    sys.stdout.write(json.dumps(value, ensure_ascii=False) + "\n")
    sys.stdout.flush()


def chosen(**given: Any) -> Config:
    """The settings, under what the command line says; a wrong one is told."""
    from voice.config import load  # a tenth of a second that `jarvis --help` does without

    with told():
        return load(given)


def load_for(vault: Path | None, state: Path | None) -> Config:
    return chosen(vault=vault, state=state)


@contextmanager
def memory_of(vault: Path | None, state: Path | None) -> Iterator[Memory]:
    """The user's memory for one command; what the world does to it is told."""
    # The rules of three languages come with it: `jarvis --help` does not wait for them.
    from voice.own_memory import open_memory

    with told():
        memory = open_memory(load_for(vault, state))
        try:
            yield memory
        finally:
            memory.close()
