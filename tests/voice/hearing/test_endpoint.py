"""Turn taking over made-up frames: each behaviour a row."""

from __future__ import annotations

import dataclasses

import pytest

from voice.hearing.endpoint import (
    FRAME_MS,
    AskAgain,
    Began,
    Cut,
    Decision,
    Endpointer,
    EndpointSettings,
    FrameSound,
    Lasting,
    Over,
    Paused,
    Resumed,
    patience_ms,
)
from voice.hearing.wording import Ending

SETTINGS = EndpointSettings()
ROOM = FrameSound(gate=False, probability=0.02, level_dbfs=-65.0)
VOICE = FrameSound(gate=True, probability=0.97, level_dbfs=-20.0)
TAIL = FrameSound(gate=True, probability=0.9, level_dbfs=-60.0)
"""Just after a voice: quiet already, while the judge still says voice."""
SOFT = FrameSound(gate=True, probability=0.9, level_dbfs=-50.0)
MUSIC = FrameSound(gate=True, probability=0.2, level_dbfs=-30.0)
SINGING = FrameSound(gate=True, probability=0.8, level_dbfs=-30.0)
VOICE_IN_MUSIC = FrameSound(gate=True, probability=0.95, level_dbfs=-12.0)
CLICK = FrameSound(gate=True, probability=0.4, level_dbfs=-10.0)
ONSET = FrameSound(gate=True, probability=0.2, level_dbfs=-30.0)
"""The next word begins, and the judge doesn't know yet."""
BLIP = FrameSound(gate=True, probability=0.7, level_dbfs=-25.0)

Stretch = tuple[FrameSound, int]


def play(
    stretches: list[Stretch],
    *,
    over: float | None = 0.95,
    ending: Ending | None = "finished",
    answering: bool = False,
    settings: EndpointSettings = SETTINGS,
) -> list[tuple[int, Decision]]:
    """Decisions and when they fell, in ms; the models answer each pause at once."""
    ears = Endpointer(settings)
    decided: list[tuple[int, Decision]] = []
    for sound, for_ms in stretches:
        for _ in range(for_ms // FRAME_MS):
            for decision in ears.frame(sound, answering=answering):
                decided.append((ears.position_ms, decision))
                if isinstance(decision, Paused):
                    if over is not None:
                        ears.judged(decision.number, over)
                    if ending is not None:
                        ears.worded(decision.number, ending)
    return decided


def kinds(decided: list[tuple[int, Decision]]) -> list[str]:
    return [type(decision).__name__ for _, decision in decided]


def at(decided: list[tuple[int, Decision]], kind: type[Decision]) -> list[int]:
    return [when for when, decision in decided if isinstance(decision, kind)]


ONE_TURN = ["Began", "Paused", "Over"]
AFTER_TAIL = [(TAIL, 100), (ROOM, 3000)]


@pytest.mark.parametrize(
    ("stretches", "expected"),
    [
        pytest.param([(ROOM, 1000)], [], id="nobody speaks"),
        pytest.param([(ROOM, 500), (CLICK, 40), (ROOM, 500)], [], id="a click"),
        pytest.param([(CLICK, 20), (ROOM, 100)] * 30, [], id="typing"),
        pytest.param([(MUSIC, 10_000)], [], id="music"),
        pytest.param([(ROOM, 400), (BLIP, 60), (ROOM, 900)], ["Began", "Over"], id="a blip"),
        pytest.param([(ROOM, 400), (VOICE, 1000), *AFTER_TAIL], ONE_TURN, id="a sentence"),
        pytest.param([(VOICE, 1000), *AFTER_TAIL], ONE_TURN, id="from sample 0"),
        pytest.param(
            [(ROOM, 400), (VOICE, 600), (TAIL, 100), (VOICE, 600), *AFTER_TAIL],
            ["Began", "Paused", "Resumed", "Paused", "Over"],
            id="a stop consonant",
        ),
        pytest.param(
            [(ROOM, 400), (VOICE, 600), (TAIL, 100), (ROOM, 80), (SOFT, 400), *AFTER_TAIL],
            ["Began", "Paused", "Resumed", "Paused", "Over"],
            id="a soft end after a pause",
        ),
        pytest.param(
            [(ROOM, 400), (VOICE, 600), (SOFT, 400), *AFTER_TAIL],
            ["Began", "Paused", "Resumed", "Paused", "Over"],
            id="a soft end without one",
        ),
        pytest.param(
            [(VOICE, 600), (TAIL, 100), (ROOM, 160), (ONSET, 80), (VOICE, 600), *AFTER_TAIL],
            ["Began", "Paused", "Resumed", "Paused", "Over"],
            id="a word that begins when the turn would end",
        ),
        pytest.param(
            [(MUSIC, 2000), (VOICE_IN_MUSIC, 1500), (MUSIC, 2000)], ONE_TURN, id="over music"
        ),
        pytest.param(
            [(MUSIC, 2000), (VOICE_IN_MUSIC, 1500), (SINGING, 900)],
            ONE_TURN,
            id="over music that sounds like a voice",
        ),
    ],
)
def test_turns(stretches: list[Stretch], expected: list[str]) -> None:
    """Voices make turns, and each of them ends; noise makes none."""
    assert kinds(play(stretches)) == expected


def test_times_of_a_turn() -> None:
    """The guess comes at 80 ms of low energy, the end at 320 ms, both behind the last sound."""
    decided = play([(ROOM, 600), (VOICE, 1000), *AFTER_TAIL])
    assert at(decided, Began) == [660]
    assert at(decided, Paused) == [1680]
    assert at(decided, Over) == [1920]
    began, _, over = (decision for _, decision in decided)
    assert began == Began(began_ms=600, audio_from_ms=200)
    assert over == Over(ended_ms=1600, number=1, worth_words=True, why="pause")


def test_first_sound_belongs_to_the_turn() -> None:
    """Sound from before the detection is kept, as far back as the stream goes."""
    ((_, began), *_) = play([(VOICE, 400)])
    assert began == Began(began_ms=0, audio_from_ms=0)


def test_sound_is_in_one_turn_only() -> None:
    """A turn's audio never begins before the end of the turn before."""
    decided = play([(VOICE, 600), (TAIL, 80), (ROOM, 260), (VOICE, 600), *AFTER_TAIL])
    begins = [decision for _, decision in decided if isinstance(decision, Began)]
    assert [began.audio_from_ms for began in begins] == [0, 600]


@pytest.mark.parametrize(
    ("over", "ending", "expected_ms"),
    [
        (0.95, "finished", 320),
        (0.95, "question", 320),
        (0.8, "finished", 400),
        (0.6, "finished", 600),
        (0.3, "question", 600),
        (0.3, "finished", 900),
        (0.1, "finished", 1600),
        (0.95, "loose", 400),
        (0.6, "loose", 700),
        (0.2, "loose", 1700),
        (0.95, "falling", 320),
        (0.2, "falling", 2000),
        (0.95, "unfinished", 1700),
        (0.1, "unfinished", 2000),
        (None, "finished", 800),
        (0.9, None, 800),
        (None, None, 800),
    ],
)
def test_patience(over: float | None, ending: Ending | None, expected_ms: int) -> None:
    """Finished sentences end early, unfinished ones wait; nobody waits for ever."""
    assert patience_ms(over, ending, SETTINGS) == expected_ms
    decided = play([(VOICE, 1000), *AFTER_TAIL], over=over, ending=ending)
    assert at(decided, Over) == [1000 + expected_ms]


@pytest.mark.parametrize("pause_ms", [800, 1200, 1500])
@pytest.mark.parametrize("over", [0.05, 0.4, 0.98])
def test_thinking_pause(pause_ms: int, over: float) -> None:
    """A pause of up to 1.5 s inside an unfinished sentence does not end the turn."""
    stretches = [(VOICE, 900), (TAIL, 100), (ROOM, pause_ms - 100), (VOICE, 700)]
    decided = play(stretches, over=over, ending="unfinished")
    closer_look = ["AskAgain"] if over < SETTINGS.sure_over else []
    assert kinds(decided) == ["Began", "Paused", *closer_look, "Resumed"]


@pytest.mark.parametrize(
    ("silent_ms", "release_ms", "expected"),
    [
        pytest.param(500, None, ["Began", "Paused", "Resumed", "Paused", "Over"], id="goes on"),
        pytest.param(3000, 600, ["Began", "Paused", "Over"], id="the answer is ready"),
        pytest.param(3000, 200, ["Began", "Paused", "Over"], id="ready before the turn is over"),
        pytest.param(3000, None, ["Began", "Paused", "Over"], id="never ready"),
    ],
)
def test_a_turn_stays_open_while_its_answer_is_made(
    silent_ms: int, release_ms: int | None, expected: list[str]
) -> None:
    """Speech that goes on before the answer is ready belongs to the turn; a second pause of which
    nobody makes an answer ends it as ever."""
    ears = Endpointer()
    decided: list[tuple[int, Decision]] = []
    stretches = [(VOICE, 800), (ROOM, silent_ms), (VOICE, 800), (ROOM, 1000)]
    for sound, for_ms in stretches[: 2 if silent_ms > 1000 else 4]:
        for _ in range(for_ms // FRAME_MS):
            if release_ms is not None and ears.position_ms >= 800 + release_ms:
                ears.release(1)
            for decision in ears.frame(sound, answering=False):
                decided.append((ears.position_ms, decision))
                if isinstance(decision, Paused):
                    ears.judged(decision.number, 0.95)
                    ears.worded(decision.number, "finished")
                    if decision.number == 1:
                        ears.hold(1)
    assert kinds(decided) == expected
    if silent_ms > 1000:
        held_ms = SETTINGS.most_held_ms if release_ms is None else release_ms
        [over_ms] = at(decided, Over)
        assert over_ms == 800 + max(SETTINGS.stop_ms, held_ms) + (20 if held_ms == 600 else 0)


def test_a_late_answer_counts() -> None:
    """An answer to a pause that is over is ignored; one to the present pause is not."""
    ears = Endpointer()
    decided: list[Decision] = []
    for sound, for_ms in [(VOICE, 600), (TAIL, 100), (VOICE, 600), (TAIL, 200)]:
        for _ in range(for_ms // FRAME_MS):
            decided += ears.frame(sound, answering=False)
    first, second = (decision.number for decision in decided if isinstance(decision, Paused))
    ears.judged(first, 0.99)
    ears.worded(first, "finished")
    for _ in range(10):
        decided += ears.frame(ROOM, answering=False)
    assert not any(isinstance(decision, Over) for decision in decided)
    ears.judged(second, 0.99)
    ears.worded(second, "finished")
    assert isinstance(ears.frame(ROOM, answering=False)[-1], Over)


def test_order_of_answers_does_not_matter() -> None:
    """Words first or judgement first, between two frames: the same decisions."""
    results = []
    for words_first in (True, False):
        ears = Endpointer()
        decided: list[tuple[int, Decision]] = []
        for sound, for_ms in [(VOICE, 600), *AFTER_TAIL]:
            for _ in range(for_ms // FRAME_MS):
                for decision in ears.frame(sound, answering=False):
                    decided.append((ears.position_ms, decision))
                    if isinstance(decision, Paused):
                        if words_first:
                            ears.worded(decision.number, "falling")
                        ears.judged(decision.number, 0.9)
                        ears.worded(decision.number, "falling")
        results.append(decided)
    assert results[0] == results[1]


@pytest.mark.parametrize(
    ("stretches", "lasting_at"),
    [
        pytest.param([(ROOM, 400), (VOICE, 400), (ROOM, 600)], [640], id="stop"),
        pytest.param([(ROOM, 400), (VOICE, 260), (ROOM, 600)], [640], id="a short stop"),
        pytest.param([(ROOM, 400), (VOICE, 160), (TAIL, 60), (ROOM, 600)], [], id="a cough"),
        pytest.param([(MUSIC, 4000)], [], id="music"),
        pytest.param([(CLICK, 60), (ROOM, 60)] * 20, [], id="typing"),
        pytest.param([(BLIP, 100), (ROOM, 400)] * 5, [], id="blips do not add up"),
    ],
)
def test_barge_in(stretches: list[Stretch], lasting_at: list[int]) -> None:
    """A voice of 240 ms is one to stop for; noise and coughs are not."""
    assert at(play(stretches, answering=True), Lasting) == lasting_at
    assert at(play(stretches, answering=False), Lasting) == []


def test_words_that_stand_still_end_the_turn() -> None:
    """A television behind the user's words: no new words for 2.4 s, and the turn is over."""
    ears = Endpointer()
    decided: list[tuple[int, Decision]] = []
    for number in range(400):
        decided += [(ears.position_ms, made) for made in ears.frame(VOICE, answering=False)]
        if decided and not at(decided, Over) and number % 40 == 39:
            ears.words_came(changed=number == 39)
    assert kinds(decided)[:2] == ["Began", "Over"]
    assert at(decided, Over) == [3220]


def test_long_turn_is_cut_where_it_is_quietest() -> None:
    """A minute without a pause is cut at its quietest place; the next turn begins there."""
    quieter = dataclasses.replace(VOICE, level_dbfs=-28.0)
    stretches = [(VOICE, 50_000), (quieter, 100), (VOICE, 12_000), *AFTER_TAIL]
    decided = play(stretches)
    assert kinds(decided) == ["Began", "Cut", "Paused", "Over"]
    (cut,) = (decision for _, decision in decided if isinstance(decision, Cut))
    assert abs(cut.at_ms - 50_050) <= 20


def test_flush_ends_an_open_turn() -> None:
    """The end of the stream ends the turn, also in the middle of a word."""
    ears = Endpointer()
    assert ears.flush() == []
    for _ in range(50):
        ears.frame(VOICE, answering=False)
    assert ears.flush() == [Over(ended_ms=1000, number=None, worth_words=True, why="flushed")]
    assert not ears.turn_open


def test_kinds_are_told_apart() -> None:
    """Each kind of decision occurs in these tables."""
    assert {AskAgain, Began, Cut, Lasting, Over, Paused, Resumed} == set(Decision.__args__)
