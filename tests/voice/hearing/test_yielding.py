"""Softer, silent, and on again: on rows of frames."""

from __future__ import annotations

import pytest

from voice.hearing.endpoint import FrameSound
from voice.hearing.yielding import Action, Yielding

QUIET = FrameSound(gate=False, probability=0.0, level_dbfs=-65.0)
STIR = FrameSound(gate=True, probability=0.2, level_dbfs=-28.0)
VOICE = FrameSound(gate=True, probability=0.95, level_dbfs=-25.0)
CLICK = FrameSound(gate=True, probability=0.1, level_dbfs=-20.0)


def run(frames: list[FrameSound], *, sounding: bool = True) -> list[tuple[int, Action]]:
    """The actions, each with the ms at which it is taken."""
    yielding = Yielding()
    actions: list[tuple[int, Action]] = []
    for number, frame in enumerate(frames, 1):
        action = yielding.frame(frame, sounding=sounding, waits=False)
        if action is not None:
            actions.append((number * 20, action))
    return actions


@pytest.mark.parametrize(
    ("frames", "actions"),
    [
        pytest.param([QUIET] * 50, [], id="nobody"),
        pytest.param(
            [*[QUIET] * 10, *[STIR] * 3, *[VOICE] * 10],
            [(260, "lower"), (380, "hold")],
            id="a voice",
        ),
        pytest.param([*[QUIET] * 10, CLICK, CLICK, *[QUIET] * 30], [], id="a key"),
        pytest.param(
            [*[QUIET] * 10, *[STIR] * 4, *[QUIET] * 30],
            [(260, "lower"), (540, "go on")],
            id="a cough",
        ),
        pytest.param(
            [*[QUIET] * 10, *[VOICE] * 8, *[QUIET] * 40],
            [(220, "lower"), (320, "hold"), (620, "go on")],
            id="a short voice",
        ),
        pytest.param(
            [*[QUIET] * 10, *[VOICE] * 130],
            [(220, "lower"), (320, "hold"), (2320, "go on")],
            id="a voice without a word",
        ),
    ],
)
def test_steps(frames: list[FrameSound], actions: list[tuple[int, Action]]) -> None:
    """Lowered within 100 ms of a voice, silent soon after, on again when it was nothing."""
    assert run(frames) == actions


def test_only_an_answer_is_lowered() -> None:
    """Where nothing plays there is nothing to do."""
    assert run([VOICE] * 100, sounding=False) == []


def test_a_sign_of_listening() -> None:
    """Taken for nothing, it goes on, and the same voice does not silence it again."""
    yielding = Yielding()
    for _ in range(12):
        yielding.frame(VOICE, sounding=True, waits=True)
    assert yielding.step == "held"
    assert yielding.nothing_meant() == "go on"
    assert [yielding.frame(VOICE, sounding=True, waits=False) for _ in range(40)] == [None] * 40
    for _ in range(14):
        yielding.frame(QUIET, sounding=True, waits=False)
    actions = [yielding.frame(VOICE, sounding=True, waits=False) for _ in range(8)]
    assert "hold" in actions


def test_who_goes_on_behind_a_pause() -> None:
    """What was taken for a sign of listening was none when more follows: silent again at once."""
    yielding = Yielding()
    for _ in range(12):
        yielding.frame(VOICE, sounding=True, waits=True)
    yielding.nothing_meant()
    assert yielding.frame(VOICE, sounding=True, waits=False) is None
    yielding.more_came()
    assert yielding.frame(VOICE, sounding=True, waits=False) == "hold"


def test_an_answer_that_ends_meanwhile() -> None:
    """The next answer begins at full voice."""
    yielding = Yielding()
    for _ in range(5):
        yielding.frame(VOICE, sounding=True, waits=False)
    assert yielding.frame(VOICE, sounding=False, waits=False) == "go on"
    assert yielding.step == "full"


def test_words_that_are_waited_for() -> None:
    """While the transcriber works on it, silence does not let the answer go on."""
    yielding = Yielding()
    for _ in range(10):
        yielding.frame(VOICE, sounding=True, waits=True)
    quiet = [yielding.frame(QUIET, sounding=True, waits=True) for _ in range(30)]
    assert set(quiet) == {None}
