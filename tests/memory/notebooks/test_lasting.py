from __future__ import annotations

import pytest

from memory.notebooks.lasting import states_it, worth_keeping
from memory.records import Language
from tests.memory.cases import case

NOT_STATED: list[tuple[Language, str]] = [
    ("en", "am I allergic to nuts"),
    ("en", "if I had a boat I would sail"),
    ("en", "set an alarm for seven"),
    ("en", "hang on, I'm in the bath"),
    ("de", "bin ich gegen Nüsse allergisch"),
    ("de", "stell den Wecker auf sieben"),
    ("es", "¿cuándo me levanto, a las cinco"),
    ("es", "tengo mucha hambre"),
]


@pytest.mark.parametrize(("language", "said"), NOT_STATED)
def test_what_is_asked_supposed_or_of_the_moment_is_not_stated(
    language: Language, said: str
) -> None:
    assert states_it(case(said, "Gets up early", language)) is not None


STATED: list[tuple[Language, str]] = [
    ("en", "I'm allergic to nuts"),
    ("de", "ich stehe immer um fünf auf"),
    ("es", "me levanto a las cinco"),
]


@pytest.mark.parametrize(("language", "said"), STATED)
def test_what_is_stated_is(language: Language, said: str) -> None:
    assert states_it(case(said, "Gets up early", language)) is None


WORTH: list[tuple[Language, str, str, bool]] = [
    ("en", "garage door open", "Garage door open", False),
    ("en", "I really do love it", "Loves it", False),
    ("en", "my sister sings in a choir", "Sister sings in a choir", True),
    ("en", "we need milk", "Needs milk", False),
    ("de", "der Router steht im Keller", "Der Router steht im Keller", True),
    ("es", "mi hermana canta en un coro", "Su hermana canta en un coro", True),
]


@pytest.mark.parametrize(("language", "said", "text", "kept"), WORTH)
def test_words_about_nobody_and_wants_of_the_moment_are_not_kept(
    language: Language, said: str, text: str, kept: bool
) -> None:
    assert (worth_keeping(case(said, text, language)) is None) is kept
