"""What a small model is shown and leans to."""

from __future__ import annotations

import pytest

from memory.records import LANGUAGES, Language
from voice.engines.answer_language import language_of
from voice.engines.small_model import example, leanings


@pytest.mark.parametrize("language", LANGUAGES)
def test_an_example_is_a_conversation_in_its_language(language: Language) -> None:
    """User and assistant in turn, and none of it sounds like another language."""
    messages = example(language)
    assert [message.role for message in messages] == ["user", "assistant"] * (len(messages) // 2)
    assert messages
    assert {language_of(m.content, language, LANGUAGES) for m in messages} == {language}


def test_each_piece_leans_one_way() -> None:
    """Named once, and never so strongly that it can't be said at all."""
    pieces = [piece for piece, _ in leanings()]
    assert len(pieces) == len(set(pieces))
    assert all(0 < abs(by) <= 8 for _, by in leanings())
