from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import get_args

import pytest

from memory.records import Origin, Speaker, Turn
from voice.records import State
from voice.triggers import Triggers

NOON = datetime(2026, 12, 2, 12, 0, tzinfo=UTC)

Step = tuple[float, State | Origin]


def turn(speaker: Speaker = "user", origin: Origin = "spoken") -> Turn:
    return Turn(
        conversation="c1",
        index=0,
        speaker=speaker,
        text="Hello",
        language="en",
        began_at=NOON,
        ended_at=NOON,
        origin=origin,
    )


def fed(steps: Sequence[Step]) -> Triggers:
    """States, and user turns by their origin, each at its second."""
    triggers = Triggers()
    for at_s, what in steps:
        if what in get_args(State):
            triggers.state_changed(what, at_s)  # type: ignore[arg-type]  # narrowed by get_args
        else:
            triggers.turn_added(turn(origin=what), at_s)  # type: ignore[arg-type]
    return triggers


def ends_at(steps: Sequence[Step]) -> float | None:
    """When a caller with one timer acts on the silence."""
    for position, (fed_s, _) in enumerate(steps):
        next_s = steps[position + 1][0] if position + 1 < len(steps) else float("inf")
        deadline_s = fed(steps[: position + 1]).silence_at_s
        if deadline_s is not None and deadline_s <= next_s:
            return max(deadline_s, fed_s)
    return None


def music(begin_s: int, end_s: int, clip_s: int, gap_s: int) -> list[Step]:
    """What an hour of music gives: speech that comes to nothing, over and over."""
    steps: list[Step] = []
    for at_s in range(begin_s, end_s, clip_s + gap_s):
        steps += [(at_s, "hearing"), (at_s + clip_s, "listening")]
    return steps


ANSWERED: list[Step] = [
    (0, "listening"), (8, "hearing"), (10, "spoken"), (10, "thinking"),
    (11, "speaking"), (20, "listening"),
]  # fmt: skip

SILENCES: dict[str, tuple[list[Step], float | None]] = {
    "not connected yet": ([(0, "connecting")], None),
    "nobody ever speaks": ([(0, "connecting"), (5, "listening")], 305),
    "from the end of playback": (ANSWERED, 320),
    "while Jarvis speaks": (ANSWERED[:-1], None),
    "a six-minute answer": ([*ANSWERED[:-1], (371, "listening")], 671),
    "an answer that takes six minutes to come": (
        [*ANSWERED[:4], (370, "speaking"), (380, "listening")], 680),
    "an answer that never comes": (ANSWERED[:4], 610),
    "an answer that failed": ([*ANSWERED[:4], (40, "listening")], 310),
    "a typed turn": ([*ANSWERED, (100, "typed")], 400),
    "a pasted turn": ([*ANSWERED, (100, "pasted")], 400),
    "a turn in the last second": (
        [*ANSWERED, (319, "hearing"), (330, "spoken"), (330, "thinking"), (331, "speaking")], None),
    "a cough in the last second": ([*ANSWERED, (319, "hearing"), (320.5, "listening")], 320.5),
    "speech without an end": ([*ANSWERED, (319, "hearing")], 334),
    "music in one piece": ([*ANSWERED, (30, "hearing"), (3630, "listening")], 320),
    "an hour of music in pieces": (ANSWERED + music(30, 3630, 9, 1), 320),
    "an hour of music without gaps": (ANSWERED + music(30, 3630, 7, 0), 324),
    "interrupted by a turn": (
        [*ANSWERED[:-1], (15, "hearing"), (18, "spoken"), (18, "thinking"), (19, "listening")], 318),
    "lost and found": ([*ANSWERED, (100, "reconnecting"), (400, "listening")], 700),
    "ended": ([*ANSWERED, (30, "ended")], None),
}  # fmt: skip


@pytest.mark.parametrize("name", SILENCES)
def test_silence(name: str) -> None:
    """Five minutes after the last true turn or the end of playback, whichever is later."""
    steps, expected = SILENCES[name]
    assert ends_at(steps) == expected


@pytest.mark.parametrize(
    ("turns", "expected"), [(29, []), (30, [30]), (31, [30]), (60, [30, 60]), (95, [30, 60, 90])]
)
@pytest.mark.parametrize("origin", ["spoken", "typed"])
def test_thirty_user_turns(turns: int, expected: list[int], origin: Origin) -> None:
    """Each 30th turn of the user hands over, spoken or typed; Jarvis' own don't count."""
    triggers = Triggers()
    handed_over = []
    for number in range(1, turns + 1):
        if triggers.turn_added(turn(origin=origin), number):
            handed_over.append(number)
        assert not triggers.turn_added(turn("assistant"), number)
    assert handed_over == expected


def test_jarvis_turns_do_not_break_a_silence() -> None:
    """Only a turn of the user and the end of playback begin the count anew."""
    triggers = fed(ANSWERED)
    triggers.turn_added(turn("assistant"), 200)
    assert triggers.silence_at_s == 320


def test_a_chat_goes_on_after_its_silence() -> None:
    """Once acted on, silence comes again only after another turn."""
    triggers = fed(ANSWERED)
    triggers.silence_passed()
    assert triggers.silence_at_s is None
    triggers.turn_added(turn(origin="typed"), 1000)
    assert triggers.silence_at_s == 1300
