from __future__ import annotations

from datetime import timedelta

from tests.fakes.house import BEGAN, turn
from voice.going_on import EARLIER_TURNS, GO_ON_S, LastCall
from voice.records import CallEnded, TurnAdded

HELLO = turn(0, "user", "Hello.")
ANSWER = turn(1, "assistant", "Good morning, Robin.")
LATER = BEGAN + timedelta(seconds=30)


def broken() -> LastCall:
    call = LastCall()
    call.begins(BEGAN, ())
    for event in (TurnAdded(turn=ANSWER), TurnAdded(turn=HELLO), CallEnded(reason="page gone")):
        call.event(event)
    call.over(100.0)
    return call


def test_what_was_said_goes_on_in_its_order() -> None:
    assert broken().turns_of(BEGAN, 110.0) == (HELLO, ANSWER)


def test_an_answer_that_was_cut_counts_as_it_was_heard() -> None:
    call = broken()
    cut = turn(1, "assistant", "Good", interrupted=True)
    call.event(TurnAdded(turn=cut))
    assert call.turns_of(BEGAN, 110.0) == (HELLO, cut)


def test_only_the_same_call_and_only_soon() -> None:
    call = broken()
    assert call.turns_of(None, 110.0) == ()
    assert call.turns_of(LATER, 110.0) == ()
    assert call.turns_of(BEGAN, 100.0 + GO_ON_S) != ()
    assert call.turns_of(BEGAN, 100.5 + GO_ON_S) == ()


def test_a_call_that_runs_is_not_gone_on_from() -> None:
    call = LastCall()
    call.begins(BEGAN, ())
    call.event(TurnAdded(turn=HELLO))
    assert call.turns_of(BEGAN, 1.0) == ()


def test_a_line_may_break_again() -> None:
    call = broken()
    earlier = call.turns_of(BEGAN, 110.0)
    call.begins(LATER, earlier)
    more = turn(0, "user", "Where was I?", conversation="call-2")
    call.event(TurnAdded(turn=more))
    call.over(130.0)
    assert call.turns_of(LATER, 131.0) == (HELLO, ANSWER, more)


def test_only_the_latest_turns_go_on() -> None:
    call = LastCall()
    call.begins(BEGAN, tuple(turn(n, "user", f"{n}") for n in range(EARLIER_TURNS)))
    call.event(TurnAdded(turn=HELLO))
    call.over(0.0)
    found = call.turns_of(BEGAN, 1.0)
    assert len(found) == EARLIER_TURNS
    assert found[-1] == HELLO
