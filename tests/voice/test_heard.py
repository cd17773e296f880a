"""What was heard follows from how many samples were played."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voice.heard import Piece, heard_text

ANSWER = (Piece("On the third", 300), Piece("of May, dear.", 400))


@pytest.mark.parametrize(
    ("played", "text"),
    [
        (0, ""),
        (50, ""),
        (70, "On"),
        (162, "On the"),
        (299, "On the"),
        (300, "On the third"),
        (360, "On the third"),
        (400, "On the third of"),
        (699, "On the third of May,"),
        (700, "On the third of May, dear."),
        (9_000, "On the third of May, dear."),
    ],
)
def test_only_words_played_to_their_end_count(played: int, text: str) -> None:
    """A word that was cut in its middle was not heard."""
    assert heard_text(ANSWER, played) == text


pieces = st.lists(
    st.builds(
        Piece,
        st.lists(st.text("abcß", min_size=1, max_size=9), max_size=6).map(" ".join),
        st.integers(1, 50_000),
    ),
    max_size=6,
)


@given(pieces, st.integers(0, 400_000), st.integers(0, 400_000))
def test_more_sound_never_means_fewer_words(said: list[Piece], one: int, other: int) -> None:
    """What is heard is a beginning of the answer, and it grows with what is played."""
    whole = " ".join(piece.text for piece in said).split()
    less, more = sorted((heard_text(said, one), heard_text(said, other)), key=len)
    assert heard_text(said, max(one, other)) == more
    assert more.split() == whole[: len(more.split())]
    assert less.split() == whole[: len(less.split())]
