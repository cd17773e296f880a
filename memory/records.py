"""The records that cross the door between voice and memory.

Everything here is frozen: what was decided is a value, so that a recorded call can be
replayed and compared to the byte.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, get_args

Speaker = Literal["user", "assistant"]
Origin = Literal["spoken", "typed", "pasted", "prefilled", "tool", "note", "echo"]
Language = Literal["en", "de", "es"]
Trigger = Literal["hang-up", "silence", "30 turns"]

LANGUAGES: tuple[Language, ...] = get_args(Language)


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One thing said by one side (spec, section C).

    `index` counts both speakers from 0. `text` of an interrupted assistant turn is only
    what was heard. `began_at` and `ended_at` are aware. `origin` is set where the text
    enters and never guessed later: evidence rests on it.
    """

    conversation: str
    index: int
    speaker: Speaker
    text: str
    language: Language | None
    began_at: datetime
    ended_at: datetime
    origin: Origin
    interrupted: bool = False

    def as_json(self) -> dict[str, Any]:
        return {
            "conversation": self.conversation,
            "index": self.index,
            "speaker": self.speaker,
            "text": self.text,
            "language": self.language,
            "began_at": self.began_at.isoformat(),
            "ended_at": self.ended_at.isoformat(),
            "origin": self.origin,
            "interrupted": self.interrupted,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class HandOver:
    """Turns `first_index` to `last_index` (both included) of a conversation, given to memory once."""

    conversation: str
    first_index: int
    last_index: int
    trigger: Trigger
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Prefix:
    """What rides in front of every conversation, byte for byte.

    `sha256` is the hex digest of `text` in UTF-8 and is logged with every turn.
    `warnings` are sentences for the user about notebooks that could not be read as they
    should (not UTF-8, far too long); they are not part of the text.
    """

    text: str
    sha256: str
    warnings: tuple[str, ...] = ()
