"""A call on disk, as it is written. The format is in docs/recorded-calls.md."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable, Mapping
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

from memory.records import Language, Turn
from voice.errors import RecordingInvalid
from voice.recorded_files import FORMAT
from voice.recorded_sound import pack, running
from voice.recording import ARRIVALS, HEARING, MICROPHONE, RATE_HZ, STOPS, Answered, Outcome
from voice.records import (
    CallEnded,
    CallEvent,
    EngineDescription,
    HandedOver,
    Heard,
    Notice,
    NoTurn,
    TurnAdded,
    UserSaid,
)
from voice.service_recorder import ServiceRecorder

log = logging.getLogger(__name__)

_LATE_MS = 40
"""Sound that comes by so much sooner or later than the last is noted: frames come in twos."""
_T = TypeVar("_T")


def keep_hearing(folder: Path, answers: Mapping[str, Answered]) -> None:
    """Put what was heard beside a recorded call, in place of what was there. Raises
    RecordingInvalid where the folder can't be written."""
    path = folder / HEARING
    lines = "".join(
        json.dumps(_heard(question, answered), ensure_ascii=False) + "\n"
        for question, answered in answers.items()
    )
    part = path.with_suffix(".part")
    try:
        part.write_text(lines, encoding="utf-8")
        part.replace(path)
    except OSError as fault:
        raise RecordingInvalid(
            f"{path} can't be written ({fault.strerror}). Copy the recording to where you may "
            "write, and replay that."
        ) from fault


def _heard(question: str, answered: Answered) -> dict[str, Any]:
    line: dict[str, Any] = {"question": question, "answer": answered.answer}
    if answered.took_ms:
        line |= {
            "took_ms": answered.took_ms,
            "kind": answered.kind,
            "turn": answered.turn,
            "at_ms": answered.at_ms,
        }
    return line


class Recorder:
    """Writes a live call to a folder as it happens, so that a kill loses at most one answer.

    Positions are counted from `began_s`, the loop's time at which the call began. A fault of
    the disk ends the recording and never the call: the user is told through `notify`. `service`
    is the witness of a voice service's sockets.
    """

    def __init__(
        self,
        folder: Path,
        *,
        conversation: str,
        began_at: datetime,
        began_s: float,
        language: Language,
        languages: tuple[Language, ...],
        engine: EngineDescription,
        notify: Callable[[Notice], None],
        note: str = "",
    ) -> None:
        self.folder = folder
        self._began_s = began_s
        self._notify = notify
        self._failed = False
        self._sheet: dict[str, Any] = {
            "format": FORMAT,
            "conversation": conversation,
            "began_at": began_at.isoformat(),
            "language": language,
            "languages": list(languages),
            "engine": asdict(engine),
            "sample_rate_hz": RATE_HZ,
            "note": note,
            "ended": None,
        }
        self._samples = 0
        self._late_ms = 0.0
        self._user_turns = 0
        self._answer: dict[str, Any] | None = None
        self._typed_s: float | None = None
        self._turns: list[Turn] = []
        self._noises: list[NoTurn] = []
        self._hand_overs: list[HandedOver] = []
        self._microphone: BinaryIO | None = self._try(self._begin)
        self.service = ServiceRecorder(folder, began_s, self._service_failed)

    def _begin(self) -> BinaryIO:
        self.folder.mkdir(parents=True, exist_ok=False)
        self.folder.chmod(0o700)
        self._write_json("call.json", self._sheet)
        return running(self.folder, MICROPHONE).open("ab", buffering=0)

    def _try(self, write: Callable[[], _T]) -> _T | None:
        """Run one write; the first one that fails ends the recording."""
        if self._failed:
            return None
        try:
            return write()
        except OSError as fault:
            self._failed = True
            log.warning("the recording in %s ends: %s", self.folder, fault)
            self._notify(
                Notice(
                    kind="handled",
                    text=f"The call is no longer recorded: {self.folder} can't be written "
                    f"({fault.strerror}). What was recorded so far is kept.",
                )
            )
            return None

    def _service_failed(self, reason: str) -> None:
        self._notify(
            Notice(
                kind="handled",
                text="What the voice service says is no longer recorded: "
                f"{reason}. The rest of the call is.",
            )
        )

    def microphone(self, samples: bytes, at_s: float) -> None:
        """Sound as the ears get it, 16-bit mono at 16 kHz; `at_s` is the loop's time of its
        arrival."""
        sink = self._microphone
        if sink is None:
            return
        position_ms = self._samples * 1000 / RATE_HZ
        length_ms = len(samples) * 1000 / (2 * RATE_HZ)
        late_ms = 1000 * (at_s - self._began_s) - position_ms - length_ms
        if abs(late_ms - self._late_ms) > _LATE_MS:
            self._late_ms = late_ms
            self._line(ARRIVALS, {"position_ms": round(position_ms), "late_ms": round(late_ms)})
        if self._try(lambda: sink.write(samples)) is not None:
            self._samples += len(samples) // 2

    def heard(self, event: Heard) -> None:
        """What the ears told; turns are counted and noises noted."""
        if isinstance(event, UserSaid):
            self._user_turns += 1
            self._typed_s = None
        elif isinstance(event, NoTurn):
            self._noises.append(event)

    def answered(self, question: str, answered: Answered) -> None:
        """What the hearing worker said, so that a replay needs none."""
        self._line(HEARING, _heard(question, answered))

    def typed(self, text: str, pasted: bool, at_s: float) -> None:
        self._user_turns += 1
        self._typed_s = at_s
        at_ms = max(0, round((at_s - self._began_s) * 1000))
        self._line("typed.jsonl", {"at_ms": at_ms, "text": text, "pasted": pasted})

    def stopped(self, at_s: float) -> None:
        """The user stopped the answer by hand."""
        self._line(STOPS, {"at_ms": max(0, round((at_s - self._began_s) * 1000))})

    def answer_began(
        self,
        to: UserSaid | None,
        first_token_s: float | None,
        first_audio_s: float,
        ready_s: float | None = None,
    ) -> None:
        self.answer_ended()
        asked_s = to.decided_s if to is not None else self._typed_s
        if asked_s is None:
            asked_s = first_audio_s
        self._answer = {
            "turn": max(0, self._user_turns - 1),
            "language": to.language if to is not None else None,
            "delay_ms": max(0, round((first_audio_s - asked_s) * 1000)),
            "first_word_ms": None
            if first_token_s is None
            else max(0, round((first_token_s - asked_s) * 1000)),
            "ready_ms": None
            if to is None or ready_s is None
            else max(0, round((ready_s - to.ended_s) * 1000)),
            "pieces": [],
        }

    def spoken(
        self, text: str, samples: int, sample_rate_hz: int, language: Language | None
    ) -> None:
        if self._answer is not None:
            self._answer["language"] = language or self._answer["language"]
            self._answer["pieces"].append(
                {"text": text, "duration_ms": round(samples * 1000 / sample_rate_hz)}
            )

    def answer_ended(self, late_s: float | None = None) -> None:
        """The answer is whole, or was interrupted; what is played now is heard so much later."""
        answer, self._answer = self._answer, None
        if answer is not None and answer["pieces"]:
            if late_s is not None:
                answer["late_ms"] = round(1000 * late_s)
            self._line("answers.jsonl", answer)

    def event(self, event: CallEvent) -> None:
        """What the call told the page; turns, hand-overs and the end become the outcome."""
        match event:
            case TurnAdded(turn=turn):
                self._turns.append(turn)
            case HandedOver():
                self._hand_overs.append(event)
            case CallEnded(reason=reason):
                self._sheet["ended"] = reason
            case _:
                pass

    async def close(self) -> None:
        """Write what is left, and pack the sound as FLAC."""
        self.answer_ended()
        if self._microphone is not None:
            self._microphone.close()
            self._microphone = None
        await asyncio.to_thread(self._try, self._finish)
        try:
            await self.service.close()
        except OSError as fault:
            self._service_failed(fault.strerror or str(fault))

    def _finish(self) -> None:
        self._write_json("call.json", self._sheet)
        self._write_json(
            "expected.json",
            Outcome(
                turns=tuple(self._turns),
                noises=tuple(self._noises),
                hand_overs=tuple(self._hand_overs),
                ended=self._sheet["ended"],
            ).as_json(),
        )
        if self._samples:
            pack(self.folder, MICROPHONE, RATE_HZ)
        running(self.folder, MICROPHONE).unlink(missing_ok=True)

    def _line(self, name: str, record: dict[str, Any]) -> None:
        def write() -> None:
            with (self.folder / name).open("a", encoding="utf-8") as sink:
                sink.write(json.dumps(record, ensure_ascii=False) + "\n")

        self._try(write)

    def _write_json(self, name: str, value: dict[str, Any]) -> None:
        path = self.folder / name
        part = path.with_suffix(".part")
        part.write_text(json.dumps(value, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
        part.replace(path)
