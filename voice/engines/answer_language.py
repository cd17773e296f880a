"""The language of a text, and how the model is told in which one to answer."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from functools import cache

from py3langid.langid import MODEL_FILE, LanguageIdentifier

from memory import prompt
from memory.records import Language

_EXPECTED_LANGUAGE_FROM = 0.1
_WORDS_TO_TELL_A_LANGUAGE = 3


def language_of(text: str, expected: Language, enabled: Sequence[Language]) -> Language:
    """The language of a text, the expected one unless it is surely another.

    The first call takes a second, see `warm`.
    """
    if expected not in enabled:
        expected = enabled[0]
    if len(enabled) == 1 or len(text.split()) < _WORDS_TO_TELL_A_LANGUAGE:
        return expected
    ranked: list[tuple[Language, float]] = _identifier(tuple(enabled)).rank(text)
    if dict(ranked).get(expected, 0.0) >= _EXPECTED_LANGUAGE_FROM:
        return expected
    return ranked[0][0]


def warm(enabled: Sequence[Language]) -> None:
    """Load what `language_of` needs."""
    _identifier(tuple(enabled))


@cache
def _identifier(languages: tuple[Language, ...]) -> LanguageIdentifier:
    identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    identifier.set_languages(list(languages))
    identifier.classify("Only a text loads it whole")
    return identifier


@cache
def _wordings() -> dict[str, str]:
    return tomllib.loads(prompt("answer_in.toml"))


def answer_in(language: Language) -> str:
    """The sentence that asks for answers in this language, in this language."""
    return _wordings()[language]
