"""A text as the words that it is found by, in any script, each in one spelling.

One spelling is NFKC without case and accents, but for the dots of ä, ö and ü: `spellings` tells
how else such a word is written. What is written in one or in several words (Wi-Fi, 10:30) is
both. Where a script puts no blanks between words, each letter counts and each two in a row.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from memory.languages import packaged
from memory.records import LANGUAGES, Language

WORD_CHARS = 64
"""What is longer is cut, in a question too."""

_DENSE = (
    "\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029"
    "\u3040-\u30ff\u3130-\u318f\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)
# Signs that belong to the letter in front of them, as vowels in the scripts of India do.
_SIGNS = (
    "\u0900-\u0903\u093a-\u094f\u0951-\u0957\u0962\u0963\u0980-\u0983\u09bc-\u09d7\u0a01-\u0dff"
)
_LETTER = rf"(?:(?![{_DENSE}])[^\W_]|[{_SIGNS}])"
_WORD = rf"{_LETTER}+"
_JOINS = "-'’.:_/@&+·‐‑"
_JOINED_AT_MOST = 4
# Runs without blanks, C++ and C#, and words with what may stand between two parts of one.
_TOKEN = re.compile(
    rf"[{_DENSE}]+|{_LETTER}{{1,2}}(?:\+\+|#)(?!\w)"
    rf"|{_WORD}(?:[{_JOINS}]{_WORD}){{0,{_JOINED_AT_MOST - 1}}}"
)
_ASCII_TOKEN = re.compile(
    r"(?<![a-z0-9])[a-z0-9]{1,2}(?:\+\+|#)(?!\w)"
    rf"|[a-z0-9]+(?:[-'.:_/@&+][a-z0-9]+){{0,{_JOINED_AT_MOST - 1}}}"
)
_FIRST_DENSE = "\u0e00"
_IS_DENSE = re.compile(f"[{_DENSE}]")
_PART = re.compile(_WORD)
_ACCENTS = re.compile(r"[\u0300-\u0307\u0309-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670]")
_LONE_DOTS = re.compile(r"(?<![aou])\u0308")
_INVISIBLE = re.compile("[\u00ad\u200b-\u200d\u2060\ufeff]")
_APART = {
    "ø": "o", "æ": "ae", "œ": "oe", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ı": "i", "ħ": "h",
    "ŋ": "n",
}  # fmt: skip
_IS_APART = re.compile(f"[{''.join(_APART)}]")
_PLAIN = str.maketrans({"ä": "a", "ö": "o", "ü": "u"})
_WIDE = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue"})


def one_spelling(text: str) -> str:
    """The text in the one spelling; its length may change."""
    if text.isascii():
        return text.lower()
    plain = _INVISIBLE.sub("", unicodedata.normalize("NFKC", text)).casefold()
    plain = _IS_APART.sub(lambda letter: _APART[letter[0]], plain)
    apart = unicodedata.normalize("NFD", plain)
    return unicodedata.normalize("NFC", _LONE_DOTS.sub("", _ACCENTS.sub("", apart)))


def spellings(word: str) -> tuple[str, ...]:
    """How else a word in the one spelling is written: Müller as Muller and as Mueller."""
    if word.isascii():
        return (word,)
    return tuple(dict.fromkeys((word.translate(_PLAIN), word.translate(_WIDE))))


@dataclass(frozen=True, slots=True)
class Token:
    """A word of a text. `parts` are the words of one that is written together or with a mark
    between (wi-fi: wi, fi), the letters and pairs of a run without blanks; else empty."""

    word: str
    parts: tuple[str, ...] = ()
    dense: bool = False


def tokens(text: str) -> Iterator[Token]:
    said = one_spelling(text)
    return map(_token, (_ASCII_TOKEN if said.isascii() else _TOKEN).findall(said))


def words(text: str) -> list[str]:
    """What a text is found by, in its order; a run without blanks only by its parts."""
    found = []
    said = one_spelling(text)
    for written in (_ASCII_TOKEN if said.isascii() else _TOKEN).findall(said):
        if written.isalnum() and written[0] < _FIRST_DENSE:  # nearly all
            found.append(written[:WORD_CHARS])
            continue
        token = _token(written)
        if not token.dense:
            found.append(token.word)
        found += token.parts
    return found


def _token(written: str) -> Token:
    if written[0] >= _FIRST_DENSE and _IS_DENSE.match(written):
        pairs = (written[at : at + 2] for at in range(len(written) - 1))
        return Token(written, tuple(dict.fromkeys((*written, *pairs))), dense=True)
    if written.isalnum() or written[-1] in "+#":
        return Token(written[:WORD_CHARS])
    found = _PART.findall(written)
    if len(found) == 1:
        return Token(written[:WORD_CHARS])
    return Token("".join(found)[:WORD_CHARS], tuple(part[:WORD_CHARS] for part in found))


def folder_word(folder: str) -> str:
    """The word that every piece in a folder has; no text holds such a word. `folder` ends with a
    slash."""
    return f"/{folder}"


# Words that mean nothing --------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Common:
    stop: frozenset[str]
    ambiguous: frozenset[str]


@lru_cache(maxsize=1)
def _common() -> dict[Language, _Common]:
    found = {}
    for language in LANGUAGES:
        table = packaged.load(language, "search")
        found[language] = _Common(_all_spellings(table["stop"]), _all_spellings(table["ambiguous"]))
    return found


def _all_spellings(written: Iterable[str]) -> frozenset[str]:
    found: set[str] = set()
    for each in written:
        word = one_spelling(each).replace("'", "")
        found.update((word, *spellings(word)))
    return frozenset(found)


@lru_cache(maxsize=1)
def _ambiguous() -> frozenset[str]:
    return frozenset().union(*(each.ambiguous for each in _common().values()))


@lru_cache(maxsize=1)
def never_meant() -> frozenset[str]:
    """Words that mean nothing wherever they stand: no text is found by them."""
    return frozenset().union(*(each.stop for each in _common().values())) - _ambiguous()


def language_of(found: Iterable[str]) -> Language | None:
    """The language that these words hold together in; None when nothing tells, or too little."""
    counts = Counter(found)
    ambiguous = _ambiguous()
    score = {
        language: sum(counts[word] for word in (common.stop & counts.keys()) - ambiguous)
        for language, common in _common().items()
    }
    best, second = sorted(score.values(), reverse=True)[:2]
    if not best or best < 1.5 * second:
        return None
    return max(score, key=lambda language: score[language])


def meant(asked: list[str]) -> list[bool]:
    """For each word of a question whether it means something there.

    A word that is common in one language and a word of its own in another ("son", "die") is told
    by the words around it; where none tells, it counts if nothing else does.
    """
    common = _common()
    ambiguous = _ambiguous()
    votes = {
        language: sum(word in each.stop and word not in ambiguous for word in asked)
        for language, each in common.items()
    }
    most = max(votes.values())
    spoken = [language for language, count in votes.items() if count == most and most]
    never = never_meant()
    alone = all(word in ambiguous or word in never for word in asked)
    found = []
    for word in asked:
        if word in ambiguous and spoken:
            found.append(not any(word in common[language].stop for language in spoken))
        else:
            found.append(alone if word in ambiguous else word not in never)
    return found
