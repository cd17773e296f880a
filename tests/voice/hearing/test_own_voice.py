"""Whose words a turn holds, from its frames and its text."""

from __future__ import annotations

import pytest

from tests.voice.test_echo import speech
from voice.hearing.endpoint import FrameSound
from voice.hearing.own_voice import OwnVoice, Suspicion, Whose

ANSWER = "Do you want it on Tuesday or on Wednesday?"


class Played:
    """A playback of which only the levels matter."""

    def __init__(self, *, cancels: bool = False) -> None:
        self.levels: list[float] = []
        self.cancels = cancels

    def played(self) -> int:
        return 0

    def sounding(self) -> bool:
        return bool(self.levels) and self.levels[-1] > -90

    def late_s(self) -> float:
        return 0.0

    def envelope(self) -> list[float]:
        return self.levels[-200:]

    def cancelled(self) -> bool:
        return self.cancels

    def lower(self) -> None: ...

    def hold(self) -> None: ...

    def go_on(self) -> None: ...


def sound(level_dbfs: float) -> FrameSound:
    return FrameSound(gate=level_dbfs > -50, probability=0.9, level_dbfs=level_dbfs)


def listened(played: list[float], heard: list[float]) -> tuple[OwnVoice, Suspicion]:
    playback, suspicion = Played(), Suspicion()
    own = OwnVoice(playback)
    own.spoke(ANSWER)
    for one, other in zip(played, heard, strict=True):
        playback.levels.append(one)
        taken = own.frame(sound(other))
        if taken.probability > 0.5 and other > -50:
            suspicion.add(own.verdict)
    return own, suspicion


def echo_of(played: list[float], delay_ms: int) -> list[float]:
    late = [-66.0] * (delay_ms // 20) + [max(-66.0, level - 12.0) for level in played]
    return late[: len(played)]


SHORT = [*speech(90, seed=4), *[-96.0] * 70]
LATE = echo_of(SHORT, 700)
WORD = [-66.0] * 105 + [-24.0, -20.0, -21.0, -22.0, -20.0, -25.0, -28.0] * 3 + [-66.0] * 34


@pytest.mark.parametrize(
    ("heard", "text", "whose"),
    [
        pytest.param(LATE, ANSWER, "own", id="the whole of it, late"),
        pytest.param(LATE, "do you won it on choose day or wins day", "own", id="garbled"),
        pytest.param(LATE, "on Tuesday or", "own", id="in part"),
        pytest.param(WORD, "Wednesday.", "user", id="an answer in its words"),
        pytest.param(WORD, "On Wednesday, please.", "user", id="and more"),
    ],
)
def test_whose(heard: list[float], text: str, whose: Whose) -> None:
    """An echo follows what was played; a user's answer does not, even in Jarvis' words."""
    own, suspicion = listened(SHORT, heard)
    assert own.whose(text, suspicion, 1_600) == whose


def test_without_a_playback_everything_is_the_users() -> None:
    """A recording has no voice of Jarvis' to compare with."""
    own = OwnVoice(None)
    frame = sound(-20.0)
    assert own.frame(frame) is frame
    assert own.whose(ANSWER, Suspicion(nothing=30), 1_000) == "user"


def test_doubtful_words_prove_nothing() -> None:
    """Louder than the echo, and in Jarvis' own words: kept, but no evidence."""
    own, _ = listened(SHORT, WORD)
    assert own.whose("want it on Tuesday", Suspicion(voice=30), 600) == "doubtful"


def test_half_duplex() -> None:
    """What got through twice makes it listen only when it is silent."""
    played = [*speech(200, seed=4), *[-96.0] * 10]
    own, _ = listened(played, echo_of(played, 100))
    own.got_through()
    assert not own.half_duplex
    own.got_through()
    assert own.half_duplex
    assert own.frame(sound(-5.0)).probability == 0.0


def test_who_has_begun_goes_on() -> None:
    """Once somebody can't be Jarvis, the rest of it is theirs too, as long as it lasts: their voice
    itself soon looks like an echo that is louder than it was thought to be."""
    playback = Played(cancels=True)
    own = OwnVoice(playback)
    played = speech(60, seed=1)
    user = dict(enumerate([-22.0, -19.0, -24.0, -20.0, -26.0, -21.0] * 5, start=25))
    found = []
    for at, level in enumerate(played):
        playback.levels.append(level)
        own.frame(sound(user.get(at, -66.0)))
        found.append((own.verdict, own.surely))
    assert ("unsure", True) in found[25:55]
    assert all(surely for _, surely in found[33:55])
    assert not any(surely for _, surely in found[:25])
