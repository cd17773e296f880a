"""A recorded socket as a script: what the service says behind which of our events, and how late.

A replay's events come a little sooner or later than those of the call. So what the service said
has no time of its own, but follows the event of ours that came before it. Where that one is not
sent any more, it follows the last that asks for an answer, somewhat later.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from voice.engines.realtime_records import Passed

LATER_MS = 1_000.0
"""Behind what asks for an answer, where the event that came last is missing."""
_PONG_TOLERANCE_MS = 5.0

Place = tuple[str, int]
"""The n-th event of a kind that we sent on a socket, from 0."""

BEGINNING: Place = ("opened", 0)
_ASKS = frozenset(
    {"response.create", "session.update", "setup", "realtimeInput.activityEnd", "toolResponse"}
)


def kind_of(event: Any) -> str:
    """What an event of either protocol is, in a word or two."""
    if not isinstance(event, Mapping) or not event:
        return "no event"
    if "type" in event:
        return str(event["type"])
    kind = str(next(iter(event)))
    inner = event[kind]
    if kind in ("realtimeInput", "serverContent") and isinstance(inner, Mapping) and inner:
        return f"{kind}.{next(iter(inner))}"
    return kind


@dataclass(frozen=True, slots=True, kw_only=True)
class Cue:
    """What the service does next: `body` of "got" or "ended", `after_ms` behind our event
    `behind`, or `cause_ms` behind `cause`."""

    what: Literal["got", "ended"]
    body: Any
    behind: Place
    after_ms: float
    cause: Place
    cause_ms: float

    def due_ms(self, sent_ms: Mapping[Place, float]) -> float | None:
        """When, if our events were sent at these times; None: not yet known."""
        if self.behind in sent_ms:
            return sent_ms[self.behind] + self.after_ms
        if self.cause in sent_ms:
            return sent_ms[self.cause] + self.cause_ms + LATER_MS
        return None


def cues(passed: Iterable[Passed]) -> list[Cue]:
    """Of one socket, in order. Our sound asks for nothing, so nothing follows it."""
    counts: Counter[str] = Counter()
    behind = cause = BEGINNING
    behind_ms = cause_ms = 0.0
    script: list[Cue] = []
    for each in passed:
        if each.what == "opened":
            behind_ms = cause_ms = each.at_ms
        elif each.what == "sent":
            kind = kind_of(each.body)
            behind, behind_ms = (kind, counts[kind]), each.at_ms
            counts[kind] += 1
            if kind in _ASKS:
                cause, cause_ms = behind, behind_ms
        elif each.what == "got" or (each.what == "ended" and each.body["by"] == "service"):
            script.append(
                Cue(
                    what="got" if each.what == "got" else "ended",
                    body=each.body,
                    behind=behind,
                    after_ms=each.at_ms - behind_ms,
                    cause=cause,
                    cause_ms=each.at_ms - cause_ms,
                )
            )
    return script


def pong_ms(passed: Sequence[Passed], at_ms: float) -> float | None:
    """How long a pong took that was asked for then; None: it never came. Only what differs from
    the one before was kept."""
    took_ms: float | None = 0.0
    for each in passed:
        if each.what == "pong" and each.at_ms <= at_ms + _PONG_TOLERANCE_MS:
            took_ms = each.body
    return took_ms
