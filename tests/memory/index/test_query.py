from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.index.query import DENSE_CHARS, TERMS_AT_MOST, Term, terms


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("", ()),
        ("?!*\"'", ()),
        ("what is the", ()),
        ("boiler boiler", (Term("boiler", joined=("boilerboiler",)),)),
        ("wi fi", (Term("wi", joined=("wifi",)), Term("fi", joined=("wifi",)))),
        ("wi-fi", (Term("wifi", ("wi", "fi")),)),
        ("the boiler", (Term("boiler", joined=("theboiler",)),)),
        ("猫", (Term("猫", ("猫",), dense=True),)),
        ("人工智能", (Term("人工智能", ("人工", "工智", "智能"), dense=True),)),
        ("我的医生叫", tuple(Term(pair, (pair,), dense=True) for pair in ("我的", "的医", "医生", "生叫"))),
    ],
)  # fmt: skip
def test_terms(question: str, expected: tuple[Term, ...]) -> None:
    """A question is its words; a short run without blanks is one, a long one its pairs."""
    assert terms(question) == expected


@given(st.text())
def test_any_string_is_a_question(question: str) -> None:
    """Whatever a question holds, it is words, and not too many."""
    found = terms(question)
    assert len(found) <= TERMS_AT_MOST
    assert all(len(term.word) <= DENSE_CHARS for term in found if term.dense)
