"""When somebody begins to speak, pauses, goes on, and is done: decisions over 20 ms frames.

Pure: fed with what the detectors say of each frame and with the answers of the slow models,
it gives decisions in milliseconds of the microphone's stream. It decides on frames only, so
the order in which answers arrive between two frames doesn't matter.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass, field
from typing import Literal

from voice.hearing.wording import Ending

FRAME_MS = 20
_SILENT_DBFS = -120.0


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointSettings:
    """Times in ms, levels in dB, probabilities 0 to 1."""

    start_probability: float = 0.5
    stop_probability: float = 0.35
    start_ms: int = 60
    """Voice needed within `start_window_ms` before speech is told."""
    start_window_ms: int = 160
    preroll_ms: int = 400
    """Sound before the first voice that belongs to the turn: soft first consonants."""
    fewest_voiced_ms: int = 100
    """Less is a click or a cough; no word is shorter."""
    dip_db: float = 26.0
    """A frame this far below the loudest voice is low; less in a noisy room."""
    noisy_dip_db: float = 12.0
    peak_decay_db: float = 0.05
    guess_low_ms: int = 80
    guess_silent_ms: int = 100
    resume_ms: int = 40
    insist_ms: int = 200
    """A judge that is this long sure of a voice in a dip hears a soft one: longer than it lags."""
    onset_ms: int = 120
    """A sound that has just begun may be the next word: the judge needs this long to know."""
    background_ms: int = 400
    """How much of the room has to be heard before its level counts."""
    stop_ms: int = 320
    """The least silence that ends a turn. The answer is being made since the guess and is not
    ready much sooner, so a shorter one gains little and cuts more sentences at their commas."""
    masked_stop_ms: int = 900
    """No louder than the room was before, whatever the judge of voices says (music, a TV)."""
    stalled_stop_ms: int = 2400
    """The words have not changed for this long, though something sounds like a voice."""
    most_held_ms: int = 1200
    """While an answer is being made its turn stays open: what is said before it can be heard
    belongs to the same turn. A silence this long ends it all the same."""
    answers_due_ms: int = 800
    """A pause this long ends the turn also when the models haven't answered."""
    ask_again_ms: int = 320
    sure_over: float = 0.8
    """What the end-of-turn model says from here on needs no closer look, which takes a core from
    what makes the answer."""
    barge_in_ms: int = 240
    barge_in_probability: float = 0.7
    most_turn_ms: int = 60_000
    cut_window_ms: int = 15_000


@dataclass(frozen=True, slots=True, kw_only=True)
class FrameSound:
    """What the detectors say of 20 ms. `probability` is of a voice, `level_dbfs` the RMS level."""

    gate: bool
    probability: float
    level_dbfs: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Voice:
    """What of an open turn is voice: how long, the mean probability of it, its mean level."""

    voiced_ms: int = 0
    confidence: float = 0.0
    level_dbfs: float = _SILENT_DBFS


@dataclass(frozen=True, slots=True, kw_only=True)
class Began:
    """`audio_from_ms` is where the turn's audio starts, `began_ms` where its voice does."""

    began_ms: int
    audio_from_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Paused:
    """The first silence: both slow models are asked about the sound so far."""

    number: int
    ended_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AskAgain:
    """The pause lasts, and it isn't clear that the turn is over: time for a closer look."""

    number: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Resumed:
    number: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Lasting:
    """A voice lasts while Jarvis speaks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Over:
    """The turn is done. `number` is the pause that became its end; None when no pause was
    asked about. `worth_words` is False where the voice was too short for any word."""

    ended_ms: int
    number: int | None
    worth_words: bool
    why: Literal["pause", "masked", "stalled", "flushed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """A very long turn ends at `at_ms`; the next one begins there, so nothing is lost."""

    at_ms: int


Decision = Began | Paused | AskAgain | Resumed | Lasting | Over | Cut


def patience_ms(over: float | None, ending: Ending | None, settings: EndpointSettings) -> int:
    """How long a silence has to be before it ends the turn.

    `over` is the end-of-turn model's probability, `ending` how the transcript ends; None
    where the answer hasn't come.
    """
    if over is None or ending is None:
        return settings.answers_due_ms
    if ending == "unfinished" or (ending == "falling" and over < 0.5):
        return 1700 if over >= 0.5 else 2000
    if ending == "question":
        return settings.stop_ms if over >= 0.5 else 600
    if ending == "loose":
        return 400 if over >= 0.8 else 700 if over >= 0.5 else 1700
    if over >= 0.9:
        return settings.stop_ms
    return 400 if over >= 0.7 else 600 if over >= 0.5 else 900 if over >= 0.2 else 1600


@dataclass(slots=True)
class _Turn:
    began_ms: int
    peak_dbfs: float
    voiced_ms: int = 0
    probability_sum: float = 0.0
    power_sum: float = 0.0
    last_voice_ms: int = 0
    low_ms: int = 0
    silent_ms: int = 0
    masked_ms: int = 0
    resuming_ms: int = 0
    insisting_ms: int = 0
    rising_ms: int = 0
    fell_silent: bool = False
    lasting_ms: int = 0
    lasting_gap_ms: int = 0
    told_lasting: bool = False
    pause: int | None = None
    asked_again: bool = False
    held: bool = False
    over: float | None = None
    ending: Ending | None = None
    words_changed_ms: int | None = None
    stalled: bool = False
    levels: deque[float] = field(default_factory=deque)


class Endpointer:
    """One microphone's turns. `frame` is called for each 20 ms, in order."""

    def __init__(self, settings: EndpointSettings | None = None) -> None:
        self._settings = settings or EndpointSettings()
        self._position_ms = 0
        self._turn: _Turn | None = None
        self._pauses = 0
        self._recent: deque[FrameSound] = deque(
            maxlen=self._settings.start_window_ms * 2 // FRAME_MS
        )
        self._background_dbfs: float | None = None
        self._background_heard_ms = 0
        self._earliest_ms = 0

    @property
    def position_ms(self) -> int:
        """The end of the last frame."""
        return self._position_ms

    @property
    def turn_open(self) -> bool:
        return self._turn is not None

    @property
    def pausing(self) -> bool:
        return self._turn is not None and self._turn.pause is not None

    @property
    def voice(self) -> Voice:
        """Of the open turn."""
        turn = self._turn
        if turn is None or not turn.voiced_ms:
            return Voice()
        frames = turn.voiced_ms / FRAME_MS
        return Voice(
            voiced_ms=turn.voiced_ms,
            confidence=turn.probability_sum / frames,
            level_dbfs=10 * math.log10(turn.power_sum / frames),
        )

    @property
    def last_voice_ms(self) -> int:
        """Where the open turn's voice was last heard."""
        return self._turn.last_voice_ms if self._turn else self._earliest_ms

    def frame(self, sound: FrameSound, *, answering: bool) -> list[Decision]:
        """What follows from one more frame. `answering`: Jarvis speaks now."""
        self._position_ms += FRAME_MS
        self._recent.append(sound)
        if self._turn is None:
            return self._outside(sound)
        return self._inside(self._turn, sound, answering)

    def judged(self, number: int, over: float) -> None:
        """The end-of-turn model's answer to a pause."""
        if self._turn is not None and self._turn.pause == number:
            self._turn.over = over

    def worded(self, number: int, ending: Ending) -> None:
        """How the transcript of a pause ends."""
        if self._turn is not None and self._turn.pause == number:
            self._turn.ending = ending

    def hold(self, number: int) -> None:
        """An answer to a pause's words is being made."""
        if self._turn is not None and self._turn.pause == number:
            self._turn.held = True

    def release(self, number: int) -> None:
        """It is ready, or there will be none."""
        if self._turn is not None and self._turn.pause == number:
            self._turn.held = False

    def words_came(self, *, changed: bool) -> None:
        """A transcript of the open turn came, the same as before or another."""
        turn = self._turn
        if turn is None:
            return
        if changed or turn.words_changed_ms is None:
            turn.words_changed_ms = self._position_ms
        since_ms = self._position_ms - turn.words_changed_ms
        turn.stalled = since_ms >= self._settings.stalled_stop_ms

    def flush(self) -> list[Decision]:
        """The stream ends here: so does an open turn."""
        if self._turn is None:
            return []
        return [self._ended(self._turn, "flushed")]

    def _outside(self, sound: FrameSound) -> list[Decision]:
        settings = self._settings
        window = list(self._recent)[-settings.start_window_ms // FRAME_MS :]
        voiced = [frame for frame in window if frame.probability >= settings.start_probability]
        if (
            sound.probability < settings.start_probability
            or len(voiced) * FRAME_MS < settings.start_ms
        ):
            self._hear_background()
            return []
        began_ms = self._position_ms - FRAME_MS
        for frame in reversed(list(self._recent)[:-1]):
            if frame.probability < settings.stop_probability and not frame.gate:
                break
            began_ms -= FRAME_MS
        began_ms = max(began_ms, self._earliest_ms)
        turn = _Turn(
            began_ms=began_ms,
            peak_dbfs=max(frame.level_dbfs for frame in voiced),
            voiced_ms=len(voiced) * FRAME_MS,
            probability_sum=sum(frame.probability for frame in voiced),
            power_sum=sum(_power(frame.level_dbfs) for frame in voiced),
            last_voice_ms=self._position_ms,
            lasting_ms=FRAME_MS
            * sum(frame.probability >= settings.barge_in_probability for frame in voiced),
            levels=deque(
                (frame.level_dbfs for frame in window),
                maxlen=settings.cut_window_ms // FRAME_MS,
            ),
        )
        self._turn = turn
        return [
            Began(
                began_ms=began_ms,
                audio_from_ms=max(began_ms - settings.preroll_ms, self._earliest_ms),
            )
        ]

    def _hear_background(self) -> None:
        """Up quickly, down slowly: what music or a fan reaches between its quiet places.

        A frame counts a third of a second later, when no speech began with it.
        """
        if len(self._recent) < (self._recent.maxlen or 0):
            return
        frame = self._recent[0]
        if frame.probability >= self._settings.stop_probability:
            return
        if self._background_dbfs is None:
            self._background_dbfs = frame.level_dbfs
        share = 0.1 if frame.level_dbfs > self._background_dbfs else 0.02
        self._background_dbfs += share * (frame.level_dbfs - self._background_dbfs)
        self._background_heard_ms += FRAME_MS

    @property
    def _room_dbfs(self) -> float:
        if self._background_dbfs is None:
            return _SILENT_DBFS
        known = self._background_heard_ms >= self._settings.background_ms
        return self._background_dbfs if known else _SILENT_DBFS

    def _low_below_dbfs(self, turn: _Turn) -> float:
        settings = self._settings
        in_the_room = min(self._room_dbfs + 4.0, turn.peak_dbfs - settings.noisy_dip_db)
        return max(turn.peak_dbfs - settings.dip_db, in_the_room)

    def _inside(self, turn: _Turn, sound: FrameSound, answering: bool) -> list[Decision]:
        settings = self._settings
        turn.levels.append(sound.level_dbfs)
        low = sound.level_dbfs < self._low_below_dbfs(turn)
        silent = sound.probability < settings.stop_probability
        turn.low_ms = turn.low_ms + FRAME_MS if low else 0
        turn.rising_ms = turn.rising_ms + FRAME_MS if sound.gate and not low else 0
        turn.silent_ms = turn.silent_ms + FRAME_MS if silent else 0
        quiet_as_the_room = sound.level_dbfs < self._room_dbfs + 4.0
        turn.masked_ms = turn.masked_ms + FRAME_MS if quiet_as_the_room else 0
        turn.fell_silent = turn.fell_silent or silent
        if turn.pause is not None:
            # The judge still says voice for some 100 ms after the last sound, so a low frame is
            # voice only when the judge had fallen silent before: then somebody goes on softly.
            voiced = sound.probability >= settings.start_probability and (
                not low or turn.fell_silent
            )
            turn.resuming_ms = turn.resuming_ms + FRAME_MS if voiced else 0
            sure = sound.probability >= 0.9 and not quiet_as_the_room
            turn.insisting_ms = turn.insisting_ms + FRAME_MS if sure else 0
            voiced = (
                turn.resuming_ms >= settings.resume_ms or turn.insisting_ms >= settings.insist_ms
            )
        else:
            voiced = not silent and not low
        decisions: list[Decision] = []
        if voiced:
            decisions += self._voice(turn, sound)
        self._count_lasting(turn, sound, voiced)
        if answering and not turn.told_lasting and turn.lasting_ms >= settings.barge_in_ms:
            turn.told_lasting = True
            decisions.append(Lasting())
        if not voiced:
            decisions += self._silence(turn, sound)
        if self._turn is turn and turn.stalled:
            decisions.append(self._ended(turn, "stalled"))
        if self._turn is turn and self._position_ms - turn.began_ms >= settings.most_turn_ms:
            decisions.append(self._cut(turn))
        return decisions

    def _voice(self, turn: _Turn, sound: FrameSound) -> list[Decision]:
        turn.peak_dbfs = max(turn.peak_dbfs - self._settings.peak_decay_db, sound.level_dbfs)
        turn.voiced_ms += FRAME_MS
        turn.probability_sum += sound.probability
        turn.power_sum += _power(sound.level_dbfs)
        turn.last_voice_ms = self._position_ms
        turn.low_ms = turn.silent_ms = turn.resuming_ms = turn.insisting_ms = 0
        turn.fell_silent = False
        if turn.pause is None:
            return []
        # Who goes on softly is measured by the softer voice from here.
        turn.peak_dbfs = min(turn.peak_dbfs, sound.level_dbfs + self._settings.dip_db - 6.0)
        number, turn.pause = turn.pause, None
        turn.over = turn.ending = None
        turn.asked_again = turn.held = False
        turn.words_changed_ms = None
        return [Resumed(number=number)]

    def _count_lasting(self, turn: _Turn, sound: FrameSound, voiced: bool) -> None:
        if voiced and sound.probability >= self._settings.barge_in_probability:
            turn.lasting_ms += FRAME_MS
            turn.lasting_gap_ms = 0
        else:
            turn.lasting_gap_ms += FRAME_MS
            if turn.lasting_gap_ms > 200:
                turn.lasting_ms = 0

    def _silence(self, turn: _Turn, sound: FrameSound) -> list[Decision]:
        settings = self._settings
        for_ms = self._position_ms - turn.last_voice_ms
        dip = turn.low_ms >= settings.guess_low_ms or turn.silent_ms >= settings.guess_silent_ms
        if turn.voiced_ms < settings.fewest_voiced_ms:
            return [self._ended(turn, "pause")] if for_ms >= settings.stop_ms else []
        if turn.pause is None:
            if not dip:
                return []
            self._pauses += 1
            turn.pause = self._pauses
            turn.fell_silent = sound.probability < settings.stop_probability
            turn.resuming_ms = turn.insisting_ms = 0
            return [Paused(number=turn.pause, ended_ms=turn.last_voice_ms)]
        patience = patience_ms(turn.over, turn.ending, settings)
        onset = 0 < turn.rising_ms <= settings.onset_ms
        if for_ms >= patience and sound.probability < settings.start_probability and not onset:
            held = turn.held and for_ms < settings.most_held_ms
            return [] if held else [self._ended(turn, "pause")]
        if turn.masked_ms >= max(settings.masked_stop_ms, patience):
            return [self._ended(turn, "masked")]
        unsure = turn.over is not None and turn.over < settings.sure_over
        if unsure and for_ms >= settings.ask_again_ms and not turn.asked_again and not onset:
            turn.asked_again = True
            return [AskAgain(number=turn.pause)]
        return []

    def _ended(self, turn: _Turn, why: Literal["pause", "masked", "stalled", "flushed"]) -> Over:
        self._turn = None
        self._earliest_ms = turn.last_voice_ms
        self._recent.clear()
        return Over(
            ended_ms=turn.last_voice_ms,
            number=turn.pause,
            worth_words=turn.voiced_ms >= self._settings.fewest_voiced_ms,
            why=why,
        )

    def _cut(self, turn: _Turn) -> Cut:
        """At the quietest tenth of a second of the last part."""
        width = 5
        levels = list(turn.levels)
        starts = range(len(levels) - 2 * width)
        quietest = min(starts, key=lambda at: sum(levels[at : at + width]))
        at_ms = self._position_ms - (len(levels) - quietest - width // 2) * FRAME_MS
        self._earliest_ms = at_ms
        rest, voiced_ms = levels[quietest:], max(self._position_ms - at_ms - turn.low_ms, 0)
        frames = voiced_ms / FRAME_MS
        self._turn = _Turn(
            began_ms=at_ms,
            peak_dbfs=turn.peak_dbfs,
            voiced_ms=voiced_ms,
            probability_sum=frames * 0.9,
            power_sum=frames * sum(map(_power, rest)) / len(rest),
            last_voice_ms=max(turn.last_voice_ms, at_ms),
            levels=deque(rest, maxlen=turn.levels.maxlen),
        )
        return Cut(at_ms=at_ms)


def _power(level_dbfs: float) -> float:
    return float(10 ** (level_dbfs / 10))
