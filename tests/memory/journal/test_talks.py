from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from memory.journal import page
from memory.journal.talks import LINE_CHARS, TURNS_SHOWN, entries_of
from memory.records import Origin, Speaker, Turn

AT = datetime.fromisoformat("2026-12-31T22:00:00+01:00")


def talk(*texts: str, origin: Origin = "spoken", at: datetime = AT) -> tuple[Turn, ...]:
    """The user and Jarvis take turns, a minute each."""
    found = []
    for index, text in enumerate(texts):
        began_at = at + timedelta(minutes=index)
        speaker: Speaker = "user" if index % 2 == 0 else "assistant"
        found.append(
            Turn(
                conversation="c1", index=index, speaker=speaker, text=text, language=None,
                began_at=began_at, ended_at=began_at + timedelta(seconds=30),
                origin=origin if speaker == "user" else "spoken",
            )
        )  # fmt: skip
    return tuple(found)


CHATTER = ("How tall is the tower in Pisa then?", "56 metres.") * 2
LONG = ("How tall is the leaning tower in Pisa?", "56 metres.") * 4


@pytest.mark.parametrize(
    ("turns", "remembered", "held"),
    [
        ((), (), False),
        (talk("hello", "Hello!", "bye", "Bye."), (), False),
        (talk(*CHATTER), (), False),
        (talk(*LONG), (), True),
        (talk("I'm vegan, by the way.", "Good to know."), (), True),
        (talk("Remember that.", "Saved."), ("I live in Köln.",), True),
        (talk(*LONG, origin="pasted"), (), False),
        (talk(*LONG, origin="echo"), (), False),
    ],
)
def test_only_a_talk_that_held_something_is_kept(
    turns: Sequence[Turn], remembered: Sequence[str], held: bool
) -> None:
    """A marked sentence, a line that was remembered, or enough that was said: all for free."""
    assert bool(entries_of(turns, "call", remembered)) == held


def test_an_entry_has_a_title_and_turns() -> None:
    """What the user told, the answers to it, how long it was, and what was remembered."""
    turns = talk("hello", "Hello!", "My sister Lena lives in Bonn now.", "How nice.", "bye", "Bye.")
    [entry] = entries_of(turns, "call", ["My sister Lena lives in Bonn now."])
    assert entry.title == "My sister Lena lives in Bonn now."
    assert entry.text.split("\n") == [
        "Call, 6 minutes, 6 turns.",
        "",
        "- You: My sister Lena lives in Bonn now.",
        "- Jarvis: How nice.",
        "- Remembered: My sister Lena lives in Bonn now.",
    ]
    assert (entry.at, entry.kind, entry.stars) == (turns[0].began_at, "conversation", 3)


def test_what_was_looked_up_is_worth_an_entry() -> None:
    """An answer from the user's notes; the note itself was said by nobody, and stands in its file."""
    asked, answer = talk("When does the boiler engineer come to us?", "On Friday.")
    note = replace(answer, text="The boiler engineer Marta comes on Friday.", origin="note")
    [entry] = entries_of((asked, note, replace(answer, index=2)), "chat", ())
    assert entry.title == "When does the boiler engineer come to us?"
    assert "Marta" not in entry.text
    assert "- Jarvis: On Friday." in entry.text
    assert "2 turns" in entry.text
    assert entries_of((asked, answer), "chat", ()) == ()
    assert entries_of((note,), "chat", ()) == ()


def test_it_is_filed_under_the_day_of_its_turns() -> None:
    """Over midnight there is an entry on each day that held something (m14)."""
    late = AT.replace(hour=23, minute=58)
    turns = talk("I'm vegan, by the way.", "Good.", "My sister Lena lives in Bonn.", "Nice.", at=late)  # fmt: skip
    old, new = entries_of(turns, "chat", ())
    assert (old.at.isoformat(), old.title) == (
        "2026-12-31T23:58:00+01:00",
        "I'm vegan, by the way.",
    )
    assert (new.at.isoformat(), new.title) == (
        "2027-01-01T00:00:00+01:00", "My sister Lena lives in Bonn.",
    )  # fmt: skip


def test_a_long_talk_is_a_short_entry() -> None:
    """Some turns of it, each in one line."""
    turns = talk(*(("My brother likes long walks in the wood. " * 20, "Yes.\n\n# Well") * 30))
    [entry] = entries_of(turns, "call", ())
    lines = entry.text.split("\n")
    assert len(lines) == TURNS_SHOWN + 2
    assert all(len(line) <= LINE_CHARS + 12 for line in lines)
    assert len(page.read(AT.date(), page.lines(entry))) == 1


def test_no_secret_is_kept() -> None:
    """Not where it is called one, nor where it is only said again."""
    turns = talk("I'm vegan and my password is sunflower7.", "I heard sunflower7, didn't I?")
    [entry] = entries_of(turns, "call", ())
    assert "sunflower7" not in page.lines(entry)
    assert "I heard ⟦a password⟧, didn't I?" in entry.text
