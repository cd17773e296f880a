"""What the listener really heard of an answer, from the output's own position."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of an answer and how many samples its audio has."""

    text: str
    samples: int


def heard_samples(first: int, given: int, played: int | None) -> int:
    """How many of an answer's `given` samples were heard, when the first of them stands at
    `first` and the output has played up to `played`; all of them where it can't tell.

    Transcript, memory and the realtime service cut by this one figure.
    """
    if played is None:
        return given
    return max(0, min(given, played - first))


def heard_text(pieces: Sequence[Piece], played_samples: int) -> str:
    """The words whose sound had been played to its end when `played_samples` were out.

    Within a piece sound is shared out over the words by their letters, since no
    synthesizer here tells where a word ends.
    """
    words: list[str] = []
    left = played_samples
    for piece in pieces:
        if left >= piece.samples:
            words.extend(piece.text.split())
            left -= piece.samples
            continue
        words.extend(_words_within(piece, left))
        break
    return " ".join(words)


def _words_within(piece: Piece, samples: int) -> list[str]:
    words = piece.text.split()
    letters = sum(len(word) + 1 for word in words)
    heard: list[str] = []
    spoken = 0
    for word in words:
        spoken += len(word) + 1
        if spoken * piece.samples > samples * letters:
            break
        heard.append(word)
    return heard
