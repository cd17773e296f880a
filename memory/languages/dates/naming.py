"""A day that is asked for by its name: "yesterday", "letzten Freitag", "el 3 de mayo"."""

from __future__ import annotations

from datetime import date, datetime

from memory.languages.dates.reading import spoken_dates


def day_named(text: str, at: datetime) -> date | None:
    """The one day that these words, and no others beside them, name at `at` (aware); None where
    they name none, or several."""
    try:
        return date.fromisoformat(text.strip())
    except ValueError:
        found = spoken_dates(text, at)
    if len(found) != 1 or found[0].first is None or found[0].first != found[0].last:
        return None
    return found[0].first if found[0].text.strip() == text.strip() else None
