"""Sound and words of a realtime session: what is kept of the microphone, and which words of an
answer belong to which of its samples.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import soxr

from voice.heard import Piece

MICROPHONE_HZ = 16_000
IDLE_S = 10
HELD_S = 300


class Microphone:
    """The last sound of the microphone: 16 kHz, 16 bit, mono.

    `IDLE_S` seconds are kept, and from a held position on everything up to `HELD_S`, so
    that a turn can be sent once more when its session is lost.
    """

    def __init__(self) -> None:
        self._chunks: deque[bytes] = deque()
        self._end = 0
        self._kept = 0
        self._held: int | None = None

    def append(self, audio: bytes) -> None:
        self._chunks.append(audio)
        self._end += len(audio) // 2
        self._kept += len(audio) // 2
        while self._chunks and self._kept - len(self._chunks[0]) // 2 >= self._wanted():
            self._kept -= len(self._chunks.popleft()) // 2

    def _wanted(self) -> int:
        idle = IDLE_S * MICROPHONE_HZ
        if self._held is None:
            return idle
        return min(HELD_S * MICROPHONE_HZ, max(idle, self._end - self._held))

    def hold(self, from_ms: int) -> None:
        self._held = from_ms * MICROPHONE_HZ // 1000

    def release(self) -> None:
        self._held = None

    @property
    def first_ms(self) -> int:
        """The position of the oldest sound that is left."""
        return (self._end - self._kept) * 1000 // MICROPHONE_HZ

    def since(self, from_ms: int) -> bytes:
        """From that position of the stream until now, or what is left of it."""
        first = self._end - self._kept
        skip = max(0, from_ms * MICROPHONE_HZ // 1000 - first)
        return b"".join(self._chunks)[2 * skip :]


@dataclass(slots=True)
class UserTurn:
    """A turn that is being spoken. Its sound goes out as it comes, at `rate_hz`; `samples` of it
    have gone. `opened`: the service knows that a turn began."""

    began_ms: int
    rate_hz: int
    samples: int = 0
    opened: bool = False
    # A stream of its own per turn, flushed at its end: no sample is lost between turns.
    _stream: soxr.ResampleStream | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        if self.rate_hz != MICROPHONE_HZ:
            self._stream = soxr.ResampleStream(
                MICROPHONE_HZ, self.rate_hz, 1, dtype="int16", quality="LQ"
            )

    def resampled(self, audio: bytes, *, last: bool = False) -> bytes:
        out = audio
        if self._stream is not None:
            samples = np.frombuffer(audio, dtype="<i2")
            out = self._stream.resample_chunk(samples, last=last).tobytes()
        self.samples += len(out) // 2
        return out


ANSWER_HZ = 24_000
LETTERS_PER_S = 15.0
_PIECE_S = 0.4


@dataclass(frozen=True, slots=True)
class Part:
    """A stretch of an answer's sound. With `piece` it begins a new piece of its text."""

    samples: int
    piece: Piece | None


class Alignment:
    """Shares the words of an answer out over its sound.

    The server tells words and sound apart and never how they belong together; words come
    first. So each piece of whole words gets the time that its letters take at the pace of
    the voice, `letters_per_s`, which the answers before have shown.
    """

    def __init__(self, letters_per_s: float) -> None:
        self._letters_per_s = letters_per_s
        self._pending = ""
        self._left = 0
        self._overrun = 0
        self._samples = 0
        self._letters = 0
        self.pieces: list[Piece] = []

    def add_text(self, text: str) -> None:
        self._pending += text
        self._letters += len(text)

    def add_sound(self, samples: int) -> list[Part]:
        self._samples += samples
        parts: list[Part] = []
        while samples > 0:
            piece = self._next_piece() if self._left == 0 else None
            if self._left == 0:
                # Sound without words so far: the next piece makes up for it.
                self._overrun += samples
                parts.append(Part(samples, None))
                break
            taken = min(samples, self._left)
            self._left -= taken
            samples -= taken
            parts.append(Part(taken, piece))
        return parts

    def _next_piece(self) -> Piece | None:
        whole, _, begun_word = self._pending.rpartition(" ")
        words = whole.split()
        taken: list[str] = []
        while words and self._seconds(taken) < _PIECE_S:
            taken.append(words.pop(0))
        if not taken:
            return None
        self._pending = " ".join([*words, begun_word])
        self._left = max(1, round(self._seconds(taken) * ANSWER_HZ))
        piece = Piece(" ".join(taken), self._left + self._overrun)
        self._overrun = 0
        self.pieces.append(piece)
        return piece

    def _seconds(self, words: Sequence[str]) -> float:
        return sum(len(word) + 1 for word in words) / self._letters_per_s

    def rest(self) -> Piece | None:
        """The words that are left when all sound is there: heard when all of it was."""
        text = " ".join(self._pending.split())
        self._pending = ""
        if not text:
            return None
        piece = Piece(text, 0)
        self.pieces.append(piece)
        return piece

    def forget_unspoken(self) -> None:
        """The words that are ahead of their sound will not get it."""
        self._letters -= len(self._pending)
        self._pending = ""

    @property
    def samples(self) -> int:
        """How much sound has come."""
        return self._samples

    @property
    def text(self) -> str:
        words = [word for piece in self.pieces for word in piece.text.split()]
        return " ".join([*words, *self._pending.split()])

    @property
    def pace(self) -> float:
        """Letters per second of the whole answer; what was given where it says nothing."""
        if self._letters < 20 or self._samples < ANSWER_HZ:
            return self._letters_per_s
        return min(30.0, max(8.0, self._letters * ANSWER_HZ / self._samples))


def played_of(pieces: Sequence[Piece], heard: str) -> int:
    """How many samples had been played at the least when exactly these words were heard.

    The way back from `voice.heard.heard_text`, with its own rule for the words of a piece.
    """
    left = len(heard.split())
    samples = 0
    for piece in pieces:
        words = piece.text.split()
        if left >= len(words):
            left -= len(words)
            samples += piece.samples
            if left == 0:
                return samples
            continue
        letters = sum(len(word) + 1 for word in words)
        spoken = sum(len(word) + 1 for word in words[:left])
        return samples + -(-spoken * piece.samples // letters)
    return samples


@dataclass(slots=True)
class Item:
    """A part of an answer at the server, and how many samples of it have come. `words`: it stands
    there as text, from a session that was lost."""

    id: str
    content_index: int
    samples: int = 0
    words: str = ""


@dataclass(frozen=True, slots=True)
class Truncate:
    item: str
    content_index: int
    audio_end_ms: int


@dataclass(frozen=True, slots=True)
class Delete:
    item: str


def cut(
    items: Sequence[Item], played_samples: int, *, complete: bool
) -> tuple[Truncate | Delete, ...]:
    """How the server's history is made to hold only what was heard.

    `complete`: all of the answer's sound has come. When not, its last item may be longer
    at the server than here, so it is cut even when all that came was played.
    """
    cuts: list[Truncate | Delete] = []
    left = played_samples
    for item in items:
        played = min(left, item.samples)
        left -= played
        if played == 0:
            cuts.append(Delete(item.id))
        elif item.words:
            cuts += () if played == item.samples else (Delete(item.id),)
        elif played < item.samples or (item is items[-1] and not complete):
            cuts.append(Truncate(item.id, item.content_index, played * 1000 // ANSWER_HZ))
    return tuple(cuts)
