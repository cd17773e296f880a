"""When turns are handed over: thirty turns of the user, five minutes of silence (V11).

Silence is counted from the later of the last confirmed turn of the user and the end of
playback, and never while Jarvis speaks or an answer is awaited. Noise, music and a cough
change nothing. The third trigger, hanging up, needs no counting. Times are seconds of one
clock, the caller's.
"""

from __future__ import annotations

from typing import Final

from memory.records import Turn
from voice.records import State

USER_TURNS: Final = 30
SILENCE_S: Final = 300.0

# Who begins to speak just before the silence is full may finish. Music that never ends is
# not waited for.
BEGUN_SPEECH_S: Final = 15.0

# An answer that is awaited for longer than this won't come, and the microphone is open.
AWAITED_ANSWER_S: Final = 600.0


class Triggers:
    """Fed with every turn and every change of the call's state. Set one timer, for `silence_at_s`."""

    def __init__(self) -> None:
        self._user_turns = 0
        self._state: State = "connecting"
        self._state_since_s = 0.0
        self._quiet_since_s: float | None = None

    def turn_added(self, turn: Turn, now_s: float) -> bool:
        """True when it is the 30th turn of the user since the last such hand-over."""
        if turn.speaker != "user":
            return False
        self._quiet_since_s = now_s
        self._user_turns += 1
        if self._user_turns < USER_TURNS:
            return False
        self._user_turns = 0
        return True

    def state_changed(self, state: State, now_s: float) -> None:
        if self._state in ("connecting", "reconnecting", "speaking"):
            self._quiet_since_s = now_s
        self._state = state
        self._state_since_s = now_s

    def silence_passed(self) -> None:
        """A chat goes on after its silence: the next one begins with the next turn."""
        self._quiet_since_s = None

    @property
    def silence_at_s(self) -> float | None:
        """When five minutes of silence are over unless something is fed before; None: not now."""
        if self._state in ("connecting", "reconnecting", "speaking", "ended"):
            return None
        if self._quiet_since_s is None:
            return None
        full_s = self._quiet_since_s + SILENCE_S
        if self._state == "thinking":
            return max(full_s, self._state_since_s + AWAITED_ANSWER_S)
        if self._state == "hearing" and self._state_since_s < full_s:
            return max(full_s, self._state_since_s + BEGUN_SPEECH_S)
        return full_s
