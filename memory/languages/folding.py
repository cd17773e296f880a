"""Text as it is compared: speech to text drops case, accents, umlauts and punctuation.

Folded text is NFKC, lower case, without accents: "Müller" and "MULLER" are `muller`, ß is
`ss`. A transcript that writes `Mueller` is met by patterns: `pattern("ü")` matches u and ue.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from dataclasses import dataclass
from functools import lru_cache

_APART = {"ß": "ss", "ẞ": "ss", "ø": "o", "æ": "ae", "œ": "oe", "ł": "l", "đ": "d", "ı": "i"}
_QUOTES = dict.fromkeys("’‘ʼ`´", "'") | dict.fromkeys("“”„«»‟", '"') | dict.fromkeys("‐‑‒–—", "-")
_NOT_ASCII = re.compile(r"[^\x00-\x7f]")
_UMLAUTS = {"ä": "ae?", "ö": "oe?", "ü": "ue?", "ß": "ss?"}


@dataclass(frozen=True, slots=True)
class Folded:
    """`text` folded, and for each of its characters where it began in the raw text."""

    text: str
    at: tuple[int, ...]
    raw: str

    def raw_span(self, start: int, end: int) -> tuple[int, int]:
        """Where the folded characters from `start` to `end` (excluded) stand in the raw text.

        Marks that a letter carries (a combining accent) belong to its span.
        """
        if start >= end:
            here = self.at[start] if start < len(self.at) else len(self.raw)
            return here, here
        last = self.at[end - 1]
        following = bisect_right(self.at, last)
        return self.at[start], self.at[following] if following < len(self.at) else len(self.raw)


@lru_cache(maxsize=4096)
def _fold_letter(letter: str) -> str:
    plain = unicodedata.normalize("NFKC", letter).lower()
    apart = "".join(_APART.get(each, _QUOTES.get(each, each)) for each in plain)
    return "".join(
        each for each in unicodedata.normalize("NFD", apart) if not unicodedata.combining(each)
    )


def fold(text: str) -> str:
    if text.isascii():
        return text.lower()
    return "".join(map(_fold_letter, text))


def folded(text: str) -> Folded:
    if text.isascii():
        return Folded(text.lower(), tuple(range(len(text))), text)
    letters = [_fold_letter(letter) for letter in text]
    at = tuple(index for index, letter in enumerate(letters) for _ in letter)
    return Folded("".join(letters), at, text)


def pattern(written: str) -> str:
    """A pattern as people write it, for folded text: an umlaut also matches its two letters.

    Umlauts may not stand in a character class.
    """
    return _NOT_ASCII.sub(
        lambda letter: _UMLAUTS.get(letter[0]) or _fold_letter(letter[0]), written
    )
