from __future__ import annotations

from datetime import datetime

import pytest

from memory.languages.dates import with_dates

AT = datetime.fromisoformat("2026-12-02T10:00:00+01:00")


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("dentist next Friday", "dentist next Friday (2026-12-04)"),
        ("dentist next Friday (2026-12-04)", "dentist next Friday (2026-12-04)"),
        ("dentist next Friday (2026-11-06)", "dentist next Friday (2026-11-06)"),
        ("her birthday is on March twelfth", "her birthday is on March twelfth (every 03-12)"),
        ("on 4 December 2026", "on 4 December 2026"),
        ("the trip (2026-12-04)", "the trip (2026-12-04)"),
        ("morgen\tund übermorgen.", "morgen (2026-12-03)\tund übermorgen (2026-12-04)."),
        ("", ""),
    ],
)
def test_dates_are_written_once(text: str, written: str) -> None:
    """Behind relative and yearless dates, unless one stands there."""
    assert with_dates(text, AT) == written
