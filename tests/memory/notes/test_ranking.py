"""The order of hits."""

from __future__ import annotations

from datetime import date

from hypothesis import given
from hypothesis import strategies as st

from memory.notes.ranking import fused, ranked
from tests.memory.notes.hits import hit

OLD, NEW = date(2025, 1, 1), date(2026, 1, 1)


def pieces(*hits: object, limit: int = 10) -> list[int]:
    return [each.piece for each in ranked(hits, limit)]  # type: ignore[arg-type]


def test_a_piece_beside_what_else_was_asked_for_comes_first() -> None:
    """Of two pieces with the same word, the one whose neighbour holds the other word."""
    alone = hit(2, {"pump": 5.0}, file="a.md")
    beside, other = hit(11, {"pump": 5.0}), hit(12, {"valve": 4.0})
    assert pieces(alone, beside, other)[:1] == [11]


def test_a_neighbour_in_another_file_is_none() -> None:
    """Numbers that follow each other mean nothing across files."""
    first = hit(1, {"pump": 5.0}, file="a.md")
    second = hit(2, {"pump": 5.0}, file="b.md")
    other = hit(3, {"valve": 4.0}, file="c.md")
    assert pieces(first, second, other) == [1, 2, 3]


def test_a_word_that_both_hold_counts_once() -> None:
    """A neighbour with the same word adds nothing."""
    assert pieces(hit(1, {"pump": 5.0}), hit(2, {"pump": 5.0}), hit(9, {"pump": 5.2})) == [9, 1, 2]


def test_stars_and_age_break_ties_in_the_journal() -> None:
    """Between entries that say as much of it, importance decides, then the newer day."""
    plain_old = hit(1, {"pump": 5.0}, kind="journal", file="d/1.md", day=OLD, stars=3)
    plain_new = hit(3, {"pump": 5.0}, kind="journal", file="d/2.md", day=NEW, stars=3)
    starred = hit(5, {"pump": 5.0}, kind="journal", file="d/3.md", day=OLD, stars=5)
    assert pieces(plain_old, plain_new, starred) == [5, 3, 1]


def test_stars_never_beat_words() -> None:
    """An important entry that says less of it stays behind."""
    starred = hit(1, {"pump": 5.0}, kind="journal", file="d/1.md", day=NEW, stars=5)
    fitting = hit(3, {"pump": 5.0, "valve": 4.0}, kind="journal", file="d/2.md", day=OLD, stars=1)
    assert pieces(starred, fitting) == [3, 1]


def test_notes_have_no_age() -> None:
    """Of two notes that say the same the place decides, whatever the index knows besides."""
    assert pieces(hit(7, {"a": 5.0}, file="b.md", stars=5), hit(3, {"a": 5.0}, file="a.md")) == [
        3,
        7,
    ]


def test_no_more_than_asked_for() -> None:
    """The limit holds."""
    assert pieces(*(hit(n * 2, {"a": float(n)}) for n in range(9)), limit=3) == [16, 14, 12]


@given(st.permutations(range(8)))
def test_the_order_does_not_depend_on_how_they_came(order: list[int]) -> None:
    """The same hits give the same order."""
    hits = [hit(n, {"a": 5.0, "b": float(n % 3)}, kind="journal", day=OLD) for n in range(8)]
    assert ranked([hits[n] for n in order], 8) == ranked(hits, 8)


def test_fused_orders_agree_on_what_is_good_in_both() -> None:
    """Second in both orders beats first in one; what stands in one only is not lost."""
    assert fused([["a", "b", "c"], ["d", "b"]])[0] == "b"
    assert set(fused([["a", "b", "c"], ["d", "b"]])) == {"a", "b", "c", "d"}
    assert fused([["a", "b"]]) == ("a", "b")
    assert fused([]) == ()
