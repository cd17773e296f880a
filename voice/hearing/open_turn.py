"""A turn while it is heard, and what its sound was understood as."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from memory.records import Language
from voice.hearing.endpoint import Over, Voice
from voice.hearing.own_voice import Suspicion
from voice.hearing.wording import words
from voice.records import Heard


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """A cleaned transcript; `nothing` is why it doesn't count, `again` whether a second look at the
    same sound may find others."""

    text: str
    language: Language
    sure: bool
    logprob: float
    nothing: str | None
    again: bool = False


@dataclass(slots=True, eq=False)
class OpenTurn:
    """Positions in ms of the microphone's stream, `*_s` of the clock."""

    number: int
    began_ms: int
    audio_from_ms: int
    events: list[Heard] = field(default_factory=list)
    closed: bool = False
    pause: int | None = None
    went_on: bool = False
    """It has paused before, and gone on."""
    questions_due_ms: int | None = None
    """When the present pause's questions are asked."""
    asked_to_ms: int | None = None
    """Where the sound of late questions ends; None: they are asked about all there is."""
    guessed: dict[int, Words] = field(default_factory=dict)
    told_guess: int | None = None
    told_words: Words | None = None
    """What that guess was told with."""
    over: Over | None = None
    decided_s: float = 0.0
    ended_s: float = 0.0
    audio: bytes = b""
    """Of a turn that is over and still waits for its words."""
    barged: bool = False
    suspicion: Suspicion = field(default_factory=Suspicion)
    answered_into: bool = False
    """Jarvis spoke when this turn's voice was last heard."""
    lasting: bool = False
    lasting_since_ms: int = 0
    shown: str = ""
    last_words_ms: int = 0
    voice: Voice = field(default_factory=Voice)
    above_room_db: float = math.inf
    """How much louder its voice is than it was before it; infinite where that isn't known."""
    below_usual_db: float = 0.0
    """How much softer than the user's turns before it."""
    last_voice_ms: int = 0


def is_same(one: Words, other: Words) -> bool:
    """Whether the same was said in the same language, or asked; commas aside."""
    return (
        one.language == other.language
        and words(one.text) == words(other.text)
        and one.text.endswith("?") == other.text.endswith("?")
    )
