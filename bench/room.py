"""A room for benchmarks: a microphone, a loudspeaker, the echo between them, and the real ears.

Not a benchmark itself. Time is simulated: 20 ms a step, the models' answers come as late as
they would, however long they took here.
"""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from memory.records import LANGUAGES, Language
from voice.audio import decode
from voice.hearing.asking import Asked
from voice.hearing.listener import HearingSettings, Listener
from voice.playback import RATE_HZ as PLAYED_HZ
from voice.playback import Loudspeaker
from voice.records import Heard

MICROPHONE_HZ = 16_000
STEP = MICROPHONE_HZ // 50
_PLAYED_STEP = PLAYED_HZ // 50

Sound = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Echo:
    """`delay_ms` from the moment at which the device takes a sound; `gain_db` below it."""

    delay_ms: int
    gain_db: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What Jarvis says at `at_ms`, at 16 kHz."""

    at_ms: int
    sound: Sound
    text: str


@dataclass(slots=True)
class Scene:
    """What happened: events of hearing and steps of the voice, with their ms."""

    events: list[tuple[int, Heard]] = field(default_factory=list)
    steps: list[tuple[int, str]] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)
    lost_place_ms: list[float] = field(default_factory=list)
    """At each going on: how far from where it had stopped."""


class Room:
    """One call's worth of ears. `models_s` is how long a model takes to answer; `cancelled`: the
    microphone is said to take the echo out, be that so or not."""

    def __init__(
        self,
        worker: Asked,
        *,
        language: Language,
        echo: Echo | None = None,
        cancelled: bool = False,
        models_s: float = 0.16,
        settings: HearingSettings | None = None,
    ) -> None:
        self.scene = Scene()
        self._loudspeaker = Loudspeaker()
        self._echo = echo
        self._cancelled = cancelled
        self._late = _Late(worker, models_s)
        self._steps = 0
        self._out = np.zeros(MICROPHONE_HZ)
        self._answers: deque[Answer] = deque()
        self._stopped_at: int | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._listener = Listener(
            self._late,
            settings or HearingSettings(),
            LANGUAGES,
            language,
            tell=self._tell,
            spawn=self._spawn,
            now=lambda: self._steps / 50,
        )
        self._listener.attach(self, self.scene.notices.append)

    async def run(self, microphone: Sound, answers: Sequence[Answer]) -> Scene:
        """Play the answers, each at its time, into a room in which `microphone` is said."""
        self._answers.extend(answers)
        for at in range(0, len(microphone) - STEP + 1, STEP):
            self._steps += 1
            await self._late.advance(self._steps / 50)
            self._play()
            heard = microphone[at : at + STEP] + self._echoed()
            pcm = np.clip(heard, -32768, 32767).astype("<i2").tobytes()
            self._listener.frame(pcm)
        finishing = asyncio.create_task(self._listener.finish())
        while not finishing.done():
            await self._late.advance(float("inf"))
        return self.scene

    # Playback -------------------------------------------------------------------------------

    def played(self) -> int:
        return self._loudspeaker.heard(self._loudspeaker.taken)

    def sounding(self) -> bool:
        return self._loudspeaker.sounding(self._loudspeaker.taken)

    def late_s(self) -> float:
        return 0.0

    def envelope(self) -> list[float]:
        return self._loudspeaker.envelope()

    def cancelled(self) -> bool:
        return self._cancelled

    def lower(self) -> None:
        self._note("lower")
        self._loudspeaker.lower()

    def hold(self) -> None:
        self._note("hold")
        self._stopped_at = self.played()
        self._loudspeaker.hold()

    def go_on(self) -> None:
        self._note("go on")
        if self._stopped_at is not None:
            away = abs(self._loudspeaker.next - self._stopped_at)
            self.scene.lost_place_ms.append(away * 1000 / PLAYED_HZ)
        self._stopped_at = None
        self._loudspeaker.go_on()

    # ------------------------------------------------------------------------------------------

    def _note(self, step: str) -> None:
        self.scene.steps.append((self._steps * 20, step))

    def _tell(self, event: Heard) -> None:
        self.scene.events.append((self._steps * 20, event))
        if type(event).__name__ == "BargedIn":
            self._loudspeaker.flush(self._loudspeaker.taken)
            self._stopped_at = None

    def _spawn(self, work: Any) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def _play(self) -> None:
        while self._answers and self._answers[0].at_ms <= self._steps * 20:
            answer = self._answers.popleft()
            self._listener.spoke(answer.text)
            grid = np.arange(len(answer.sound) * PLAYED_HZ // MICROPHONE_HZ)
            sound = np.interp(
                grid * MICROPHONE_HZ / PLAYED_HZ, np.arange(len(answer.sound)), answer.sound
            )
            self._loudspeaker.give(sound.astype(np.int16).tobytes())
        pcm = np.frombuffer(self._loudspeaker.take(_PLAYED_STEP), np.int16).astype(np.float64)
        step = np.interp(np.arange(STEP) * PLAYED_HZ / MICROPHONE_HZ, np.arange(len(pcm)), pcm)
        self._out = np.concatenate((self._out[STEP:], step))

    def _echoed(self) -> Sound:
        if self._echo is None:
            return np.zeros(STEP)
        end = len(self._out) - self._echo.delay_ms * MICROPHONE_HZ // 1000
        # A wall or two beside the straight way.
        ways = ((0, 1.0), (9, 0.3), (23, 0.15))
        coming = np.zeros(STEP)
        for later_ms, share in ways:
            last = end - later_ms * MICROPHONE_HZ // 1000
            if last >= STEP:
                coming += share * self._out[last - STEP : last]
        return coming * 10 ** (self._echo.gain_db / 20)


class _Late:
    """A worker whose answers come when they are due in the room's own time."""

    def __init__(self, worker: Asked, models_s: float) -> None:
        self._worker = worker
        self._models_s = models_s
        self._now_s = 0.0
        self._due: list[tuple[float, asyncio.Task[Any], asyncio.Future[Any]]] = []

    async def call(
        self, kind: str, header: dict[str, Any] | None = None, payload: bytes = b""
    ) -> tuple[dict[str, Any], bytes]:
        loop = asyncio.get_running_loop()
        asking = loop.create_task(self._worker.call(kind, header, payload))
        answer: asyncio.Future[Any] = loop.create_future()
        self._due.append((self._now_s + self._models_s, asking, answer))
        await answer
        return asking.result()

    async def advance(self, now_s: float) -> None:
        self._now_s = now_s
        await asyncio.sleep(0)
        while due := [one for one in self._due if one[0] <= now_s]:
            for one in due:
                self._due.remove(one)
                await asyncio.wait({one[1]})
                one[2].set_result(None)
            for _ in range(4):  # whoever waited goes on, and may ask again
                await asyncio.sleep(0)
            if now_s != float("inf"):
                return


# Sound ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Clip:
    sound: Sound
    text: str
    language: Language
    voice: float
    """How sure Silero was of a voice where it was surest."""


def clips(data: Path) -> list[Clip]:
    """What people said, each as loud as the others (-24 dBFS)."""
    rows = [json.loads(line) for line in (data / "manifest.jsonl").read_text().splitlines()]
    return [
        Clip(
            sound=leveled(decode(data / row["file"]).astype(np.float64)),
            text=row["transcript"],
            language=row["lang"],
            voice=row["silero_max"],
        )
        for row in rows
        if row.get("lang") in LANGUAGES and row.get("transcript") and 1.0 <= row["seconds"] <= 12.0
    ]


def noises(data: Path) -> list[tuple[str, Sound]]:
    return [
        (path.stem, decode(path).astype(np.float64))
        for path in sorted((data / "noise").glob("*.flac"))
    ]


def leveled(sound: Sound, dbfs: float = -24.0) -> Sound:
    power = float(np.sqrt(np.mean(np.square(sound)))) or 1.0
    return np.asarray(np.clip(sound * (32768 * 10 ** (dbfs / 20) / power), -32000, 32000))


def hiss(samples: int, dbfs: float, seed: int) -> Sound:
    """White noise: a quiet room."""
    return np.random.default_rng(seed).normal(0, 32768 * 10 ** (dbfs / 20), samples)
