from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from memory.notebooks.candidates import candidates, with_previous
from memory.records import Origin, Speaker, Turn

NOON = datetime.fromisoformat("2026-12-02T12:00:00+01:00")


def turns(*said: tuple[Speaker, str], origin: Origin = "spoken") -> tuple[Turn, ...]:
    return tuple(
        Turn(
            conversation="c1",
            index=index,
            speaker=speaker,
            text=text,
            language=None,
            began_at=NOON + timedelta(minutes=index),
            ended_at=NOON + timedelta(minutes=index, seconds=5),
            origin=origin if speaker == "user" else "spoken",
        )
        for index, (speaker, text) in enumerate(said)
    )


TALK = turns(
    ("user", "set a timer"),
    ("assistant", "Done."),
    ("user", "ich bin übrigens Veganer"),
    ("assistant", "I'm vegan as well."),
    ("user", "soy alérgica a las nueces"),
    ("user", "my sister Anna lives in Kiel"),
)


def test_what_the_user_says_is_marked_where_and_when_it_was_said() -> None:
    """Each sentence has its turn, its time and Jarvis' line before it; Jarvis' own are none."""
    found = candidates(TALK)
    assert [(m.turn_index, m.quote, m.previous) for m in found] == [
        (2, "ich bin übrigens Veganer", "Done."),
        (4, "soy alérgica a las nueces", "I'm vegan as well."),
        (5, "my sister Anna lives in Kiel", None),
    ]
    assert [m.said_at for m in found] == [NOON + timedelta(minutes=m) for m in (2, 4, 5)]


def test_turns_before_the_first_only_give_the_line_before() -> None:
    """Of a later hand-over the earlier turns are not marked again."""
    assert [(m.turn_index, m.previous) for m in candidates(TALK, first=4)] == [
        (4, "I'm vegan as well."),
        (5, None),
    ]


@pytest.mark.parametrize("origin", ["pasted", "prefilled", "tool", "note", "echo"])
def test_only_words_of_the_users_own_are_read(origin: Origin) -> None:
    """What was pasted, prefilled or heard back is nobody's word (a7 to a10, m4)."""
    assert candidates(turns(("user", "I'm vegan by the way"), origin=origin)) == ()
    assert candidates(turns(("user", "I'm vegan by the way"), origin="typed")) != ()


def test_secrets_stay_behind() -> None:
    """Neither the sentence nor Jarvis' line takes a secret along (S3)."""
    [found] = candidates(
        turns(
            ("assistant", "Your password is Tulip4471!, right?"),
            ("user", "I'm vegan and my pin is 4711"),
        )
    )
    assert "4711" not in found.quote and "vegan" in found.quote
    assert "Tulip4471" not in (found.previous or "")


def test_nothing_said_marks_nothing() -> None:
    """No turns, or none of the user's."""
    assert candidates(()) == ()
    assert list(with_previous(turns(("assistant", "I'm vegan.")))) == []
