"""The real date, written behind the words for it."""

from __future__ import annotations

from datetime import datetime

from memory.languages.dates.reading import spoken_dates


def with_dates(text: str, at: datetime) -> str:
    """`text`, with ` (2026-12-04)` or ` (every 03-12)` behind each relative or yearless date.

    Nothing else is touched; what has a date in brackets behind it gets none.
    """
    pieces: list[str] = []
    last = 0
    for found in spoken_dates(text, at):
        if found.has_year or found.real is not None or found.written is None:
            continue
        pieces.append(f"{text[last : found.end]} ({found.written})")
        last = found.end
    pieces.append(text[last:])
    return "".join(pieces)
