"""Is this Jarvis' own voice? By its loudness over time, and by its words.

An echo is what was played, later and softer. So the guard compares the envelope of what comes in
with the envelope of what is played, over every delay that a device can have, and learns the
path: how late and how much softer. Once it is known, a frame no louder than the echo would be
is the echo; a voice beside it is louder. Until then each delay has a loudness that it can't
exceed, by what came in so far, and what is louder than all of them allow is a voice. The words are the second look, at what the sound
could not decide.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Final, Literal

import numpy as np
import numpy.ma  # the first median would bring it in, in the middle of an answer: 20 to 150 ms
import numpy.typing as npt
from numpy.lib.stride_tricks import sliding_window_view

FRAME_MS: Final = 20
MOST_DELAY_MS: Final = 1_000
MARGIN_MS: Final = 240
"""A room rings on, and a judge of voices lags."""

_WINDOW: Final = 75
_DELAYS: Final = MOST_DELAY_MS // FRAME_MS
_QUIET_DBFS: Final = -60.0
_FLOOR_DBFS: Final = -70.0
_UNKNOWN: Final = -1_000.0
_ACTIVE_DBFS: Final = -45.0
_LEAST_ACTIVE: Final = 20
_SURE: Final = 0.80
_LIKELY: Final = 0.6
_DOUBTS: Final = 5
_LOOK_EVERY: Final = 5
_LOOK_EVERY_AT_FIRST: Final = 3
_LOOKS: Final = 3
_LEAST_LOUD: Final = 12
_LEAST_LOUD_AT_FIRST: Final = 14
_STEADY_DB: Final = 2.5
_EXPLAINED: Final = 0.6
"""An echo is softer by the same everywhere. What was played and another's words that happen to rise
and fall alike differ by much more, and a tone is as like any word as another."""
_LOUDER_DB: Final = 6.0
_SPREAD: Final = 2
_RINGS: Final = 6
_DECAY_DB: Final = 1.5
_SILENT_PATH_FRAMES: Final = 35
_ROOM_FRAMES: Final = 250
_ROOM_STRAYS_DB: Final = 6.0
_AWAY_DB: Final = 10.0
_LEAST_COMPARED: Final = 6
_MANY_COMPARED: Final = 25
_STEADY_AT_FIRST_DB: Final = 1.5
_STRAYS_SHARE: Final = 0.15
_MOST_GAIN_DB: Final = 3.0
_MOST_CANCELLED_GAIN_DB: Final = -25.0
"""Of an echo that a canceller has worked on, while nothing was heard of it yet."""

Verdict = Literal["nothing", "echo", "voice", "unsure"]
"""Nothing plays; the frame is Jarvis; it is louder than Jarvis could be; can't be told yet."""

Levels = npt.NDArray[np.float64]
Known = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Path:
    """How what is played comes back: `delay_ms` later, by `gain_db` (negative: softer)."""

    delay_ms: int
    gain_db: float


class EchoGuard:
    """Fed with the level of each 20 ms that come in, and what was played until then."""

    def __init__(self) -> None:
        self._heard: deque[float] = deque(maxlen=_WINDOW + _DELAYS)
        self._played: Levels = np.full(0, _FLOOR_DBFS)
        self._path: Path | None = None
        self._quiet = 0
        self._clean = False
        self._between: deque[float] = deque(maxlen=_ROOM_FRAMES)
        self._verdict: Verdict = "nothing"
        self._looked = 0
        self._doubts = 0
        self._seen_at = 0
        self._seen = 0

    @property
    def path(self) -> Path | None:
        """None: not known yet, or nothing comes back."""
        return self._path

    @property
    def clean(self) -> bool:
        """Jarvis spoke for a while, and nothing of it came back."""
        return self._clean

    def frame(
        self, level_dbfs: float, played_dbfs: Sequence[float], *, cancelled: bool = False
    ) -> Verdict:
        """What this frame is. `played_dbfs` as `Playback.envelope`, its last entry just now;
        `cancelled`: the microphone's device is said to take the echo out."""
        self._heard.append(max(level_dbfs, _FLOOR_DBFS))
        self._played = np.maximum(
            np.asarray(played_dbfs[-(_WINDOW + _DELAYS) :], np.float64), _FLOOR_DBFS
        )
        if not self._playing():
            self._between.append(level_dbfs)
            self._verdict = "nothing"
            return self._verdict
        self._looked += 1
        if self._looked % (_LOOK_EVERY if self._path is not None else _LOOK_EVERY_AT_FIRST) == 0:
            self._learn()
        self._verdict = self._judged(level_dbfs, cancelled=cancelled)
        return self._verdict

    def resembles(self, frames: int) -> float:
        """How well the last `frames` that came in follow what was played, at the best delay:
        the correlation of the two envelopes, -1 to 1; 0 where nothing was played."""
        correlations = self._correlations(max(min(frames, _WINDOW), _LEAST_ACTIVE))
        return float(correlations.max(initial=0.0)) if correlations is not None else 0.0

    def is_echo(self, frames: int) -> bool:
        """Whether the last `frames` that came in are what was played: alike over time at one
        delay, and softer by the same everywhere."""
        correlations = self._correlations(max(min(frames, _WINDOW), _LEAST_ACTIVE))
        if correlations is None or float(correlations.max()) < _SURE:
            return False
        played, heard = self._loud(int(correlations.argmax()))
        return len(played) >= _LEAST_LOUD_AT_FIRST and _steady(played, heard)

    # ------------------------------------------------------------------------------

    def _playing(self) -> bool:
        """Whether any sound of it could still come in."""
        reach_ms = self._path.delay_ms + MARGIN_MS if self._path else MOST_DELAY_MS
        if self._clean:
            reach_ms = 200
        reach = self._played[-max(reach_ms // FRAME_MS, 1) :]
        return bool(len(reach)) and float(reach.max()) > _ACTIVE_DBFS

    def _judged(self, level_dbfs: float, *, cancelled: bool) -> Verdict:
        if self._clean:
            return "voice"
        if self._path is None:
            most = self._most_dbfs(_MOST_CANCELLED_GAIN_DB if cancelled else _MOST_GAIN_DB)
            return "voice" if level_dbfs > max(most + _LOUDER_DB, _QUIET_DBFS) else "unsure"
        at = len(self._played) - self._path.delay_ms // FRAME_MS
        # A room smears a sound over some frames, and then lets it fall.
        around = self._played[max(at - _RINGS, 0) : min(at + _SPREAD, len(self._played))]
        if not len(around):
            return "voice"
        ages = np.maximum(np.arange(len(around), 0, -1) - 2 * _SPREAD, 0)
        expected = float((around - _DECAY_DB * ages).max()) + self._path.gain_db
        return "echo" if level_dbfs <= max(expected + _LOUDER_DB, _QUIET_DBFS) else "voice"

    def _most_dbfs(self, gain_db: float) -> float:
        """No echo is louder in this frame, whichever its delay: an echo that comes `delay` late was
        there before too, so it is no louder than what came in then. `gain_db` is the most for a
        delay of which too little was heard; a louder echo has to look like one."""
        heard = np.asarray(self._heard)[-_WINDOW:]
        behind = self._delayed(len(heard))
        loud = behind > _ACTIVE_DBFS
        count = loud.sum(axis=1)
        above = np.sort(np.where(loud, heard - behind, np.inf), axis=1)

        def ranked(places: npt.NDArray[np.int_]) -> Levels:
            places = np.minimum(places, np.maximum(count - 1, 0))
            return np.asarray(above[np.arange(len(behind)), places])

        # A frame that holds the half of a syllable is softer than its echo is elsewhere.
        found = ranked(1 + (_STRAYS_SHARE * count).astype(int))
        compared = count >= _LEAST_COMPARED
        spread = np.zeros(len(behind))
        np.subtract(ranked(3 * count // 4), ranked(count // 4), out=spread, where=compared)
        like_one = (spread <= 2 * _STEADY_AT_FIRST_DB) | (count >= _MANY_COMPARED)
        gains = np.where(compared & (like_one | (found <= gain_db)), found, gain_db)
        coming = self._smeared()[::-1][: len(behind)]
        return float((coming + gains[: len(coming)]).max())

    def _smeared(self) -> Levels:
        """What was played, each frame as loud as a room makes it: see `_judged`."""
        played = self._played
        loudest = played.copy()
        for later in range(1, _RINGS + 1):
            falls_db = _DECAY_DB * max(later - _SPREAD, 0)
            loudest[later:] = np.maximum(loudest[later:], played[:-later] - falls_db)
        for sooner in range(1, _SPREAD + 1):
            loudest[:-sooner] = np.maximum(loudest[:-sooner], played[sooner:])
        return loudest

    def _learn(self) -> None:
        heard = np.asarray(self._heard)
        active = self._played[-_SILENT_PATH_FRAMES:] > _ACTIVE_DBFS
        long_active = self._played[-(_SILENT_PATH_FRAMES + _DELAYS) :] > _ACTIVE_DBFS
        if self._path is not None and self._stays_away(self._path, heard):
            self._path, self._seen = None, 0
        correlations = self._correlations(_WINDOW)
        if correlations is not None:
            best = int(correlations.argmax())
            if float(correlations[best]) >= _SURE:
                self._believe(best, correlations)
                return
        # Long enough for the latest of delays, and it stayed quiet: nothing comes back.
        recent = heard[-_SILENT_PATH_FRAMES:]
        if (
            long_active.sum() >= _SILENT_PATH_FRAMES + _DELAYS // 2
            and active.any()
            and len(recent) == _SILENT_PATH_FRAMES
            and float(np.percentile(recent, 90)) < self._room_dbfs()
        ):
            self._clean = True
            self._path = None

    def _stays_away(self, path: Path, heard: Levels) -> bool:
        """Nothing like the echo of this path came in: it is cancelled now, or never was one."""
        played = self._behind(path.delay_ms // FRAME_MS, min(_WINDOW, len(heard)))
        expected = played + path.gain_db
        due = expected > self._room_dbfs() + _AWAY_DB
        if due.sum() < _LEAST_ACTIVE:
            return False
        came = heard[len(heard) - len(played) :]
        return float(np.median(came[due] - expected[due])) < -_AWAY_DB

    def _room_dbfs(self) -> float:
        """What is no louder is the room's own noise, as it was heard between answers."""
        if len(self._between) < _SILENT_PATH_FRAMES:
            return _QUIET_DBFS
        calm = float(np.percentile(np.asarray(self._between), 20))
        return max(_QUIET_DBFS, calm + _ROOM_STRAYS_DB)

    def _believe(self, delay: int, correlations: Levels) -> None:
        """A path that is known gives way slowly: who speaks into an echo looks like another."""
        known = self._path
        if known is not None and abs(delay - known.delay_ms // FRAME_MS) > 2:
            at_known = float(correlations[known.delay_ms // FRAME_MS])
            self._doubts = self._doubts + 1 if at_known < _LIKELY else 0
            if self._doubts < _DOUBTS:
                return
            known = None
        self._doubts = 0
        played, heard = self._loud(delay)
        if len(played) < (_LEAST_LOUD if known is not None else _LEAST_LOUD_AT_FIRST):
            return
        gain_db = float(np.median(heard - played))
        if known is None:
            if not _steady(played, heard):
                return
            agrees = abs(delay - self._seen_at) <= 2
            self._seen_at, self._seen = delay, self._seen + 1 if agrees else 1
            if self._seen < _LOOKS:
                return
        if known is not None:
            louder_db = min(max(gain_db - known.gain_db, -3.0), 0.5)
            gain_db = known.gain_db + louder_db
        self._path = Path(delay * FRAME_MS, gain_db)
        self._clean = False

    def _loud(self, delay: int) -> tuple[Levels, Levels]:
        """What was played loudly and came in `delay` frames later: both, frame by frame."""
        heard = np.asarray(self._heard)[-_WINDOW:]
        played = self._behind(delay, len(heard))
        heard = heard[len(heard) - len(played) :]
        loud = (played > _ACTIVE_DBFS) & (heard > _FLOOR_DBFS + 6)
        return played[loud], heard[loud]

    def _behind(self, delay: int, frames: int) -> Levels:
        """What was played in the last `frames`, as it comes in `delay` frames later."""
        end = len(self._played) - delay
        return self._played[max(end - frames, 0) : end]

    def _delayed(self, length: int) -> Levels:
        """For each delay, what was played in the last `length` frames so much later."""
        # What was played before there was a record of it is no match for anything.
        short = max(length + _DELAYS - len(self._played), 0)
        played = np.pad(self._played, (short, 0), constant_values=_UNKNOWN)[-length - _DELAYS :]
        return sliding_window_view(played, length)[::-1]

    def _correlations(self, frames: int) -> Levels | None:
        """For each delay, of the last `frames` of both envelopes; None where too little plays."""
        heard = np.asarray(self._heard)[-frames:]
        if len(heard) < _LEAST_ACTIVE or len(self._played) < _LEAST_ACTIVE:
            return None
        behind = self._delayed(len(heard))
        known = behind > _UNKNOWN
        enough = (known.sum(axis=1) >= _LEAST_ACTIVE) & (
            (behind > _ACTIVE_DBFS).sum(axis=1) >= _LEAST_ACTIVE // 2
        )
        if not enough.any():
            return None
        found = np.full(_DELAYS + 1, -1.0)
        found[enough] = _alike(heard, behind[enough], known[enough])
        return found if float(found.max()) > -1.0 else None


def _steady(played: Levels, heard: Levels) -> bool:
    """Whether one is the other made softer."""
    return _strays(heard - played) <= min(_STEADY_DB, _EXPLAINED * _strays(heard))


def _strays(levels: Levels) -> float:
    """How far from their middle one half of them is, in dB."""
    return float(np.median(np.abs(levels - np.median(levels))))


def _alike(heard: Levels, behind: Levels, known: Known) -> Levels:
    """The correlation of an envelope with each of many, where these are known, as an ear takes
    them: loudness, not decibels."""
    one = np.where(known, 10 ** (heard / 50), 0.0)
    other = np.where(known, 10 ** (behind / 50), 0.0)
    count = known.sum(axis=1, keepdims=True)
    one = np.where(known, one - one.sum(axis=1, keepdims=True) / count, 0.0)
    other = np.where(known, other - other.sum(axis=1, keepdims=True) / count, 0.0)
    size = np.sqrt((one * one).sum(axis=1) * (other * other).sum(axis=1))
    together = (one * other).sum(axis=1)
    alike: Levels = np.divide(together, size, out=np.full(len(size), -1.0), where=size > 1e-9)
    return alike


# The words ----------------------------------------------------------------------------

_WORD = re.compile(r"[^\W_]+")
_LEAST_SHARE: Final = 0.62
_RUN_LETTERS: Final = 3


def repeated_share(heard: str, spoken: str) -> float:
    """How much of what was heard is in what was spoken, in its order: 0 to 1, by letters.

    A transcriber garbles an echo and cuts its words elsewhere, so letters are compared, without
    spaces, in runs: what stands alone among strange ones is chance.
    """
    said, own = ("".join(_WORD.findall(text.lower())) for text in (heard, spoken))
    if not said:
        return 0.0
    runs = SequenceMatcher(None, said, own, autojunk=False).get_matching_blocks()
    return sum(run.size for run in runs if run.size >= _RUN_LETTERS) / len(said)


def repeats(heard: str, spoken: str) -> bool:
    """Whether words are what Jarvis spoke, whole or in part, garbled or not."""
    return repeated_share(heard, spoken) >= _LEAST_SHARE
