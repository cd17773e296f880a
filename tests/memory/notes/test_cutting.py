from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.notes.cutting import Piece, cut

TABLE = [
    ("", []),
    ("\n \n", []),
    ("Short.", [("", 1, 1, "Short.")]),
    ("# Boiler\n\nServiced by Meier.", [("Boiler", 3, 3, "Serviced by Meier.")]),
    ("# A\n\nx\n\n## B ##\n\ny\n\n# C\n\nz", [("A", 3, 3, "x"), ("A > B", 7, 7, "y"), ("C", 11, 11, "z")]),
    ("Boiler\n======\n\nOld.", [("Boiler", 4, 4, "Old.")]),
    ("# Only a title", [("Only a title", 1, 1, "# Only a title")]),
    ("# A\n## B\nx", [("A > B", 3, 3, "x")]),
    ("# A\n# B\nx", [("A", 1, 1, "# A"), ("B", 3, 3, "x")]),
    ("---\ntags: [a]\n---\n# A\nx", [("", 1, 3, "---\ntags: [a]\n---"), ("A", 5, 5, "x")]),
    ("```\n# no heading\n```", [("", 1, 3, "```\n# no heading\n```")]),
    ("[a]: http://b.example", [("", 1, 1, "[a]: http://b.example")]),
    ("- one\n- two", [("", 1, 2, "- one\n- two")]),
    ("> # quoted", [("", 1, 1, "> # quoted")]),
    ("eins\r\n\r\nzwei\r\n", [("", 1, 3, "eins\r\n\r\nzwei")]),
    ("alt\rneu\r", [("", 1, 2, "alt\rneu")]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), TABLE)
def test_headings_and_lines(text: str, expected: list[tuple[str, int, int, str]]) -> None:
    """A piece knows the headings above it and its lines, and is the text to the letter."""
    assert cut(text) == tuple(Piece(*each) for each in expected)


SENTENCES = [
    "The boiler is from 2009, and Mr. Meier looks after it.",
    "Er kommt z. B. am 3. Mai, wenn es ihm passt.",
    "¿Cuándo viene el técnico? ¡Mañana!",
    "It hums; nobody knows why, not even the man who built it in the winter of the great frost.",
]


def test_a_cut_falls_between_sentences() -> None:
    """A sentence is whole in some piece, and a piece begins where one does if one is near."""
    text = " ".join(SENTENCES * 3)
    pieces = cut(text, chars=120, overlap=40)
    for sentence in SENTENCES:
        assert any(sentence in piece.text for piece in pieces)
    assert all(len(piece.text) <= 120 for piece in pieces)


def test_pieces_overlap() -> None:
    """Each piece holds the end of the one before it."""
    text = " ".join(f"Sentence number {number} is about something else." for number in range(40))
    pieces = cut(text)
    for before, after in pairwise(pieces):
        start = text.index(after.text)
        shared = text.index(before.text) + len(before.text) - start
        assert 0 < shared <= 80


def test_a_sentence_too_long_is_cut_at_a_clause() -> None:
    """What fits no piece comes apart behind a comma, else between words, never in a letter."""
    clause = "which went on and on without an end in sight"
    pieces = cut(f"It was a story {', '.join([clause] * 12)}.", chars=200, overlap=0)
    assert all(len(piece.text) <= 200 for piece in pieces)
    assert all(piece.text.endswith(",") for piece in pieces[:-1])


LETTERS = st.sampled_from(["a", "ä", "Z", "7", " ", " ", ".", "! ", "? ", "\n", "\n\n", "# ", "- ", "| ", "```\n", "“", "”", "我", "。", "\r\n", "\t", "a\u0301", "---\n"])  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(st.lists(LETTERS, max_size=400).map("".join), st.integers(20, 80), st.integers(0, 19))
def test_any_text_is_cut(text: str, chars: int, overlap: int) -> None:
    """Every line's words are in some piece, no piece lies within another, and each stands where
    it says."""
    behind = (-1, -1)
    for piece in cut(text, chars=chars, overlap=overlap):
        assert 0 < len(piece.text) <= chars
        start = next(
            match.start()
            for match in re.finditer(f"(?={re.escape(piece.text)})", text)
            if match.start() > behind[0]
            and match.start() + len(piece.text) > behind[1]
            and line_of(text, match.start()) == piece.first_line
        )
        behind = (start, start + len(piece.text))
        assert line_of(text, behind[1] - 1) == piece.last_line


def line_of(text: str, at: int) -> int:
    return 1 + sum(match.end() <= at for match in re.finditer(r"\r\n?|\n", text))


WORDS = st.lists(st.sampled_from(["der", "Kessel", "summt", "leise", "am", "Morgen", "weil", "it", "hums", "quite", "loudly"]), min_size=1, max_size=30)  # fmt: skip


@settings(max_examples=100, deadline=None)
@given(st.lists(WORDS, min_size=1, max_size=30))
def test_every_sentence_that_fits_is_whole_somewhere(sentences: list[list[str]]) -> None:
    """A sentence of at most 400 characters is whole in at least one piece."""
    written = [" ".join(words).capitalize() + "." for words in sentences]
    pieces = cut(" ".join(written))
    for sentence in written:
        assert any(sentence in piece.text for piece in pieces)
