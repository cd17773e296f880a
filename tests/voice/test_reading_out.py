"""What of a found piece is read out."""

from __future__ import annotations

import pytest

from memory.records import Extract
from voice.reading_out import READ_OUT_CHARS, aloud, place

WHO = {"You": "You said: $text", "Jarvis": "I said: $text", "Remembered": "I noted: $text"}
DAY = "society/jarvis/daily/2026-11-30.md"
TALK = """Call, 0 minutes, 4 turns.

- You: My neighbour Paula plays the harp.
- Jarvis: That sounds lovely.
- Remembered: My bike is green.

#conversation
"""


def extract(text: str, file: str = "house.md", heading: str = "") -> Extract:
    return Extract(file=file, first_line=1, last_line=9, heading=heading, text=text)


@pytest.mark.parametrize(
    ("topic", "said"),
    [
        ("Paula", "You said: My neighbour Paula plays the harp."),
        ("the neighbour", "You said: My neighbour Paula plays the harp."),
        ("bike", "I noted: My bike is green."),
        (
            "music",
            "You said: My neighbour Paula plays the harp. I said: That sounds lovely. "
            "I noted: My bike is green.",
        ),
    ],
)
def test_of_a_talk_what_it_is_about_is_read_out(topic: str, said: str) -> None:
    """With who said it; how long the talk was and its tags are for the eye."""
    assert aloud(extract(TALK, DAY, "My bike is green."), topic, WHO) == said


@pytest.mark.parametrize(
    ("text", "topic", "said"),
    [
        ("- [ ] Call Mr Okafor\n- [x] Buy bolts\n", "bolts", "Buy bolts."),
        ("1. Soak the beans\n2. Cook them", "beans", "Soak the beans."),
        ("Der Schlüssel liegt oben.\nDas Rad ist rot.", "schlussel", "Der Schlüssel liegt oben."),
        ("The bike is red.\nSøren has the key.", "soren", "Søren has the key."),
        ("---\ntags: x\n---\nThe boiler hums.\n![boiler](a.png)", "boiler", "The boiler hums."),
        ("---\ntags: boiler\n---\n", "boiler", ""),
        ("You: no journal, no label.", "label", "You: no journal, no label."),
        ("#garden #house\n", "garden", ""),
    ],
)
def test_of_a_note_the_lines_about_it_are_read_out(text: str, topic: str, said: str) -> None:
    """Without the marks of lists, properties, pictures and tags."""
    assert aloud(extract(text), topic, WHO) == said


def test_nobody_listens_to_a_page() -> None:
    """The end is the end of a sentence, else of a word."""
    assert aloud(extract("The boiler hums today. " * 30), "boiler", WHO).endswith("today.")
    long = aloud(extract("boiler " * 90), "boiler", WHO)
    assert long.endswith("boiler …") and len(long) <= READ_OUT_CHARS + 2


@pytest.mark.parametrize(
    ("file", "heading", "said"),
    [
        ("house.md", "Heating", "house, Heating"),
        ("a/house.md", "house", "house"),
        ("house.md", "", "house"),
        (DAY, "My bike is green.", "2026-11-30"),
    ],
)
def test_a_place_as_it_is_said(file: str, heading: str, said: str) -> None:
    """What an entry of the journal is called says nothing of what was looked for."""
    assert place(extract("x", file, heading)) == said
