"""Which entries somebody means by some words (forget, why)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from memory.languages.folding import fold
from memory.languages.words import Lexicon, language_of, lexicons
from memory.notebooks.changelog import removed_key
from memory.notebooks.page import ITEM_MARK, unescaped

_WORD = re.compile(r"\w+")


def named(text: str, entries: Sequence[str]) -> tuple[str, ...]:
    """The entries that `text` names, each text once, in order.

    The first that finds any: the same text, also copied with its mark; all the words of
    `text`, whole; its words that carry meaning, in any form ("liked" names "likes").
    """
    distinct = tuple(dict.fromkeys(entries))
    copied = ITEM_MARK.match(text)
    plain = {removed_key(text), removed_key(unescaped(text[copied.end() :] if copied else text))}
    exact = tuple(each for each in distinct if removed_key(each) in plain)
    if exact:
        return exact
    words = _words(text)
    whole = tuple(each for each in distinct if words and words <= _words(each))
    if whole:
        return whole
    lexicon = lexicons()[language_of(text)]
    keys = _keys(lexicon, text)
    return tuple(each for each in distinct if keys and keys <= _keys(lexicon, each))


def _words(text: str) -> set[str]:
    return set(_WORD.findall(fold(text)))


def _keys(lexicon: Lexicon, text: str) -> set[str]:
    return {word.key for word in lexicon.words(text) if word.key}
