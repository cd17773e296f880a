"""Keeps Jarvis from hearing itself: by the sound of each frame, and by a turn's words."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Final, Literal

from voice.echo import EchoGuard, Verdict, repeated_share, repeats
from voice.hearing.endpoint import FRAME_MS, FrameSound
from voice.hearing.wording import words
from voice.playback import Playback

Whose = Literal["user", "doubtful", "own"]

_ANSWERS_KEPT: Final = 3
_DEAF_AFTER: Final = 2
_SILENT_DBFS: Final = -90.0
_MOSTLY: Final = 0.6
_FOLLOWS: Final = 0.85
_FOLLOWS_CLOSELY: Final = 0.95
_FOLLOWS_SOMEWHAT: Final = 0.5
_TOO_LOUD_DB: Final = 3.0
_A_FEW_WORDS: Final = 3
_SEVERAL_WORDS: Final = 4
_MANY_WORDS: Final = 5
_VERBATIM: Final = 0.9
_NEARLY: Final = 0.8
_DEAF_TAIL_MS: Final = 1_000
_SOMEBODY: Final = 5
_SOMEBODY_WITHIN: Final = 8
_SOMEBODY_FOR_MS: Final = 400


@dataclass(slots=True)
class Suspicion:
    """Of one turn: how many of its voiced frames were what. Frames of echo never are voiced."""

    nothing: int = 0
    voice: int = 0
    unsure: int = 0

    def add(self, verdict: Verdict) -> None:
        match verdict:
            case "nothing":
                self.nothing += 1
            case "voice":
                self.voice += 1
            case "unsure":
                self.unsure += 1
            case "echo":
                pass


class OwnVoice:
    """For one call. Without a playback to compare with, everything is the user's."""

    def __init__(self, playback: Playback | None) -> None:
        self._playback = playback
        self._guard = EchoGuard()
        self._spoken: deque[str] = deque(maxlen=_ANSWERS_KEPT)
        self._verdict: Verdict = "nothing"
        self._recent: deque[bool] = deque(maxlen=_SOMEBODY_WITHIN)
        self._somebody_ms = 0
        self._passed = 0
        self._sounded_ms = _DEAF_TAIL_MS

    @property
    def verdict(self) -> Verdict:
        """Of the last frame."""
        return self._verdict

    @property
    def surely(self) -> bool:
        """Whether the last frame isn't Jarvis': it can't be, or goes on with what can't."""
        return self._verdict != "unsure" or self._somebody_ms > 0

    @property
    def half_duplex(self) -> bool:
        """Its own voice got through, or comes back too loud: it listens only when it is silent."""
        path = self._guard.path
        too_loud = path is not None and path.gain_db > _TOO_LOUD_DB
        return too_loud or self._passed >= _DEAF_AFTER

    @property
    def sounding(self) -> bool:
        return self._playback is not None and self._playback.sounding()

    def spoke(self, text: str) -> None:
        """What an answer says so far; the next answer is another text that doesn't begin so."""
        if self._spoken and text.startswith(self._spoken[-1]):
            self._spoken[-1] = text
        else:
            self._spoken.append(text)

    def frame(self, sound: FrameSound) -> FrameSound:
        """The frame as the ears may take it: silence, where it is Jarvis."""
        if self._playback is None:
            return sound
        self._verdict = self._guard.frame(
            sound.level_dbfs, self._playback.envelope(), cancelled=self._playback.cancelled()
        )
        self._recent.append(self._verdict == "voice")
        if sum(self._recent) >= _SOMEBODY:
            self._somebody_ms = _SOMEBODY_FOR_MS
        else:
            self._somebody_ms = max(self._somebody_ms - FRAME_MS, 0)
        self._sounded_ms = 0 if self.sounding else self._sounded_ms + FRAME_MS
        path = self._guard.path
        tail_ms = path.delay_ms + 300 if path is not None else _DEAF_TAIL_MS
        if self.half_duplex and self._sounded_ms < tail_ms:
            self._verdict = "echo"
        if self._verdict != "echo":
            return sound
        return FrameSound(gate=False, probability=0.0, level_dbfs=_SILENT_DBFS)

    def whose(self, text: str, suspicion: Suspicion, span_ms: int) -> Whose:
        """Who said a turn's words. `span_ms`: from its first voice until now."""
        suspect = suspicion.unsure + suspicion.voice
        if not suspect:
            return "user"
        spoken = " ".join(self._spoken)
        frames = span_ms // FRAME_MS + 20
        follows = self._guard.resembles(frames)
        count = len(words(text))
        again = repeats(text, spoken)
        close = count >= _SEVERAL_WORDS and repeated_share(text, spoken) >= _NEARLY
        if suspicion.unsure >= _MOSTLY * (suspect + suspicion.nothing):
            # The sound didn't tell in time; by now there is more of it to compare.
            if again and follows >= _FOLLOWS_SOMEWHAT:
                return "own"
            # One word is as loud over time as any other: only several can follow by themselves.
            if follows >= _FOLLOWS and count >= _MANY_WORDS:
                return "own"
            if again and count >= _MANY_WORDS:
                return "own"
            closely = count >= _A_FEW_WORDS or follows >= _FOLLOWS_CLOSELY
            if closely and self._guard.is_echo(frames):
                return "own"
            return "doubtful" if close else "user"
        verbatim = count >= _MANY_WORDS and repeated_share(text, spoken) >= _VERBATIM
        if verbatim and follows >= _FOLLOWS_SOMEWHAT:
            return "own"  # louder than the path allows, and yet in step with what was played
        return "doubtful" if close else "user"

    def got_through(self) -> None:
        """A turn of its own words came of the sound."""
        self._passed += 1
