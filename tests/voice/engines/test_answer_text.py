"""What a model writes, and what of it may be spoken."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voice.engines.answer_text import AnswerText


def spoken(pieces: list[str], *, long_chars: int = 1200) -> tuple[str, bool]:
    text = AnswerText(long_chars=long_chars)
    out = ""
    for piece in pieces:
        out += text.feed(piece)
        if text.over:
            break
    return out + text.end(), text.over


@pytest.mark.parametrize(
    ("written", "out"),
    [
        ("On March 12.", "On March 12."),
        ("  On March 12.\n", "On March 12."),
        ("Jarvis: On March 12.", "On March 12."),
        ("Antwort: Am 12. März.", "Am 12. März."),
        ("Jarvis is my name.", "Jarvis is my name."),
        ("<answer>On March 12.</answer>", "On March 12."),
        ("On March 12 </USER.md>", "On March 12"),
        ("It is on March 12 (every 03-12).", "It is on March 12."),
        ("It is on March 12 (every year).", "It is on March 12 (every year)."),
        ("You fly to Lisbon (2026-12-18).", "You fly to Lisbon (2026-12-18)."),
        ("Once there was … [interrupted]", "Once there was …"),
        ("<think>The user wants a date.</think>\n\nOn March 12.", "On March 12."),
        ("<think>The user wants", ""),
        ("3 < 5 and 7 > 5, so yes.", "3 < 5 and 7 > 5, so yes."),
        ("", ""),
        ("\n \n", ""),
    ],
)
def test_wrapping_is_not_spoken(written: str, out: str) -> None:
    """Roles, tags, marks and thoughts go; everything else stays, however it was cut."""
    for size in (1, 2, 3, 7, 1000):
        pieces = [written[i : i + size] for i in range(0, len(written), size)]
        assert spoken(pieces)[0].strip() == out


@pytest.mark.parametrize(
    ("written", "out"),
    [
        (
            "Your sister is Anna. She lives here. Your sister is Anna. She lives here.",
            "Your sister is Anna. She lives here.",
        ),
        ("Yes. Yes. It is so.", "Yes. Yes. It is so."),
        (
            "Your sister is Anna. Your sister is also a nurse.",
            "Your sister is Anna. Your sister is also a nurse.",
        ),
        ("On March 12.\nUser: And my brother?\nJarvis: In May.", "On March 12."),
    ],
)
def test_repetition_and_the_users_next_turn_end_it(written: str, out: str) -> None:
    """A sentence is spoken once, and the model does not speak for the user."""
    assert spoken([*written])[0].strip() == out


@pytest.mark.parametrize(
    ("written", "sure", "ahead"),
    [
        ("Dein Hund ist", "Dein Hund", " ist"),
        ("Dein Hund ist Br", "Dein Hund ist", " Br"),
        ("It is so. It", "It is so.", " It"),
        ("It is so. It is", "It is so.", " It is"),  # it may be said again
        ("It is so. It is new", "It is so.", " It is new"),
        ("It is so. It is new. ", "It is so. It is new.", " "),
        ("On March 12.\nUser: And", "On March 12.", ""),
    ],
)
def test_what_is_not_sure_yet_is_ahead(written: str, sure: str, ahead: str) -> None:
    """The next word's beginning, and what may be a repetition; nothing once the answer is over."""
    text = AnswerText()
    assert "".join(text.feed(letter) for letter in written) == sure
    assert text.ahead == ahead


def test_a_loop_is_left() -> None:
    """The same words three times over end the answer."""
    out, over = spoken(["and then he went to the sea "] * 50)
    assert over
    assert len(out) < 100


def test_a_long_answer_ends_with_its_sentence() -> None:
    """Behind the limit the sentence is finished, and no other begun."""
    sentences = [f"Sentence number {index} tells something else. " for index in range(100)]
    out, over = spoken(sentences, long_chars=100)
    assert over
    assert out.strip().endswith("else.")
    assert 100 < len(out) < 160


@given(st.text(alphabet="abc .,!?<>()[]|/\n:", max_size=80), st.integers(1, 9))
def test_how_it_is_cut_makes_no_difference(written: str, size: int) -> None:
    """The same text comes out whether it came letter by letter or at once."""
    whole = spoken([written])
    assert spoken([written[i : i + size] for i in range(0, len(written), size)]) == whole
