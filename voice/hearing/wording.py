"""What a transcript's own words tell: whether its sentence is finished, and whether anybody said it."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Literal

Ending = Literal["finished", "question", "falling", "loose", "unfinished"]

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_ASIDE = re.compile(r"\[[^\]]*\]|\([^)]*\)|\*[^*]*\*|[♪♫]")
_SENTENCE_END = re.compile(r"(?<=[.!?…])\s+[¡¿]*")
_TRAILING_OFF = ("...", "…", "-", "–", "—")

_MOST_CHARS_PER_S = 45.0
_FEWEST_CHARS_PER_VOICED_S = 4.0
_LONG_VOICE_MS = 2500
_LONGEST_LOOP_WORDS = 12
_FEW_WORDS = 2
_CLEAR_OF_FEW_LOGPROB = -0.7
_CLEAR_LOGPROB = -0.85
_LEAST_LOGPROB = ((0.8, -1.3), (0.7, -1.0), (0.55, -0.8), (-1.0, -0.6))
"""By how much it sounds like a voice."""
_STANDS_OUT_DB = 8.0
_LESS_SURE = 0.15
"""Is a voice that doesn't stand out: no louder than what was before, or much softer than usual."""
_MUCH_SOFTER_DB = 12.0
"""A crowd or a television across the room; somebody who steps back is not that soft."""
_MOST_SIGNS = 3
"""Who strings more of them together wants to speak."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Phrases:
    """One language's words, as its file in `phrases/` explains them."""

    never_last: frozenset[str]
    last_in_questions: frozenset[str]
    last_if_it_sounds_over: frozenset[str]
    asks: frozenset[str]
    backchannels: frozenset[str]
    stops: frozenset[str]
    stops_or_replies: frozenset[str]
    called_out: frozenset[str]
    inventions: frozenset[str]
    doubtful: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What the sound shows for words. `confidence` is the mean probability of voice over voiced frames.

    `span_ms` is from the first voice to the last, pauses included, `voiced_ms` without them. `logprob` is the mean over tokens, `no_speech` the transcriber's own doubt, 0 to 1.
    `above_room_db` is how much louder the voice is than it was before it, `below_usual_db` how much
    softer than the user's turns before.
    """

    voiced_ms: int
    span_ms: int
    confidence: float
    logprob: float
    no_speech: float
    above_room_db: float = math.inf
    below_usual_db: float = 0.0


def words(text: str) -> list[str]:
    """Lower case, without punctuation."""
    return [word.replace("’", "'") for word in _WORD.findall(text.lower())]


def ending(text: str, phrases: Phrases) -> Ending:
    """How a transcript ends; "falling" is finished if the voice falls.

    A transcriber sets a full stop behind nearly anything, so the last words count for more.
    """
    said = words(text)
    stripped = text.rstrip(" \"'»”)")
    if not said or stripped.endswith(_TRAILING_OFF):
        return "unfinished"
    question = stripped.endswith("?")
    tails = {" ".join(said[-length:]) for length in (1, 2, 3)}
    if tails & phrases.never_last:
        return "unfinished"
    if tails & phrases.last_in_questions and not (question and len(said) > 1):
        return "unfinished"
    if tails & phrases.last_if_it_sounds_over and not question:
        return "falling"
    if question or stripped.endswith("!"):
        return "question"
    asked = len(said) > 1 and said[0] in phrases.asks
    return "finished" if asked or stripped.endswith(".") else "loose"


def is_backchannel(text: str, phrases: Phrases) -> bool:
    """Whether this only shows that somebody listens ("mhm"), or is nothing at all."""
    said = words(text)
    if not said or " ".join(said) in phrases.backchannels:
        return True
    return len(said) <= _MOST_SIGNS and all(word in phrases.backchannels for word in said)


def is_stop(text: str, phrases: Phrases) -> bool:
    """Whether this asks for silence and no more: "stop", "okay, stop", "wait, wait"."""
    said = words(text)
    while len(said) > 1 and (said[0] in phrases.backchannels or said[0] == said[1]):
        said = said[1:]
    return " ".join(said) in phrases.stops


def wants_silence(text: str, phrases: Phrases, *, into_answer: bool) -> bool:
    """Whether nothing is to be said to this: it asks for silence, and answers no question."""
    if not is_stop(text, phrases):
        return False
    return into_answer or not set(words(text)) <= phrases.stops_or_replies


def is_clear(text: str, logprob: float) -> bool:
    """Whether a transcript is sure enough to take the word from somebody who speaks.

    A transcriber that has to write something of a hum or a cough writes a short word, and doubts
    it: "Him?", "C.", "Good, how?".
    """
    few = len(words(text)) <= _FEW_WORDS
    return logprob >= (_CLEAR_OF_FEW_LOGPROB if few else _CLEAR_LOGPROB)


def without_loops(text: str) -> str:
    """A phrase said over and over is a transcriber in a loop: it is kept once."""
    tokens = text.split()
    keys = [" ".join(words(token)) for token in tokens]
    for length in range(1, min(_LONGEST_LOOP_WORDS, len(tokens) // 2) + 1):
        start = 0
        while start + length < len(tokens):
            phrase = keys[start : start + length]
            end = start + length
            while keys[end : end + length] == phrase:
                end += length
            # People do say "no, no, no, no"; nobody says a clause three times.
            if (end - start) // length > (4 if length < 3 else 2):
                # A loop often breaks off in the middle of its phrase.
                while end < len(keys) and keys[end] == phrase[(end - start) % length]:
                    end += 1
                del tokens[start + length : end], keys[start + length : end]
            start += 1
    return " ".join(tokens)


def cleaned(text: str, phrases: Phrases) -> str:
    """A transcript without loops, described noises, and inventions behind what was said."""
    whole = without_loops(_ASIDE.sub(" ", text)).strip()
    while ends := list(_SENTENCE_END.finditer(whole)):
        if " ".join(words(whole[ends[-1].end() :])) not in phrases.inventions:
            break
        whole = whole[: ends[-1].start()]
    return whole


def why_nothing(text: str, evidence: Evidence, phrases: Phrases) -> str | None:
    """Why a cleaned transcript is not what somebody said, or None when it stands."""
    said = words(text)
    if not said:
        return "no words"
    whole = " ".join(said)
    if whole in phrases.inventions:
        return "invented by the transcriber"
    if evidence.no_speech > 0.6 and evidence.logprob < -0.7:
        return "the transcriber heard no speech"
    # The less it sounds like a voice close by, the surer its words have to be.
    near = evidence.confidence - (0.0 if _stands_out(evidence) else _LESS_SURE)
    least = next(least for voice, least in _LEAST_LOGPROB if near >= voice)
    if evidence.logprob < least:
        return "too unclear to be words"
    if len(whole) > _MOST_CHARS_PER_S * evidence.span_ms / 1000:
        return "more words than the voice had time for"
    slow = len(whole) < _FEWEST_CHARS_PER_VOICED_S * evidence.voiced_ms / 1000
    if slow and evidence.voiced_ms >= _LONG_VOICE_MS:
        return "far more voice than words: a crowd, a song, a television"
    if _is_all(said, phrases.doubtful):
        if evidence.confidence < 0.7 or evidence.no_speech > 0.6:
            return "too little voice for words that are often invented"
        if not _stands_out(evidence):
            return "words that are often invented, out of the room"
    return None


def _stands_out(evidence: Evidence) -> bool:
    above, below = evidence.above_room_db, evidence.below_usual_db
    return above >= _STANDS_OUT_DB and below <= _MUCH_SOFTER_DB


def _is_all(said: list[str], among: frozenset[str]) -> bool:
    """Whether these words are some of the phrases, one after the other."""
    return not said or any(
        " ".join(said[:length]) in among and _is_all(said[length:], among)
        for length in range(1, len(said) + 1)
    )
