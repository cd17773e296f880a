"""Somebody speaks into an answer: softer at once, silent soon, then stopped or taken up again.

Lowering costs nothing and may be wrong, so the first sound of a voice is enough; being silent
takes a voice that lasts; only words, or a voice that lasts without the transcriber's answer,
end the answer (`Listener`). Everything else lets it go on where it was.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Final, Literal

from voice.hearing.endpoint import FRAME_MS, FrameSound

Step = Literal["full", "lowered", "held"]
Action = Literal["lower", "hold", "go on"]

_LOUD_ABOVE_ROOM_DB: Final = 8.0
_LEAST_DBFS: Final = -52.0


@dataclass(frozen=True, slots=True, kw_only=True)
class YieldSettings:
    """Times in ms, probabilities 0 to 1."""

    stirring_ms: int = 60
    """A sound like a voice for this long lowers the answer."""
    sure_probability: float = 0.5
    """A judge this sure of a voice lowers it at once."""
    holding_ms: int = 120
    """A voice for this long, within `within_ms`, silences it."""
    holding_probability: float = 0.6
    within_ms: int = 220
    calm_ms: int = 260
    """Without a voice for this long, it was nothing."""
    most_held_ms: int = 2_000
    """Whoever hasn't said a word by then says none."""


class Yielding:
    """The steps of one microphone. `frame` for each 20 ms; the action is to be taken at once."""

    def __init__(self, settings: YieldSettings | None = None) -> None:
        self._settings = settings or YieldSettings()
        self._step: Step = "full"
        self._room_dbfs = -70.0
        self._stirring_ms = 0
        self._calm_ms = 0
        self._held_ms = 0
        self._spent = False
        self._voiced: deque[bool] = deque(maxlen=self._settings.within_ms // FRAME_MS)

    @property
    def step(self) -> Step:
        return self._step

    def frame(self, sound: FrameSound, *, sounding: bool, waits: bool) -> Action | None:
        """`sounding`: Jarvis is heard now. `waits`: the words of this voice are asked for."""
        settings = self._settings
        self._learn_the_room(sound)
        loud = sound.level_dbfs > max(self._room_dbfs + _LOUD_ABOVE_ROOM_DB, _LEAST_DBFS)
        stirs = loud and (sound.gate or sound.probability >= settings.sure_probability)
        self._stirring_ms = self._stirring_ms + FRAME_MS if stirs else 0
        self._voiced.append(sound.probability >= settings.holding_probability)
        voiced_ms = sum(self._voiced) * FRAME_MS
        self._calm_ms = 0 if stirs or self._voiced[-1] else self._calm_ms + FRAME_MS
        if self._calm_ms >= settings.calm_ms:
            self._spent = False
        if not sounding:
            return self._go_on() if self._step != "full" else None
        if self._step == "held":
            self._held_ms += FRAME_MS
            calm = self._calm_ms >= settings.calm_ms and not waits
            return self._go_on() if calm or self._held_ms >= settings.most_held_ms else None
        if self._spent:
            return None
        if voiced_ms >= settings.holding_ms:
            self._step, self._held_ms = "held", 0
            return "hold"
        sure = loud and sound.probability >= settings.sure_probability
        if self._step == "full" and (sure or self._stirring_ms >= settings.stirring_ms):
            self._step = "lowered"
            return "lower"
        if self._step == "lowered" and self._calm_ms >= settings.calm_ms:
            return self._go_on()
        return None

    def nothing_meant(self) -> Action | None:
        """It is no word, or a sign of listening: not again before it has been calm."""
        self._spent = True
        return self._go_on() if self._step != "full" else None

    def more_came(self) -> None:
        """Behind a pause the same voice says more: perhaps it was meant."""
        self._spent = False

    def stopped(self) -> None:
        """The answer was ended."""
        self._step = "full"
        self._spent = False
        self._voiced.clear()

    def _go_on(self) -> Action:
        if self._step == "held" and self._held_ms >= self._settings.most_held_ms:
            self._spent = True
        self._step = "full"
        return "go on"

    def _learn_the_room(self, sound: FrameSound) -> None:
        """Up slowly, down quickly: what is heard between voices."""
        share = 0.005 if sound.level_dbfs > self._room_dbfs else 0.1
        self._room_dbfs += share * (max(sound.level_dbfs, -80.0) - self._room_dbfs)
