"""What was written, changed or taken out, and what the rules turned away.

GET /api/changes?kind=…&words=…&from=N    newest first, a page of them, counts by kind
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, get_args

from fastapi import APIRouter, Request
from fastapi.responses import Response

from memory import Refused
from memory.records import NOTEBOOKS, Change, Notebook
from voice.web.aside import Aside
from voice.web.house import House
from voice.web.requests import Unreadable, whole_number

PAGE = 50
WORDS_CHARS = 200

ChangeKind = Literal["added", "updated", "removed", "merged", "undone", "by hand", "refused"]
KINDS: tuple[ChangeKind, ...] = get_args(ChangeKind)


def kind_of(change: Change) -> ChangeKind:
    """What a change is called; where it came from counts before what it did."""
    if change.source == "undo":
        return "undone"
    if change.source == "user":
        return "by hand"
    if change.source in ("merge", "tidy") and change.old is not None:
        return "merged" if change.source == "merge" or change.new is not None else "removed"
    if change.old is None:
        return "added"
    return "removed" if change.new is None else "updated"


def _rows(
    changes: Sequence[Change], refused: Sequence[Refused]
) -> Iterator[tuple[datetime, ChangeKind, Change | Refused]]:
    """Newest first."""
    both = [(each.at, kind_of(each), each) for each in changes]
    rows = [*both, *((each.at, "refused", each) for each in refused)]
    # Of one instant the later line of the log is the newer change.
    order = sorted(range(len(rows)), key=lambda i: (rows[i][0], i), reverse=True)
    for i in order:
        at, kind, each = rows[i]
        yield at, kind, each  # type: ignore[misc]  # the list's common type forgets the Literal


def _holds(row: Change | Refused, words: list[str]) -> bool:
    texts: tuple[str | None, ...]
    if isinstance(row, Change):
        texts = (row.old, row.new, row.quote, row.notebook)
    else:
        texts = (row.entry, row.text, row.quote, row.notebook, row.rule, row.reason)
    held = " ".join(text for text in texts if text).casefold()
    return all(word in held for word in words)


def _shown(kind: ChangeKind, row: Change | Refused, undoable: set[str]) -> dict[str, Any]:
    if isinstance(row, Change):
        return {**row.as_json(), "kind": kind, "undoable": row.id in undoable}
    return {
        "kind": kind,
        "at": row.at.isoformat(),
        "notebook": row.notebook,
        "operation": row.operation,
        "old": row.entry,
        "new": row.text,
        "quote": row.quote,
        "conversation": row.conversation,
        "rule": row.rule,
        "reason": row.reason,
    }


def _undoable(changes: Sequence[Change], standing: Mapping[Notebook, set[str]]) -> set[str]:
    """The ids of changes whose result still stands: an undo would find it."""
    return {
        each.id
        for each in changes
        if (each.new is not None and each.new in standing[each.notebook])
        or (each.new is None and each.old is not None and each.old not in standing[each.notebook])
    }


def page(
    changes: Sequence[Change],
    refused: Sequence[Refused],
    standing: Mapping[Notebook, set[str]],
    *,
    kind: str = "all",
    words: str = "",
    first: int = 0,
) -> dict[str, Any]:
    """A page of rows; `standing` are the entries of now, by notebook."""
    wanted = words.casefold().split()
    held = [row for row in _rows(changes, refused) if not wanted or _holds(row[2], wanted)]
    counts = Counter(row_kind for _, row_kind, _ in held)
    rows = [row for row in held if kind in ("all", row[1])]
    undoable = _undoable(changes, standing)
    taken = rows[first : first + PAGE]
    following = first + len(taken)
    return {
        "counts": {"all": len(held), **{each: counts[each] for each in KINDS}},
        "rows": [_shown(row_kind, row, undoable) for _, row_kind, row in taken],
        "next": following if following < len(rows) else None,
    }


def routes(house: House, aside: Aside) -> APIRouter:
    router = APIRouter()
    memory = house.memory

    @router.get("/api/changes")
    async def changes(request: Request) -> Response:
        asked = request.query_params
        kind = asked.get("kind", "all")
        words = asked.get("words", "")
        if kind not in ("all", *KINDS):
            raise Unreadable(422, f"kind: it is one of all, {', '.join(KINDS)}.")
        if len(words) > WORDS_CHARS:
            raise Unreadable(422, f"words: {WORDS_CHARS} characters at most.")
        first = whole_number(asked.get("from"), name="from", default=0, most=10_000_000)

        def look() -> dict[str, Any]:
            standing = {
                name: {each.entry.text for each in memory.notebook(name).entries}
                for name in NOTEBOOKS
            }
            return page(
                memory.changes(),
                memory.events.rejections(),
                standing,
                kind=kind,
                words=words,
                first=first,
            )

        return await aside.json(look)

    return router
