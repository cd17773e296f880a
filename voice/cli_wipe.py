"""`jarvis wipe`: everything that Jarvis knows, listed, asked for, and gone (S4)."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from voice.cli_shared import (
    CARE,
    FAILED,
    WRONG_USE,
    JsonOption,
    StateOption,
    VaultOption,
    app,
    memory_of,
    print_json,
)

if TYPE_CHECKING:
    from memory import WipeItem


@app.command(rich_help_panel=CARE)
def wipe(
    yes: Annotated[bool, typer.Option("--yes", help="Don't ask; for scripts.")] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="List what would go, and clear nothing.")
    ] = False,
    vault: VaultOption = None,
    state: StateOption = None,
    as_json: JsonOption = False,
) -> None:
    """Clear everything that Jarvis knows: notebooks, logs, journal, lessons, index, recordings.

    Your own notes and the models' weights stay.

    Example: `jarvis wipe --dry-run`
    """
    from voice.own_memory import now

    with memory_of(vault, state) as memory:
        plan = memory.wipe_plan()
        if dry_run or not plan.items:
            if as_json:
                print_json(plan.as_json())
            else:
                _list(plan.items, plan.stays, "Would clear" if plan.items else "Nothing to clear")
            return
        if not yes:
            _ask(plan.items, plan.stays)
        report = memory.wipe(now())
    if as_json:
        print_json(report.as_json())
    else:
        _list(report.cleared, report.stays, "Cleared")
    for fault in report.failed:
        typer.echo(fault, err=True)
    if report.failed:
        raise typer.Exit(FAILED)


def _ask(items: tuple[WipeItem, ...], stays: tuple[str, ...]) -> None:
    """On a terminal, a word that nobody types by accident."""
    if not sys.stdin.isatty():
        typer.echo(
            "Nothing was cleared: `jarvis wipe` asks first. Run it in a terminal, or with --yes "
            "if you mean it. `jarvis wipe --dry-run` lists what would go.",
            err=True,
        )
        raise typer.Exit(WRONG_USE)
    _list(items, stays, "This will be cleared, and can't be brought back", err=True)
    answer = typer.prompt("Type “wipe” to clear all of it", err=True)
    if answer.strip().strip("“”\"'").casefold() != "wipe":
        typer.echo("Nothing was cleared.", err=True)
        raise typer.Exit(FAILED)


def _list(
    items: tuple[WipeItem, ...], stays: tuple[str, ...], title: str, *, err: bool = False
) -> None:
    total = sum(each.bytes for each in items)
    typer.echo(f"{title}{f' ({size(total)}):' if items else '.'}", err=err)
    for each in items:
        files = f"{each.files} file" if each.files == 1 else f"{each.files} files"
        typer.echo(f"  {each.what:<28}{files:>10}{size(each.bytes):>12}", err=err)
        for place in each.places:
            typer.echo(f"      {place}", err=err)
    for sentence in stays:
        typer.echo(sentence, err=err)
    if items:
        typer.echo(
            "Your own notes and the models' weights stay, and so do copies elsewhere: backups, "
            "snapshots, other machines that keep this folder in step.",
            err=err,
        )


def size(count: int) -> str:
    """As people read it: 140 kB."""
    if count < 1_000:
        return f"{count} bytes"
    return f"{count / 1e3:,.0f} kB" if count < 1_000_000 else f"{count / 1e6:,.1f} MB"
