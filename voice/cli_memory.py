"""The commands about what Jarvis knows: filter, judge, remember, review, and the change log."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memory.records import Change
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
    from memory import WaitingReview


def _lines() -> Iterator[tuple[int, str]]:
    """The lines of standard input that are not empty, with their numbers."""
    for number, line in enumerate(sys.stdin.buffer, start=1):
        if line.strip():
            try:
                yield number, line.decode()
            except UnicodeDecodeError:
                raise _wrong_line(number, "This is not UTF-8. Save the file as UTF-8.") from None


def _wrong_line(number: int, reason: str) -> typer.Exit:
    typer.echo(f"Line {number}: {reason}", err=True)
    return typer.Exit(WRONG_USE)


@app.command("filter", rich_help_panel=LOOK)
def filter_lines(as_json: JsonOption = False) -> None:
    """Which sentences are worth a review: JSON lines in, `{"text", "lang"?, "previous"?}`.

    Example: `echo '{"text": "I am vegan"}' | jarvis filter --json`
    """
    from memory import filtered

    for number, line in _lines():
        try:
            found = filtered(line)
        except ValueError as fault:
            raise _wrong_line(number, str(fault)) from None
        if as_json:
            sys.stdout.write(json.dumps(found, ensure_ascii=False) + "\n")
        elif found["marked"]:
            for each in found["candidates"]:
                sys.stdout.write(f"{each['kind']:<11} {each['rule']:<28} {each['quote']}\n")
        else:
            sys.stdout.write(f"{'-':<40} {found['text']}\n")
    sys.stdout.flush()


@app.command(rich_help_panel=LOOK)
def judge(as_json: JsonOption = False) -> None:
    """Whether proposed changes would be accepted: JSON lines in, a verdict for each proposal.

    A line is `{"turns": [...], "notebooks": {...}, "proposals": [...]}`.

    Example: `jarvis judge --json < proposals.jsonl`
    """
    from memory import judged

    for number, line in _lines():
        try:
            verdicts = judged(line)
        except ValueError as fault:
            raise _wrong_line(number, str(fault)) from None
        for verdict in verdicts:
            if as_json:
                sys.stdout.write(json.dumps(verdict, ensure_ascii=False) + "\n")
            elif verdict["accepted"]:
                sys.stdout.write("accepted\n")
            else:
                sys.stdout.write(f"refused   {verdict['rule']:<6} {verdict['reason']}\n")
    sys.stdout.flush()


@app.command(rich_help_panel=MEMORY)
def remember(
    text: Annotated[str, typer.Argument(help="What to remember, in your words.")],
    at: Annotated[
        str | None,
        typer.Option("--at", help="When it was said, in ISO form; relative dates count from it."),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be written, and write nothing.")
    ] = False,
    vault: VaultOption = None,
    state: StateOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write something into the notebook, as "remember that ..." does in a call.

    Example: `jarvis remember "my sister's birthday is on March twelfth"`
    """
    from voice.own_memory import now

    said_at = now() if at is None else _time(at)
    with memory_of(vault, state) as memory:
        outcome = memory.remember_text(text, said_at, dry_run=dry_run)
    if as_json:
        print_json(
            {
                "saved": outcome.saved,
                "notebook": outcome.notebook,
                "entry": outcome.entry,
                "reason": outcome.reason,
            }
        )
    elif outcome.saved:
        would = "Would be saved" if dry_run else "Saved"
        typer.echo(f"{would} in {outcome.notebook}: {outcome.entry}")
        if outcome.reason:
            typer.echo(outcome.reason)
    elif outcome.waits:
        typer.echo(f"Kept for later: {outcome.reason}")
    else:
        typer.echo(f"Not saved: {outcome.reason}")


def _time(written: str) -> datetime:
    """Without a zone it is the user's own; with one, its day is the day that counts."""
    try:
        moment = datetime.fromisoformat(written)
    except ValueError:
        typer.echo(f"--at {written} is no time. It looks like 2026-12-02T10:00:00+01:00.", err=True)
        raise typer.Exit(WRONG_USE) from None
    return moment if moment.tzinfo else moment.astimezone()


@app.command(rich_help_panel=MEMORY)
def changes(
    vault: VaultOption = None, state: StateOption = None, as_json: JsonOption = False
) -> None:
    """What was changed in the notebooks, with the words that it rests on; newest last.

    Example: `jarvis changes`
    """
    from voice.own_memory import now

    with memory_of(vault, state) as memory:
        memory.notice_edits(now())
        found = memory.changes()
    _show(found, as_json=as_json, nothing="Nothing was changed yet.")


@app.command(rich_help_panel=MEMORY)
def undo(
    change: Annotated[str, typer.Argument(metavar="ID", help="As `jarvis changes` shows it.")],
    vault: VaultOption = None,
    state: StateOption = None,
    as_json: JsonOption = False,
) -> None:
    """Reverse one change of the notebooks.

    Example: `jarvis undo 6g7z8g0`
    """
    from voice.own_memory import now

    with memory_of(vault, state) as memory:
        done = memory.undo(change, now())
    _show((done,), as_json=as_json, nothing="")


@app.command(rich_help_panel=MEMORY)
def forget(
    text: Annotated[str, typer.Argument(help="The entry, or words that only it has.")],
    vault: VaultOption = None,
    state: StateOption = None,
    as_json: JsonOption = False,
) -> None:
    """Take an entry out of the notebooks. It is not learned again from what you said before.

    Example: `jarvis forget "my old address"`
    """
    from voice.own_memory import now

    with memory_of(vault, state) as memory:
        done = memory.forget(text, now())
    _show(done, as_json=as_json, nothing="")


@app.command(rich_help_panel=MEMORY)
def why(
    text: Annotated[str, typer.Argument(help="The entry, or words that only it has.")],
    vault: VaultOption = None,
    state: StateOption = None,
    as_json: JsonOption = False,
) -> None:
    """Where an entry comes from: the changes that led to it, and the words they rest on.

    Example: `jarvis why vegan`
    """
    from voice.own_memory import now

    with memory_of(vault, state) as memory:
        memory.notice_edits(now())
        found = memory.why(text)
    _show(found, as_json=as_json, nothing="")


def _show(found: tuple[Change, ...], *, as_json: bool, nothing: str) -> None:
    if as_json:
        print_json([change.as_json() for change in found])
        return
    if not found and nothing:
        typer.echo(nothing)
    for change in found:
        typer.echo(
            f"{change.id}  {change.at:%Y-%m-%d %H:%M}  {change.source:<8}  {change.notebook}"
        )
        if change.old is not None:
            typer.echo(f"  - {change.old}")
        if change.new is not None:
            typer.echo(f"  + {change.new}")
        if change.quote:
            said = f" ({change.said_at:%Y-%m-%d %H:%M})" if change.said_at else ""
            typer.echo(f"    you said: “{change.quote}”{said}")
        if change.reverses:
            typer.echo(f"    takes back {change.reverses}")


@app.command(rich_help_panel=MEMORY)
def pending(
    vault: VaultOption = None, state: StateOption = None, as_json: JsonOption = False
) -> None:
    """What waits for its review, and why.

    Example: `jarvis pending`
    """
    with memory_of(vault, state) as memory:
        rows = [_waiting(row) for row in memory.reviews_waiting()]
    if as_json:
        print_json(rows)
        return
    if not rows:
        typer.echo("Nothing waits for a review.")
    for row in rows:
        typer.echo(
            f"{row['conversation']}  {row['turns']} turns, {row['marked']} marked  "
            f"({row['trigger']}, since {row['since']})"
        )
        if row["failed"]:
            typer.echo(f"  tried {row['tries']} times; {row['failed']}")


def _waiting(row: WaitingReview) -> dict[str, Any]:
    mark = row.hand_over
    return {
        "conversation": mark.conversation,
        "kind": row.kind,
        "turns": len(row.handed_over),
        "trigger": mark.trigger,
        "since": mark.at.isoformat(),
        "marked": row.marked,
        "tries": row.tries,
        "failed": row.failures[-1].message if row.failures else None,
        "next_at": row.next_at.isoformat() if row.next_at else None,
    }


@app.command(rich_help_panel=MEMORY)
def review(
    call: Annotated[
        str | None, typer.Argument(metavar="[CALL]", help="Only this call or chat.")
    ] = None,
    vault: VaultOption = None,
    state: StateOption = None,
    as_json: JsonOption = False,
) -> None:
    """Review now what waits: one small question to the background model for each call.

    Example: `jarvis review`
    """
    from voice.reviewing import review_now

    with told():
        report = asyncio.run(review_now(load_for(vault, state), call))
    if call is not None and not report.reviewed and not report.faults:
        typer.echo(
            f"Nothing of {call} waits for a review. `jarvis pending` lists what does.", err=True
        )
        raise typer.Exit(FAILED)
    if as_json:
        print_json(report.as_json())
    else:
        typer.echo(report.text())
    for fault in report.faults:
        typer.echo(fault, err=True)
    if report.faults and not report.reviewed:
        raise typer.Exit(FAILED)


def month_report(folder: Path, *, as_json: bool) -> None:
    """A month of calls under this policy and under the first version's (L6.4)."""
    from voice.month import compared

    with told():
        report: Any = compared(folder)
    if as_json:
        print_json(report.as_json())
    else:
        typer.echo(report.text())
