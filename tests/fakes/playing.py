"""An answer that is being played, for hearing to lower and hold."""

from __future__ import annotations


class Playing:
    """It sounds until it is `stopped`, nobody hears its echo, and what is done to it is `taken` down."""

    def __init__(self) -> None:
        self.taken: list[str] = []
        self.stopped = False

    def played(self) -> int:
        return 0

    def sounding(self) -> bool:
        return not self.stopped

    def late_s(self) -> float:
        return 0.0

    def envelope(self) -> list[float]:
        # Two seconds of it have gone by already, and the room stayed quiet.
        return [-22.0, -30.0] * 100

    def cancelled(self) -> bool:
        return False

    def lower(self) -> None:
        self.taken.append("lower")

    def hold(self) -> None:
        self.taken.append("hold")

    def go_on(self) -> None:
        self.taken.append("go on")
