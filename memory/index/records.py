"""What the index gives: hits, and what became of the files since it looked last."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, time
from typing import Any, Literal

from memory.records import JournalRead

Where = Literal["notes", "journal", "all"]
Kind = Literal["notes", "journal"]

Progress = Callable[[int, int], None]
"""Files done, and files in all."""


def no_progress(_done: int, _total: int) -> None:
    pass


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A piece that was found. `file` is relative to the folder searched, with slashes.

    Lines count from 1, both included. `heading` are the headings above the text, outermost
    first, joined by " > ". `share` is how much of what was asked for the piece holds, by weight
    of its words, 0.0 to 1.0; `matched` are the question's words that it holds, and `weights` what
    each of them tells: near 0 in every piece, large in few. `piece` is the
    piece's number: the next piece of the same file has the next one. `day`, `time` and `stars`
    are the journal's.
    """

    file: str
    first_line: int
    last_line: int
    heading: str
    text: str
    score: float
    kind: Kind
    piece: int
    share: float
    matched: tuple[str, ...]
    weights: tuple[float, ...] = ()
    day: date | None = None
    time: time | None = None
    stars: int | None = None
    relevant: bool | None = None

    def as_json(self) -> dict[str, Any]:
        shown: dict[str, Any] = {
            "file": self.file,
            "lines": [self.first_line, self.last_line],
            "heading": self.heading,
            "text": self.text,
            "score": round(self.score, 4),
            "kind": self.kind,
        }
        if self.relevant is not None:
            shown["relevant"] = self.relevant
        if self.kind == "journal":
            shown |= {
                "day": self.day.isoformat() if self.day else None,
                "time": f"{self.time:%H:%M}" if self.time else None,
                "stars": self.stars,
            }
        return shown

    @classmethod
    def of_entry(cls, entry: JournalRead, file: str) -> Hit:
        """An entry that nobody searched for."""
        return cls(
            file=file,
            first_line=entry.first_line,
            last_line=entry.last_line,
            heading=entry.title,
            text=entry.text,
            score=0.0,
            kind="journal",
            piece=0,
            share=0.0,
            matched=(),
            day=entry.day,
            time=entry.time,
            stars=entry.stars,
        )


@dataclass(frozen=True, slots=True)
class Refreshed:
    """Files that are new, changed and gone since the index looked last."""

    added: int = 0
    changed: int = 0
    removed: int = 0

    def __bool__(self) -> bool:
        return bool(self.added or self.changed or self.removed)
