"""When a realtime session is tried again, looked after, and renewed."""

from __future__ import annotations

from dataclasses import dataclass, replace

CONNECTS = 7
CONNECTS_WITH_SPARE = 6
"""Where somebody waits and another engine can answer: about eight seconds."""
FIRST_PAUSE_S = 0.25
LONGEST_PAUSE_S = 8.0
LASTING_S = 10.0
"""A session that lasted so long was no failed try."""
DEAD_S = 5.0
"""So long without a sign of life, and no other session to be had: the line is dead."""

_QUIET_PULSE_S = 2.0
_WAITING_PULSE_S = 0.2
_LEAST_PATIENCE_S = 0.25
_MOST_PATIENCE_S = 2.0
_ROUND_TRIPS = 4.0

_LEAD = 0.3  # of the lifetime, from when on a quiet moment is taken
_LONGEST_LEAD_S = 600.0
_LAST_CALL = 0.1  # of the lifetime, from when on any moment between two answers is
_LONGEST_LAST_CALL_S = 60.0
_TRY_AGAIN_S = 5.0


def pause_s(strikes: int) -> float:
    """Before the next try, after so many that came to nothing."""
    return min(FIRST_PAUSE_S * 2.0 ** (strikes - 1), LONGEST_PAUSE_S)


def pulse_s(*, waiting: bool) -> float:
    return _WAITING_PULSE_S if waiting else _QUIET_PULSE_S


def patience_s(rtt_s: float) -> float:
    """How long a pong may take, given what it took so far."""
    return min(max(_LEAST_PATIENCE_S, _ROUND_TRIPS * rtt_s), _MOST_PATIENCE_S)


@dataclass(frozen=True, slots=True)
class Pongs:
    """Whether a missing pong means a dead line. At a service that was seen to be slow with them
    they earn it: `needed` came in time, one after the other, while it owed an answer."""

    needed: int = 0
    in_row: int = 0

    @property
    def are_trusted(self) -> bool:
        return self.in_row >= self.needed

    def after(self, *, answered: bool, owed: bool) -> Pongs:
        """After a ping on a line that lives, as far as is known. A pong that comes when nothing
        is to be done says nothing of those that come in mid-answer."""
        if not answered:
            return replace(self, in_row=0)
        return replace(self, in_row=min(self.needed, self.in_row + 1)) if owed else self


@dataclass(frozen=True, slots=True)
class Renewal:
    """From when on a session is renewed: at a quiet moment, and at the last at any moment between
    two answers. In seconds of the loop's clock."""

    quiet_from_s: float = float("inf")
    any_from_s: float = float("inf")

    @classmethod
    def of(cls, now_s: float, lifetime_s: float) -> Renewal:
        ends_s = now_s + lifetime_s
        return cls(
            ends_s - min(_LONGEST_LEAD_S, _LEAD * lifetime_s),
            ends_s - min(_LONGEST_LAST_CALL_S, _LAST_CALL * lifetime_s),
        )

    def announced(self, now_s: float, within_s: float) -> Renewal:
        """The service says that the session ends in that time."""
        return Renewal(min(self.quiet_from_s, now_s), min(self.any_from_s, now_s + 0.5 * within_s))

    def later(self, now_s: float) -> Renewal:
        """It could not be done now."""
        return replace(self, quiet_from_s=now_s + _TRY_AGAIN_S, any_from_s=now_s + _TRY_AGAIN_S)

    def is_due(self, now_s: float, *, quiet: bool, between_answers: bool) -> bool:
        return (quiet and now_s >= self.quiet_from_s) or (
            between_answers and now_s >= self.any_from_s
        )
