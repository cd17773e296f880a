"""What became of each 20 ms of a microphone: delivered, waiting, missing, or dropped and why.

Positions are frames of 20 ms since the microphone's first. A frame is *delivered* when it
has come through the ears and the engine, *missing* when the device gave nothing and silence
stands in its place, *dropped* when it came and nobody heard it; the last two have a reason.
"""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass, field
from typing import Final, Literal

FRAME_MS: Final = 20
RATE_HZ: Final = 16_000
FRAME_BYTES: Final = 2 * RATE_HZ * FRAME_MS // 1000

# Spans that are told one by one; what comes after is counted only.
_SPANS: Final = 1_000

Fate = Literal["delivered", "waiting", "missing", "dropped"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """Frames `first` up to but without `end`, all of one fate."""

    first: int
    end: int
    fate: Fate
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class MicrophoneSummary:
    """Of one call, in frames of 20 ms; the four fates add up to `frames`.

    `waited_most` is how many frames stood in line at once, `reasons` why frames were missing
    or dropped.
    """

    frames: int = 0
    delivered: int = 0
    waiting: int = 0
    missing: int = 0
    dropped: int = 0
    waited_most: int = 0
    reasons: dict[str, int] = field(default_factory=dict)


class Ledger:
    """Frames leave the line in the order in which they joined it."""

    def __init__(self) -> None:
        # What stands in line, oldest first: what becomes of it, why, how many frames.
        self._line: deque[tuple[Fate, str, int]] = deque()
        self._spans: list[Span] = []
        self._counts: Counter[Fate] = Counter()
        self._reasons: Counter[str] = Counter()
        self._settled = 0
        self._waiting = 0
        self._waited_most = 0

    @property
    def waiting(self) -> int:
        return self._waiting

    @property
    def position(self) -> int:
        """How many frames came, silence for missing ones included."""
        return self._settled + sum(count for _, _, count in self._line)

    def arrived(self, frames: int = 1) -> None:
        self._join("delivered", "", frames)

    def missing(self, frames: int, reason: str) -> None:
        """The device gave nothing for so long; silence joins the line instead."""
        self._join("missing", reason, frames)

    def refused(self, frames: int, reason: str) -> None:
        """They came, and may not join the line."""
        self._join("dropped", reason, frames)

    def _join(self, fate: Fate, reason: str, frames: int) -> None:
        if frames <= 0:
            return
        before = 0
        if self._line and self._line[-1][:2] == (fate, reason):
            before = self._line.pop()[2]
        self._line.append((fate, reason, before + frames))
        if fate != "dropped":
            self._waiting += frames
            self._waited_most = max(self._waited_most, self._waiting)
        self._settle_lost()

    def delivered(self, frames: int = 1) -> None:
        """The oldest of the line were heard."""
        assert frames <= self._waiting, "more frames leave the line than stand in it"
        self._waiting -= frames
        while frames:
            fate, reason, count = self._line.popleft()
            leaving = min(count, frames)
            if count > leaving:
                self._line.appendleft((fate, reason, count - leaving))
            self._settle(fate, leaving, reason)
            frames -= leaving
            self._settle_lost()

    def dropped(self, frames: int, reason: str, *, behind: int = 0) -> None:
        """The oldest of the line are lost, or the oldest behind so many that are on their way."""
        assert behind + frames <= self._waiting, "more frames are lost than stand in line"
        self._waiting -= frames
        line: deque[tuple[Fate, str, int]] = deque()
        for fate, why, count in self._line:
            kept = count if fate == "dropped" else min(count, behind)
            behind -= 0 if fate == "dropped" else kept
            lost = min(count - kept, frames)
            frames -= lost
            # What was silence anyway stays known as missing, under its own reason.
            parts: tuple[tuple[Fate, str, int], ...] = (
                (fate, why, kept),
                ("dropped", reason if fate == "delivered" else why, lost),
                (fate, why, count - kept - lost),
            )
            line.extend(part for part in parts if part[2])
        self._line = line
        self._settle_lost()

    def _settle_lost(self) -> None:
        while self._line and self._line[0][0] == "dropped":
            _, reason, count = self._line.popleft()
            self._settle("dropped", count, reason)

    def _settle(self, fate: Fate, frames: int, reason: str) -> None:
        first = self._settled
        self._settled += frames
        self._counts[fate] += frames
        if reason:
            self._reasons[reason] += frames
        last = self._spans[-1] if self._spans else None
        if last is not None and (last.fate, last.reason, last.end) == (fate, reason, first):
            self._spans[-1] = Span(first=last.first, end=self._settled, fate=fate, reason=reason)
        elif len(self._spans) < _SPANS:
            self._spans.append(Span(first=first, end=self._settled, fate=fate, reason=reason))

    def spans(self) -> tuple[Span, ...]:
        """What became of each position, in order; the line comes last."""
        spans, first = list(self._spans), self._settled
        for fate, reason, count in self._line:
            lost = fate == "dropped"
            spans.append(
                Span(
                    first=first,
                    end=first + count,
                    fate="dropped" if lost else "waiting",
                    reason=reason if lost else "",
                )
            )
            first += count
        return tuple(spans)

    def summary(self) -> MicrophoneSummary:
        reasons = Counter(self._reasons)
        for fate, reason, count in self._line:
            if fate == "dropped":
                reasons[reason] += count
        return MicrophoneSummary(
            frames=self.position,
            delivered=self._counts["delivered"],
            waiting=self._waiting,
            missing=self._counts["missing"],
            dropped=self.position - self._settled - self._waiting + self._counts["dropped"],
            waited_most=self._waited_most,
            reasons=dict(sorted(reasons.items())),
        )


class Cutter:
    """Sound of any length in, frames of 20 ms out; what is less than one waits for the next.

    The rate is checked at this boundary: sound of another rate would be heard at the wrong
    speed, so it is our mistake to hand it in.
    """

    def __init__(self) -> None:
        self._rest = bytearray()

    def cut(self, samples: bytes, rate_hz: int, channels: int = 1) -> list[bytes]:
        assert (rate_hz, channels) == (RATE_HZ, 1), f"{rate_hz} Hz, {channels} channels"
        self._rest += samples
        whole = len(self._rest) // FRAME_BYTES * FRAME_BYTES
        frames = [bytes(self._rest[at : at + FRAME_BYTES]) for at in range(0, whole, FRAME_BYTES)]
        del self._rest[:whole]
        return frames

    def flush(self) -> list[bytes]:
        """The rest, filled up with silence."""
        rest = bytes(self._rest)
        self._rest.clear()
        return [rest.ljust(FRAME_BYTES, b"\0")] if rest else []
