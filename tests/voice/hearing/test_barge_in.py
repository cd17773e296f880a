"""Words into an answer: which end it, which let it go on, and what waits for more."""

from __future__ import annotations

import pytest

from tests.fakes.playing import Playing
from voice.hearing.barge_in import BargeIn
from voice.hearing.endpoint import FrameSound
from voice.hearing.open_turn import OpenTurn, Words

ROOM = FrameSound(gate=False, probability=0.02, level_dbfs=-70.0)
VOICE = FrameSound(gate=True, probability=0.95, level_dbfs=-20.0)


def said(text: str, *, logprob: float = -0.2, nothing: str | None = None) -> Words:
    return Words(text=text, language="en", sure=True, logprob=logprob, nothing=nothing)


@pytest.mark.parametrize(
    ("words", "for_ms", "whole", "ends", "goes_on"),
    [
        (said("What time does"), 800, False, True, False),
        (said("What time does"), 600, False, False, False),
        (said("Tomorrow"), 800, False, False, False),
        (said("Stop"), 300, False, True, False),
        (said("Tomorrow."), 300, True, True, False),
        (said("Mhm."), 300, True, False, True),
        (said("Vale."), 300, True, False, True),
        (said("Him?", logprob=-0.9), 300, True, False, True),
        (said("Stopp.", logprob=-1.1), 300, True, True, False),
        (said("Thank you.", nothing="an invention"), 300, True, False, True),
        (said("Mhm."), 900, False, False, False),
    ],
)
def test_which_words_end_an_answer(
    words: Words, for_ms: int, whole: bool, ends: bool, goes_on: bool
) -> None:
    """Of a voice that lasts two words after 0.7 s, of a pause any that is sure; a word of stopping
    always. A sign of listening and what is doubted end nothing, and a pause's let it go on."""
    playing = Playing()
    barging = BargeIn(("en", "de", "es"))
    barging.attach(playing, lambda _: None)
    for _ in range(200):
        barging.frame(ROOM, waits=False)
    silenced = [barging.frame(VOICE, waits=False)[1] for _ in range(10)]
    assert silenced.count(True) == 1 and playing.taken == ["lower", "hold"]
    turn = OpenTurn(number=1, began_ms=0, audio_from_ms=0)
    assert barging.ends_answer(turn, words, for_ms, whole=whole) is ends
    assert ("go on" in playing.taken) is goes_on


def test_an_answer_ends_once() -> None:
    """A turn that has ended it, or that found none, ends none."""
    barging = BargeIn(("en",))
    turn = OpenTurn(number=1, began_ms=0, audio_from_ms=0)
    assert not barging.ends_answer(turn, said("Stop."), 500, whole=True)
    barging.answering = True
    assert barging.ends_answer(turn, said("Stop."), 500, whole=True)
    turn.barged = True
    assert not barging.ends_answer(turn, said("Stop."), 500, whole=True)
