"""The first words of a small model's answer: whether they answer this question at all.

What it said before teaches it to say that again, whatever is asked, and one answer in another
language teaches it that language. Both show before anything sounds, since nothing is spoken
before three words are written.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

_ENOUGH_WORDS = 3
_WORD = re.compile(r"\w+")
_SENTENCE_END = re.compile(r"[.!?…][\"'”’»)\]]*\s*$")


@dataclass(slots=True)
class FirstWords:
    """One answer, fed whole words as they are written; what comes out may be spoken.

    `others` are answers to other questions; `fits` tells whether a text is in the language that is
    spoken. `refused` says that this is no answer: nothing of it has come out then; `sure` that it is
    one: nothing is held back.
    """

    others: Iterable[str]
    fits: Callable[[str], bool]
    refused: bool = False
    sure: bool = False
    _held: str = ""
    _sentences: list[list[str]] = field(init=False)

    def __post_init__(self) -> None:
        self._sentences = [first_sentence(other) for other in self.others]

    def feed(self, piece: str) -> str:
        if self.sure:
            return piece
        self._held += piece
        return self._judged(ended=_ends(self._held))

    def end(self) -> str:
        """The rest, when the model ended by itself."""
        return "" if self.sure or self.refused else self._judged(ended=True)

    def _judged(self, *, ended: bool) -> str:
        words = _words(self._held)
        like_another = any(words == sentence[: len(words)] for sentence in self._sentences)
        if not ended and (len(words) < _ENOUGH_WORDS or like_another):
            return ""
        if (ended and words in self._sentences) or not self.fits(self._held):
            self.refused = True
            return ""
        held, self._held, self.sure = self._held, "", True
        return held


def first_sentence(text: str) -> list[str]:
    """Its words in lower case; what ends before the third is no sentence but "Dr.", or all."""
    so_far = ""
    for token in re.findall(r"\S+\s*", text):
        so_far += token
        if _ends(so_far):
            break
    return _words(so_far)


def _ends(text: str) -> bool:
    return bool(_SENTENCE_END.search(text)) and len(_words(text)) >= _ENOUGH_WORDS


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())
