"""Dates as people say them, in three languages: found, resolved, written, compared.

    with_dates("dentist next Friday", at)   "dentist next Friday (2026-12-04)"

The words are in `memory/languages/<language>/dates.toml`; what each form means stands in
docs/jarvis-learning.md. Right, or left unresolved.
"""

from __future__ import annotations

from memory.languages.dates.comparing import dates_named, follows, passed
from memory.languages.dates.reading import SpokenDate, spoken_dates
from memory.languages.dates.writing import with_dates

__all__ = ["SpokenDate", "dates_named", "follows", "passed", "spoken_dates", "with_dates"]
