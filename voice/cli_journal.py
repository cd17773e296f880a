"""The commands about the journal, watching and thinking (J)."""

from __future__ import annotations

import asyncio
import json
import sys
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from voice.cli_shared import (
    FAILED,
    LOOK,
    MEMORY,
    WRONG_USE,
    JsonOption,
    StateOption,
    VaultOption,
    app,
    load_for,
    memory_of,
    print_json,
    told,
)

if TYPE_CHECKING:
    from memory import Seen, Thoughts, WatchStatus
    from memory.records import JournalRead


@app.command(rich_help_panel=MEMORY)
def journal(
    day: Annotated[
        str | None,
        typer.Argument(
            metavar="[DAY]",
            help="As 2026-02-05, or yesterday, last friday, gestern, ayer; without, today.",
        ),
    ] = None,
    vault: VaultOption = None,
    state: StateOption = None,
    as_json: JsonOption = False,
) -> None:
    """Read a day of the journal, as its file is now.

    Example: `jarvis journal 2026-02-05`
    """
    from voice.own_memory import now

    with memory_of(vault, state) as memory:
        found = memory.journal_day(now().date() if day is None else _day(day, now()))
        days = memory.journal_days()
    if as_json:
        print_json(found.as_json())
        return
    for entry in found.entries:
        _show(entry)
    if not found.entries:
        before = f" The last one with entries is {days[0].isoformat()}." if days else ""
        typer.echo(f"Nothing is in the journal of {found.day.isoformat()}.{before}")
    if found.warning:
        typer.echo(found.warning, err=True)


def _day(written: str, at: datetime) -> date:
    from memory import day_named

    day = day_named(written, at)
    if day is None:
        typer.echo(f"{written} is no day. It looks like 2026-02-05, or yesterday.", err=True)
        raise typer.Exit(WRONG_USE)
    return day


def _show(entry: JournalRead, *, with_day: bool = False) -> None:
    when = f"{entry.time:%H:%M}" if entry.time else "     "
    if with_day:
        when = f"{entry.day.isoformat()} {when}"
    typer.echo(f"{when}  {'★' * entry.stars:<5}  {entry.title}")
    indent = " " * (len(when) + 9)
    for line in entry.text.splitlines():
        typer.echo(f"{indent}{line}" if line else "")


@app.command(rich_help_panel=MEMORY)
def insights(
    limit: Annotated[int, typer.Option("--limit", min=1, help="How many, the newest.")] = 20,
    vault: VaultOption = None,
    state: StateOption = None,
    as_json: JsonOption = False,
) -> None:
    """What thinking has noted, newest first.

    Example: `jarvis insights --limit 5`
    """
    with memory_of(vault, state) as memory:
        found = memory.insights(limit)
    if as_json:
        print_json([entry.as_json() for entry in found])
        return
    for entry in found:
        _show(entry, with_day=True)
    if not found:
        typer.echo("No insight is in the journal yet. `jarvis think` looks for one now.")


@app.command(rich_help_panel=MEMORY)
def think(
    vault: VaultOption = None, state: StateOption = None, as_json: JsonOption = False
) -> None:
    """Think now: one question to the background model about what is new in the journal.

    Example: `jarvis think`
    """
    from voice.watching import think_now

    with told():
        found = asyncio.run(think_now(load_for(vault, state)))
    if as_json:
        insight = found.entry and {
            "at": found.entry.at.isoformat(),
            "stars": found.entry.stars,
            "title": found.entry.title,
            "text": found.entry.text,
            "tags": list(found.entry.tags),
        }
        print_json({"outcome": found.what, "insight": insight, "reason": found.reason or None})
    elif found.entry is not None:
        typer.echo(f"{'★' * found.entry.stars}  {found.entry.title}\n{found.entry.text}")
    else:
        typer.echo(found.reason)
    if found.what in ("unavailable", "waiting", "nonsense", "elsewhere", "gave way"):
        raise typer.Exit(FAILED)


@app.command(rich_help_panel=LOOK)
def scan(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Where your projects are.")],
    as_json: JsonOption = False,
) -> None:
    """Discover the projects in a folder, by what their tools leave in them.

    Example: `jarvis scan ~/code`
    """
    from memory import scan as scanned

    _check([folder])
    found = scanned(folder.expanduser().absolute())
    if as_json:
        print_json(
            [
                {
                    "name": project.name,
                    "path": str(project.path),
                    "marks": list(project.marks),
                    "files": project.files,
                }
                for project in found
            ]
        )
        return
    for project in found:
        typer.echo(
            f"{project.name:<24} {project.files:>6,} files  {', '.join(project.marks):<28} "
            f"{project.path}"
        )
    if not found:
        typer.echo(f"No project is in {folder}.")


def _check(folders: list[Path]) -> None:
    for folder in folders:
        if not folder.expanduser().is_dir():
            typer.echo(f"{folder} is no folder. Name a folder that is there.", err=True)
            raise typer.Exit(WRONG_USE)


@app.command(rich_help_panel=MEMORY)
def watch(
    folders: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[DIR]...", help="Where your projects are; else the settings'."),
    ] = None,
    status: Annotated[
        bool, typer.Option("--status", help="Tell what is watched, last seen and last thought.")
    ] = False,
    stop: Annotated[bool, typer.Option("--stop", help="End the watch that runs.")] = False,
    vault: VaultOption = None,
    state: StateOption = None,
    as_json: JsonOption = False,
) -> None:
    """Watch folders: journal what changes in projects, keep the index current, and think.

    It runs until Ctrl-C, SIGTERM or `--stop`; another command reads its `--status`.

    Example: `jarvis watch ~/code`
    """
    if status or stop:
        if (status and stop) or folders:
            typer.echo("--status and --stop go alone, without folders.", err=True)
            raise typer.Exit(WRONG_USE)
        (_stop if stop else _status)(vault, state, as_json=as_json)
        return
    config = load_for(vault, state)
    named = folders or list(config.watch)
    if not named:
        typer.echo(
            'Name a folder to watch: jarvis watch ~/code. Or set watch = ["~/code"] in the '
            "settings.",
            err=True,
        )
        raise typer.Exit(WRONG_USE)
    _check(folders or [])

    from voice.watching import watch_until_told

    with told():
        asyncio.run(
            watch_until_told(
                config,
                [each.expanduser().absolute() for each in named],
                seen=lambda found: _print_seen(found, as_json=as_json),
                say=lambda line: typer.echo(line, err=as_json),
            )
        )


def _print_seen(found: Seen, *, as_json: bool) -> None:
    if as_json:
        line = {"at": found.at.isoformat(), "path": found.path, "what": found.what}
        sys.stdout.write(json.dumps(line, ensure_ascii=False) + "\n")
    else:
        sys.stdout.write(f"{found.at:%H:%M:%S}  {found.what:<7}  {_printable(found.path)}\n")
    sys.stdout.flush()


def _printable(path: str) -> str:
    """A file's name can't order the terminal."""
    return "".join(letter if letter.isprintable() else "�" for letter in path)


def _status(vault: Path | None, state: Path | None, *, as_json: bool) -> None:
    from voice.own_memory import now

    with memory_of(vault, state) as memory:
        found = memory.watch_status()
        thoughts = memory.thoughts(now())
        [*last] = memory.insights(1)
    if as_json:
        print_json(_status_json(found, thoughts, last))
        return
    if found is None:
        typer.echo("Nothing was ever watched with this state. `jarvis watch DIR` begins.")
    else:
        for line in _status_lines(found):
            typer.echo(line)
    for line in _thought_lines(thoughts, last):
        typer.echo(line)


def _status_json(
    found: WatchStatus | None, thoughts: Thoughts, last: list[JournalRead]
) -> dict[str, Any]:
    return {
        **({"running": False} if found is None else found.as_json()),
        "thinking": {
            "calls_today": thoughts.spent.calls,
            "tokens_today": thoughts.spent.tokens,
            "last_at": thoughts.at.isoformat() if thoughts.at else None,
            "last_outcome": thoughts.outcome,
            "last_insight": last[0].as_json() if last else None,
        },
    }


def _status_lines(found: WatchStatus) -> list[str]:
    state = f"runs (process {found.pid})" if found.running else "does not run"
    lines = [
        f"Watch      {state}, {'since' if found.running else 'last began'} "
        f"{found.began_at.astimezone():%Y-%m-%d %H:%M}"
    ]
    for folder in found.folders:
        projects = f", {len(folder.projects)} projects in it" if folder.projects else ""
        gone = "" if folder.state == "watching" else ", gone at the moment"
        left_out = f", {folder.left_out:,} too many" if folder.left_out else ""
        name = "Folder" if folder.kind == "project" else "Notes"
        lines.append(
            f"{name:<10} {_printable(folder.path)}: {folder.files:,} files{projects}{gone}{left_out}"
        )
    if found.last_seen is not None:
        lines.append(
            f"Last seen  {found.last_seen.at.astimezone():%Y-%m-%d %H:%M:%S}  {found.last_seen.what}  "
            f"{_printable(found.last_seen.path)}"
        )
    if found.last_told is not None:
        lines.append(
            f"Journaled  {found.last_told.at.astimezone():%Y-%m-%d %H:%M:%S}  {found.last_told.title}"
        )
    if found.waiting:
        lines.append(f"Waiting    {found.waiting} changed files are journaled soon")
    lines += [f"Careful    {fault}" for fault in found.faults]
    return lines


def _thought_lines(thoughts: Thoughts, last: list[JournalRead]) -> list[str]:
    spent = f"{thoughts.spent.calls} calls, {thoughts.spent.tokens:,} tokens in 24 hours"
    if thoughts.at is None:
        return [f"Thought    never; {spent}"]
    lines = [f"Thought    {thoughts.at:%Y-%m-%d %H:%M:%S}  {thoughts.outcome}; {spent}"]
    if last:
        lines.append(f"Insight    {last[0].day.isoformat()}  {last[0].text}")
    return lines


def _stop(vault: Path | None, state: Path | None, *, as_json: bool) -> None:
    from voice.watching import stop_other

    with memory_of(vault, state) as memory:
        found = memory.watch_status()
        stopped = found is not None and found.running and stop_other(memory, found.pid)
    if as_json:
        print_json({"stopped": stopped})
    else:
        typer.echo("The watch has ended." if stopped else "No watch runs.")
