"""What happened since the last pass, in a few lines that rest on events (F1).

It decides for free whether there is anything to reflect on. Jarvis' own passes, and what they
made, are no input: nothing is learned from its own output.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memory.lessons.records import Happened

READ = (
    "reviewed", "rejected", "review_failed", "interrupted", "latency", "engine_fault", "ended",
    "remembered", "tool",
)  # fmt: skip
"""The kinds that are read."""

WORTH = 3
"""So much must have gone wrong, or been put right, before anything is asked."""
_WEIGHTS = {"corrections": 2}

SLOW_MS = 3_000
ENOUGH_ANSWERS = 20
ENOUGH_FAULTS = 3
FAULT_SHARE = 0.2

_QUOTED = re.compile(r"[“\"][^”\"]*[”\"]")
_LEFT_OUT = "“…”"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """A line of what happened, and the ids of the events that it sums up. `signal` counts what
    could be learned from: failures, corrections, refusals, interruptions."""

    text: str
    events: tuple[int, ...]
    signal: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Trouble:
    """What code itself says of an engine or a background model: `what` is slow, failing, away or
    nonsense; `seconds` where it is slow."""

    engine: str
    what: str
    events: tuple[int, ...]
    seconds: int | None = None


def facts(events: Sequence[Happened]) -> tuple[Fact, ...]:
    """The events in lines, those with something to learn from first."""
    kinds: Mapping[str, list[Happened]] = _by(events, lambda event: event.kind)
    found = [
        *_reviews(kinds["reviewed"]),
        *_corrections(kinds["reviewed"]),
        *_refusals(kinds["rejected"]),
        *_interruptions(kinds["interrupted"], kinds["latency"]),
        *_latencies(kinds["latency"]),
        *_faults(kinds["engine_fault"], "engine", "Engine"),
        *_faults(kinds["review_failed"], "model", "Background model"),
        *_not_saved(kinds["remembered"]),
        *_tools(kinds["tool"]),
        *_ends(kinds["ended"]),
    ]
    return tuple(sorted(found, key=lambda fact: -min(fact.signal, 1)))


def is_worth_asking(found: Sequence[Fact]) -> bool:
    return sum(fact.signal for fact in found) >= WORTH


def _by(events: Sequence[Happened], key: Any) -> defaultdict[Any, list[Happened]]:
    groups: defaultdict[Any, list[Happened]] = defaultdict(list)
    for event in events:
        groups[key(event)].append(event)
    return groups


def _ids(events: Sequence[Happened]) -> tuple[int, ...]:
    return tuple(event.id for event in events)


def _sum(events: Sequence[Happened], field: str) -> int:
    return sum(event.data.get(field) or 0 for event in events)


def _number(n: int, one: str, several: str) -> str:
    return one if n == 1 else several.format(n)


def _times(n: int) -> str:
    return _number(n, "once", "{} times")


def _reviews(events: Sequence[Happened]) -> Iterator[Fact]:
    asked = [event for event in events if event.data.get("asked")]
    if asked:
        yield Fact(
            text=f"Reviews: {len(asked)}; sentences marked: {_sum(asked, 'marked')}; "
            f"changes proposed: {_sum(asked, 'proposed')}, accepted: {_sum(asked, 'accepted')}, "
            f"refused: {_sum(asked, 'rejected')}.",
            events=_ids(asked),
        )


def _corrections(events: Sequence[Happened]) -> Iterator[Fact]:
    found = [event for event in events if event.data.get("corrections")]
    if found:
        number = _sum(found, "corrections")
        yield Fact(
            text=f"The user corrected Jarvis {_times(number)} in "
            f"{_number(len(found), 'one conversation', '{} conversations')}.",
            events=_ids(found),
            signal=number * _WEIGHTS["corrections"],
        )


def _refusals(events: Sequence[Happened]) -> Iterator[Fact]:
    """By rule and reason. What the proposals said stays out: it was refused."""
    groups = _by(
        events,
        lambda event: (event.data["rule"], _QUOTED.sub(_LEFT_OUT, event.data["reason"] or "")),
    )
    for (rule, reason), found in groups.items():
        yield Fact(
            text=f"Rule {rule} refused {_number(len(found), 'one proposal', '{} proposals')}: "
            f"{reason}",
            events=_ids(found),
            signal=len(found),
        )


def _interruptions(events: Sequence[Happened], answers: Sequence[Happened]) -> Iterator[Fact]:
    if not events:
        return
    heard = sorted(round((event.data.get("heard_ms") or 0) / 1_000) for event in events)
    yield Fact(
        text=f"{len(events)} of {max(len(answers), len(events))} answers were interrupted by the "
        f"user, half of them within {heard[len(heard) // 2]} seconds of speaking.",
        events=_ids(events),
        signal=len(events),
    )


def _latencies(events: Sequence[Happened]) -> Iterator[Fact]:
    for engine, found in _by(events, lambda event: event.data.get("engine") or "").items():
        total = sorted(event.data["total_ms"] for event in found)
        yield Fact(
            text=f"Engine {engine}: {_number(len(found), 'one answer', '{} answers')}, half of them "
            f"within {total[len(total) // 2] / 1_000:.1f} seconds.",
            events=_ids(found),
        )


def _faults(events: Sequence[Happened], who: str, title: str) -> Iterator[Fact]:
    groups = _by(events, lambda event: (event.data.get(who), event.data.get("fault")))
    for (name, fault), found in groups.items():
        yield Fact(
            text=f"{title} {name} failed {_times(len(found))} ({fault}).",
            events=_ids(found),
            signal=len(found),
        )


def _not_saved(events: Sequence[Happened]) -> Iterator[Fact]:
    lost = [event for event in events if not event.data.get("saved")]
    for reason, found in _by(lost, lambda event: event.data.get("reason") or "").items():
        yield Fact(
            text=f"The user asked {_times(len(found))} to have something remembered, and it was "
            f"not saved: {_QUOTED.sub(_LEFT_OUT, reason)}",
            events=_ids(found),
            signal=len(found),
        )


def _tools(events: Sequence[Happened]) -> Iterator[Fact]:
    groups = _by(events, lambda event: (event.data.get("name"), event.data.get("outcome")))
    for (name, outcome), found in groups.items():
        yield Fact(
            text=f"Tool {name}: {_times(len(found))} {outcome}.",
            events=_ids(found),
            signal=0 if outcome == "done" else len(found),
        )


def _ends(events: Sequence[Happened]) -> Iterator[Fact]:
    if events:
        reasons = _by(events, lambda event: event.data.get("reason"))
        told = ", ".join(f"{len(found)} by {reason}" for reason, found in reasons.items())
        yield Fact(text=f"Conversations ended: {told}.", events=_ids(events))


# What needs no model -------------------------------------------------------------------


def troubles(events: Sequence[Happened]) -> tuple[Trouble, ...]:
    """Engines that are slow or fail, background models that are away: by counting alone."""
    kinds = _by(events, lambda event: event.kind)
    began = _by(kinds["began"], lambda event: event.data.get("engine") or "")
    found: list[Trouble] = []
    for engine, answers in _by(
        kinds["latency"], lambda event: event.data.get("engine") or ""
    ).items():
        total = sorted(event.data["total_ms"] for event in answers)
        middle = total[len(total) // 2]
        if len(answers) >= ENOUGH_ANSWERS and middle > SLOW_MS:
            found.append(
                Trouble(engine=engine, what="slow", events=_ids(answers), seconds=middle // 1_000)
            )
    for engine, faults in _by(
        kinds["engine_fault"], lambda event: event.data.get("engine") or ""
    ).items():
        if len(faults) >= max(ENOUGH_FAULTS, FAULT_SHARE * len(began[engine])):
            found.append(Trouble(engine=engine, what="failing", events=_ids(faults)))
    asked = _by(
        [*kinds["reviewed"], *kinds["review_failed"]], lambda event: event.data.get("model")
    )
    failed = _by(
        kinds["review_failed"], lambda event: (event.data.get("model"), event.data.get("fault"))
    )
    for (model, fault), faults in failed.items():
        if len(faults) >= max(ENOUGH_FAULTS, FAULT_SHARE * len(asked[model])):
            what = "away" if fault == "unavailable" else "nonsense"
            found.append(Trouble(engine=model or "", what=what, events=_ids(faults)))
    return tuple(found)


def language_in(events: Sequence[Happened]) -> str:
    """The language of the last conversation that began."""
    said = [event.data.get("language") for event in events if event.kind == "began"]
    return next((each for each in reversed(said) if each), "en")
