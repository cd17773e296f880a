"""Cuts an answer that is still being written into chunks that can be spoken.

The first chunk is quick: after a few words, or at the first clause end. Later ones end
with a clause, unless the listener would have to wait. Chunks are slices of the text: put
together they are the text again. No cut falls into a word, a number, a link or an
abbreviation, nor between a number and what it counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

FIRST_WORDS = 3
SHORT_WORDS = 3
SHORT_OF_AUDIO_S = 0.3

_S_PER_CHARACTER = 0.06
_LONGEST_LINK_CHARS = 300

_TOKEN = re.compile(r"(\S+)(\s+)")
_CLOSERS = "\"'”’“»«)]}*_`"
_BOUND_TO_THE_LEFT = "-–—/&+="
_UNIT_SIGNS = re.compile(r"[€$£%°]$")
_SENTENCE_END = re.compile(r"[.!?…]+$")
_CLAUSE_END = re.compile(r"[,;:]$")
_DASH = re.compile(r"[-–—]+$")
_INITIALS = re.compile(r"(?:[^\W\d_]\.)+$")
_LIST_NUMBER = re.compile(r"\d{1,3}[.)]$")
_OPEN_LINK = re.compile(r"\[[^\]\n]*$|\[[^\]\n]*\]\([^)\n]*$")
_ENDS_WITH_NUMBER = re.compile(r"\d[.%]?$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Abbreviations:
    """What a full stop doesn't end, in lower case and with its stops: `{"dr.", "bspw."}`.

    `closing` are those that end a sentence when a capital letter follows ("etc."),
    `numbering` those that are one only in front of a number ("No. 3"). A month keeps the
    day behind it. `ordinals` says that a number with a full stop is one, as in German.
    """

    open: frozenset[str]
    closing: frozenset[str]
    numbering: frozenset[str] = frozenset()
    months: frozenset[str] = frozenset()
    ordinals: bool = False


def estimated_s(text: str) -> float:
    """About how long it takes to say this; for what isn't synthesized yet."""
    return _S_PER_CHARACTER * len(text.strip())


@dataclass(slots=True)
class Clauses:
    """One answer, fed as it is written.

    `feed` takes the next piece and the seconds of audio that are still to be played, with
    `estimated_s` of each chunk that is not synthesized yet, and returns what can be spoken
    now. An empty piece asks again; `ahead` is what is known of the next one. `end` returns
    the rest.
    """

    abbreviations: Abbreviations
    first_words: int = FIRST_WORDS
    _pending: str = ""
    _first: bool = True
    _line_start: bool = field(default=True)

    def feed(self, piece: str, audio_left_s: float, ahead: str = "") -> list[str]:
        self._pending += piece
        chunks = []
        while (end := self._cut(audio_left_s, ahead)) is not None:
            chunks.append(self._take(end))
            audio_left_s += estimated_s(chunks[-1])
        return chunks

    def end(self) -> list[str]:
        rest = self._pending
        self._pending = ""
        return [rest] if rest.strip() else []

    def _take(self, end: int) -> str:
        chunk, self._pending = self._pending[:end], self._pending[end:]
        self._first = False
        self._line_start = chunk.rstrip(" \t").endswith("\n")
        return chunk

    def _cut(self, audio_left_s: float, ahead: str) -> int | None:
        """The first place where the pending text may be cut now, if there is one."""
        text = self._pending + ahead
        words = 0
        in_a_hurry = self._first or audio_left_s < SHORT_OF_AUDIO_S
        enough = self.first_words if self._first else SHORT_WORDS
        # Behind a chunk that was cut before its space was there that space comes first.
        line_start = self._line_start or "\n" in text[: len(text) - len(text.lstrip())]
        before = ""
        for token, space, end in _tokens(text):
            if end - len(space) > len(self._pending):
                break
            words += any(c.isalnum() for c in token)
            if words and not _inside_link(text[:end]):
                following = text[end : end + 1]
                ends = self._ends(token, space, before, following, line_start)
                if (
                    ends == "sentence"
                    or (ends == "clause" and (in_a_hurry or words >= SHORT_WORDS))
                    or (ends == "word" and in_a_hurry and words >= enough)
                ):
                    return min(end, len(self._pending))
            line_start = "\n" in space
            before = token
        return None

    def _ends(self, token: str, space: str, before: str, following: str, line_start: bool) -> str:
        """What ends behind this token: "sentence", "clause", "word" or "" (it goes with the next)."""
        if "\n" in space:
            return "sentence"
        if _DASH.match(token):
            dangling = line_start or _ENDS_WITH_NUMBER.search(before)
            return "" if dangling else "clause"
        bare = token.rstrip(_CLOSERS)
        word = bare.lstrip("\"'“„‚‘»«([{*_`¿¡").lower()
        if not any(c.isalnum() for c in bare) and not _SENTENCE_END.search(bare):
            counted = _UNIT_SIGNS.match(bare) and _ENDS_WITH_NUMBER.search(before)
            return "word" if counted else ""
        if _INITIALS.match(word) or word in self.abbreviations.open:
            return ""
        if word in self.abbreviations.numbering and (not following or following.isdigit()):
            return ""
        if word in self.abbreviations.closing:
            if not following:
                return ""  # the next letter decides
            return "sentence" if following.isupper() or following in "¿¡" else ""
        if _LIST_NUMBER.match(word) and (line_start or self.abbreviations.ordinals):
            return ""
        if _SENTENCE_END.search(bare):
            # "Hm … so" goes on, "Well… So" doesn't; either is a place to breathe.
            return "sentence" if following == "" or not following.islower() else "clause"
        before_number = not following or following.isdigit()  # what comes next isn't known yet
        if _CLAUSE_END.search(bare):
            return "" if before_number and _ENDS_WITH_NUMBER.search(bare[:-1]) else "clause"
        # "am 4. Dezember" needs its "am": the ordinal's ending depends on it.
        with_number = before_number and (
            not following or self.abbreviations.ordinals or word in self.abbreviations.months
        )
        bound = with_number or following in _BOUND_TO_THE_LEFT or _ENDS_WITH_NUMBER.search(bare)
        return "" if bound else "word"


def _tokens(text: str) -> Iterator[tuple[str, str, int]]:
    """Whole tokens with the space behind them, and where that ends."""
    for match in _TOKEN.finditer(text):
        yield match[1], match[2], match.end()


def _inside_link(text: str) -> bool:
    """Whether a link that begins in this text is still open at its end."""
    opened = _OPEN_LINK.search(text)
    return opened is not None and len(text) - opened.start() < _LONGEST_LINK_CHARS


def sentences(text: str, abbreviations: Abbreviations) -> list[str]:
    """The sentences of a whole text, for voices that are fast."""
    return _whole(text, abbreviations, ("sentence",))


def clauses(text: str, abbreviations: Abbreviations) -> list[str]:
    """The clauses of a whole text, for voices that are slow to begin."""
    return _whole(text, abbreviations, ("sentence", "clause"))


def _whole(text: str, abbreviations: Abbreviations, kinds: tuple[str, ...]) -> list[str]:
    reader = Clauses(abbreviations, _pending=text)
    parts, begin, words, before, line_start = [], 0, 0, "", True
    for token, space, end in _tokens(text):
        words += any(c.isalnum() for c in token)
        kind = reader._ends(token, space, before, text[end : end + 1], line_start)
        long_enough = kind == "sentence" or words >= SHORT_WORDS
        if words and kind in kinds and long_enough and not _inside_link(text[begin:end]):
            parts.append(text[begin:end])
            begin, words = end, 0
        line_start = "\n" in space
        before = token
    rest = text[begin:]
    return [*parts, rest] if rest.strip() else parts
