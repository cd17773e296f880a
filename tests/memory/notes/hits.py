"""Hits, as the index would give them."""

from __future__ import annotations

from datetime import date

from memory.index.records import Hit, Kind


def hit(
    piece: int,
    words: dict[str, float] | None = None,
    *,
    file: str = "pump.md",
    heading: str = "",
    text: str = "",
    score: float | None = None,
    share: float = 1.0,
    kind: Kind = "notes",
    day: date | None = None,
    stars: int | None = None,
    line: int | None = None,
) -> Hit:
    words = {} if words is None else words
    return Hit(
        file=file,
        first_line=line or piece,
        last_line=line or piece,
        heading=heading,
        text=text,
        score=sum(words.values()) if score is None else score,
        kind=kind,
        piece=piece,
        share=share,
        matched=tuple(words),
        weights=tuple(words.values()),
        day=day,
        stars=stars,
    )
