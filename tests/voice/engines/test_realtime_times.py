"""When sessions are tried again, looked after and renewed."""

from __future__ import annotations

import pytest

from voice.engines.realtime_times import CONNECTS, Pongs, Renewal, patience_s, pause_s, pulse_s


def test_tries_grow_apart() -> None:
    """Pauses double up to eight seconds: no server is hammered, and half a minute is enough."""
    pauses = [pause_s(strikes) for strikes in range(1, CONNECTS)]
    assert pauses == sorted(pauses) and pauses[0] == 0.25 and pauses[-1] == 8
    assert sum(pauses) < 30


def test_a_dead_line_is_looked_for_more_often_while_somebody_waits() -> None:
    assert pulse_s(waiting=True) < pulse_s(waiting=False)


@pytest.mark.parametrize(("rtt_s", "patience"), [(0, 0.25), (0.05, 0.25), (0.2, 0.8), (3, 2)])
def test_a_slow_line_gets_more_patience(rtt_s: float, patience: float) -> None:
    """Four round trips, within bounds."""
    assert patience_s(rtt_s) == pytest.approx(patience)


HOUR = Renewal.of(0, 3600)
DUE = [
    (HOUR, 2999, True, True, False),
    (HOUR, 3000, True, True, True),
    (HOUR, 3500, False, True, False),
    (HOUR, 3540, False, True, True),
    (HOUR, 3599, False, False, False),
    (Renewal.of(0, 20), 13, True, True, False),
    (Renewal.of(0, 20), 14, True, True, True),
    (Renewal.of(0, 20), 18, False, True, True),
    (HOUR.announced(100, 50), 100, True, True, True),
    (HOUR.announced(100, 50), 110, False, True, False),
    (HOUR.announced(100, 50), 125, False, True, True),
    (HOUR.later(3000), 3004, True, True, False),
    (HOUR.later(3000), 3005, True, True, True),
    (Renewal(), 1e9, True, True, False),
]


@pytest.mark.parametrize(("renewal", "now_s", "quiet", "between", "due"), DUE)
def test_a_session_is_renewed_at_a_quiet_moment_before_its_end(
    renewal: Renewal, now_s: float, quiet: bool, between: bool, due: bool
) -> None:
    """First quiet moments count, near the end any moment between two answers; never within one."""
    assert renewal.is_due(now_s, quiet=quiet, between_answers=between) == due


@pytest.mark.parametrize(
    ("needed", "pings", "trusted"),
    [
        (0, "", True),
        (0, "--", True),
        (3, "", False),
        (3, "ooo", True),
        (3, "oo", False),
        (3, "qqqq", False),
        (3, "ooqqo", True),
        (3, "oo-o", False),
        (3, "ooooo-oo", False),
        (3, "ooooo-ooo", True),
    ],
)
def test_pongs_earn_trust_in_mid_answer(needed: int, pings: str, trusted: bool) -> None:
    """o: a pong while an answer was owed, q: in a quiet moment, -: none on a line that lives."""
    pongs = Pongs(needed=needed)
    for ping in pings:
        pongs = pongs.after(answered=ping != "-", owed=ping != "q")
    assert pongs.are_trusted is trusted
