from __future__ import annotations

import pytest

from memory.notebooks.added import adds_nothing
from memory.records import Language
from tests.memory.cases import case

ADDED: list[tuple[Language, str, str, str]] = [
    ("en", "I'm allergic to nuts", "Is also allergic to nuts", "also"),
    ("en", "I drink green tea", "Always drinks green tea", "always"),
    ("en", "my brothers smoke", "All brothers smoke", "all"),
    ("de", "ich trinke Tee", "Trinkt immer noch Tee", "immer"),
    ("de", "meine Brüder rauchen", "Alle Brüder rauchen", "alle"),
    ("es", "soy alérgica al polen", "Es muy alérgica al polen", "muy"),
    ("es", "bebo té con leche", "Todavía bebe té con leche", "todavia"),
]


@pytest.mark.parametrize(("language", "said", "text", "word"), ADDED)
def test_a_small_word_that_was_not_said_is_not_added(
    language: Language, said: str, text: str, word: str
) -> None:
    refusal = adds_nothing(case(said, text, language))
    assert refusal is not None
    assert refusal.rule == "L5.2"
    assert word in refusal.reason


KEPT: list[tuple[Language, str, str]] = [
    ("en", "I still drink tea", "The user still drinks tea"),
    ("en", "I'm called Ada, by everybody", "The user is called Ada by everybody"),
    ("en", "I no longer eat meat", "Does not eat meat any more"),
    ("de", "ich fliege am Montag", "Der Nutzer fliegt am Montag"),
    ("de", "ich koche nicht mehr", "Kocht nicht mehr"),
    ("es", "nací en Cádiz", "El usuario nació en Cádiz"),
    ("es", "he vivido en Vigo", "Ha vivido en Vigo"),
    # a manner that is asked for
    ("en", "keep it short from now on", "Always wants it short"),
]


@pytest.mark.parametrize(("language", "said", "text"), KEPT)
def test_words_that_hold_a_sentence_together_need_not_be_said(
    language: Language, said: str, text: str
) -> None:
    assert adds_nothing(case(said, text, language)) is None
