from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from memory.languages.acts import read


@given(st.text(max_size=300))
@settings(max_examples=200, deadline=None)
def test_any_text_is_read(text: str) -> None:
    """Each word stands in exactly one clause."""
    reading = read(text)
    covered = [at for clause in reading.clauses for at in range(clause.first, clause.last)]
    assert covered == list(range(len(reading.words)))
