"""Sound that is kept, words shared out over sound, and cuts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from voice.engines.realtime_sound import (
    HELD_S,
    IDLE_S,
    MICROPHONE_HZ,
    Alignment,
    Delete,
    Item,
    Microphone,
    Truncate,
    UserTurn,
    cut,
    played_of,
)
from voice.heard import Piece, heard_text

# The microphone ---------------------------------------------------------------------------


def numbered(first: int, count: int) -> bytes:
    return b"".join(
        (number % 65536).to_bytes(2, "little") for number in range(first, first + count)
    )


def test_the_microphone_gives_back_sound_from_a_position_on() -> None:
    """Positions are the stream's own, to the sample."""
    microphone = Microphone()
    for at in range(0, 16_000, 320):
        microphone.append(numbered(at, 320))
    assert microphone.since(990) == numbered(15_840, 160)
    assert microphone.since(0) == numbered(0, 16_000)
    assert microphone.since(1000) == microphone.since(5000) == b""


@pytest.mark.parametrize(
    ("held_from_s", "fed_s", "kept_s"),
    [(None, 60, IDLE_S), (1, 60, 59), (0, 2 * HELD_S, HELD_S), (59, 60, IDLE_S)],
)
def test_what_the_microphone_keeps_is_bounded(
    held_from_s: int | None, fed_s: int, kept_s: int
) -> None:
    """Ten seconds, or all of a turn up to five minutes."""
    microphone = Microphone()
    second = bytes(2 * MICROPHONE_HZ)
    for at in range(fed_s):
        if at == held_from_s:
            microphone.hold(at * 1000)
        microphone.append(second)
    assert len(microphone.since(0)) == kept_s * len(second)
    assert microphone.first_ms == (fed_s - kept_s) * 1000
    microphone.release()
    microphone.append(second)
    assert len(microphone.since(0)) == IDLE_S * len(second)


# Words and sound --------------------------------------------------------------------------

WORDS = st.lists(st.text(alphabet="abcdefü", min_size=1, max_size=9), min_size=1, max_size=30)


@given(words=WORDS, chunks=st.lists(st.integers(1, 30_000), max_size=20), ahead=st.integers(0, 9))
def test_each_word_and_each_sample_comes_out_once_in_order(
    words: list[str], chunks: list[int], ahead: int
) -> None:
    """However words and sound are interleaved, and wherever the words are torn."""
    alignment = Alignment(15.0)
    text = " ".join(words)
    letters = iter(text)
    for _ in range(ahead):
        alignment.add_text(next(letters, ""))
    samples = played = declared = 0
    for chunk in chunks:
        alignment.add_text(next(letters, "") + next(letters, "") + next(letters, ""))
        for part in alignment.add_sound(chunk):
            if part.piece is not None:
                assert declared <= played
                declared += part.piece.samples
            played += part.samples
        samples += chunk
        assert played == samples
    alignment.add_text("".join(letters))
    alignment.rest()
    assert " ".join(piece.text for piece in alignment.pieces) == text == alignment.text
    assert all(piece.text for piece in alignment.pieces)


def test_words_take_the_time_that_the_voice_takes_for_them() -> None:
    """At the right pace the last word begins within half a second of the end."""
    text = " ".join(f"word{number:02}" for number in range(50))
    alignment = Alignment(len(text) / 20)
    alignment.add_text(text + " ")
    for _ in range(100):
        alignment.add_sound(4_800)
    spread = sum(piece.samples for piece in alignment.pieces)
    assert abs(spread - 20 * 24_000) <= 12_000
    assert abs(alignment.pace - len(text) / 20) < 0.1


PIECES = st.lists(
    st.builds(
        lambda words, samples: Piece(" ".join(words), samples), WORDS, st.integers(1, 48_000)
    ),
    min_size=1,
    max_size=6,
)


@given(pieces=PIECES, share=st.floats(0, 1))
def test_the_position_of_what_was_heard_is_the_first_that_gives_it(
    pieces: list[Piece], share: float
) -> None:
    """`played_of` undoes `heard_text`, and never claims more than was played."""
    played = int(share * sum(piece.samples for piece in pieces))
    heard = heard_text(pieces, played)
    position = played_of(pieces, heard)
    assert position <= played
    assert heard_text(pieces, position) == heard


# Cuts -------------------------------------------------------------------------------------

ITEMS = (("a", 24_000), ("b", 48_000), ("c", 24_000))
CUTS: list[tuple[int, bool, tuple[Truncate | Delete, ...]]] = [
    (0, True, (Delete("a"), Delete("b"), Delete("c"))),
    (12_000, True, (Truncate("a", 0, 500), Delete("b"), Delete("c"))),
    (24_000, True, (Delete("b"), Delete("c"))),
    (24_024, True, (Truncate("b", 0, 1), Delete("c"))),
    (95_999, True, (Truncate("c", 0, 999),)),
    (96_000, True, ()),
    (99_000, True, ()),
    (96_000, False, (Truncate("c", 0, 1000),)),
    (24_000, False, (Delete("b"), Delete("c"))),
]


@pytest.mark.parametrize(("played", "complete", "steps"), CUTS)
def test_history_is_cut_to_what_was_played(
    played: int, complete: bool, steps: tuple[Truncate | Delete, ...]
) -> None:
    """Whole items stay, one is truncated, what was not played at all is deleted."""
    items = [Item(name, 0, samples) for name, samples in ITEMS]
    assert cut(items, played, complete=complete) == steps


@pytest.mark.parametrize(("played", "steps"), [(0, ("w", "b")), (9, ("w", "b")), (24_000, ("b",))])
def test_words_of_a_lost_session_can_only_be_taken_back_whole(
    played: int, steps: tuple[str, ...]
) -> None:
    """An item of text has no sound that could be cut: it goes, and is told anew."""
    items = [Item("w", 0, 24_000, words="It was"), Item("b", 0, 24_000)]
    assert cut(items, played, complete=True) == tuple(Delete(each) for each in steps)


@pytest.mark.parametrize("rate_hz", [16_000, 24_000])
def test_a_turn_loses_no_sample(rate_hz: int) -> None:
    """A hundred turns of 200 ms in chunks of 20: out are in times the ratio, within one."""
    for _ in range(100):
        turn = UserTurn(0, rate_hz)
        for _ in range(10):
            turn.resampled(np.zeros(320, dtype="<i2").tobytes())
        turn.resampled(b"", last=True)
        assert abs(turn.samples - 3200 * rate_hz / 16_000) <= 1


def test_words_ahead_of_their_sound_are_forgotten_when_it_never_comes() -> None:
    """What is left are the words whose sound came."""
    alignment = Alignment(15.0)
    alignment.add_text("one two three four five six seven ")
    alignment.add_sound(12_000)
    alignment.forget_unspoken()
    assert alignment.text == " ".join(piece.text for piece in alignment.pieces)
    assert alignment.samples == 12_000
