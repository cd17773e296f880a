from __future__ import annotations

import pytest

from memory.lessons.reading import alike_words, told


@pytest.mark.parametrize(
    ("text", "numbers", "marks", "names"),
    [
        ("Rule L5.1 refused five proposals", ("#1", "#5", "id l5"), set(), set()),
        ("The server nas3 was slow today", ("id nas3",), {"slow", "today"}, set()),
        ("The user calls Lena twice a day", ("#2",), set(), {"lena"}),
        ("Abends will der Nutzer drei kurze Antworten", ("#3",), {"abends", "kurz"}, set()),
        ("El usuario pide las noticias los lunes a las 8:30", ("#8:30",), {"lunes"}, set()),
    ],
)
def test_what_must_be_the_same_is_found(
    text: str, numbers: tuple[str, ...], marks: set[str], names: set[str]
) -> None:
    """Numbers, names with numbers in them, words of contrast, and names."""
    found = told(text)
    assert found.numbers == numbers
    assert set(found.marks) == marks
    assert set(found.names) == names


@pytest.mark.parametrize(
    ("text", "doer"),
    [
        ("The user interrupts Jarvis", "user"),
        ("Jarvis is interrupted by the user", "user"),
        ("Der Nutzer wird von Jarvis unterbrochen", "jarvis"),
        ("El usuario es interrumpido por Jarvis", "jarvis"),
        ("The user likes tea", None),
    ],
)
def test_who_does_it(text: str, doer: str | None) -> None:
    """The first who is named, unless it is said by whom."""
    assert told(text).doer == doer


def test_forms_of_one_word_are_found() -> None:
    """A long beginning in common makes two words one; a short one does not."""
    assert alike_words(["connection", "marten"], ["connect", "morten"]) == [
        ("connection", "connect")
    ]
