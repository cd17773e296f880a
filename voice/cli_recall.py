"""The commands that search: recall in the journal, notes in the vault or another folder."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from voice.cli_shared import (
    MEMORY,
    WRONG_USE,
    JsonOption,
    StateOption,
    VaultOption,
    app,
    memory_of,
    print_json,
)

if TYPE_CHECKING:
    from memory import Hit

LimitOption = Annotated[int, typer.Option("--limit", min=1, max=1000, help="How many at most.")]
BatchOption = Annotated[
    bool,
    typer.Option("--batch", help="One query a line on standard input, one JSON line out for each."),
]

# In a batch the files are looked at this often; a search alone always looks.
_LOOK_S = 1.0
_NEAREST = 3
# A bar for what takes longer than a blink.
_SHOWN_FROM_FILES = 200


@app.command(rich_help_panel=MEMORY)
def recall(
    words: Annotated[
        list[str] | None, typer.Argument(help="What to find; without, the latest entries.")
    ] = None,
    limit: LimitOption = 10,
    batch: BatchOption = False,
    vault: VaultOption = None,
    state: StateOption = None,
    as_json: JsonOption = False,
) -> None:
    """Find in the journal, by whole words and by their beginnings, or list the latest.

    Example: `jarvis recall boiler`
    """
    _check(words, batch=batch, needed=False)
    with memory_of(vault, state) as memory, _indexing() as progress:
        if batch:
            _batch(lambda query, fresh: memory.recall(query, limit, fresh=fresh, progress=progress))
            return
        query = " ".join(words or ())
        found = memory.recall(query, limit, progress=progress) if words else memory.latest(limit)
    _show(found, as_json=as_json, nothing=_NOTHING if words else "The journal is empty.")


@app.command(rich_help_panel=MEMORY)
def notes(
    words: Annotated[list[str] | None, typer.Argument(help="What to find.")] = None,
    folder: Annotated[
        Path | None,
        typer.Option("--folder", help="Only this part of the vault, or another folder of notes."),
    ] = None,
    limit: LimitOption = 10,
    relevant: Annotated[
        bool,
        typer.Option(
            "--relevant", help="Only what would go with these words, as a question, to a model."
        ),
    ] = False,
    batch: BatchOption = False,
    vault: VaultOption = None,
    state: StateOption = None,
    as_json: JsonOption = False,
) -> None:
    """Find in your notes, by whole words; German compounds by their parts too.

    Example: `jarvis notes "when was the boiler serviced" --json`
    """
    _check(words, batch=batch, needed=True)
    with memory_of(vault, state) as memory, _indexing() as progress:
        find = partial(
            memory.notes, limit=limit, folder=folder, relevant=relevant, progress=progress
        )
        if batch:
            _batch(lambda query, fresh: find(query, fresh=fresh))
            return
        found = find(" ".join(words or ()))
    _show(found, as_json=as_json, nothing=_NOTHING)


_NOTHING = "Nothing found."


def _check(words: list[str] | None, *, batch: bool, needed: bool) -> None:
    if batch and words:
        typer.echo("--batch reads queries from standard input: leave the words out.", err=True)
        raise typer.Exit(WRONG_USE)
    if needed and not batch and not words:
        typer.echo(
            'Say what to find, as in `jarvis notes "boiler"`, or give one query a line on standard '
            "input with --batch.",
            err=True,
        )
        raise typer.Exit(WRONG_USE)


def _batch(search: Callable[[str, bool], tuple[Hit, ...]]) -> None:
    looked_at = float("-inf")
    for line in sys.stdin.buffer:
        query = line.removesuffix(b"\n").removesuffix(b"\r").decode("utf-8", "replace")
        fresh = time.monotonic() - looked_at >= _LOOK_S
        found = search(query, fresh)
        if fresh:
            looked_at = time.monotonic()
        shown = {"query": query, "hits": [hit.as_json() for hit in found]}
        sys.stdout.write(json.dumps(shown, ensure_ascii=False) + "\n")
        sys.stdout.flush()


def _show(found: tuple[Hit, ...], *, as_json: bool, nothing: str) -> None:
    if as_json:
        print_json([hit.as_json() for hit in found])
        return
    if found and all(hit.relevant is False for hit in found):
        typer.echo("Nothing fits. The nearest, by words that they share:\n")
        found = found[:_NEAREST]
    for hit in found:
        lines = str(hit.first_line)
        if hit.last_line > hit.first_line:
            lines += f"-{hit.last_line}"
        stars = "★" * (hit.stars or 0)
        head = (f"{hit.file}:{lines}", f"{hit.time:%H:%M}" if hit.time else "", stars, hit.heading)
        typer.echo("  ".join(part for part in head if part))
        for line in hit.text.splitlines():
            typer.echo(f"    {line}" if line.strip() else "")
        typer.echo()
    if not found:
        typer.echo(nothing)


@contextmanager
def _indexing() -> Iterator[Callable[[int, int], None]]:
    """A bar on standard error while many files are read, where that is a terminal."""
    if not sys.stderr.isatty():
        yield lambda _done, _total: None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    bars = Progress(
        TextColumn("Indexing notes"),
        BarColumn(bar_width=20),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=Console(file=sys.stderr),
        transient=True,
    )
    task = bars.add_task("")

    def show(done: int, total: int) -> None:
        if total >= _SHOWN_FROM_FILES:
            bars.start()
            bars.update(task, completed=done, total=total)

    try:
        yield show
    finally:
        bars.stop()
