"""What every engine is to a call: one Protocol (spec V5)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, runtime_checkable

from pipecat.processors.frame_processor import FrameProcessor

from memory.records import Language, Prefix, Turn
from voice.records import EngineChanged, EngineDescription, NotesFound, Notice
from voice.tools import Tool


async def no_notes(words: str) -> NotesFound | None:  # noqa: ARG001 - the signature is the contract
    """Where nobody looks anything up."""
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """What a session begins with.

    `news` gives what changed in the notebooks since it was last asked (or since the
    prefix was read), as one block of text for the model, or None; it reads two small
    files. `now` is the user's wall clock, aware. `earlier` are turns of this same
    conversation that a session which failed had already heard, or of the call that it goes on from.

    `fresh_prefix` gives the prefix as it is now, for a session that follows within the call:
    what it holds is no news any more. `notes` gives what the user's notes say to the words of
    a turn, for this one answer only, or None. `tools` are frozen. `played_samples`
    tells how much of the present answer came out of the output (24 kHz); with it an interrupted
    answer is cut at once and to the sample, without it at the last word that `heard` tells.
    """

    prefix: Prefix
    language: Language
    now: Callable[[], datetime]
    news: Callable[[], Awaitable[str | None]]
    notify: Callable[[Notice | EngineChanged], None]
    earlier: tuple[Turn, ...] = ()
    fresh_prefix: Callable[[], Awaitable[Prefix]] | None = None
    notes: Callable[[str], Awaitable[NotesFound | None]] = no_notes
    tools: tuple[Tool, ...] = ()
    played_samples: Callable[[], int | None] = lambda: None


@runtime_checkable
class TakesSound(Protocol):
    """A processor that need not pass the microphone's frames on; then it says to their intake that
    they were delivered."""

    passes_sound_on: bool


class Engine(Protocol):
    """Answers one call. Its processors stand between the ears and the output.

    In:  `HeardFrame`, `TypedFrame`, `InputAudioRawFrame` (16 kHz mono, 20 ms), `InterruptionFrame`.
    Out: all of these passed on, and for each answer `AnswerBeganFrame`, `TTSStartedFrame`,
         then for each piece a `SpokenFrame` with its `TTSAudioRawFrame`s (24 kHz mono),
         `TTSStoppedFrame`, `AnswerDoneFrame`. After an `InterruptionFrame` nothing of the
         old answer comes out any more. `AnswerFailedFrame` where no answer can be given.
    Back: `AnswerUnderWayFrame` from those that begin on a guess, so that its turn stays open until
         the answer could be heard.
    Processors that all say `takes_sound = False` are spared the microphone's frames; so are those
    behind the last that takes sound, where that is a `TakesSound`.
    """

    @property
    def description(self) -> EngineDescription: ...

    async def open(self, opening: Opening) -> list[FrameProcessor]:
        """Get ready to answer; raises EngineUnavailable with what to do."""
        ...

    def heard(self, turn: Turn) -> None:
        """A turn as the transcript keeps it, both speakers: an interrupted answer is cut here
        to what was heard, and history must agree with it."""
        ...

    async def close(self) -> None: ...
