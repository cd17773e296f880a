from __future__ import annotations

from datetime import datetime

from memory.notebooks.case import dates_in, with_dates, wrong_date


def test_the_same_moment_is_two_days_in_two_zones() -> None:
    """What is remembered is remembered for the day of the speaker."""
    late = datetime.fromisoformat("2026-12-02T23:30:00+00:00")
    early = datetime.fromisoformat("2026-12-03T00:30:00+01:00")
    assert late == early
    assert with_dates("leaves tomorrow", late) == "leaves tomorrow (2026-12-03)"
    assert with_dates("leaves tomorrow", early) == "leaves tomorrow (2026-12-04)"
    assert [each.first for each in dates_in("tomorrow", late)] != [
        each.first for each in dates_in("tomorrow", early)
    ]
    assert wrong_date("on 2026-12-03", "tomorrow", late) is None
    assert wrong_date("on 2026-12-03", "tomorrow", early) is not None
