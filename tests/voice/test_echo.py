"""Its own voice is known by its loudness over time, and by its words, garbled or not."""

from __future__ import annotations

import random

import pytest

from voice.echo import EchoGuard, Verdict, repeated_share, repeats

ROOM_DBFS = -66.0


def speech(frames: int, seed: int, level_dbfs: float = -24.0) -> list[float]:
    """Levels as of somebody who speaks: syllables of 100 to 260 ms, and pauses."""
    dice = random.Random(seed)  # noqa: S311  a table of levels, no secret
    levels: list[float] = []
    while len(levels) < frames:
        loud = level_dbfs + dice.uniform(-8, 4)
        length = dice.randint(5, 13)
        levels += [loud - abs(i - length / 2) * 1.5 for i in range(length)]
        levels += [-96.0] * (dice.randint(8, 20) if dice.random() < 0.15 else dice.randint(0, 2))
    return levels[:frames]


def louder(one: float, other: float) -> float:
    return max(one, other)


def verdicts(
    played: list[float], *, delay_ms: int, gain_db: float, user: dict[int, float] | None = None
) -> list[Verdict]:
    """What the guard says of each frame, when `played` comes back, and a user speaks beside it."""
    guard, found = EchoGuard(), []
    for at in range(len(played)):
        behind = at - delay_ms // 20
        echo = played[behind] + gain_db if behind >= 0 else ROOM_DBFS
        level = max(echo, ROOM_DBFS, (user or {}).get(at, -96.0))
        found.append(guard.frame(level, played[max(0, at - 199) : at + 1]))
    return found


@pytest.mark.parametrize("delay_ms", [60, 200, 500, 900])
@pytest.mark.parametrize("gain_db", [-6.0, -13.0, -20.0])
def test_an_echo_is_never_a_voice(delay_ms: int, gain_db: float) -> None:
    """Until its path is known it can't be told; from then on it is the echo, to its last frame."""
    played = [*speech(500, seed=delay_ms), *[-96.0] * 80]
    found = verdicts(played, delay_ms=delay_ms, gain_db=gain_db)
    assert "voice" not in found
    known = found.index("echo")
    assert known * 20 <= delay_ms + 1_200
    assert "unsure" not in found[known:]


def test_the_guard_lasts_as_long_as_the_device_plays() -> None:
    """With 900 ms of latency the last echo comes 900 ms after the last sound was handed over."""
    played = [*speech(400, seed=5), *[-96.0] * 80]
    found = verdicts(played, delay_ms=900, gain_db=-10.0)
    assert set(found[400 : 400 + 45]) == {"echo"}
    assert found[-1] == "nothing"


def test_who_speaks_into_the_echo_is_heard() -> None:
    """A user as loud as Jarvis is louder than its echo."""
    played = speech(600, seed=9)
    voice = dict(enumerate(speech(120, seed=77, level_dbfs=-22.0), start=400))
    found = verdicts(played, delay_ms=160, gain_db=-14.0, user=voice)
    spoken = [at for at, level in voice.items() if level > -40]
    assert sum(found[at] == "voice" for at in spoken) >= 0.5 * len(spoken)


def test_headphones() -> None:
    """Where nothing comes back, the user is heard at once, over any answer."""
    played = [*speech(200, seed=3), *[-96.0] * 20, *speech(300, seed=4)]
    user = dict(enumerate(speech(100, seed=8), start=260))
    found = verdicts(played, delay_ms=0, gain_db=-90.0, user=user)
    assert {found[at] for at in user} <= {"voice", "nothing"}


@pytest.mark.parametrize("seed", range(12))
def test_who_answers_a_short_answer_is_no_echo_of_it(seed: int) -> None:
    """Two words of Jarvis, then as many of a user: alike over time, by chance, is no path."""
    gap = 10 + 3 * seed
    said = speech(45, seed=100 + seed, level_dbfs=-20.0)
    heard = [ROOM_DBFS] * (40 + gap) + said + [ROOM_DBFS] * 30
    for played in (speech(40, seed=seed), [-38.0] * 40):  # words, and a tone
        out = played + [-96.0] * (len(heard) - len(played))
        guard = EchoGuard()
        found = [guard.frame(level, out[: at + 1]) for at, level in enumerate(heard)]
        assert "echo" not in found
        assert guard.path is None


def test_a_word_of_its_own_is_known_by_its_sound() -> None:
    """Before a path is known: an echo is one in steps of 20 ms, another voice beside it is none."""
    played = [*speech(45, seed=21), *[-96.0] * 40]
    for heard, expected in (
        ([ROOM_DBFS] * 15 + [max(level - 9.0, ROOM_DBFS) for level in played], True),
        ([ROOM_DBFS] * 15 + speech(45, seed=22), False),
    ):
        guard = EchoGuard()
        for at, level in enumerate(heard[:70]):
            guard.frame(level, played[: at + 1])
        assert guard.is_echo(60) is expected


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(("starts_ms", "cancelled"), [(1_300, False), (260, True), (700, True)])
def test_what_can_be_no_echo(seed: int, starts_ms: int, *, cancelled: bool) -> None:
    """Nothing came back so far, so whoever is as loud as Jarvis is somebody else. Within the first
    second of the first answer that takes a canceller's word."""
    played, guard = speech(120, seed=seed), EchoGuard()
    begins = starts_ms // 20
    user = dict(enumerate([-22.0, -19.0, -24.0, -20.0, -26.0, -21.0] * 2, start=begins))
    found = [
        guard.frame(user.get(at, ROOM_DBFS), played[: at + 1], cancelled=cancelled)
        for at in range(begins + len(user))
    ]
    assert "voice" not in found[:begins]
    assert found[begins : begins + 11].count("voice") >= 6


@pytest.mark.parametrize("delay_ms", [60, 200, 500, 900])
@pytest.mark.parametrize("gain_db", [-6.0, -13.0, -20.0])
def test_a_canceller_that_cancels_nothing(delay_ms: int, gain_db: float) -> None:
    """Its word is soon found out: too few frames sound like a voice to silence an answer."""
    played = [*speech(300, seed=delay_ms), *[-96.0] * 80]
    guard, found = EchoGuard(), []
    for at in range(len(played)):
        echo = played[at - delay_ms // 20] + gain_db if at >= delay_ms // 20 else ROOM_DBFS
        level = max(echo, ROOM_DBFS)
        found.append(guard.frame(level, played[max(0, at - 199) : at + 1], cancelled=True))
    assert all(found[at : at + 11].count("voice") < 6 for at in range(len(found)))
    assert "unsure" not in found[found.index("echo") :]


def test_headphones_in_a_loud_room() -> None:
    """What the room sounds like is known from between the answers: it is no echo of any."""
    guard, dice = EchoGuard(), random.Random(2)  # noqa: S311
    played = [*[-96.0] * 60, *speech(160, seed=3), *speech(100, seed=4)]
    found = [
        guard.frame(dice.uniform(-47, -44), played[max(0, at - 199) : at + 1])
        for at in range(len(played))
    ]
    assert guard.clean
    assert found[-1] == "voice"


def test_an_echo_that_is_cancelled_is_forgotten() -> None:
    """A browser's canceller learns too: what no longer comes back hides no user."""
    played = speech(500, seed=6)
    guard = EchoGuard()
    for at in range(len(played)):
        echo = played[at - 10] - 8.0 if 10 <= at < 200 else ROOM_DBFS
        guard.frame(max(echo, ROOM_DBFS), played[max(0, at - 199) : at + 1])
        if at == 190:
            assert guard.path is not None
    assert guard.path is None
    assert guard.clean


def test_an_answer_in_its_own_words_is_no_echo() -> None:
    """One word after the question does not follow what was played: the rest of it is missing."""
    played = [*speech(150, seed=12), *[-96.0] * 60]
    guard = EchoGuard()
    word = dict(enumerate([-25.0, -22.0, -20.0, -21.0, -23.0, -22.0, -26.0, -30.0] * 3, start=175))
    for at in range(len(played)):
        guard.frame(max(ROOM_DBFS, word.get(at, -96.0)), played[max(0, at - 199) : at + 1])
    assert guard.resembles(60) < 0.5


def test_an_echo_resembles_what_was_played() -> None:
    """The whole of a short answer, 700 ms late, follows it."""
    played = [*speech(60, seed=21), *[-96.0] * 60]
    guard = EchoGuard()
    for at in range(len(played)):
        level = max(ROOM_DBFS, played[at - 35] - 12.0 if at >= 35 else -96.0)
        guard.frame(level, played[: at + 1])
    assert guard.resembles(80) > 0.9


SPOKEN = "Your dentist appointment is on Tuesday at four, and the library closes at six."


@pytest.mark.parametrize(
    ("heard", "own"),
    [
        (SPOKEN, True),
        ("dentist appointment is on Tuesday at four", True),
        ("your dentist a point mint is on choose day at for", True),
        ("and the libary closes at sicks", True),
        ("the library closes at", True),
        ("No, move it to Wednesday please.", False),
        ("Which library do you mean?", False),
        ("Can I call the dentist tomorrow?", False),
        ("What is the weather like?", False),
        ("", False),
    ],
)
def test_words(heard: str, own: bool) -> None:
    """Whole, in part or garbled it is Jarvis; a sentence with some of its words is not."""
    assert repeats(heard, SPOKEN) is own


@pytest.mark.parametrize(
    ("heard", "spoken"),
    [
        ("dein Termin ist am Dinstag um vier", "Dein Termin ist am Dienstag um vier Uhr."),
        ("la cita es el martes a las cuatro", "Tu cita es el martes a las cuatro."),
    ],
)
def test_words_of_other_languages(heard: str, spoken: str) -> None:
    """Letters are compared, so no language needs a table."""
    assert repeated_share(heard, spoken) > 0.85


def test_a_guard_that_has_heard_little_finds_nothing_and_does_not_fail() -> None:
    """In a call's first second there are fewer frames of either than of the longest delay."""
    guard = EchoGuard()
    for frame in range(60):
        guard.frame(-30.0 - frame % 7, [-25.0] * min(frame + 1, 40))
        assert 0.0 <= guard.resembles(36) <= 1.0
