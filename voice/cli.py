"""The command line: parse, call one function, print (spec, section C)."""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from voice import (  # noqa: F401 - each registers its commands
    cli_journal,
    cli_lessons,
    cli_memory,
    cli_recall,
    cli_talk,
    cli_wipe,
)
from voice.cli_shared import (
    CARE,
    FAILED,
    LOOK,
    MEMORY,
    TALK,
    WRONG_USE,
    EngineOption,
    JsonOption,
    LanguageOption,
    ModelOption,
    StateOption,
    VaultOption,
    app,
    chosen,
    load_for,
    memory_of,
    print_json,
    told,
)
from voice.errors import VoiceFault

if TYPE_CHECKING:
    from voice.config import Config

# Modules that load models or pipecat are imported by the command that needs them, so that
# `jarvis --help` answers at once.


@app.callback()
def root(
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Log what happens, in ids and counts.")
    ] = False,
) -> None:
    from voice.logs import set_up

    set_up(logging.INFO if verbose else logging.WARNING)


@app.command(rich_help_panel=TALK)
def serve(
    vault: VaultOption = None,
    state: StateOption = None,
    engine: EngineOption = None,
    model: ModelOption = None,
    language: LanguageOption = None,
    port: Annotated[int | None, typer.Option("--port", help="The page's port.")] = None,
    host: Annotated[
        str | None,
        typer.Option(
            "--host", help="Let other machines in: 0.0.0.0, or one address. With a token."
        ),
    ] = None,
    record: Annotated[
        Path | None, typer.Option("--record", help="Keep each call's sound in this folder.")
    ] = None,
    open_browser: Annotated[
        bool,
        typer.Option("--open/--no-open", envvar="JARVIS_OPEN", help="Open the page in a browser."),
    ] = False,
) -> None:
    """Serve the page on this machine, and talk to Jarvis there.

    Example: `jarvis serve --port 7788`
    """
    from voice.serve import run

    with told():
        config = chosen(
            vault=vault,
            state=state,
            engine=engine,
            model=model,
            language=language,
            port=port,
            host=host,
            record=record,
        )
        run(config, say=lambda line: typer.echo(line), open_browser=open_browser)


@app.command(rich_help_panel=TALK)
def chat(
    vault: VaultOption = None,
    state: StateOption = None,
    engine: EngineOption = None,
    model: ModelOption = None,
    language: LanguageOption = None,
    as_json: JsonOption = False,
) -> None:
    """Type with Jarvis; lines may come from a pipe too.

    Example: `echo "When is my sister's birthday?" | jarvis chat`
    """
    from voice.keyboard import run

    with told():
        config = chosen(
            vault=vault,
            state=state,
            engine=engine,
            model=model,
            language=language,
        )
        asyncio.run(run(config, as_json=as_json))


@app.command(rich_help_panel=LOOK)
def hear(
    files: Annotated[list[Path], typer.Argument(help="Audio files: wav, flac, mp3, ogg, m4a.")],
    language: LanguageOption = None,
    as_json: JsonOption = False,
) -> None:
    """Tell the turns heard in audio files: start, end, text, language.

    Example: `jarvis hear question.wav --json`
    """
    from voice.listening import hear_files

    with told():
        config = chosen(language=language)
        failed = False
        heard = []
        for path, outcome in asyncio.run(hear_files(config, files)):
            if isinstance(outcome, VoiceFault):
                typer.echo(str(outcome), err=True)
                failed = True
                continue
            heard.append({"file": str(path), "turns": [turn.as_json() for turn in outcome]})
            if not as_json:
                _print_heard(path, outcome, named=len(files) > 1)
        if as_json:
            print_json(heard)
        if failed:
            raise typer.Exit(FAILED)


def _print_heard(path: Path, turns: Any, *, named: bool) -> None:
    if named:
        typer.echo(f"{path}:")
    for turn in turns:
        typer.echo(f"{turn.start_s:7.2f} {turn.end_s:7.2f}  {turn.language}  {turn.text}")
    if not turns:
        typer.echo("Nobody spoke.")


@app.command(rich_help_panel=LOOK)
def prefix(vault: VaultOption = None, state: StateOption = None) -> None:
    """Print the bytes that ride in front of every conversation, as they are now.

    Example: `jarvis prefix | wc -c`
    """
    with memory_of(vault, state) as memory:
        found = memory.prefix()
        for warning in found.warnings:
            typer.echo(warning, err=True)
        sys.stdout.buffer.write(found.text.encode())
        sys.stdout.buffer.flush()


@app.command(rich_help_panel=LOOK)
def replay(
    call: Annotated[
        Path | None, typer.Argument(help="A recorded call: a folder or a file.")
    ] = None,
    vault: VaultOption = None,
    month: Annotated[
        Path | None,
        typer.Option("--month", help="A folder of transcripts: what a month would cost."),
    ] = None,
    real_time: Annotated[
        bool, typer.Option("--real-time", help="As fast as it was spoken, not faster.")
    ] = False,
    keep_hearing: Annotated[
        bool,
        typer.Option(
            "--keep-hearing",
            help="Write what was heard beside the call: the next replay needs no model.",
        ),
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Run a recorded call through the same code as a live one.

    Example: `jarvis replay fixtures/calls/birthday --json`
    """
    if month is not None:
        cli_memory.month_report(month, as_json=as_json)
        return
    if call is None:
        typer.echo("Name a recorded call, or a folder of them with --month.", err=True)
        raise typer.Exit(WRONG_USE)
    from voice.replay import run

    with told():
        result = run(chosen(vault=vault), call, real_time=real_time, keep=keep_hearing)
        for difference in result.differences:
            typer.echo(f"Otherwise than in the call, at {difference}", err=True)
        if as_json:
            print_json(result.as_json())
            return
        for turn in result.turns:
            who = "You" if turn.speaker == "user" else "Jarvis"
            cut = " /" if turn.interrupted else ""
            typer.echo(f"{turn.began_at:%H:%M:%S}  {who:<6}  {turn.text}{cut}")
        typer.echo(f"Handed over: {result.handed_over or 'nothing'}")
        typer.echo(f"Marked: {result.marked} sentences; reviews: {result.reviews}")
        for change in result.changes:
            typer.echo(f"{change.notebook}: {change.old or ''} -> {change.new or ''}")


@app.command(rich_help_panel=CARE)
def models(
    names: Annotated[list[str] | None, typer.Argument(help="Only these.")] = None,
    bring: Annotated[
        bool, typer.Option("--bring", help="Bring what is missing (by default what is needed).")
    ] = False,
    verify: Annotated[bool, typer.Option("--verify", help="Check every byte by its hash.")] = False,
    as_json: JsonOption = False,
) -> None:
    """The models' weights on this machine.

    Example: `jarvis models --verify`
    """
    from voice.equipment import bring_weights, weights_report

    with told():
        config = chosen()
        if bring:
            bring_weights(config, names or None)
        rows = weights_report(config, names or None, verify=verify)
        if as_json:
            print_json([row.as_json() for row in rows])
        elif not bring or names:
            for row in rows:
                checked = ", checked" if row.verified else ""
                size = f"{row.bytes / 1e6:,.0f} MB"
                typer.echo(f"{row.name:<14} {row.state}{checked:<10} {size:>9}  {row.purpose}")
                for file in row.files:
                    if file.state == "damaged":
                        typer.echo(f"{'':<14} {file.path}: {file.reason}")
        if verify and any(row.state == "damaged" for row in rows):
            raise typer.Exit(FAILED)


@app.command(rich_help_panel=CARE)
def stats(
    vault: VaultOption = None, state: StateOption = None, as_json: JsonOption = False
) -> None:
    """How fast answers came, what was cached, and what became of the microphone's sound.

    Example: `jarvis stats`
    """
    from voice.stats import latency_stats

    _report(latency_stats, load_for(vault, state), as_json)


@app.command(rich_help_panel=CARE)
def doctor(
    vault: VaultOption = None, state: StateOption = None, as_json: JsonOption = False
) -> None:
    """What works and what doesn't, with the remedy.

    Example: `jarvis doctor`
    """
    from voice.doctor import examine

    with told():
        findings = asyncio.run(examine(load_for(vault, state)))
        if as_json:
            print_json([finding.as_json() for finding in findings])
        else:
            for finding in findings:
                typer.echo(finding.line())
        if any(finding.level == "broken" for finding in findings):
            raise typer.Exit(FAILED)


def _report(make: Callable[[Config], Any], config: Config, as_json: bool) -> None:
    with told():
        report = make(config)
        if as_json:
            print_json(report.as_json())
        else:
            typer.echo(report.text())


# The order in which `jarvis --help` shows them, whichever module registered first.
app.registered_commands.sort(
    key=lambda command: (TALK, MEMORY, LOOK, CARE).index(str(command.rich_help_panel))
)


def main() -> None:
    app()
